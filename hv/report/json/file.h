/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A JSON file with a growing list. The file is a complete, valid document at all times, even if this process is killed or
 * another one reads the file meanwhile. The document consists of a head, the items of the list, and a tail, each given as text
 * by the caller.
 *
 * A write(2) of several pages is not atomic: SIGKILL can end it half-way, and a reader can see half of it. So there are two
 * files, the named one and "NAME.next". An update writes the items that "NAME.next" lacks to "NAME.next", and then exchanges
 * the two names atomically (renameat2(2), RENAME_EXCHANGE). So the new "NAME.next" lacks the newest items until the next
 * update. On a file system without RENAME_EXCHANGE, each update writes and renames the whole document.
 *
 * No locks: one thread at a time uses a file.
 */
#ifndef OUTRIDER_REPORT_JSON_FILE_H
#define OUTRIDER_REPORT_JSON_FILE_H

#include <stddef.h>

#include "hv/base/err.h"

struct json_file;

/*
 * All items of the list, oldest first. If the text of an item changes later, the file keeps the text that was written, until
 * json_file_rewrite().
 */
struct json_items {
	/* Number of items. */
	size_t count;
	/* Returns item `index` as text from malloc(), which json_file frees, or NULL if memory runs out. */
	char *(*text)(void *ctx, size_t index);
	/* First argument of text(). */
	void *ctx;
};

/*
 * Create the document without items at `path`. Follows a symbolic link. An existing file must be regular, and is replaced only
 * on success. Replaces a "NAME.next" that a killed process of this user left behind; any other file of that name is neither
 * opened nor removed. Returns NULL with EXIT_INPUT if the file cannot be created.
 */
struct json_file *json_file_create(const char *path, const char *head, const char *tail, struct err *err);

/*
 * Append the items of `all` that the file lacks, with a new tail. On failure, for example on a full disk, the document stays
 * unchanged, and the next successful call also adds the missed items. Returns 0, or -1 with err set.
 */
int json_file_update(struct json_file *f, const char *tail, const struct json_items *all, struct err *err);

/*
 * Write the whole document to a new file and fsync(2) it, before the new file replaces the old one. On failure the old document
 * remains. Returns 0, or -1 with err set.
 */
int json_file_rewrite(struct json_file *f, const char *head, const char *tail, const struct json_items *all, struct err *err);

/* Close the file and remove "NAME.next". `f` may be NULL. */
void json_file_close(struct json_file *f);

#endif
