// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A scenario, as a file may have it. The first byte of the input says whether the rest is the file itself, the bytes that are
 * compressed in it, or changes to those of one of good form. What is read is written, and is read as the same again.
 */
#include <zstd.h>

#include "hv/replay/scenario/format.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/scenario_made.h"

#define ROOM (1u << 20)
#define WRITTEN_MAX MIB(256) /* Of RAM. The writer looks at each page, which takes long when there is more. */

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

/* A file with these bytes compressed. */
static const char *wrap(const uint8_t *stream, size_t len)
{
	const struct scenario_head head = {.magic = SCENARIO_MAGIC, .version = SCENARIO_VERSION};

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t changed[ROOM];
	static size_t good_len;
	struct scenario s;
	struct err err = {0};
	const char *path;

	if (!size || size > ROOM / 2)
		return 0;
	if (!good_len)
		good_len = make_good();
	if (data[0] % 3 == 0) {
		path = fuzz_file(&file, data + 1, size - 1);
	} else if (data[0] % 3 == 1) {
		path = wrap(data + 1, size - 1);
	} else {
		const struct fuzz_range ranges[] = {{changed, good_len}, {changed, 2000}};

		memcpy(changed, good, good_len);
		fuzz_patch(ranges, 2, data + 1, size - 1);
		path = wrap(changed, good_len);
	}
	if (scenario_open(path, &s, &err) < 0) {
		fuzz_refused(&err);
		return 0;
	}
	if (s.ram.low + s.ram.high <= WRITTEN_MAX)
		read_again(&s);
	scenario_close(&s);
	return 0;
}
