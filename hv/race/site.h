/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of sites. A site keeps its name across reboots, KASLR slides and hosts. docs/report-format.md describes names and
 * ids for users.
 *
 * Pure functions. Any thread.
 */
#ifndef OUTRIDER_RACE_SITE_H
#define OUTRIDER_RACE_SITE_H

#include <stdint.h>

#include "hv/base/siphash.h"
#include "hv/race/observation.h"

#define SITE_NAME_MAX 288 /* bytes of a name with module, function and offset, including the NUL */
#define RACE_ID_MAX 13	  /* 12 hexadecimal digits and the NUL */

/*
 * Returns the GVA of the side's instruction. If the instruction is unknown, returns the GVA at which the vCPU stopped. The side
 * must have been made by a vCPU.
 */
uint64_t site_address(const struct race_side *side);

/*
 * Write the site's canonical name:
 *  - with a symbol: "function+0x1c" for the kernel, "module:function+0x33" for a module;
 *  - without a symbol: "image+0x..." relative to the kernel image's link address (the KASLR `slide` is subtracted), or
 *    "raw+0x..." for an address outside the image;
 *  - prefixed with "stop:" if only the place where the vCPU stopped is known;
 *  - for a device: "type:operation", such as "virtio-blk:read", so that all requests of one kind are one site;
 *  - for an unseen side: "unknown".
 * The name is printable, whatever bytes the guest's symbols contain.
 */
void site_name(const struct race_side *side, uint64_t slide, char out[SITE_NAME_MAX]);

/* Write a site's name without "+0x...": "function" for the kernel, "module:function" for a module. Printable. */
void site_function(const struct guest_symbol *symbol, char out[SITE_NAME_MAX]);

/* Returns the offset at the end of a site's name, or 0 if the name has none. */
uint64_t site_offset(const char *site);

/* Write the race's id: a hash of the two canonical names in byte order, so that the order of the sites does not matter. */
void race_id(const char *site_a, const char *site_b, char out[RACE_ID_MAX]);

/*
 * Returns a hash for looking up a race, under a secret key. The hash covers the id and both names, since a report can pair any
 * id with any sites. The order of the sites does not matter. Names are shorter than SITE_NAME_MAX bytes, the id shorter than
 * RACE_ID_MAX.
 */
uint64_t race_hash(const struct siphash_key *key, const char *id, const char *site_a, const char *site_b);

#endif
