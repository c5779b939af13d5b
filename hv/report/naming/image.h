/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which image of the guest an address is in, and so which debug files name it. */
#ifndef OUTRIDER_REPORT_NAMING_IMAGE_H
#define OUTRIDER_REPORT_NAMING_IMAGE_H

#include "hv/race/race.h"
#include "hv/report/modules.h"
#include "symbols/files/debug_images.h"
#include "symbols/files/sources.h"
#include "symbols/insn/insn.h"

/* What is needed to name the races of one run. Nothing in it is owned. */
struct naming {
	struct debug_images *images;
	struct insn_decoder *decoder;
	/* All modules that any race may be in. */
	const struct report_modules *modules;
	/* KASLR slide of the kernel's image. */
	uint64_t slide;
	/* Build id of the kernel, of build_id_len bytes. */
	const uint8_t *build_id;
	/* 0: the build id is not known. */
	size_t build_id_len;
	/* Name the source line of each instruction around the accesses, too. */
	bool code_lines;
	/* Gets the source files that the user's debug files name. NULL: nobody reads them. */
	struct sources *sources;
};

/* The kernel's own image. Its strings are the naming's. */
struct debug_image naming_kernel(const struct naming *n);

/*
 * The image that contains `gva`: the kernel's, or that of a module that was loaded when the race was seen. False: neither. The
 * image's strings are the naming's.
 */
bool naming_image(const struct naming *n, const struct race *race, uint64_t gva, struct debug_image *out);

/* The same among all of n->modules: these are all loaded now. */
bool naming_image_any(const struct naming *n, uint64_t gva, struct debug_image *out);

/* The same for the code at `gva`, when it is of the image that the site, a name by site_name(), is of. */
bool naming_image_of_site(const struct naming *n, const char *site, uint64_t gva, struct debug_image *out);

#endif
