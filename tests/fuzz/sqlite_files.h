/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SQLite's files in memory: no file system, no lock and no sync is in the way of a fuzz target. There is no shared memory
 * either, so that a store has a journal and no log. For one .c file a program.
 */
#ifndef OUTRIDER_TESTS_FUZZ_SQLITE_FILES_H
#define OUTRIDER_TESTS_FUZZ_SQLITE_FILES_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

#define FUZZ_FILES_MAX 8
#define FUZZ_FILE_ROOM (32u << 20) /* bytes of a file: a write after them finds the disk full */

struct fuzz_kept {
	char name[128]; /* "": free */
	uint8_t *bytes;
	size_t size, room;
};

struct fuzz_files {
	sqlite3_vfs vfs; /* This must be the first member. */
	struct fuzz_kept list[FUZZ_FILES_MAX];
};

/* SQLite's handle of a file. */
struct fuzz_handle {
	sqlite3_file base; /* This must be the first member. */
	struct fuzz_kept *file;
	bool temporary;
};

static struct fuzz_kept *fuzz_file_of(sqlite3_file *file)
{
	return ((struct fuzz_handle *)file)->file;
}

static struct fuzz_kept *fuzz_file_find(struct fuzz_files *files, const char *name)
{
	for (size_t i = 0; i < FUZZ_FILES_MAX; i++) {
		if (strcmp(files->list[i].name, name) == 0)
			return &files->list[i];
	}
	return NULL;
}

static int fuzz_file_grow(struct fuzz_kept *f, size_t size)
{
	if (size > FUZZ_FILE_ROOM)
		return SQLITE_FULL;
	if (size > f->room) {
		size_t room = 2 * size;
		uint8_t *bytes = realloc(f->bytes, room);

		fuzz_require(bytes);
		f->bytes = bytes;
		f->room = room;
	}
	if (size > f->size) {
		memset(f->bytes + f->size, 0, size - f->size);
		f->size = size;
	}
	return SQLITE_OK;
}

static int fuzz_file_close(sqlite3_file *file)
{
	struct fuzz_handle *h = (struct fuzz_handle *)file;

	if (h->temporary)
		h->file->name[0] = '\0';
	return SQLITE_OK;
}

static int fuzz_file_read(sqlite3_file *file, void *to, int len, sqlite3_int64 at)
{
	const struct fuzz_kept *f = fuzz_file_of(file);
	size_t there = (uint64_t)at < f->size ? f->size - (size_t)at : 0, n = there < (size_t)len ? there : (size_t)len;

	if (n)
		memcpy(to, f->bytes + at, n);
	memset((char *)to + n, 0, (size_t)len - n);
	return n < (size_t)len ? SQLITE_IOERR_SHORT_READ : SQLITE_OK;
}

static int fuzz_file_write(sqlite3_file *file, const void *from, int len, sqlite3_int64 at)
{
	struct fuzz_kept *f = fuzz_file_of(file);
	int rc = fuzz_file_grow(f, (size_t)at + (size_t)len);

	if (rc == SQLITE_OK)
		memcpy(f->bytes + at, from, (size_t)len);
	return rc;
}

static int fuzz_file_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	struct fuzz_kept *f = fuzz_file_of(file);

	if ((uint64_t)size < f->size)
		f->size = (size_t)size;
	return SQLITE_OK;
}

static int fuzz_file_size(sqlite3_file *file, sqlite3_int64 *size)
{
	*size = (sqlite3_int64)fuzz_file_of(file)->size;
	return SQLITE_OK;
}

static int fuzz_file_nothing(sqlite3_file *file, int how)
{
	(void)file;
	(void)how;
	return SQLITE_OK;
}

static int fuzz_file_is_locked(sqlite3_file *file, int *out)
{
	(void)file;
	*out = 0;
	return SQLITE_OK;
}

static int fuzz_file_control(sqlite3_file *file, int what, void *argument)
{
	(void)file;
	(void)what;
	(void)argument;
	return SQLITE_NOTFOUND;
}

static int fuzz_file_sector(sqlite3_file *file)
{
	(void)file;
	return 4096;
}

