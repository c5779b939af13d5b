// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A scenario, as a file may have it. The first byte of the input says whether the rest is the file itself, the bytes that are
 * compressed in it, or changes to those of one of good form. With FIRST_VERSION, the file says that it has version 1. With 0x40
 * in it the changes begin with three bytes for each section, which leave the section out, repeat it, or give it another length,
 * which the section's head then says. This program compresses all but the first kind, so that the reader of decompressed bytes
 * is reached. What was read is written and read again, and must be the same.
 */
#include <zstd.h>

#include "hv/replay/scenario/format.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/replay/scenario_made.h"

#define ROOM (1u << 20)
#define WRITTEN_MAX MIB(256) /* bytes of RAM; the writer reads each page, and more pages would make an input slow */
#define WRITTEN_EACH 64	   /* scenarios; of these one is written and read again, which takes 40 times as long as to read it. */
#define FIRST_VERSION 0x80 /* in the first byte: the file says that it has version 1 */
#define SECTIONS 4
#define EDIT 3 /* bytes of a change to a section */

static uint8_t all[ROOM], good[ROOM];
static struct fuzz_file file, other;

/* The bytes that are compressed in a scenario of good form. Returns how many there are. */
static size_t make_good(void)
{
	struct scenario s;
	ZSTD_DCtx *zstd = ZSTD_createDCtx();
	ZSTD_inBuffer in = {.src = all};
	ZSTD_outBuffer out = {good, ROOM, 0};

	fuzz_require(zstd && scenario_made(&s, NULL) == 0);
	fuzz_file(&file, "", 0);
	fuzz_require(scenario_write(file.fd, &s, NULL) == 0);
	scenario_close(&s);
	in.size = (size_t)pread(file.fd, all, ROOM, sizeof(struct scenario_head));
	fuzz_require(ZSTD_decompressStream(zstd, &out, &in) == 0);
	ZSTD_freeDCtx(zstd);
	return out.pos;
}

/* A file with these bytes compressed, of the first version or of the one that is written. */
static const char *wrap(const uint8_t *stream, size_t len, bool first)
{
	const struct scenario_head head = {.magic = SCENARIO_MAGIC, .version = first ? 1 : SCENARIO_VERSION};

	memcpy(all, &head, sizeof(head));
	len = ZSTD_compress(all + sizeof(head), ROOM - sizeof(head), stream, len, 1);
	fuzz_require(!ZSTD_isError(len));
	return fuzz_file(&file, all, sizeof(head) + len);
}

static void read_again(const struct scenario *s)
{
	struct scenario again;
	const char *path = fuzz_file(&other, "", 0);

	fuzz_require(scenario_write(other.fd, s, NULL) == 0);
	fuzz_require(scenario_open(path, &again, NULL) == 0);
	fuzz_require(replay_identical(&s->facts.instance, &again.facts.instance));
	fuzz_require(s->state.len == again.state.len && memcmp(s->state.data, again.state.data, s->state.len) == 0);
	scenario_close(&again);
}

/* Where the sections of the good stream are, the last one's end included. RAM has no length, and the end none. */
static void find_sections(size_t len, size_t at[SECTIONS + 1])
{
	struct scenario_part part;

	at[0] = 0;
	for (unsigned i = 1; i < 3; i++) {
		memcpy(&part, good + at[i - 1], sizeof(part));
		at[i] = at[i - 1] + sizeof(part) + part.len;
	}
	at[3] = len - sizeof(part);
	at[4] = len;
}

/* Copy a section of the good stream to `out`, whose head says the new length. Returns that, with the head. */
static size_t resize(uint8_t *out, size_t from, size_t to, uint16_t change)
{
	size_t len = to - from, now = change & 0x8000 ? len + (change & 0x7fff) : len - change % (len + 1);
	struct scenario_part part;

	memcpy(out, good + from, now < len ? now : len);
	if (now > len)
		memset(out + len, change, now - len);
	memcpy(&part, out, sizeof(part));
	if (now < sizeof(part) || part.type >= SCENARIO_RAM)
		return now;
	part.len = now - sizeof(part);
	memcpy(out, &part, sizeof(part));
	return now;
}

/* Put the good stream together with these changes to its sections. Returns its length. */
static size_t edit(uint8_t *out, const size_t at[SECTIONS + 1], const uint8_t *data)
{
	size_t len = 0;

	for (unsigned i = 0; i < SECTIONS; i++, data += EDIT) {
		uint16_t change = (uint16_t)(data[1] | data[2] << 8);

		for (unsigned n = data[0] == 1 ? 0 : data[0] == 2 ? 2 : 1; n; n--)
			len += resize(out + len, at[i], at[i + 1], data[0] == 3 ? change : 0);
	}
	return len;
}

static const char *change_good(const uint8_t *data, size_t size)
{
	static uint8_t changed[ROOM];
	static size_t good_len, at[SECTIONS + 1];
	bool edits = data[0] & 0x40 && size > SECTIONS * EDIT;
	uint8_t data0 = data[0];
	size_t len;

	if (!good_len) {
		good_len = make_good();
		find_sections(good_len, at);
	}
	len = good_len;
	if (edits)
		len = edit(changed, at, data + 1);
	else
		memcpy(changed, good, good_len);
	data += 1 + (edits ? SECTIONS * EDIT : 0);
	size -= 1 + (edits ? SECTIONS * EDIT : 0);
	/* All of it; the facts; the state; the head of RAM and its first run. */
	const struct fuzz_range ranges[] = {
		{changed, len ? len : 1}, {changed, 2000}, {changed + at[1], at[2] - at[1]}, {changed + at[2], 32}};

	fuzz_patch(ranges, sizeof(ranges) / sizeof(ranges[0]), data, size);
	return wrap(changed, len, data0 & FIRST_VERSION);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static unsigned taken;
	struct scenario s;
	struct err err = {0};
	const char *path;

	if (!size || size > ROOM / 8)
		return 0;
	if (data[0] % 3 == 0)
		path = fuzz_file(&file, data + 1, size - 1);
	else if (data[0] % 3 == 1)
		path = wrap(data + 1, size - 1, data[0] & FIRST_VERSION);
	else
		path = change_good(data, size);
	if (scenario_open(path, &s, &err) < 0) {
		fuzz_refused(&err);
		return 0;
	}
	/* An input that is run alone is the first one. */
	if (taken++ % WRITTEN_EACH == 0 && s.ram.low + s.ram.high <= WRITTEN_MAX)
		read_again(&s);
	scenario_close(&s);
	return 0;
}
