/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The format of rule lists and suppressions. A file has stanzas, each of a [kind] line and "key = value" lines. A # begins a
 * comment. docs/pruning.md describes the format.
 */
#ifndef OUTRIDER_PRUNER_CONF_H
#define OUTRIDER_PRUNER_CONF_H

#include <stddef.h>

#include "hv/base/err.h"

#define CONF_FIELDS_MAX 16

struct conf_stanza {
	const char *file;
	unsigned line; /* The line that has the [kind]. */
	const char *kind;
	unsigned count;
	struct conf_field {
		unsigned line;
		const char *key, *value;
	} fields[CONF_FIELDS_MAX];
};

/* Takes one stanza, whose strings last only for the call. Returns 0; or -1 with err set, and then parsing ends. */
typedef int (*conf_each)(void *ctx, const struct conf_stanza *stanza, struct err *err);

/*
 * Call `each` for every stanza of a text or of a file. Error messages call the text `name`. Returns 0, or -1 with EXIT_INPUT.
 */
int conf_parse(const char *name, const char *text, size_t len, conf_each each, void *ctx, struct err *err);
int conf_read(const char *path, conf_each each, void *ctx, struct err *err);

/* Set `err` to EXIT_INPUT and a message that begins with the file and the line. Returns -1. */
int conf_wrong(const char *file, unsigned line, struct err *err, const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Returns whether `text` matches one of the shell patterns in `globs`. Blanks separate the patterns. */
int conf_match(const char *globs, const char *text);

/*
 * Returns the same for a key that a stanza need not have: a NULL `globs` matches every text. A text that is NULL or empty
 * matches no pattern.
 */
int conf_fits(const char *globs, const char *text);

#endif
