/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A JSON file with a growing list in it that is a complete, valid document at every moment, whatever kills us and whoever reads
 * it meanwhile: head, items, tail, all as text. What is in JSON is the caller's business.
 *
 * A write(2) of several pages is not atomic: SIGKILL can end it in the middle, and a reader can see half of it. So there are
 * two files, the named one and "NAME.next". New items are written to the second, and then the two names are exchanged
 * (renameat2(2), RENAME_EXCHANGE), which is atomic; what has become second catches up with the next item. Where the file system
 * has no exchange, the whole document is written anew and renamed for each item.
 */
#ifndef OUTRIDER_REPORT_JSON_FILE_H
#define OUTRIDER_REPORT_JSON_FILE_H

#include <stddef.h>

#include "hv/base/err.h"

struct json_file;

/* Every item there is, old ones first. An item's text may say more later; what is in the file by then is as it was. */
struct json_items {
	size_t count;
	/* Item `index` as text from malloc(), for the callee to free; NULL when memory ran out. */
	char *(*text)(void *ctx, size_t index);
	void *ctx;
};

/*
 * Create the document without items, in place of what `path` names (a symbolic link is followed; what is there must be a
 * regular file). What was there stays when this fails. NULL: see err (EXIT_INPUT).
 */
struct json_file *json_file_create(const char *path, const char *head, const char *tail, struct err *err);

/*
 * Bring in the items of `all` that are not in the file yet, with a new tail. On failure (a full disk) the document stays what
 * it was, and the next success brings the missed items too. 0, or -1 with err set.
 */
int json_file_update(struct json_file *f, const char *tail, const struct json_items *all, struct err *err);

/* Write the whole document anew, on the disk (fsync) before it takes the name. Failure leaves the old document. */
int json_file_rewrite(struct json_file *f, const char *head, const char *tail, const struct json_items *all, struct err *err);

/* Close; removes NAME.next. */
void json_file_close(struct json_file *f);

#endif
