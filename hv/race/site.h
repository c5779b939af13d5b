/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sites: how an instruction is named so that the name is the same after a reboot, with another KASLR slide, and on another
 * host. docs/report-format.md describes names and ids for users.
 */
#ifndef OUTRIDER_RACE_SITE_H
#define OUTRIDER_RACE_SITE_H

#include <stdint.h>

#include "hv/race/observation.h"

#define SITE_NAME_MAX 288 /* module, function and offset, each with its terminator */
#define RACE_ID_MAX 13	  /* 12 hex digits */

/* The instruction's address, or where the CPU stopped when the instruction could not be told. */
uint64_t site_address(const struct race_side *side);

/*
 * The site's canonical name: "function+0x1c", "module:function+0x33"; "stop:" in front when only where the CPU stopped is
 * known; without a symbol "image+0x..." relative to the kernel image's link address (`slide` taken off), or "raw+0x..." for an
 * address outside of it; "unknown" for a side nobody saw. Printable whatever the guest's symbols are made of.
 */
void site_name(const struct race_side *side, uint64_t slide, char out[SITE_NAME_MAX]);

/* The race's id: a hash of the two canonical names in byte order, so that the sides' roles do not matter. */
void race_id(const char *site_a, const char *site_b, char out[RACE_ID_MAX]);

/*
 * A hash to look a race up by. It is made of the id as well as of the two names, since a report that was read may give any pair
 * of sites any id. The order of the sites does not matter.
 */
uint64_t race_hash(const char *id, const char *site_a, const char *site_b);

#endif
