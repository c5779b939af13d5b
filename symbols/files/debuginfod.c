// SPDX-License-Identifier: GPL-2.0-or-later
/* Fetches debug files by build id from the debuginfod servers that the user's environment names. */
#include "symbols/files/debuginfod.h"

#include <elfutils/debuginfod.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hv/base/clock.h"

/* Period of progress lines: 3 s, so that a file that is fetched in less time prints none. */
#define MESSAGE_NS UINT64_C(3000000000)
#define MIB (1 << 20)

struct debuginfod {
	struct debuginfod_sink sink;
	debuginfod_client *client;
	const char *name; /* name of the file being fetched */
	uint64_t next_message_ns;
	bool cancelled;
};

/* The library calls this several times a second. `done` of `all` bytes have been fetched; `all` is 0 while unknown. */
static int progress(debuginfod_client *client, long done, long all)
{
	struct debuginfod *d = debuginfod_get_user_data(client);
	char line[200];

	if (d->sink.cancelled && d->sink.cancelled(d->sink.ctx)) {
		d->cancelled = true;
		return 1;
	}
	if (monotonic_ns() < d->next_message_ns)
		return 0;
	d->next_message_ns = monotonic_ns() + MESSAGE_NS;
	if (all > MIB)
		snprintf(line, sizeof(line), "%.64s: debuginfod: %ld of %ld MiB", d->name, done / MIB, all / MIB);
	else
		snprintf(line, sizeof(line), "%.64s: waiting for debuginfod", d->name);
	d->sink.message(d->sink.ctx, line);
	return 0;
}

struct debuginfod *debuginfod_new(const struct debuginfod_sink *sink, struct err *err)
{
	const char *urls = getenv(DEBUGINFOD_URLS_ENV_VAR);
	struct debuginfod *d;

	if (!urls || !urls[strspn(urls, " \t")]) {
		err_set(err, EXIT_INPUT, "--debuginfod: no server is named: set %s to its URL", DEBUGINFOD_URLS_ENV_VAR);
		return NULL;
	}
	d = calloc(1, sizeof(*d));
	if (d)
		d->client = debuginfod_begin();
	if (!d || !d->client) {
		free(d);
		err_set(err, EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	d->sink = *sink;
	debuginfod_set_user_data(d->client, d);
	debuginfod_set_progressfn(d->client, progress);
	return d;
}

void debuginfod_free(struct debuginfod *d)
{
	if (!d)
		return;
	debuginfod_end(d->client);
	free(d);
}

char *debuginfod_fetch(struct debuginfod *d, const char *name, const uint8_t *id, size_t len, struct err *err)
{
	char *path = NULL;
	int fd;

	d->name = name;
	d->cancelled = false;
	d->next_message_ns = monotonic_ns() + MESSAGE_NS;
	fd = debuginfod_find_debuginfo(d->client, id, (int)len, &path);
	if (fd >= 0) {
		close(fd);
		return path;
	}
	if (d->cancelled)
		err_set(err, EXIT_INPUT, "%.64s: debuginfod: download cancelled", name);
	else if (fd == -ENOENT)
		err_set(err, EXIT_INPUT, "%.64s: debuginfod: no server has the debug file of this build", name);
	else
		err_set(err, EXIT_INPUT, "%.64s: debuginfod: %s", name, strerror(-fd));
	return NULL;
}
