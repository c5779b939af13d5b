/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A JSON file with a growing list in it. The file is a complete, valid document at every moment, whatever kills this process
 * and whoever reads the file meanwhile. The document is a head, the items of the list, and a tail, each given as text; what
 * these say is the caller's business.
 *
 * A write(2) of several pages is not atomic: SIGKILL can end it in the middle, and a reader can see half of it. So there are
 * two files, the named one and "NAME.next". New items are written to the second file. Then the two names are exchanged, which
 * is atomic (renameat2(2), RENAME_EXCHANGE), and the file that has become the second one catches up with the next item. Where
 * the file system has no exchange, the whole document is written anew and renamed for each item.
 *
 * No locks: one thread at a time uses a file.
 */
#ifndef OUTRIDER_REPORT_JSON_FILE_H
#define OUTRIDER_REPORT_JSON_FILE_H

#include <stddef.h>

#include "hv/base/err.h"

struct json_file;

/*
 * Every item that there is, old ones first. An item's text may say more later; the file keeps the text as it was when the item
 * was written, until json_file_rewrite().
 */
struct json_items {
	/* How many items there are. */
	size_t count;
	/* Item `index` as text from malloc(), which the callee frees. NULL: memory ran out. */
	char *(*text)(void *ctx, size_t index);
	/* Handed to text(). */
	void *ctx;
};

/*
 * Create the document without items, in place of what `path` names. A symbolic link is followed, and what is there must be a
 * regular file. When this fails, what was there stays. A "NAME.next" that this user's killed process has left is replaced; any
 * other is neither opened nor removed. NULL with EXIT_INPUT: the file cannot be created.
 */
struct json_file *json_file_create(const char *path, const char *head, const char *tail, struct err *err);

/*
 * Bring in the items of `all` that are not in the file yet, with a new tail. When this fails, as on a full disk, the document
 * stays what it was, and the next success brings in the missed items too. 0, or -1 with err set.
 */
int json_file_update(struct json_file *f, const char *tail, const struct json_items *all, struct err *err);

/*
 * Write the whole document anew. It is on the disk, by fsync(2), before it takes the name. When this fails, the old document
 * stays. 0, or -1 with err set.
 */
int json_file_rewrite(struct json_file *f, const char *head, const char *tail, const struct json_items *all, struct err *err);

/* Close the file and remove "NAME.next". NULL is allowed. */
void json_file_close(struct json_file *f);

#endif
