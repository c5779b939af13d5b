/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Debug files by build id, or by name with the build id checked. */
#include <errno.h>
#include <fts.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "symbols/files/debugfiles.h"
#include "symbols/dwarf/file.h"

#define MAX_FILES 100000u /* of a folder; a kernel's build tree with all modules has about that */
#define MAX_DEPTH 20
#define MAX_ID 64u

struct place {
	char *path;
	bool is_file, walked;
	char **files; /* what looks like a kernel or a module */
	size_t n, room;
};

struct debugfiles {
	struct place *places;
	size_t n;
	struct place answers; /* files found by build id */
};

/* A question. */
struct wanted {
	const char *name;
	const uint8_t *id;
	size_t len;
	char hex[2 * MAX_ID + 1];
	bool given;	     /* the user names the very file that is tried */
	const char *other;   /* a file of that name and another build */
	struct err unusable; /* why another of that name cannot be used */
};

struct debugfiles *debugfiles_new(struct err *err)
{
	struct debugfiles *df = calloc(1, sizeof(*df));

	if (!df)
		err_set(err, EXIT_INTERNAL, "out of memory");
	return df;
}

static void free_place(struct place *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->files[i]);
	free(p->files);
	free(p->path);
}

void debugfiles_free(struct debugfiles *df)
{
	if (!df)
		return;
	for (size_t i = 0; i < df->n; i++)
		free_place(&df->places[i]);
	free_place(&df->answers);
	free(df->places);
	free(df);
}

int debugfiles_add(struct debugfiles *df, const char *path, struct err *err)
{
	struct place *places, place = {0};
	struct stat st;

	if (stat(path, &st))
		return err_set(err, EXIT_INPUT, "%s: %s", path, strerror(errno));
	place.is_file = !S_ISDIR(st.st_mode);
	place.path = strdup(path);
	places = place.path ? realloc(df->places, (df->n + 1) * sizeof(*places)) : NULL;
	if (!places) {
		free(place.path);
		return err_set(err, EXIT_INTERNAL, "%s: out of memory", path);
	}
	df->places = places;
	df->places[df->n++] = place;
	return 0;
}

/* "vmlinux", "vmlinux-6.1.0", "vmlinux.debug"; "xfs.ko", "xfs.ko.debug". */
static bool looks_right(const char *base)
{
	const char *ko = strstr(base, ".ko");

	return !strncmp(base, "vmlinux", 7) || (ko && (!ko[3] || !strcmp(ko + 3, ".debug")));
}

static int keep(struct place *p, const char *path)
{
	if (p->n == p->room) {
		size_t room = p->room ? 2 * p->room : 64;
		char **files = realloc(p->files, room * sizeof(*files));

		if (!files)
			return -1;
		p->files = files;
		p->room = room;
	}
	p->files[p->n] = strdup(path);
	return p->files[p->n] ? (int)(p->n++, 0) : -1;
}

/* What cannot be read in a folder is not there: an answer may be elsewhere. */
static int walk(struct place *p, struct err *err)
{
	char *const roots[] = {p->path, NULL};
	unsigned seen = 0;
	int status = 0;
	FTSENT *e;
	FTS *fts;

	p->walked = true;
	fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_COMFOLLOW, NULL);
	if (!fts)
		return err_set(err, EXIT_INPUT, "%s: %s", p->path, strerror(errno));
	while (!status && seen++ < MAX_FILES && (e = fts_read(fts))) {
		if (e->fts_level > MAX_DEPTH)
			fts_set(fts, e, FTS_SKIP);
		else if (e->fts_info == FTS_F && looks_right(e->fts_name))
			status = keep(p, e->fts_path);
	}
	fts_close(fts);
	return status ? err_set(err, EXIT_INTERNAL, "%s: out of memory", p->path) : 0;
}

/* Whether a file is called what the module or the kernel is. */
static bool named(const char *path, const char *name)
{
	const char *base = strrchr(path, '/');
	size_t len = strlen(name);

	base = base ? base + 1 : path;
	if (!strcmp(name, "vmlinux"))
		return !strncmp(base, "vmlinux", 7) && !strstr(base, ".ko");
	for (size_t i = 0; i < len; i++) {
		char a = base[i] == '-' ? '_' : base[i], b = name[i] == '-' ? '_' : name[i];

		if (a != b)
			return false;
	}
	return !strncmp(base + len, ".ko", 3);
}

