/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A gdbstub's description of its registers. NULs separate the documents: target.xml comes first, any other annex is the second.
 */
#include "hv/rsp/regmap.h"
#include "tests/fuzz/fuzz.h"

struct documents {
	const uint8_t *data;
	size_t size;
};

static char *fetch(void *ctx, const char *annex, struct err *err)
{
	const struct documents *d = ctx;
	const uint8_t *at = d->data, *end = d->data + d->size, *nul = memchr(at, 0, d->size);
	char *text;
	size_t len;

	if (strcmp(annex, "target.xml") != 0) {
		if (!nul) {
			err_set(err, EXIT_INPUT, "there is no second document");
			return NULL;
		}
		at = nul + 1;
		nul = memchr(at, 0, (size_t)(end - at));
	}
	len = (size_t)((nul ? nul : end) - at);
	text = malloc(len + 1);
	fuzz_require(text);
	memcpy(text, at, len);
	text[len] = 0;
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t packet[1024];
	struct documents d = {data, size};
	struct regmap map;
	struct x86_regs regs;
	struct err err = {0};
	unsigned number, bytes;
	uint64_t value;

	if (regmap_read(&map, fetch, &d, &err)) {
		fuzz_refused(&err);
		return 0;
	}
	for (size_t len = 0; len <= sizeof(packet); len += 64)
		regmap_decode(&map, packet, len, &regs);
	for (unsigned i = 0; regmap_writable(&map, i, &regs, &number, &bytes, &value) == 0; i++)
		fuzz_require(bytes <= 8);
	return 0;
}
