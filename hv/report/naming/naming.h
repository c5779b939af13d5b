/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Name what raced: a race's registers, code bytes and calls, and the debug files of the images they are in, to source lines and
 * the datum's name. A race record is enough, so this works as well on another machine and years later.
 */
#ifndef OUTRIDER_REPORT_NAMING_NAMING_H
#define OUTRIDER_REPORT_NAMING_NAMING_H

#include "hv/report/modules.h"
#include "hv/race/store.h"
#include "symbols/insn/insn.h"
#include "symbols/files/debug_images.h"

/* What is needed to name races of one run; nothing in it is owned. */
struct naming {
	struct debug_images *images;
	struct insn_decoder *decoder;
	const struct report_modules *modules;
	uint64_t slide;		 /* of the kernel */
	const uint8_t *build_id; /* of the kernel; length 0: not known */
	size_t build_id_len;
};

/*
 * Make race->names, in place of those it has if these say as much. What the debug files do not know stays unnamed. 0; -1 with
 * EXIT_INTERNAL: out of memory, and then the race is as it was.
 */
int naming_race(const struct naming *n, struct race *race, struct err *err);

/* Shared by the parts of naming. */

/* The kernel's own image; its strings are the naming's. */
struct debug_image naming_kernel(const struct naming *n);

/* The image that has `gva`: a module that was loaded when the race was seen, else the kernel. False: neither. */
bool naming_image(const struct naming *n, const struct race *race, uint64_t gva, struct debug_image *out);

/* Fill in names->datum and names->best. */
void naming_datum(const struct naming *n, const struct race *race, struct race_names *names);

#endif
