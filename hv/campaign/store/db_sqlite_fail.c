// SPDX-License-Identifier: GPL-2.0-or-later
/* Turns SQLite's errors into one-line messages that say what to do. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "hv/campaign/store/db_sqlite.h"

static int fail_to_open(struct db *db, struct err *err)
{
	sqlite3 *handle = db->handle;
	int host = sqlite3_system_errno(handle);

	/*
	 * If the file can be read but not written, the reason for the error is that SQLite could not create its journal beside
	 * the file.
	 */
	if (access(db->where, R_OK) == 0 && access(db->where, W_OK) < 0)
		return err_set(err, EXIT_INPUT, "%s: the store is read-only: %s; nothing was changed", db->shown,
			       strerror(errno));
	return err_set(err, EXIT_INPUT, "%s: cannot open the store: %s", db->shown,
		       host ? strerror(host) : sqlite3_errmsg(handle));
}

static int fail_by_disk(struct db *db, struct err *err)
{
	sqlite3 *handle = db->handle;
	int host = sqlite3_system_errno(handle);

	if (host == ENOSPC || host == EDQUOT || host == EFBIG)
		return err_set(err, EXIT_INPUT, "%s: no room for the store: %s; nothing was changed", db->shown,
			       strerror(host));
	if (sqlite3_extended_errcode(handle) == SQLITE_IOERR_WRITE && !host)
		return err_set(err, EXIT_INPUT,
			       "%s: cannot write the store: there is no room for it, or its disk fails; nothing was changed",
			       db->shown);
	return err_set(err, EXIT_INPUT, "%s: cannot read or write the store: %s", db->shown,
		       host ? strerror(host) : sqlite3_errmsg(handle));
}

int sqlite_fail(struct db *db, struct err *err)
{
	sqlite3 *handle = db->handle;

	switch (handle ? sqlite3_extended_errcode(handle) & 0xff : SQLITE_NOMEM) {
	case SQLITE_NOMEM:
		return err_set(err, EXIT_INTERNAL, "out of memory");
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return err_set(err, EXIT_INPUT,
			       "%s: another process has locked the store for longer than %.1f s; try again later", db->shown,
			       db->wait_ms / 1000.0);
	case SQLITE_READONLY:
		return err_set(err, EXIT_INPUT, "%s: the store is read-only; nothing was changed", db->shown);
	case SQLITE_FULL:
		return err_set(err, EXIT_INPUT, "%s: the store's disk is full; nothing was changed", db->shown);
	case SQLITE_INTERRUPT:
		return err_set(
			err, EXIT_INPUT,
			"%s: reading the store takes far more work than its size explains; it is damaged, or was made to "
			"cause this",
			db->shown);
	case SQLITE_TOOBIG:
		return err_set(err, EXIT_INPUT,
			       "%s: the store is damaged: a value in it is larger than outrider writes; take it from a backup",
			       db->shown);
	case SQLITE_NOTADB:
		return err_set(err, EXIT_INPUT, "%s: this file is no store of campaigns (not an SQLite database)", db->shown);
	case SQLITE_CORRUPT:
		return err_set(err, EXIT_INPUT,
			       "%s: the store is damaged; take it from a backup, or merge what can be read into a new store",
			       db->shown);
	case SQLITE_CANTOPEN:
		return fail_to_open(db, err);
	case SQLITE_IOERR:
		return fail_by_disk(db, err);
	default:
		return err_set(err, EXIT_INPUT, "%s: the store differs from what this version of outrider makes: %s", db->shown,
			       sqlite3_errmsg(handle));
	}
}
