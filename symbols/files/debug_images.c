// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/files/debug_images.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbols/files/debugfiles.h"

#define ID_MAX 64

/* An image asked for, with its file if there is one that can be used. */
struct entry {
	char *name;
	uint8_t id[ID_MAX];
	size_t id_len;
	struct debuginfo *di;
	bool said;   /* that a query failed */
	bool placed; /* where `slide` or `generation` say */
	uint64_t slide, generation;
};

struct debug_images {
	struct debug_images_sink sink;
	struct debugfiles *files;
	struct entry *entries;
	size_t count;
	bool asked; /* the user named a place to look in */
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
		debuginfo_close(images->entries[i].di);
		free(images->entries[i].name);
	}
	free(images->entries);
	debugfiles_free(images->files);
	free(images);
}

int debug_images_add(struct debug_images *images, const char *path, struct err *err)
{
	images->asked = true;
	return debugfiles_add(images->files, path, err);
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

static struct entry *find(struct debug_images *images, const struct debug_image *image)
{
	for (size_t i = 0; i < images->count; i++) {
		struct entry *e = &images->entries[i];

		if (strcmp(e->name, image->name) == 0 && e->id_len == image->id_len &&
		    (!e->id_len || memcmp(e->id, image->id, e->id_len) == 0))
			return e;
	}
	return NULL;
}

const char *debug_images_path(struct debug_images *images, const char *name, const uint8_t *id, size_t len)
{
	return debugfiles_find(images->files, name, id, len, NULL);
}

static struct debuginfo *open_file(struct debug_images *images, const struct debug_image *image)
{
	struct err err = {0};
	const char *path = debugfiles_find(images->files, image->name, image->id, image->id_len, &err);
	struct debuginfo *di = path ? debuginfo_open(path, &err) : NULL;

	if (!di && images->asked)
		images->sink.note(images->sink.ctx, err.text);
	return di;
}

static struct entry *add(struct debug_images *images, const struct debug_image *image)
{
	struct entry *entries = realloc(images->entries, (images->count + 1) * sizeof(*entries)), *e;

	if (!entries)
		return NULL;
	images->entries = entries;
	e = &entries[images->count];
	*e = (struct entry){.name = strdup(image->name), .id_len = image->id_len};
	if (!e->name)
		return NULL;
	if (image->id_len)
		memcpy(e->id, image->id, image->id_len);
	images->count++;
	e->di = open_file(images, image);
	return e;
}

static void place(struct entry *e, const struct debug_image *image)
{
	if (e->placed && e->slide == image->slide && e->generation == image->generation)
		return;
	debuginfo_slide(e->di, image->slide);
	/* Sections without debug information, or that the file does not have, are no loss. */
	for (size_t i = 0; i < image->nsections; i++)
		debuginfo_place(e->di, image->sections[i].name, image->sections[i].addr);
	e->slide = image->slide;
	e->generation = image->generation;
	e->placed = true;
}

struct debuginfo *debug_images_of(struct debug_images *images, const struct debug_image *image)
{
	struct entry *e;

	if (image->id_len > ID_MAX)
		return NULL;
	e = find(images, image);
	if (!e)
		e = add(images, image);
	if (!e || !e->di)
		return NULL;
	place(e, image);
	return e->di;
}

void debug_images_failed(struct debug_images *images, const struct debug_image *image, const struct err *err)
{
	struct entry *e = find(images, image);

	if (!e || e->said)
		return;
	e->said = true;
	images->sink.note(images->sink.ctx, err->text);
}

void debug_images_used(const struct debug_images *images, unsigned *found, unsigned *asked)
{
	*found = 0;
	*asked = (unsigned)images->count;
	for (size_t i = 0; i < images->count; i++)
		*found += images->entries[i].di != NULL;
}
