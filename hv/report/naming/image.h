/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the image (kernel or module) that contains an address, and thus its debug file. */
#ifndef OUTRIDER_REPORT_NAMING_IMAGE_H
#define OUTRIDER_REPORT_NAMING_IMAGE_H

#include "hv/race/race.h"
#include "hv/report/modules.h"
#include "symbols/files/debug_images.h"
#include "symbols/files/sources.h"
#include "symbols/insn/insn.h"

/* Everything that is needed to name the races of one run. The struct owns nothing. */
struct naming {
	struct debug_images *images;
	struct insn_decoder *decoder;
	/* All modules that the races may be in. */
	const struct report_modules *modules;
	/* KASLR slide of the kernel image. */
	uint64_t slide;
	/* Build id of the kernel, `build_id_len` bytes. */
	const uint8_t *build_id;
	/* 0: unknown. */
	size_t build_id_len;
	/* Also name the source line of each instruction near the accesses. */
	bool code_lines;
	/* Receives the source files that the user's debug files name. NULL: none. */
	struct sources *sources;
};

/* Returns the kernel's image. Its strings belong to `n`. */
struct debug_image naming_kernel(const struct naming *n);

/*
 * Find the image that contains `gva`: the kernel, or a module that was loaded when the race was observed. Returns false if
 * there is none. The image's strings belong to `n`.
 */
bool naming_image(const struct naming *n, const struct race *race, uint64_t gva, struct debug_image *out);

/*
 * Find the image that contains `gva`: the kernel, or any module of n->modules, all of which must be loaded now. Returns as
 * naming_image() does.
 */
bool naming_image_any(const struct naming *n, uint64_t gva, struct debug_image *out);

/*
 * Find the image that contains the code at `gva`, as naming_image_any() does. Also returns false if the site's name says that
 * the code is in another image.
 */
bool naming_image_of_site(const struct naming *n, const char *site, uint64_t gva, struct debug_image *out);

#endif