static int fuzz_file_device(sqlite3_file *file)
{
	(void)file;
	return SQLITE_IOCAP_ATOMIC | SQLITE_IOCAP_SAFE_APPEND | SQLITE_IOCAP_SEQUENTIAL | SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static int fuzz_files_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags)
{
	static const sqlite3_io_methods methods = {
		.iVersion = 1,
		.xClose = fuzz_file_close,
		.xRead = fuzz_file_read,
		.xWrite = fuzz_file_write,
		.xTruncate = fuzz_file_truncate,
		.xSync = fuzz_file_nothing,
		.xFileSize = fuzz_file_size,
		.xLock = fuzz_file_nothing,
		.xUnlock = fuzz_file_nothing,
		.xCheckReservedLock = fuzz_file_is_locked,
		.xFileControl = fuzz_file_control,
		.xSectorSize = fuzz_file_sector,
		.xDeviceCharacteristics = fuzz_file_device,
	};
	struct fuzz_files *files = (struct fuzz_files *)vfs;
	struct fuzz_handle *h = (struct fuzz_handle *)file;

	*h = (struct fuzz_handle){.file = name ? fuzz_file_find(files, name) : NULL, .temporary = !name};
	if (!h->file && name && !(flags & SQLITE_OPEN_CREATE))
		return SQLITE_CANTOPEN;
	if (!h->file) {
		h->file = fuzz_file_find(files, "");
		fuzz_require(h->file);
		snprintf(h->file->name, sizeof(h->file->name), "%s", name ? name : "temporary");
		h->file->size = 0;
	}
	h->base.pMethods = &methods;
	if (out_flags)
		*out_flags = flags;
	return SQLITE_OK;
}

static int fuzz_files_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
	struct fuzz_kept *f = fuzz_file_find((struct fuzz_files *)vfs, name);

	(void)sync;
	if (f)
		f->name[0] = '\0';
	return f ? SQLITE_OK : SQLITE_IOERR_DELETE_NOENT;
}

static int fuzz_files_access(sqlite3_vfs *vfs, const char *name, int how, int *out)
{
	(void)how;
	*out = fuzz_file_find((struct fuzz_files *)vfs, name) != NULL;
	return SQLITE_OK;
}

static int fuzz_files_path(sqlite3_vfs *vfs, const char *name, int room, char *out)
{
	(void)vfs;
	snprintf(out, (size_t)room, "%s", name);
	return SQLITE_OK;
}

/* From now on all files of SQLite are these. */
static inline void fuzz_files_init(struct fuzz_files *files)
{
	/* Times and random numbers are the host's. */
	files->vfs = *sqlite3_vfs_find(NULL);
	files->vfs.iVersion = 1;
	files->vfs.szOsFile = sizeof(struct fuzz_handle);
	files->vfs.mxPathname = sizeof(files->list[0].name) - 1;
	files->vfs.pNext = NULL;
	files->vfs.zName = "fuzz";
	files->vfs.xOpen = fuzz_files_open;
	files->vfs.xDelete = fuzz_files_delete;
	files->vfs.xAccess = fuzz_files_access;
	files->vfs.xFullPathname = fuzz_files_path;
	fuzz_require(sqlite3_vfs_register(&files->vfs, 1) == SQLITE_OK);
}

/* Make the file be these bytes, without a journal beside it. */
static inline void fuzz_files_put(struct fuzz_files *files, const char *path, const uint8_t *bytes, size_t size)
{
	size_t len = strlen(path);
	struct fuzz_kept *f;

	for (size_t i = 0; i < FUZZ_FILES_MAX; i++) {
		if (strncmp(files->list[i].name, path, len) == 0 && files->list[i].name[len] == '-')
			files->list[i].name[0] = '\0';
	}
	f = fuzz_file_find(files, path);
	if (!f) {
		f = fuzz_file_find(files, "");
		fuzz_require(f);
		snprintf(f->name, sizeof(f->name), "%s", path);
	}
	f->size = 0;
	fuzz_require(fuzz_file_grow(f, size) == SQLITE_OK);
	memcpy(f->bytes, bytes, size);
}

/* What is in it. NULL: there is no such file. */
static inline const uint8_t *fuzz_files_get(struct fuzz_files *files, const char *path, size_t *size)
{
	const struct fuzz_kept *f = fuzz_file_find(files, path);

	*size = f ? f->size : 0;
	return f ? f->bytes : NULL;
}

#endif
