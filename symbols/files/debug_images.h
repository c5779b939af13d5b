/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one query API over debug files: an address of a running kernel in, everything that its debug files say of it out. Files
 * are found by build id when they are first asked for, opened once, and moved to where each image (the kernel, a module) is.
 *
 * What cannot be used, because there is none, it is another build's or it is corrupt, is said once, in one line, and after that
 * answers 0 to every question: callers go on with what they know without it.
 *
 * No locks: one thread at a time. Strings given out live as long as the struct debug_images.
 */
#ifndef OUTRIDER_SYMBOLS_FILES_DEBUG_IMAGES_H
#define OUTRIDER_SYMBOLS_FILES_DEBUG_IMAGES_H

#include "hv/base/err.h"
#include "symbols/dwarf/debuginfo.h"
#include "symbols/modules/section.h"

#define DEBUG_IMAGE_KERNEL "vmlinux"

struct debug_images;

/* A kernel or module as it is in the guest's memory. */
struct debug_image {
	const char *name;  /* DEBUG_IMAGE_KERNEL, or a module's */
	const uint8_t *id; /* build id of id_len bytes; length 0: not known, and any file of that name is taken */
	size_t id_len;
	uint64_t slide;			      /* of the kernel */
	uint64_t generation;		      /* of a module: another one each time it is loaded, perhaps elsewhere */
	const struct image_section *sections; /* of a module */
	size_t nsections;
};

struct debug_images_sink {
	/* One line for people: what cannot be used and why. */
	void (*note)(void *ctx, const char *line);
	void *ctx;
};

/* NULL with EXIT_INTERNAL: out of memory. */
struct debug_images *debug_images_new(const struct debug_images_sink *sink, struct err *err);
void debug_images_free(struct debug_images *images);

/*
 * Look in this file or folder too, after those added before (see debugfiles.h). The user asked for it: that nothing is found is
 * worth a line. -1 with EXIT_INPUT: there is no such thing.
 */
int debug_images_add(struct debug_images *images, const char *path, struct err *err);

/* Look where distributions and debuginfod keep debug files, if there is such a place. -1: out of memory. */
int debug_images_add_usual(struct debug_images *images, struct err *err);

/* The path of an image's debug file, without opening it; lives as long as the struct debug_images. NULL: there is none. */
const char *debug_images_path(struct debug_images *images, const char *name, const uint8_t *id, size_t len);

/* The debug file of the image as it lies in memory, for the queries of debuginfo.h; NULL: there is none that can be used. */
struct debuginfo *debug_images_of(struct debug_images *images, const struct debug_image *image);

/* A query of debuginfo.h on it failed: say so, once a file. */
void debug_images_failed(struct debug_images *images, const struct debug_image *image, const struct err *err);

/* How many images had a debug file, of how many asked for. */
void debug_images_used(const struct debug_images *images, unsigned *found, unsigned *asked);

#endif
