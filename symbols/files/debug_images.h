/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The debug files of a running kernel and its modules: the kernel and each module is an image. The debug file of an image is
 * found by its build id when the image is first asked for, opened once, and moved to the addresses that the image is at in the
 * guest's memory.
 *
 * A debug file that cannot be used, because there is none, because it is another build's or because it is corrupt, is reported
 * once at most, in one line. After that every question about its image is answered with "nothing", and callers go on with what
 * they know without it.
 *
 * There are no locks: one thread at a time may use a struct debug_images. Strings that are given out live as long as it does.
 */
#ifndef OUTRIDER_SYMBOLS_FILES_DEBUG_IMAGES_H
#define OUTRIDER_SYMBOLS_FILES_DEBUG_IMAGES_H

#include "hv/base/err.h"
#include "symbols/dwarf/debuginfo.h"
#include "symbols/modules/section.h"

/* The name of the kernel as an image. */
#define DEBUG_IMAGE_KERNEL "vmlinux"

struct debug_images;

/* A kernel or module as it is in the guest's memory. */
struct debug_image {
	const char *name;    /* DEBUG_IMAGE_KERNEL, or a module's name. */
	const uint8_t *id;   /* Build id. */
	size_t id_len;	     /* Bytes of the build id. 0: it is not known, and any file of the image's name is taken. */
	uint64_t slide;	     /* Of the kernel: how far it was moved from its link addresses. */
	uint64_t generation; /* Of a module: a number that is another one each time the module is loaded, perhaps elsewhere. */
	const struct image_section *sections; /* Where the sections of a module are. */
	size_t nsections;
};

struct debug_images_sink {
	/* Takes one line for people, which says what cannot be used and why. */
	void (*note)(void *ctx, const char *line);
	/* Takes one line that says which debug file an image has. It may be NULL. */
	void (*found)(void *ctx, const char *line);
	/* Whether the user wants no more. Then no debug file is fetched any more. It may be NULL. */
	bool (*cancelled)(void *ctx);
	void *ctx;
};

/* NULL with EXIT_INTERNAL: memory is out. `sink` is copied. */
struct debug_images *debug_images_new(const struct debug_images_sink *sink, struct err *err);

/* Close all files. `images` may be NULL. */
void debug_images_free(struct debug_images *images);

/*
 * Look in this file or folder too, after those that were added before (see debugfiles.h). This is for places that the user
 * asked for: once there is one, an image without a debug file is worth a line. -1 with EXIT_INPUT: there is no such file or
 * folder.
 */
int debug_images_add(struct debug_images *images, const char *path, struct err *err);

/* Look also where distributions and debuginfod keep debug files, as far as these folders exist. -1: memory is out. */
int debug_images_add_usual(struct debug_images *images, struct err *err);

/*
 * Fetch debug files that are nowhere on this host from the user's debuginfod servers (see debuginfod.h). Returns 0, or -1 with
 * EXIT_INPUT when no server is named.
 */
int debug_images_use_debuginfod(struct debug_images *images, struct err *err);

/*
 * The path of the debug file of the image `name` with the build id `id` of `len` bytes. The file is not opened for queries. The
 * path lives as long as `images`. NULL: there is no such file.
 */
const char *debug_images_path(struct debug_images *images, const char *name, const uint8_t *id, size_t len);

/*
 * The debug file of the image, for the queries of debuginfo.h by the addresses that the image is at in memory. It belongs to
 * `images`. NULL: there is none that can be used.
 */
struct debuginfo *debug_images_of(struct debug_images *images, const struct debug_image *image);

/* Whether the debug file of the image, which debug_images_of() has given out, lies where the user said to look. */
bool debug_images_is_users(const struct debug_images *images, const struct debug_image *image);

/* Report that a query of debuginfo.h on the image's debug file failed. Only a file's first failure is reported. */
void debug_images_failed(struct debug_images *images, const struct debug_image *image, const struct err *err);

/* How many images were asked for, and how many of these have a debug file. */
void debug_images_used(const struct debug_images *images, unsigned *found, unsigned *asked);

#endif
