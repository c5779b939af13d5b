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

struct names {
	struct names_sink sink;
	struct debugfiles *files;
	struct entry *entries;
	size_t count;
	bool asked; /* the user named a place to look in */
};

struct names *names_new(const struct names_sink *sink, struct err *err)
{
	struct names *n = calloc(1, sizeof(*n));

	if (!n) {
		err_set(err, EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	n->sink = *sink;
	n->files = debugfiles_new(err);
	if (n->files)
		return n;
	free(n);
	return NULL;
}

void names_free(struct names *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->count; i++) {
		debuginfo_close(n->entries[i].di);
		free(n->entries[i].name);
	}
	free(n->entries);
	debugfiles_free(n->files);
	free(n);
}

int names_add(struct names *n, const char *path, struct err *err)
{
	n->asked = true;
	return debugfiles_add(n->files, path, err);
}

static int add_if_there(struct names *n, const char *folder, struct err *err)
{
	return access(folder, R_OK | X_OK) == 0 ? debugfiles_add(n->files, folder, err) : 0;
}

int names_add_usual(struct names *n, struct err *err)
{
	const char *debuginfod = getenv("DEBUGINFOD_CACHE_PATH"), *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char path[PATH_MAX];

	if (debuginfod)
		snprintf(path, sizeof(path), "%s", debuginfod);
	else if (cache)
		snprintf(path, sizeof(path), "%s/debuginfod_client", cache);
	else
		snprintf(path, sizeof(path), "%s/.cache/debuginfod_client", home ? home : "");
	return add_if_there(n, "/usr/lib/debug", err) < 0 || add_if_there(n, path, err) < 0 ? -1 : 0;
}

static struct entry *find(struct names *n, const struct names_image *image)
{
	for (size_t i = 0; i < n->count; i++) {
		struct entry *e = &n->entries[i];

		if (strcmp(e->name, image->name) == 0 && e->id_len == image->id_len &&
		    (!e->id_len || memcmp(e->id, image->id, e->id_len) == 0))
			return e;
	}
	return NULL;
}

const char *names_path(struct names *n, const char *name, const uint8_t *id, size_t len)
{
	return debugfiles_find(n->files, name, id, len, NULL);
}

static struct debuginfo *open_file(struct names *n, const struct names_image *image)
{
	struct err err = {0};
	const char *path = debugfiles_find(n->files, image->name, image->id, image->id_len, &err);
	struct debuginfo *di = path ? debuginfo_open(path, &err) : NULL;

	if (!di && n->asked)
		n->sink.note(n->sink.ctx, err.text);
	return di;
}

static struct entry *add(struct names *n, const struct names_image *image)
{
	struct entry *entries = realloc(n->entries, (n->count + 1) * sizeof(*entries)), *e;

	if (!entries)
		return NULL;
	n->entries = entries;
	e = &entries[n->count];
	*e = (struct entry){.name = strdup(image->name), .id_len = image->id_len};
	if (!e->name)
		return NULL;
	if (image->id_len)
		memcpy(e->id, image->id, image->id_len);
	n->count++;
	e->di = open_file(n, image);
	return e;
}

static void place(struct entry *e, const struct names_image *image)
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

struct debuginfo *names_of(struct names *n, const struct names_image *image)
{
	struct entry *e;

	if (image->id_len > ID_MAX)
		return NULL;
	e = find(n, image);
	if (!e)
		e = add(n, image);
	if (!e || !e->di)
		return NULL;
	place(e, image);
	return e->di;
}

void names_failed(struct names *n, const struct names_image *image, const struct err *err)
{
	struct entry *e = find(n, image);

	if (!e || e->said)
		return;
	e->said = true;
	n->sink.note(n->sink.ctx, err->text);
}

void names_used(const struct names *n, unsigned *found, unsigned *asked)
{
	*found = 0;
	*asked = (unsigned)n->count;
	for (size_t i = 0; i < n->count; i++)
		*found += n->entries[i].di != NULL;
}