/* Whether it is to be said why the file is none: it is called so, or the user says so of a file of any name. */
static bool meant(const struct wanted *w, const char *path)
{
	const char *base = strrchr(path, '/');

	return named(path, w->name) || (w->given && !strcmp(w->name, "vmlinux") && !strstr(base ? base : path, ".ko"));
}

/* Whether the file has DWARF and, if one is wanted, the build id. */
static bool fits(struct wanted *w, const char *path)
{
	bool dwarf, kind, same;
	struct di_file f;

	if (di_file_open(&f, path, meant(w, path) ? &w->unusable : NULL))
		return false;
	dwarf = di_file_has_dwarf(&f);
	/* A build tree has a vmlinux.o too. */
	kind = f.relocatable == !!strcmp(w->name, "vmlinux");
	same = !w->len || (f.build_id_len == w->len && !memcmp(f.build_id, w->id, w->len));
	di_file_close(&f);
	if (kind && !same && meant(w, path))
		w->other = path;
	else if (kind && !dwarf && meant(w, path))
		err_set(&w->unusable, EXIT_INPUT, "%s: has no debug information (.debug_info)", path);
	return dwarf && kind && same;
}

/* The file of that name in the place, whose folders are named by build id. 1, 0 or -1: out of memory. */
static int try_id(struct debugfiles *df, struct wanted *w, const char *place, const char *before, size_t split,
		  const char *after)
{
	char *path;
	int res;

	if (asprintf(&path, "%s%s%.*s%s%s%s", place, before, (int)split, w->hex, split ? "/" : "", w->hex + split, after) < 0)
		return -1;
	res = fits(w, path);
	if (res && keep(&df->answers, path))
		res = -1;
	free(path);
	return res;
}

static const char *by_id(struct debugfiles *df, struct wanted *w, const struct place *p, struct err *err)
{
	static const struct {
		const char *before;
		size_t split;
		const char *after;
	} layouts[] = {
		{"/.build-id/", 2, ".debug"},
		{"/usr/lib/debug/.build-id/", 2, ".debug"},
		{"/", 0, "/debuginfo"},
		{"/buildid/", 0, "/debuginfo"},
	};

	for (size_t i = 0; w->len && !p->is_file && i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		int res = try_id(df, w, p->path, layouts[i].before, layouts[i].split, layouts[i].after);

		if (res < 0)
			err_set(err, EXIT_INTERNAL, "%s: out of memory", p->path);
		if (res)
			return res > 0 ? df->answers.files[df->answers.n - 1] : NULL;
	}
	return NULL;
}

static const char *by_name(struct wanted *w, struct place *p, struct err *err)
{
	if (p->is_file && !w->len && !named(p->path, w->name)) {
		if (meant(w, p->path))
			err_set(&w->unusable, EXIT_INPUT,
				"%s: without a build id to compare, only a file called vmlinux* is taken for the kernel's",
				p->path);
		return NULL;
	}
	if (p->is_file)
		return fits(w, p->path) ? p->path : NULL;
	if (!p->walked && walk(p, err))
		return NULL;
	for (size_t i = 0; i < p->n; i++) {
		if (named(p->files[i], w->name) && fits(w, p->files[i]))
			return p->files[i];
	}
	return NULL;
}

const char *debugfiles_find(struct debugfiles *df, const char *name, const uint8_t *id, size_t len, struct err *err)
{
	struct wanted w = {.name = name, .id = id, .len = len <= MAX_ID ? len : 0};
	struct err local = {0};

	for (size_t i = 0; i < w.len; i++)
		snprintf(w.hex + 2 * i, 3, "%02x", id[i]);
	for (size_t i = 0; i < df->n; i++) {
		const char *path;

		w.given = df->places[i].is_file;
		path = by_id(df, &w, &df->places[i], &local);
		if (!path)
			path = by_name(&w, &df->places[i], &local);
		if (path)
			return path;
	}
	if (local.code)
		err_set(err, local.code, "%s", local.text);
	else if (w.other)
		err_set(err, EXIT_INPUT, "%s: of another build than the %s in use (build id %s)", w.other, name, w.hex);
	else if (w.unusable.code)
		err_set(err, w.unusable.code, "%s", w.unusable.text);
	else
		err_set(err, EXIT_INPUT, "no debug file for %s (build id %s); the kernel's -dbg package has them", name,
			w.len ? w.hex : "not known");
	return NULL;
}
