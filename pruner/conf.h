/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The format of rule lists and suppressions: stanzas of a [kind] and "key = value" lines, # for comments, as in
 * docs/pruning.md.
 */
#ifndef OUTRIDER_PRUNER_CONF_H
#define OUTRIDER_PRUNER_CONF_H

#include <stddef.h>

#include "hv/base/err.h"

#define CONF_FIELDS_MAX 16

struct conf_stanza {
	const char *file;
	unsigned line; /* of its [kind] */
	const char *kind;
	unsigned count;
	struct conf_field {
		unsigned line;
		const char *key, *value;
	} fields[CONF_FIELDS_MAX];
};

/* Take one stanza, whose strings last during the call. 0, or -1 with err set: then parsing ends. */
typedef int (*conf_each)(void *ctx, const struct conf_stanza *stanza, struct err *err);

/* `name` is what errors call it. 0, or -1 with EXIT_INPUT. */
int conf_parse(const char *name, const char *text, size_t len, conf_each each, void *ctx, struct err *err);
int conf_read(const char *path, conf_each each, void *ctx, struct err *err);

/* err_set() with the place in front; returns -1. */
int conf_wrong(const char *file, unsigned line, struct err *err, const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Whether `text` matches one of the shell patterns in `globs`, which are separated by blanks. */
int conf_match(const char *globs, const char *text);

/* The same of a key that need not be given: NULL matches all. What has no name matches nothing else. */
int conf_fits(const char *globs, const char *text);

#endif
