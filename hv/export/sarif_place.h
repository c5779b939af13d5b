/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes SARIF locations of a race's accesses and of the calls that led to them. Section numbers refer to SARIF 2.1.0. */
#ifndef OUTRIDER_EXPORT_SARIF_PLACE_H
#define OUTRIDER_EXPORT_SARIF_PLACE_H

#include "hv/export/internal.h"
#include "hv/report/json/write.h"

/* Names of the roots of relative URIs: of the source tree, of functions without a source line, and of devices. */
#define SARIF_SOURCES "SRCROOT"
#define SARIF_SYMBOLS "GUEST_SYMBOLS"
#define SARIF_DEVICES "GUEST_DEVICES"

/* Returns the roots of a run's relative URIs (section 3.14.14), with the root of devices only if `devices` is true. */
json_t *sarif_roots(struct json_builder *b, bool devices);

/* Returns a message object (section 3.11) whose text is `text`. */
json_t *sarif_message(struct json_builder *b, const char *text);

/*
 * Returns the location (section 3.28) of the access of side `which`. A vCPU or a device must have made this access. The
 * location of a vCPU's access is the source line that export_line() chooses: if possible, a line outside of the inlined helpers
 * of headers.
 */
json_t *sarif_access(struct json_builder *b, const struct race *race, unsigned which);

/*
 * The access can be in functions that were inlined at the source line of sarif_access(). Append the locations of these
 * functions to `list`, innermost first. Each location has a message and an id. The first id is *id, which is increased by one
 * for each location.
 */
void sarif_inlined(struct json_builder *b, json_t *list, const struct race *race, unsigned which, int *id);

/* Returns the location of a site, from its name by site_name(). */
json_t *sarif_site(struct json_builder *b, const char *site);

/* Returns the stacks (section 3.44) of the sides that are vCPUs' accesses. In each stack, the innermost frame comes first. */
json_t *sarif_stacks(struct json_builder *b, const struct race *race);

/*
 * Returns the code flow (section 3.36) of a race: one thread flow for each side that a vCPU or a device made, from the
 * outermost call to the access. The other side's access comes before the held side's.
 */
json_t *sarif_code_flow(struct json_builder *b, const struct race *race);

#endif
