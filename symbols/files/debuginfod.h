/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Debug files from the debuginfod servers that the user's environment names (DEBUGINFOD_URLS), by build id. The library and its
 * cache do the work; debuginfod_find_debuginfo(3) describes them and the other variables, DEBUGINFOD_TIMEOUT among them.
 *
 * There are no locks: one thread at a time may use a client.
 */
#ifndef OUTRIDER_SYMBOLS_FILES_DEBUGINFOD_H
#define OUTRIDER_SYMBOLS_FILES_DEBUGINFOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"

struct debuginfod_sink {
	/* Takes one line that says how far a file is. */
	void (*note)(void *ctx, const char *line);
	/* Whether the user wants no more. Then a file that is being fetched is given up. NULL: never. */
	bool (*cancelled)(void *ctx);
	void *ctx;
};

struct debuginfod;

/* `sink` is copied. NULL with EXIT_INPUT: no server is named. NULL with EXIT_INTERNAL: memory is out. */
struct debuginfod *debuginfod_new(const struct debuginfod_sink *sink, struct err *err);
void debuginfod_free(struct debuginfod *d);

/*
 * Fetch the debug file with the build id `id` of `len` bytes into the library's cache. `name` is how notes call it. Returns the
 * path, which the caller frees; or NULL with EXIT_INPUT when no server has the file, when the servers do not answer in time, or
 * when the user wants no more. What a server sends may be anything: the caller checks the file's build id.
 */
char *debuginfod_fetch(struct debuginfod *d, const char *name, const uint8_t *id, size_t len, struct err *err);

#endif
