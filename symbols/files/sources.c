// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads source files below the folders that the user named, and keeps the last few in memory (see sources.h). */
#include "symbols/files/sources.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hv/base/clean.h"
#include "hv/base/grow.h"
#include "symbols/files/beneath.h"

#define KEPT_MAX 16    /* files whose text is cached; the frames of one race name about as many */
#define MESSAGES_MAX 5 /* at most this many lines about refused files: a hostile report can name any number of files */
#define NAME_SHOWN 200 /* a message shows at most this many bytes of a file's name */

struct folder {
	char *path; /* as the user gave it */
	char *real; /* absolute, and without symbolic links */
	int fd;
};

struct allowed {
	char *name, *path;
};

struct kept {
	char *name; /* NULL: the slot is free */
	char *text; /* NULL: there is no such file */
	size_t len;
};

struct sources {
	struct sources_sink sink;
	struct folder *folders;
	size_t folder_count;
	struct allowed *allowed;
	size_t allowed_count;
	struct kept kept[KEPT_MAX];
	unsigned oldest;   /* the slot of kept[] to reuse next */
	unsigned messages; /* number of lines that were given to sink.message() */
};

struct sources *sources_new(const struct sources_sink *sink, struct err *err)
{
	struct sources *s = calloc(1, sizeof(*s));

	if (!s)
		err_set(err, EXIT_INTERNAL, "out of memory");
	else if (sink)
		s->sink = *sink;
	return s;
}

static void free_kept(struct kept *k)
{
	free(k->name);
	free(k->text);
	*k = (struct kept){0};
}

void sources_free(struct sources *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->folder_count; i++) {
		close(s->folders[i].fd);
		free(s->folders[i].path);
		free(s->folders[i].real);
	}
	for (size_t i = 0; i < s->allowed_count; i++) {
		free(s->allowed[i].name);
		free(s->allowed[i].path);
	}
	for (unsigned i = 0; i < KEPT_MAX; i++)
		free_kept(&s->kept[i]);
	free(s->folders);
	free(s->allowed);
	free(s);
}

/* Drop the cache: after a change of folders or permissions, a name may refer to another file, or become readable. */
static void forget(struct sources *s)
{
	for (unsigned i = 0; i < KEPT_MAX; i++)
		free_kept(&s->kept[i]);
}

static int open_folder(struct folder *f, const char *path, struct err *err)
{
	f->fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (f->fd < 0 && errno == ENOTDIR)
		return err_set(err, EXIT_INPUT, "%s: give the folder of the guest kernel's source", path);
	if (f->fd < 0)
		return err_set(err, EXIT_INPUT, "%s: %s", path, strerror(errno));
	if (beneath_works(f->fd) < 0)
		return err_set(err, EXIT_INPUT,
			       "%s: this host cannot keep outrider inside a folder (openat2: %s; Linux has it since 5.6), so "
			       "--sources cannot be used here",
			       path, strerror(errno));
	f->path = strdup(path);
	f->real = realpath(path, NULL);
	return f->path && f->real ? 0 : err_set(err, EXIT_INTERNAL, "%s: out of memory", path);
}

int sources_add(struct sources *s, const char *folder, struct err *err)
{
	struct folder f = {.fd = -1}, *to = NULL;

	if (open_folder(&f, folder, err) == 0)
		to = list_grow(&s->folders, &s->folder_count, sizeof(*to), err);
	if (!to) {
		if (f.fd >= 0)
			close(f.fd);
		free(f.path);
		free(f.real);
		return -1;
	}
	*to = f;
	forget(s);
	return 0;
}

/* Returns true if the path ends like the name of a source file. A hostile debug file may name any path as source. */
static bool is_called_as_source(const char *path)
{
	static const char *const endings[] = {".c", ".h", ".S", ".s", ".inc", ".rs", ".cc", ".cpp"};
	size_t len = strlen(path);

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		size_t n = strlen(endings[i]);

		if (len > n && strcmp(path + len - n, endings[i]) == 0)
			return true;
	}
	return false;
}

static const char *find_allowed(const struct sources *s, const char *name)
{
	for (size_t i = 0; i < s->allowed_count; i++) {
		if (strcmp(s->allowed[i].name, name) == 0)
			return s->allowed[i].path;
	}
	return NULL;
}

void sources_allow(struct sources *s, const char *name, const char *path)
{
	struct allowed a, *to = NULL;

	if (!s || path[0] != '/' || !is_called_as_source(path) || find_allowed(s, name))
		return;
	a = (struct allowed){.name = strdup(name), .path = strdup(path)};
	if (a.name && a.path)
		to = list_grow(&s->allowed, &s->allowed_count, sizeof(*to), NULL);
	if (!to) {
		free(a.name);
		free(a.path);
		return;
	}
	*to = a;
	forget(s);
}

const char *sources_folder(const struct sources *s, size_t i)
{
	return i < s->folder_count ? s->folders[i].path : NULL;
}

static const char *reason(int error)
{
	switch (error) {
	case EXDEV:
	case ELOOP:
		return "it leads out of the folder";
	case EINVAL:
		return "it is no regular file";
	case EFBIG:
		return "it is larger than 16 MiB";
	default:
		return strerror(error);
	}
}

/* Report in one line that the file is not read, and why. A missing file is normal and is not reported. */
static void say_refused(struct sources *s, const char *name, int error)
{
	char line[CLEAN_MAX(NAME_SHOWN) + 128], clean[CLEAN_MAX(NAME_SHOWN)];

	if (error == ENOENT || error == ENOTDIR || !s->sink.message || s->messages == MESSAGES_MAX)
		return;
	s->messages++;
	clean_text(name, NAME_SHOWN, clean, sizeof(clean));
	snprintf(line, sizeof(line), "source file %s is not read: %s%s", clean, reason(error),
		 s->messages == MESSAGES_MAX ? "; no more such files are listed" : "");
	s->sink.message(s->sink.ctx, line);
}

