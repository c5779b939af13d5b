/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The source files that the user lets Outrider read. Which file is asked for is said by a report, and anybody may have written
 * the report. So a file is read only if it lies below a folder that the user named, or if a debug file that the user named was
 * compiled from it.
 *
 * The kernel holds every path to its folder (openat2(2) with RESOLVE_BENEATH). A path with ".." names no file, a symbolic link
 * that leads out of the folder is not followed, and only regular files of at most SOURCES_FILE_MAX bytes are opened for
 * reading.
 *
 * There are no locks: one thread at a time may use a struct sources.
 */
#ifndef OUTRIDER_SYMBOLS_FILES_SOURCES_H
#define OUTRIDER_SYMBOLS_FILES_SOURCES_H

#include <stdbool.h>
#include <stddef.h>

#include "hv/base/err.h"

/* The largest file that is read, in bytes. Only generated lists of registers are nearly as large in Linux. */
#define SOURCES_FILE_MAX ((size_t)16 << 20)

struct sources;

struct sources_sink {
	/* Takes one line for people, which names a file that is there and is not read, and says why. */
	void (*note)(void *ctx, const char *line);
	void *ctx;
};

/* NULL with EXIT_INTERNAL: memory ran out. `sink` is copied. A NULL `sink` takes no lines. */
struct sources *sources_new(const struct sources_sink *sink, struct err *err);

/* `s` may be NULL. */
void sources_free(struct sources *s);

/*
 * Let files below `folder` be read, after those below the folders that were added before. Returns 0; or -1 with EXIT_INPUT when
 * there is no such folder, or when the host's kernel has no openat2(2), which Linux has since 5.6; or -1 with EXIT_INTERNAL
 * when memory ran out.
 */
int sources_add(struct sources *s, const char *folder, struct err *err);

/*
 * Let the file at the absolute path `path` be read when `name` is asked for. Call it for what a debug file names that the user
 * gave. A file whose name does not end as that of a source file (.c, .h, .S and the like) is not let in. Nothing happens when
 * memory runs out, since the file is then only not read. `s` may be NULL.
 */
void sources_allow(struct sources *s, const char *name, const char *path);

/* The path of folder number `i`, in the order in which they were added. NULL: there are not so many. */
const char *sources_folder(const struct sources *s, size_t i);

/* Whether `path`, a relative one without "..", is a regular file of at most SOURCES_FILE_MAX bytes below folder number `i`. */
bool sources_below(const struct sources *s, size_t i, const char *path);

/*
 * The text of the file that a report calls `name`, and its length in bytes in *len. The text has no NUL at its end. It is valid
 * until the next call for this `s`. NULL: there is no such file, or it may not be read. `s` may be NULL: there are no files.
 *
 * A relative name is looked for below each folder. An absolute name is looked for where it says, if that is below a folder;
 * then as if each folder were the root. Then comes what sources_allow() let in. The last attempt is for a folder that is a part
 * of the tree that was compiled: below a folder "hold", "/build/hold/src/a.c" and "hold/src/a.c" are src/a.c.
 */
const char *sources_text(struct sources *s, const char *name, size_t *len);

/*
 * Line number `line` of a file, counted from 1, without its newline. The line is a part of the file's text, *len bytes long and
 * valid as long as that. NULL: there is no such line.
 */
const char *sources_line(struct sources *s, const char *name, unsigned line, size_t *len);

#endif
