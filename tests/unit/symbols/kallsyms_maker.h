/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes kallsyms tables as Linux's scripts/kallsyms.c does, in each order and encoding that kernels have had. */
#ifndef OUTRIDER_TESTS_UNIT_TEST_SYM_KALLSYMS_MAKER_H
#define OUTRIDER_TESTS_UNIT_TEST_SYM_KALLSYMS_MAKER_H

#include <stdbool.h>
#include <stdio.h>

#include "symbols/tables/symtab.h"
#include "tests/unit/symbols/blob.h"

#define IMAGE_BASE 0xffffffff81000000ull
#define FIRST_SHARED_TOKEN 128 /* a token below it is one character, a token from it on is several letters */
#define SHARED_TOKEN "ed_"

enum made_encoding { MADE_RELATIVE, MADE_PERCPU, MADE_SELF };

struct made_layout {
	const char *name;
	bool offsets_last; /* since 6.4 */
	bool seqs;	   /* seqs_of_names, since 6.2 */
	bool long_names;   /* since 6.1 */
	size_t align;
	enum made_encoding encoding;
};

static const struct made_layout made_layouts[] = {
	{"5.10", false, false, false, 8, MADE_PERCPU}, {"6.1", false, false, true, 8, MADE_PERCPU},
	{"6.1.y", false, true, true, 8, MADE_PERCPU},  {"6.12", true, true, true, 8, MADE_PERCPU},
	{"6.15", true, true, true, 8, MADE_RELATIVE},  {"7.2", true, true, true, 4, MADE_SELF},
};

static inline void made_token(unsigned token, char out[8])
{
	if (token == FIRST_SHARED_TOKEN)
		snprintf(out, 8, SHARED_TOKEN);
	else if (token > ' ' && token <= '~')
		snprintf(out, 8, "%c", token);
	else
		snprintf(out, 8, "x%02x", token);
}

/* Append a name: its length, then its tokens. */
static inline void made_name(struct blob *b, const struct made_layout *l, char type, const char *name)
{
	struct blob tokens = {0};

	blob_u8(&tokens, (unsigned)type);
	while (*name) {
		bool shared = !strncmp(name, SHARED_TOKEN, strlen(SHARED_TOKEN));

		blob_u8(&tokens, shared ? FIRST_SHARED_TOKEN : (uint8_t)*name);
		name += shared ? strlen(SHARED_TOKEN) : 1;
	}
	if (l->long_names && tokens.len > 127) {
		blob_u8(b, 0x80 | (tokens.len & 0x7f));
		blob_u8(b, (unsigned)(tokens.len >> 7));
	} else {
		assert_true(tokens.len < 256);
		blob_u8(b, (unsigned)tokens.len);
	}
	blob_put(b, tokens.bytes, tokens.len);
	blob_free(&tokens);
}

static inline void made_offsets(struct blob *b, const struct made_layout *l, const struct symbol *syms, uint32_t n)
{
	uint64_t here = IMAGE_BASE + b->len;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t addr = syms[i].addr;

		if (l->encoding == MADE_SELF)
			blob_u32(b, (uint32_t)(addr - (here + 4 * i)));
		else if (l->encoding == MADE_RELATIVE)
			blob_u32(b, (uint32_t)(addr - IMAGE_BASE));
		else
			blob_u32(b, addr < IMAGE_BASE ? (uint32_t)addr : (uint32_t)(IMAGE_BASE - 1 - addr));
	}
	blob_align(b, l->align);
	if (l->encoding != MADE_SELF)
		blob_u64(b, IMAGE_BASE);
}

static inline void made_names(struct blob *b, const struct made_layout *l, const struct symbol *syms, uint32_t n)
{
	struct blob markers = {0};
	size_t start;

	blob_u32(b, n);
	blob_align(b, l->align);
	start = b->len;
	for (uint32_t i = 0; i < n; i++) {
		if (i % 256 == 0)
			blob_u32(&markers, (uint32_t)(b->len - start));
		made_name(b, l, syms[i].type, syms[i].name);
	}
	blob_align(b, l->align);
	blob_put(b, markers.bytes, markers.len);
	blob_align(b, l->align);
	blob_free(&markers);
}

static inline void made_seqs(struct blob *b, const struct made_layout *l, uint32_t n)
{
	for (uint32_t i = 0; l->seqs && i < n; i++) {
		blob_u8(b, i >> 16);
		blob_u16(b, i & 0xffff);
	}
	blob_align(b, l->align);
}

static inline void made_tokens(struct blob *b, const struct made_layout *l)
{
	struct blob index = {0};
	size_t start = b->len;

	for (unsigned token = 0; token < 256; token++) {
		char text[8];

		made_token(token, text);
		blob_u16(&index, (unsigned)(b->len - start));
		blob_string(b, text);
	}
	blob_align(b, l->align);
	blob_put(b, index.bytes, index.len);
	blob_align(b, l->align);
	blob_free(&index);
}

/* Make a kernel image at IMAGE_BASE with the tables. `syms` are sorted by address. */
static inline void made_image(struct blob *b, const struct made_layout *l, const struct symbol *syms, uint32_t n)
{
	/* The tables are not at the image's start. Before them is a table of hexadecimal digits, which is no token table. */
	for (unsigned i = 0; i < 5000; i++)
		blob_u32(b, i * 2654435761u);
	for (unsigned i = 0; i < 16; i++)
		blob_put(b, &"0\0001\0002\0003\0004\0005\0006\0007\0008\0009\0a\0b\0c\0d\0e\0f"[2 * i], 2);
	blob_align(b, 64);
	if (!l->offsets_last)
		made_offsets(b, l, syms, n);
	made_names(b, l, syms, n);
	if (!l->offsets_last)
		made_seqs(b, l, n);
	made_tokens(b, l);
	if (l->offsets_last) {
		made_offsets(b, l, syms, n);
		made_seqs(b, l, n);
	}
	for (unsigned i = 0; i < 1000; i++)
		blob_u32(b, i * 40503u);
	blob_align(b, 4096);
}

#endif
