// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the default places of stores, and computes uuids from names. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/siphash.h"
#include "hv/campaign/store/internal.h"

static char *made(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static char *made(struct err *err, const char *fmt, ...)
{
	char *path = NULL;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&path, fmt, ap);
	va_end(ap);
	if (len >= 0)
		return path;
	err_set(err, EXIT_INTERNAL, "out of memory");
	return NULL;
}

/*
 * Returns the path `below`, which begins with a slash, in the user's folder for data: $XDG_DATA_HOME, or else ~/.local/share.
 * Ignores an XDG_DATA_HOME that is a relative path, as the XDG Base Directory Specification says.
 */
static char *data_folder(const char *below, struct err *err)
{
	const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");

	if (data && data[0] == '/')
		return made(err, "%s%s", data, below);
	if (!home || home[0] != '/') {
		err_set(err, EXIT_INPUT, "neither XDG_DATA_HOME nor HOME is set; say where the store is with --store");
		return NULL;
	}
	return made(err, "%s/.local/share%s", home, below);
}

char *store_default_path(struct err *err)
{
	return data_folder("/outrider/campaigns.db", err);
}

char *store_runs_folder(const char *where, struct err *err)
{
	const char *slash = strrchr(where, '/');

	if (strstr(where, "://"))
		return data_folder("/outrider/runs", err);
	return made(err, "%.*sruns", slash ? (int)(slash - where) + 1 : 0, where);
}

void store_uuid(const char *first, const char *second, char out[STORE_UUID_MAX])
{
	/*
	 * Two arbitrary keys, one for each half of a uuid. All versions and machines must use these two: otherwise merged
	 * stores would have two uuids for one run.
	 */
	static const struct siphash_key keys[2] = {{{0x6f75747269646572, 1}}, {{0x6f75747269646572, 2}}};
	size_t len = strlen(first) + 1 + strlen(second);
	uint64_t hash[2];

	for (unsigned i = 0; i < 2; i++) {
		/*
		 * Put `first` into the key, and hash only `second` with it: so "ab" with "c" gives another uuid than "a" with
		 * "bc".
		 */
		struct siphash_key key = {{keys[i].k[0] ^ siphash(&keys[i], first, strlen(first)), keys[i].k[1] ^ len}};

		hash[i] = siphash(&key, second, strlen(second));
	}
	snprintf(out, STORE_UUID_MAX, "%016" PRIx64 "%016" PRIx64, hash[0], hash[1]);
}
