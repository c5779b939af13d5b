// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes a scenario file. The data are streamed into the file, because RAM is large: memory is needed only for one buffer and
 * for zstd at its fastest level.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "hv/base/x86.h"
#include "hv/replay/scenario/format.h"

#define LEVEL 1 /* zstd's fastest level, because a run waits for the scenario */
#define BUFFER_SIZE (1u << 18)

struct out {
	int fd;
	uint64_t at;
	ZSTD_CCtx *zstd;
	uint8_t *buffer;
	struct err *err;
	bool failed;
};

static void disk_error(struct out *o)
{
	bool full = errno == ENOSPC || errno == EDQUOT;

	err_set(o->err, EXIT_INPUT, "cannot write the scenario: %s%s", strerror(errno), full ? "; make room" : "");
	o->failed = true;
}

static void put_raw(struct out *o, const void *data, size_t len)
{
	const uint8_t *from = data;

	while (!o->failed && len) {
		ssize_t n = pwrite(o->fd, from, len, (off_t)o->at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = EIO;
		if (n <= 0) {
			disk_error(o);
			return;
		}
		from += n;
		len -= (size_t)n;
		o->at += (uint64_t)n;
	}
}

/* Compress `len` bytes; `end` also ends the frame. */
static void put(struct out *o, const void *data, size_t len, bool end)
{
	ZSTD_inBuffer in = {data, len, 0};
	size_t left;

	do {
		ZSTD_outBuffer out = {o->buffer, BUFFER_SIZE, 0};

		left = ZSTD_compressStream2(o->zstd, &out, &in, end ? ZSTD_e_end : ZSTD_e_continue);
		if (ZSTD_isError(left)) {
			err_set(o->err, EXIT_INTERNAL, "the scenario cannot be compressed: %s", ZSTD_getErrorName(left));
			o->failed = true;
			return;
		}
		put_raw(o, o->buffer, out.pos);
	} while (!o->failed && (in.pos < in.size || (end && left)));
}

static void put_part(struct out *o, enum scenario_section type, const void *data, size_t len)
{
	const struct scenario_part part = {.type = type, .len = len};

	put(o, &part, sizeof(part), false);
	put(o, data, len, type == SCENARIO_END);
}

static bool is_zero(const uint8_t *page)
{
	static const uint8_t zero[X86_PAGE_SIZE];

	return memcmp(page, zero, X86_PAGE_SIZE) == 0;
}

static void put_run(struct out *o, const struct ram *ram, uint64_t first, uint64_t end)
{
	const struct scenario_run run = {.offset = first * X86_PAGE_SIZE, .pages = end - first};

	put(o, &run, sizeof(run), false);
	put(o, ram->host + first * X86_PAGE_SIZE, (end - first) * X86_PAGE_SIZE, false);
}

static void put_ram(struct out *o, const struct ram *ram)
{
	const struct scenario_part part = {.type = SCENARIO_RAM};
	const struct scenario_run last = {0};
	uint64_t pages = (ram->low + ram->high) / X86_PAGE_SIZE, first = 0;

	put(o, &part, sizeof(part), false);
	while (!o->failed && first < pages) {
		uint64_t end = first;

		while (end < pages && !is_zero(ram->host + end * X86_PAGE_SIZE))
			end++;
		if (end > first)
			put_run(o, ram, first, end);
		first = end + 1;
	}
	put(o, &last, sizeof(last), false);
}

static int open_out(struct out *o)
{
	o->zstd = ZSTD_createCCtx();
	o->buffer = malloc(BUFFER_SIZE);
	if (!o->zstd || !o->buffer)
		return err_set(o->err, EXIT_INTERNAL, "no memory for a scenario");
	ZSTD_CCtx_setParameter(o->zstd, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(o->zstd, ZSTD_c_checksumFlag, 1);
	return 0;
}

int scenario_write(int fd, const struct scenario *s, struct err *err)
{
	const struct scenario_head head = {.magic = SCENARIO_MAGIC, .version = SCENARIO_VERSION};
	struct out o = {.fd = fd, .err = err};
	uint8_t *fields = malloc(SCENARIO_FIELDS_MAX);

	o.failed = !fields || open_out(&o) < 0;
	if (!fields)
		err_set(err, EXIT_INTERNAL, "no memory for a scenario");
	if (!o.failed) {
		put_raw(&o, &head, sizeof(head));
		put_part(&o, SCENARIO_FACTS, fields, scenario_put_fields(s, fields));
		put_part(&o, SCENARIO_STATE, s->state.data, s->state.len);
		put_ram(&o, &s->ram);
		put_part(&o, SCENARIO_END, NULL, 0);
	}
	/* An empty file means that there is no scenario. */
	if (o.failed && ftruncate(fd, 0) < 0)
		err_set(err, EXIT_INPUT, "the scenario was written in part, and this part cannot be removed: %s",
			strerror(errno));
	ZSTD_freeCCtx(o.zstd);
	free(o.buffer);
	free(fields);
	return o.failed ? -1 : 0;
}
