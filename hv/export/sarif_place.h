/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where in the source the accesses of a race and the calls that led to them are, as SARIF says it. */
#ifndef OUTRIDER_EXPORT_SARIF_PLACE_H
#define OUTRIDER_EXPORT_SARIF_PLACE_H

#include "hv/export/internal.h"
#include "hv/report/json/write.h"

/* The names of the roots that URIs are relative to: the source tree, functions that no source line is known of, and devices. */
#define SARIF_SOURCES "SRCROOT"
#define SARIF_SYMBOLS "GUEST_SYMBOLS"
#define SARIF_DEVICES "GUEST_DEVICES"

/* The roots as a run has them (section 3.14.14). `devices`: it has locations of devices. */
json_t *sarif_roots(struct json_builder *b, bool devices);

/* A message object (section 3.11) with that text. */
json_t *sarif_message(struct json_builder *b, const char *text);

/* The location (section 3.28) of the access of a side that was seen, a vCPU's or a device's. */
json_t *sarif_access(struct json_builder *b, const struct race *race, unsigned which);

/* The location of a site of which only the name, by site_name(), is known. */
json_t *sarif_site(struct json_builder *b, const char *site);

/* The stacks (section 3.44) of the sides that vCPUs made, innermost frame first. */
json_t *sarif_stacks(struct json_builder *b, const struct race *race);

/*
 * The code flow (section 3.36) of a race: for each side that was seen a thread flow, from the outermost call to the access. The
 * access in between comes before the access that was held.
 */
json_t *sarif_code_flow(struct json_builder *b, const struct race *race);

#endif