/*
 * Read the file into k->text. The text is shorter than `size` if the file shrinks meanwhile. Returns false if memory runs out.
 */
static bool read_all(int fd, size_t size, struct kept *k)
{
	ssize_t n = 1;

	k->text = malloc(size + 1);
	while (k->text && k->len < size && n > 0) {
		n = read(fd, k->text + k->len, size - k->len);
		if (n > 0)
			k->len += (size_t)n;
		else if (n < 0 && errno == EINTR)
			n = 1;
	}
	return k->text != NULL;
}

/* Open and read the file. Returns true if the file was read. `name` is the report's name of the file, for messages. */
static bool try_file(struct sources *s, int fd, const char *path, const char *name, struct kept *k)
{
	size_t size;
	int file;
	bool done;

	if (!*path)
		return false;
	file = beneath_open(fd, path, SOURCES_FILE_MAX, &size);
	if (file < 0) {
		say_refused(s, name, errno);
		return false;
	}
	done = read_all(file, size, k);
	close(file);
	return done;
}

/* Returns the part of the absolute path `path` below `folder`, or NULL if `path` is not below it. */
static const char *below(const char *folder, const char *path)
{
	size_t len = strlen(folder);

	while (len && folder[len - 1] == '/')
		len--;
	return strncmp(path, folder, len) == 0 && path[len] == '/' ? path + len + strspn(path + len, "/") : NULL;
}

static bool try_plainly(struct sources *s, const char *name, struct kept *k)
{
	for (size_t i = 0; i < s->folder_count; i++) {
		const struct folder *f = &s->folders[i];
		const char *part = name;

		if (name[0] == '/') {
			part = below(f->path, name);
			if (!part)
				part = below(f->real, name);
		}
		if (part && try_file(s, f->fd, part, name, k))
			return true;
	}
	for (size_t i = 0; i < s->folder_count && name[0] == '/'; i++) {
		if (try_file(s, s->folders[i].fd, name + strspn(name, "/"), name, k))
			return true;
	}
	return false;
}

/*
 * Try each folder as a subfolder of the compiled tree: if the folder's own name is in the path, look below the folder for the
 * part of the path after that name.
 */
static bool try_parts(struct sources *s, const char *name, struct kept *k)
{
	for (size_t i = 0; i < s->folder_count; i++) {
		const struct folder *f = &s->folders[i];
		const char *own = strrchr(f->real, '/') + 1, *at = name;
		size_t len = strlen(own);

		for (; len && at; at = strchr(at, '/')) {
			at += strspn(at, "/");
			if (strncmp(at, own, len) == 0 && at[len] == '/' &&
			    try_file(s, f->fd, at + len + strspn(at + len, "/"), name, k))
				return true;
		}
	}
	return false;
}

/*
 * Returns true if a component of the path is "..". Such paths are refused: they could leave the user's folder, and no
 * compiler's line table needs them.
 */
static bool goes_up(const char *path)
{
	for (const char *at = strstr(path, ".."); at; at = strstr(at + 1, "..")) {
		if ((at == path || at[-1] == '/') && (at[2] == '/' || !at[2]))
			return true;
	}
	return false;
}

bool sources_below(const struct sources *s, size_t i, const char *path)
{
	size_t size;
	int fd = i < s->folder_count && !goes_up(path) ? beneath_open(s->folders[i].fd, path, SOURCES_FILE_MAX, &size) : -1;

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Find and read a file. `clean` is the file's name from the report, with unprintable bytes escaped. */
static void find_file(struct sources *s, const char *clean, struct kept *k)
{
	char bytes[PATH_MAX];
	const char *name = bytes, *path;

	unclean_text(clean, bytes, sizeof(bytes));
	while (strncmp(name, "./", 2) == 0)
		name += 2;
	if (goes_up(name))
		return;
	path = find_allowed(s, clean);
	if (!try_plainly(s, name, k) && !(path && try_file(s, AT_FDCWD, path, name, k)))
		try_parts(s, name, k);
}

static struct kept *keep(struct sources *s, const char *name)
{
	struct kept *k = &s->kept[s->oldest];

	free_kept(k);
	k->name = strdup(name);
	if (!k->name)
		return NULL;
	s->oldest = (s->oldest + 1) % KEPT_MAX;
	find_file(s, name, k);
	return k;
}

const char *sources_text(struct sources *s, const char *name, size_t *len)
{
	struct kept *k = NULL;

	*len = 0;
	if (!s || !*name || (!s->folder_count && !s->allowed_count))
		return NULL;
	for (unsigned i = 0; i < KEPT_MAX && !k; i++) {
		if (s->kept[i].name && strcmp(s->kept[i].name, name) == 0)
			k = &s->kept[i];
	}
	if (!k)
		k = keep(s, name);
	if (!k || !k->text)
		return NULL;
	*len = k->len;
	return k->text;
}

const char *sources_line(struct sources *s, const char *name, unsigned line, size_t *len)
{
	size_t left;
	const char *at = sources_text(s, name, &left);

	*len = 0;
	for (; at && left; line--) {
		const char *end = memchr(at, '\n', left);
		size_t n = end ? (size_t)(end - at) : left;

		if (line == 1) {
			*len = n;
			return at;
		}
		if (line == 0 || !end)
			return NULL;
		at = end + 1;
		left -= n + 1;
	}
	return NULL;
}
