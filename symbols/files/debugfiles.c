/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds a debug file by build id, or by name with a check of its build id. */
#include <errno.h>
#include <fts.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "hv/base/file_magic.h"
#include "hv/base/grow.h"
#include "symbols/files/debugfiles.h"
#include "symbols/dwarf/file.h"

#define MAX_FILES 100000u /* at most this many files and folders of one folder are visited; a build tree has about as many */
#define MAX_DEPTH 20
#define MAX_ID 64u /* bytes of a build id */

/* A file or folder to search. */
struct place {
	char *path;
	bool is_file;
	bool walked;  /* `files` is filled in */
	char **files; /* paths of the files in the folder that are named like a kernel or module */
	size_t n;     /* number of files */
};

struct debugfiles {
	struct place *places;
	size_t n;
	struct place answers; /* the files that were found by build id; only the member `files` of the struct is used */
};

/* The file to find, and why candidates were rejected. */
struct wanted {
	const char *name;
	const uint8_t *id;
	size_t len;		  /* bytes of the build id; 0 if it is unknown */
	char hex[2 * MAX_ID + 1]; /* the build id as text */
	bool given;		  /* the place being searched is a file, not a folder */
	const char *other;	  /* a file with the wanted name, but of another build */
	struct err unusable;	  /* why a file with the wanted name cannot be used */
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
	struct place place = {0}, *to;
	struct stat st;

	if (stat(path, &st))
		return err_set(err, EXIT_INPUT, "%s: %s", path, strerror(errno));
	place.is_file = !S_ISDIR(st.st_mode);
	place.path = strdup(path);
	to = place.path ? list_grow(&df->places, &df->n, sizeof(*to), NULL) : NULL;
	if (!to) {
		free(place.path);
		return err_set(err, EXIT_INTERNAL, "%s: out of memory", path);
	}
	*to = place;
	return 0;
}

/* Returns -1 with the error set if the file is compressed as a whole, such as xfs.ko.xz. Returns 0 otherwise. */
static int check_packed(const char *path, struct err *err)
{
	char begin[FILE_MAGIC_LEN];
	FILE *file = fopen(path, "re");
	const struct file_magic *magic = file ? file_magic(begin, fread(begin, 1, sizeof(begin), file)) : NULL;

	if (file)
		fclose(file);
	if (!magic || !magic->unpack)
		return 0;
	return err_set(err, EXIT_INPUT, "%s: %s: unpack it, for example by `%s`, and give the result", path, magic->what,
		       magic->unpack);
}

static bool has_section(const struct di_file *f, const char *name)
{
	for (size_t i = 1; i < f->count; i++) {
		if (strcmp(f->sections[i].name, name) == 0)
			return true;
	}
	return false;
}

bool debugfiles_may_help(const char *path, struct err *err)
{
	struct di_file f;
	struct stat st;
	bool users;

	if (stat(path, &st) || S_ISDIR(st.st_mode))
		return true;
	if ((S_ISREG(st.st_mode) && check_packed(path, err)) || di_file_open(&f, path, err))
		return false;
	/*
	 * Only programs and libraries for user space have these sections: .interp names the dynamic linker, .gnu.version_r the
	 * versions of the libraries' symbols that the file needs.
	 */
	users = has_section(&f, ".interp") || has_section(&f, ".gnu.version_r");
	di_file_close(&f);
	if (users)
		err_set(err, EXIT_INPUT,
			"%s: of no use: it is a program or library for user space, and neither a kernel (vmlinux) nor a kernel "
			"module",
			path);
	return !users;
}

/*
 * Returns true if a file is named like a kernel or a module: "vmlinux", "vmlinux-6.1.0", "vmlinux.debug", "xfs.ko",
 * "xfs.ko.debug".
 */
static bool looks_right(const char *base)
{
	const char *ko = strstr(base, ".ko");

	return !strncmp(base, "vmlinux", 7) || (ko && (!ko[3] || !strcmp(ko + 3, ".debug")));
}

static int add_file(struct place *p, const char *path)
{
	char *copy = strdup(path), **to = copy ? list_grow(&p->files, &p->n, sizeof(*to), NULL) : NULL;

	if (!to) {
		free(copy);
		return -1;
	}
	*to = copy;
	return 0;
}

/* List the files of a folder. Unreadable folders in it are skipped: the wanted file may be in another folder. */
static int walk_folder(struct place *p, struct err *err)
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
			status = add_file(p, e->fts_path);
	}
	fts_close(fts);
	return status ? err_set(err, EXIT_INTERNAL, "%s: out of memory", p->path) : 0;
}

/* Returns true if the file's name fits the kernel or module `name`. */
static bool is_called(const char *path, const char *name)
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

/*
 * Returns true if the user expects this file to be the wanted one, so that a message must explain why the file is rejected.
 * There are two cases. Either the file is named like the wanted kernel or module. Or the kernel is wanted, the user gave the
 * path of a file (w->given), and this file is not named like a module.
 */
