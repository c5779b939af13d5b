// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Keeps one debug file for each image (the kernel or a module) that callers ask for: finds the file, opens it, and relocates
 * it.
 */
#include "symbols/files/debug_images.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hv/base/grow.h"
#include "symbols/files/debugfiles.h"
#include "symbols/files/debuginfod.h"

#define ID_MAX 64 /* bytes of a build id */

/* An image that a caller has asked for. */
struct known_image {
	char *name;
	uint8_t id[ID_MAX];
	size_t id_len;
	struct debuginfo *di; /* the image's debug file; NULL if there is no usable file */
	bool users;	      /* the debug file lies in a place that the user named */
	bool failed;	      /* a failed query was reported */
	bool placed;	      /* the file is relocated to the addresses that the image has with `slide` and `generation` */
	uint64_t slide;	      /* debug_image.slide when the file was last relocated */
	uint64_t generation;  /* debug_image.generation when the file was last relocated */
};

struct debug_images {
	struct debug_images_sink sink;
	struct debugfiles *files;
	struct known_image *known;
	size_t count;
	struct debuginfod *debuginfod; /* NULL: files are not fetched */
	bool asked;		       /* the user named a place or chose debuginfod: report missing debug files */
	size_t users;		       /* number of places that the user named; these come first */
};

struct debug_images *debug_images_new(const struct debug_images_sink *sink, struct err *err)
{
	struct debug_images *images = calloc(1, sizeof(*images));

