/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fetches debug files by build id from the debuginfod servers that the user's environment names (DEBUGINFOD_URLS).
 * libdebuginfod does the work and keeps a cache; debuginfod_find_debuginfo(3) describes the cache and further variables, for
 * example DEBUGINFOD_TIMEOUT.
 *
 * Not thread-safe: one thread at a time may use a client.
 */
#ifndef OUTRIDER_SYMBOLS_FILES_DEBUGINFOD_H
#define OUTRIDER_SYMBOLS_FILES_DEBUGINFOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"

struct debuginfod_sink {
	/* Receives one line with the progress of a file. */
	void (*message)(void *ctx, const char *line);
	/* Returns true once the user has cancelled; then the file being fetched is abandoned. NULL: never. */
	bool (*cancelled)(void *ctx);
	void *ctx;
};

struct debuginfod;

/* Make a client. `sink` is copied. Returns NULL with EXIT_INPUT if no server is named, or EXIT_INTERNAL if memory runs out. */
struct debuginfod *debuginfod_new(const struct debuginfod_sink *sink, struct err *err);

/* Free the client. `d` may be NULL. */
void debuginfod_free(struct debuginfod *d);

/*
 * Fetch the debug file with the build id `id` of `len` bytes into the library's cache. `name` is the file's name in messages.
 * Returns the path, which the caller frees; or NULL with EXIT_INPUT if no server has the file, the servers do not answer in
 * time, or the user cancels. A server may send anything: the caller must check the build id of the file.
 */
char *debuginfod_fetch(struct debuginfod *d, const char *name, const uint8_t *id, size_t len, struct err *err);

#endif
