/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The debug files of a running kernel and its modules. The kernel and each module is an image. When an image is first asked
 * for, its debug file is found by build id, opened once, and relocated to the image's addresses in guest memory.
 *
 * A debug file can be unusable: missing, of another build, or corrupt. An unusable file is reported at most once per image, in
 * one line. Then debug_images_of() returns NULL for the image, and callers go on without debug information.
 *
 * Not thread-safe: one thread at a time may use a struct debug_images. Returned strings live as long as this struct.
 */
#ifndef OUTRIDER_SYMBOLS_FILES_DEBUG_IMAGES_H
#define OUTRIDER_SYMBOLS_FILES_DEBUG_IMAGES_H

#include "hv/base/err.h"
#include "symbols/dwarf/debuginfo.h"
#include "symbols/modules/section.h"

/* The image name of the kernel. */
#define DEBUG_IMAGE_KERNEL "vmlinux"

struct debug_images;

/* A kernel or module in the guest's memory. */
struct debug_image {
	const char *name;  /* DEBUG_IMAGE_KERNEL, or a module's name */
	const uint8_t *id; /* build id */
	/* bytes of the build id; 0 if the build id is unknown: then a file of any build with the image's name is accepted */
	size_t id_len;
	uint64_t slide; /* for the kernel: the KASLR slide in bytes */
	/* for a module: a number that changes each time the module is loaded, since its addresses may change */
	uint64_t generation;
	const struct image_section *sections; /* for a module: the load addresses of its sections */
	size_t nsections;
};

struct debug_images_sink {
	/* Receives one line for the user that says which file cannot be used and why. */
	void (*message)(void *ctx, const char *line);
	/* Receives one line that names the debug file of an image. May be NULL. */
	void (*found)(void *ctx, const char *line);
	/* Returns true once the user has cancelled; then no more debug files are fetched. May be NULL. */
	bool (*cancelled)(void *ctx);
	void *ctx;
};

/* Make an empty set of images. `sink` is copied. Returns NULL with EXIT_INTERNAL if memory runs out. */
struct debug_images *debug_images_new(const struct debug_images_sink *sink, struct err *err);

/* Close all files and free the images. `images` may be NULL. */
void debug_images_free(struct debug_images *images);

/*
 * Add a file or folder that the user named to the places to search, after the places added before (see debugfiles.h). After
 * the first call, an image without a debug file is reported. A file that has surely no debug information of a kernel or module
 * is reported and left out. Returns 0, or -1 with EXIT_INPUT if there is no such file or folder.
 */
int debug_images_add(struct debug_images *images, const char *path, struct err *err);

/*
 * Also search where distributions and debuginfod keep debug files, if these folders exist. Returns 0, or -1 if memory runs out.
 */
int debug_images_add_usual(struct debug_images *images, struct err *err);

/*
 * Fetch debug files that are not on this host from the user's debuginfod servers (see debuginfod.h). Returns 0, or -1 with
 * EXIT_INPUT if no server is named.
 */
int debug_images_use_debuginfod(struct debug_images *images, struct err *err);

/*
 * Returns the path of the debug file of image `name` with build id `id` of `len` bytes, without opening it for queries. The
 * path lives as long as `images`. Returns NULL if there is no such file.
 */
const char *debug_images_path(struct debug_images *images, const char *name, const uint8_t *id, size_t len);

/*
 * Returns the image's debug file, relocated to the image's addresses, for the queries of debuginfo.h. `images` still owns the
 * result. Returns NULL if there is no usable file.
 */
struct debuginfo *debug_images_of(struct debug_images *images, const struct debug_image *image);

/* Returns true if debug_images_of() found the image's debug file in a place that the user named. */
bool debug_images_is_users(const struct debug_images *images, const struct debug_image *image);

/* Report that a query of debuginfo.h on the image's debug file failed. Only the first failure per file is reported. */
void debug_images_failed(struct debug_images *images, const struct debug_image *image, const struct err *err);

/* Sets *asked to the number of images that callers asked for, and *found to how many of these have a debug file. */
void debug_images_used(const struct debug_images *images, unsigned *found, unsigned *asked);

#endif