	if (!images) {
		err_set(err, EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	images->sink = *sink;
	images->files = debugfiles_new(err);
	if (images->files)
		return images;
	free(images);
	return NULL;
}

void debug_images_free(struct debug_images *images)
{
	if (!images)
		return;
	for (size_t i = 0; i < images->count; i++) {
		debuginfo_close(images->known[i].di);
		free(images->known[i].name);
	}
	free(images->known);
	debugfiles_free(images->files);
	debuginfod_free(images->debuginfod);
	free(images);
}

int debug_images_add(struct debug_images *images, const char *path, struct err *err)
{
	struct err why = {0};

	images->asked = true;
	/*
	 * If the file surely has no debug information of a kernel or module, report this now, and do not add the file. A later
	 * search would only report that the file is of another build.
	 */
	if (!debugfiles_may_help(path, &why)) {
		images->sink.message(images->sink.ctx, why.text);
		return 0;
	}
	if (debugfiles_add(images->files, path, err) < 0)
		return -1;
	images->users++;
	return 0;
}

static int add_if_there(struct debug_images *images, const char *folder, struct err *err)
{
	return access(folder, R_OK | X_OK) == 0 ? debugfiles_add(images->files, folder, err) : 0;
}

int debug_images_add_usual(struct debug_images *images, struct err *err)
{
	const char *debuginfod = getenv("DEBUGINFOD_CACHE_PATH"), *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char path[PATH_MAX];

	if (debuginfod)
		snprintf(path, sizeof(path), "%s", debuginfod);
	else if (cache)
		snprintf(path, sizeof(path), "%s/debuginfod_client", cache);
	else
		snprintf(path, sizeof(path), "%s/.cache/debuginfod_client", home ? home : "");
	return add_if_there(images, "/usr/lib/debug", err) < 0 || add_if_there(images, path, err) < 0 ? -1 : 0;
}

int debug_images_use_debuginfod(struct debug_images *images, struct err *err)
{
	const struct debuginfod_sink sink = {images->sink.message, images->sink.cancelled, images->sink.ctx};

	if (!images->debuginfod)
		images->debuginfod = debuginfod_new(&sink, err);
	images->asked = true;
	return images->debuginfod ? 0 : -1;
}

static struct known_image *find_image(const struct debug_images *images, const struct debug_image *image)
{
	for (size_t i = 0; i < images->count; i++) {
		struct known_image *k = &images->known[i];

		if (strcmp(k->name, image->name) == 0 && k->id_len == image->id_len &&
		    (!k->id_len || memcmp(k->id, image->id, k->id_len) == 0))
			return k;
	}
	return NULL;
}

const char *debug_images_path(struct debug_images *images, const char *name, const uint8_t *id, size_t len)
{
	return debugfiles_find(images->files, name, id, len, NULL);
}

static void say_found(const struct debug_images *images, const char *name, const char *path)
{
	char line[PATH_MAX + 80];

	snprintf(line, sizeof(line), "%.64s: debug file %s", name, path);
	images->sink.found(images->sink.ctx, line);
}

/* Fetch the image's debug file. Returns its path and sets *place, or returns NULL and replaces *err. */
static const char *fetch(struct debug_images *images, const struct debug_image *image, size_t *place, struct err *err)
{
	const char *path;
	char *fetched;
	int rc;

	*err = (struct err){0};
	fetched = debuginfod_fetch(images->debuginfod, image->name, image->id, image->id_len, err);
	if (!fetched)
		return NULL;
	/* Add the file as a place to search, so that its build id is compared with the image's build id. */
	rc = debugfiles_add(images->files, fetched, err);
	free(fetched);
	if (rc < 0)
		return NULL;
	path = debugfiles_find_in(images->files, image->name, image->id, image->id_len, place, NULL);
	if (!path)
		err_set(err, EXIT_INPUT, "%.64s: debuginfod: the downloaded file is of another build, or is not a debug file",
			image->name);
	return path;
}

static struct debuginfo *open_file(struct debug_images *images, const struct debug_image *image, bool *users)
{
	struct err err = {0};
	size_t place = 0;
	const char *path = debugfiles_find_in(images->files, image->name, image->id, image->id_len, &place, &err);
	struct debuginfo *di;

	if (!path && images->debuginfod && image->id_len)
		path = fetch(images, image, &place, &err);
	di = path ? debuginfo_open(path, &err) : NULL;

	if (!di && images->asked)
		images->sink.message(images->sink.ctx, err.text);
	else if (di && images->sink.found)
		say_found(images, image->name, path);
	*users = di && place < images->users;
	return di;
}

static struct known_image *add_image(struct debug_images *images, const struct debug_image *image)
{
	char *name = strdup(image->name);
	struct known_image *k = name ? list_grow(&images->known, &images->count, sizeof(*k), NULL) : NULL;

	if (!k) {
		free(name);
		return NULL;
	}
	*k = (struct known_image){.name = name, .id_len = image->id_len};
	if (image->id_len)
		memcpy(k->id, image->id, image->id_len);
	k->di = open_file(images, image, &k->users);
	return k;
}

/* Relocate the debug file to the image's addresses in memory, unless the file is relocated to them already. */
static void place_image(struct known_image *k, const struct debug_image *image)
{
	if (k->placed && k->slide == image->slide && k->generation == image->generation)
		return;
	debuginfo_slide(k->di, image->slide);
	/* Ignore a failure: queries simply find nothing in a section that the file lacks. */
	for (size_t i = 0; i < image->nsections; i++)
		debuginfo_place(k->di, image->sections[i].name, image->sections[i].addr);
	k->slide = image->slide;
	k->generation = image->generation;
	k->placed = true;
}

struct debuginfo *debug_images_of(struct debug_images *images, const struct debug_image *image)
{
	struct known_image *k;

	if (image->id_len > ID_MAX)
		return NULL;
	k = find_image(images, image);
	if (!k)
		k = add_image(images, image);
	if (!k || !k->di)
		return NULL;
	place_image(k, image);
	return k->di;
}

bool debug_images_is_users(const struct debug_images *images, const struct debug_image *image)
{
	const struct known_image *k = find_image(images, image);

	return k && k->users;
}

void debug_images_failed(struct debug_images *images, const struct debug_image *image, const struct err *err)
{
	struct known_image *k = find_image(images, image);

	if (!k || k->failed)
		return;
	k->failed = true;
	images->sink.message(images->sink.ctx, err->text);
}

void debug_images_used(const struct debug_images *images, unsigned *found, unsigned *asked)
{
	*found = 0;
	*asked = (unsigned)images->count;
	for (size_t i = 0; i < images->count; i++)
		*found += images->known[i].di != NULL;
}
