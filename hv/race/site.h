/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of sites. An instruction has the same name after a reboot, with another KASLR slide, and on another host.
 * docs/report-format.md describes names and ids for users.
 *
 * Pure functions. Any thread.
 */
#ifndef OUTRIDER_RACE_SITE_H
#define OUTRIDER_RACE_SITE_H

#include <stdint.h>

#include "hv/base/siphash.h"
#include "hv/race/observation.h"

#define SITE_NAME_MAX 288 /* bytes of a name with module, function, offset and the NUL */
#define RACE_ID_MAX 13	  /* 12 hexadecimal digits and the NUL */

/* GVA of the side's instruction, or of where the vCPU stopped when the instruction could not be told. A vCPU must have made the
 * access.
 */
uint64_t site_address(const struct race_side *side);

/*
 * The site's canonical name:
 *  - with a symbol, "function+0x1c" for the kernel and "module:function+0x33" for a module;
 *  - without a symbol, "image+0x..." relative to the kernel image's link address, that is without the KASLR `slide`, or
 *    "raw+0x..." for an address outside of the image;
 *  - with "stop:" in front when only the place where the vCPU stopped is known;
 *  - "type:operation", such as "virtio-blk:read", for a device, so that the requests of one kind are one site;
 *  - "unknown" for a side that nobody saw.
 * The name is printable whatever the guest's symbols are made of.
 */
void site_name(const struct race_side *side, uint64_t slide, char out[SITE_NAME_MAX]);

/* The part in front of "+0x...": "function" for the kernel, "module:function" for a module. It is printable too. */
void site_function(const struct guest_symbol *symbol, char out[SITE_NAME_MAX]);

/* The race's id: a hash of the two canonical names in byte order, so that the order of the sites does not matter. */
void race_id(const char *site_a, const char *site_b, char out[RACE_ID_MAX]);

/*
 * A hash to look a race up by, under a key that nobody outside knows. It is made of the id as well as of the two names, since a
 * report that was read may give any pair of sites any id. The order of the sites does not matter. The names have less than
 * SITE_NAME_MAX bytes, and the id less than RACE_ID_MAX.
 */
uint64_t race_hash(const struct siphash_key *key, const char *id, const char *site_a, const char *site_b);

#endif
