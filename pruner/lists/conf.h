/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file format of rule lists, suppressions and assertions. A file consists of stanzas: a line with [kind], then lines with
 * "key = value". A line that begins with # is a comment. docs/pruning.md describes the format.
 */
#ifndef OUTRIDER_PRUNER_LISTS_CONF_H
#define OUTRIDER_PRUNER_LISTS_CONF_H

#include <stddef.h>

#include "hv/base/err.h"

#define CONF_FIELDS_MAX 16

struct conf_stanza {
	const char *file;
	unsigned line; /* The line of the [kind]. */
	const char *kind;
	unsigned count;
	struct conf_field {
		unsigned line;
		const char *key, *value;
	} fields[CONF_FIELDS_MAX];
};

/*
 * A callback for one stanza, whose strings are valid only during the call. Returns 0 to continue. Returns -1 with err set to
 * stop parsing.
 */
typedef int (*conf_each)(void *ctx, const struct conf_stanza *stanza, struct err *err);

/*
 * Call `each` for every stanza. conf_parse() reads the `len` bytes at `text`, which error messages call `name`; conf_read()
 * reads the file at `path`. Returns 0, or -1 with err set: EXIT_INPUT for a file that cannot be read or parsed, or that has 4
 * MiB or more; EXIT_INTERNAL when memory ran out.
 */
int conf_parse(const char *name, const char *text, size_t len, conf_each each, void *ctx, struct err *err);
int conf_read(const char *path, conf_each each, void *ctx, struct err *err);

/* Set `err` to EXIT_INPUT and a message that begins with file and line. Returns -1. */
int conf_wrong(const char *file, unsigned line, struct err *err, const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Returns whether `text` matches one of the shell patterns in `globs`, of at most 255 bytes each, separated by blanks. */
int conf_match(const char *globs, const char *text);

/* As conf_match(), for an optional key: a NULL `globs` matches every text. An empty text matches no pattern. */
int conf_fits(const char *globs, const char *text);

#endif
