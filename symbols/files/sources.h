/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The source files that the user allows Outrider to read. A report names the files to show, and the report is not trusted. So
 * Outrider reads a file only if the file lies below a folder that the user named, or if a debug file that the user named lists
 * the file as source.
 *
 * The kernel confines every path to its folder (openat2(2) with RESOLVE_BENEATH). A path with ".." is refused, a symbolic link
 * that leads out of the folder is not followed, and only regular files of at most SOURCES_FILE_MAX bytes are opened.
 *
 * Not thread-safe: one thread at a time may use a struct sources.
 */
#ifndef OUTRIDER_SYMBOLS_FILES_SOURCES_H
#define OUTRIDER_SYMBOLS_FILES_SOURCES_H

#include <stdbool.h>
#include <stddef.h>

#include "hv/base/err.h"

/* Size limit of a file in bytes. The largest source files of Linux, generated lists of registers, are nearly this large. */
#define SOURCES_FILE_MAX ((size_t)16 << 20)

struct sources;

struct sources_sink {
	/* Receives one line for the user when a file exists but is not read: the line names the file and the reason. */
	void (*message)(void *ctx, const char *line);
	void *ctx;
};

/*
 * Make an empty set of allowed files: until sources_add() or sources_allow(), no file may be read. `sink` is copied; if `sink`
 * is NULL, no lines are reported. Returns NULL with EXIT_INTERNAL if memory runs out.
 */
struct sources *sources_new(const struct sources_sink *sink, struct err *err);

/* Close the folders and free the cached files. `s` may be NULL. */
void sources_free(struct sources *s);

/*
 * Allow files below `folder`, which is searched after the folders added before. Returns 0; or -1 with EXIT_INPUT if there is no
 * such folder, or the host's kernel has no openat2(2), which Linux has since 5.6; or -1 with EXIT_INTERNAL if memory runs out.
 */
int sources_add(struct sources *s, const char *folder, struct err *err);

/*
 * From now on, when a report names the file `name`, the file at the absolute path `path` may be read. To be called for files
 * that a debug file lists as source, if the user named that debug file. Ignores a path that does not end like the name of a
 * source file (.c, .h, .S and the like). If memory runs out, the file is not allowed. `s` may be NULL.
 */
void sources_allow(struct sources *s, const char *name, const char *path);

/* Returns the path of folder `i`, in the order of sources_add(), or NULL if there are fewer folders. */
const char *sources_folder(const struct sources *s, size_t i);

/* Returns true if `path`, relative and without "..", is a regular file of at most SOURCES_FILE_MAX bytes below folder `i`. */
bool sources_below(const struct sources *s, size_t i, const char *path);

/*
 * Returns the text of the file that a report calls `name`, without a final NUL, and its length in bytes in *len. The text is
 * valid until the next call for this `s`. Returns NULL if there is no such file, or the file may not be read, or `s` is NULL.
 *
 * The file is searched in this order. A relative name is searched below each folder. An absolute name is searched at its path,
 * if that is below a folder, and then with each folder as root. Next come the files of sources_allow(). Last, each folder is
 * taken for a subfolder of the tree that was compiled: with a folder "/home/user/hold", the names "/build/hold/src/a.c" and
 * "hold/src/a.c" both mean /home/user/hold/src/a.c.
 */
const char *sources_text(struct sources *s, const char *name, size_t *len);

/*
 * Returns line `line` of the file that a report calls `name`, counted from 1, without its newline, and its length in bytes in
 * *len. The line is a part of the text that sources_text() returns, and is valid as long as that text. Returns NULL if there is
 * no such line.
 */
const char *sources_line(struct sources *s, const char *name, unsigned line, size_t *len);

#endif