static bool is_meant(const struct wanted *w, const char *path)
{
	const char *base = strrchr(path, '/');

	return is_called(path, w->name) || (w->given && !strcmp(w->name, "vmlinux") && !strstr(base ? base : path, ".ko"));
}

/* Returns true if the file says of itself that it is the module `name`: by name= in .modinfo, since Linux 4.15. */
static bool says_it_is(const struct di_file *f, const char *name)
{
	static const char key[] = "name=";
	size_t len = strlen(name) + 1, key_len = sizeof(key) - 1;

	for (size_t i = 1; i < f->count; i++) {
		const struct di_section *s = &f->sections[i];
		const char *at = (const char *)s->bytes, *end = at ? at + s->size : NULL;

		if (!at || s->compressed || strcmp(s->name, ".modinfo") != 0)
			continue;
		/* The section is a list of strings, each with its NUL. */
		for (; at < end; at += strnlen(at, (size_t)(end - at)) + 1) {
			if ((size_t)(end - at) >= key_len + len && !memcmp(at, key, key_len) &&
			    !memcmp(at + key_len, name, len))
				return true;
		}
	}
	return false;
}

/*
 * Returns true if the file has DWARF, is linked (a kernel) or relocatable (a module) as the wanted file must be, and has the
 * wanted build id if the build id is known.
 */
static bool fits(struct wanted *w, const char *path)
{
	bool dwarf, kind, same, meant;
	struct di_file f;

	if (di_file_open(&f, path, is_meant(w, path) ? &w->unusable : NULL))
		return false;
	dwarf = di_file_has_dwarf(&f);
	/* A kernel is linked, a module is relocatable. This also rejects the vmlinux.o of a build tree. */
	kind = f.relocatable == !!strcmp(w->name, "vmlinux");
	same = !w->len || (f.build_id_len == w->len && !memcmp(f.build_id, w->id, w->len));
	meant = is_meant(w, path) || (w->given && says_it_is(&f, w->name));
	di_file_close(&f);
	if (kind && !same && meant)
		w->other = path;
	else if (kind && !dwarf && meant)
		err_set(&w->unusable, EXIT_INPUT, "%s: has no debug information (.debug_info)", path);
	return dwarf && kind && same;
}

/*
 * Try the path that a folder layout gives for the build id: the concatenation of `place`, `before`, the build id, and `after`.
 * In the build id, a slash follows the first `split` digits unless `split` is 0. Returns 1 with the path added to df->answers,
 * 0 if the file does not fit, or -1 if memory runs out.
 */
static int try_id(struct debugfiles *df, struct wanted *w, const char *place, const char *before, size_t split,
		  const char *after)
{
	char *path;
	int res;

	if (asprintf(&path, "%s%s%.*s%s%s%s", place, before, (int)split, w->hex, split ? "/" : "", w->hex + split, after) < 0)
		return -1;
	res = fits(w, path);
	if (res && add_file(&df->answers, path))
		res = -1;
	free(path);
	return res;
}

static const char *find_by_id(struct debugfiles *df, struct wanted *w, const struct place *p, struct err *err)
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

static const char *find_by_name(struct wanted *w, struct place *p, struct err *err)
{
	if (p->is_file && !w->len && !is_called(p->path, w->name)) {
		if (is_meant(w, p->path))
			err_set(&w->unusable, EXIT_INPUT,
				"%s: without a build id to compare, only a file called vmlinux* is taken for the kernel's "
				"debug file",
				p->path);
		return NULL;
	}
	if (p->is_file)
		return fits(w, p->path) ? p->path : NULL;
	if (!p->walked && walk_folder(p, err))
		return NULL;
	for (size_t i = 0; i < p->n; i++) {
		if (is_called(p->files[i], w->name) && fits(w, p->files[i]))
			return p->files[i];
	}
	return NULL;
}

const char *debugfiles_find(struct debugfiles *df, const char *name, const uint8_t *id, size_t len, struct err *err)
{
	size_t place;

	return debugfiles_find_in(df, name, id, len, &place, err);
}

const char *debugfiles_find_in(struct debugfiles *df, const char *name, const uint8_t *id, size_t len, size_t *place,
			       struct err *err)
{
	struct wanted w = {.name = name, .id = id, .len = len <= MAX_ID ? len : 0};
	struct err local = {0};

	for (size_t i = 0; i < w.len; i++)
		snprintf(w.hex + 2 * i, 3, "%02x", id[i]);
	for (size_t i = 0; i < df->n; i++) {
		const char *path;

		w.given = df->places[i].is_file;
		path = find_by_id(df, &w, &df->places[i], &local);
		if (!path)
			path = find_by_name(&w, &df->places[i], &local);
		*place = i;
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
		err_set(err, EXIT_INPUT, "no debug file for %s (build id %s); the kernel's -dbg package has the debug files",
			name, w.len ? w.hex : "not known");
	return NULL;
}
