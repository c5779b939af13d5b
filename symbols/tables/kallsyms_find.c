/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Searches a kernel image for the kallsyms tables. scripts/kallsyms.c makes each character that occurs in a symbol a token,
 * whose number is the character's code. So every token table contains the strings "0" to "9" in a row. The search looks for
 * these strings, derives the positions of all other tables from them, and checks the tables against each other.
 */
#include <string.h>

#include "hv/base/x86.h"
#include "symbols/tables/kallsyms.h"
#include "symbols/tables/symtab_build.h"

#define MARKER_STEP 256u /* kallsyms_markers has the offset of every 256th name */
/* Alignment of _text, the first symbol, in bytes: the least CONFIG_PHYSICAL_ALIGN that x86-64 allows. */
#define KERNEL_ALIGN (2u << 20)
#define MAX_TOKEN_TABLE (16u << 10) /* bytes */
#define MAX_NAME_TOKENS 2048u

static const char digits[] = "0\0001\0002\0003\0004\0005\0006\0007\0008\0009";

static bool inside_image(const struct kallsyms *k, size_t offset, size_t len)
{
	return offset <= k->image->len && len <= k->image->len - offset;
}

static size_t align_up(size_t x, size_t to)
{
	return (x + to - 1) & ~(to - 1);
}

static unsigned token_offset(const struct kallsyms *k, unsigned token)
{
	return guest_image_u16(k->image, k->token_index + 2 * token);
}

static bool spend(struct kallsyms *k, uint64_t steps)
{
	k->budget -= steps < k->budget ? steps : k->budget;
	return k->budget > 0;
}

/*
 * Returns true if each token is printable, begins at its offset in the index and directly after the token before it, and the
 * index directly follows the last token.
 */
static bool tokens_consistent(const struct kallsyms *k)
{
	size_t pos = k->token_table;

	for (unsigned token = 0; token < KALLSYMS_TOKENS; token++) {
		if (token_offset(k, token) != pos - k->token_table)
			return false;
		while (pos < k->token_index && k->image->bytes[pos]) {
			if (k->image->bytes[pos] <= ' ' || k->image->bytes[pos] > '~')
				return false;
			pos++;
		}
		pos++;
	}
	return align_up(pos, 4) == k->token_index || align_up(pos, 8) == k->token_index;
}

/*
 * Find kallsyms_token_index, the table with the offset of each token in the token table. Its entries for the tokens "0" and "1"
 * must fit the strings of the digits, which begin at `found` in the image.
 */
static bool find_token_index(struct kallsyms *k, size_t found)
{
	size_t first = align_up(found + sizeof(digits), 4);

	for (size_t at = first; at < first + MAX_TOKEN_TABLE; at += 4) {
		unsigned zero;

		if (!inside_image(k, at, 2 * KALLSYMS_TOKENS) || !spend(k, 1))
			return false;
		zero = guest_image_u16(k->image, at + 2 * '0');
		if (guest_image_u16(k->image, at) || guest_image_u16(k->image, at + 2 * '1') != zero + 2 || zero > found)
			continue;
		k->token_index = at;
		k->token_table = found - zero;
		if (!(k->token_table % 4) && tokens_consistent(k))
			return true;
	}
	return false;
}

bool kallsyms_find_tokens(struct kallsyms *k, size_t *from)
{
	while (*from < k->image->len) {
		const uint8_t *at = memmem(k->image->bytes + *from, k->image->len - *from, digits, sizeof(digits));

		if (!at)
			return false;
		*from = (size_t)(at - k->image->bytes) + 1;
		if (find_token_index(k, *from - 1))
			return true;
	}
	return false;
}

bool kallsyms_name_length(const struct kallsyms *k, size_t *pos, size_t *len)
{
	if (!inside_image(k, *pos, 2))
		return false;
	*len = k->image->bytes[(*pos)++];
	if (k->long_names && *len & 0x80)
		*len = (*len & 0x7f) | (size_t)k->image->bytes[(*pos)++] << 7;
	return *len && *len <= MAX_NAME_TOKENS && inside_image(k, *pos, *len);
}

size_t kallsyms_expand(const struct kallsyms *k, size_t pos, size_t len, char *out, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		const char *token = (const char *)k->image->bytes + k->token_table + token_offset(k, k->image->bytes[pos + i]);
		size_t token_len = strlen(token);

		if (token_len > size - n)
			return 0;
		memcpy(out + n, token, token_len);
		n += token_len;
	}
	return n;
}

/* Find the end of the names by adding up their lengths. */
static bool walk_names(struct kallsyms *k)
{
	size_t pos = k->names, len;

	for (uint32_t i = 0; i < k->num; i++) {
		if (!spend(k, 1) || !kallsyms_name_length(k, &pos, &len))
			return false;
		pos += len;
	}
	k->names_end = pos;
	return true;
}

/*
 * Returns true if the markers hold the offsets of every 256th name and end where the token table begins. Linux 6.2 and 6.3 put
 * seqs_of_names, 3 bytes per symbol, between the markers and the token table.
 */
static bool markers_agree(const struct kallsyms *k)
{
	size_t markers = align_up(k->names_end, k->align), pos = k->names, len;
	size_t end = align_up(markers + 4 * (((size_t)k->num + MARKER_STEP - 1) / MARKER_STEP), k->align);

	if (end != k->token_table && align_up(end + 3 * (size_t)k->num, k->align) != k->token_table)
		return false;
	for (uint32_t i = 0; i < k->num; i++) {
		if (i % MARKER_STEP == 0 && guest_image_u32(k->image, markers + 4 * (i / MARKER_STEP)) != pos - k->names)
			return false;
		if (!kallsyms_name_length(k, &pos, &len))
			return false;
		pos += len;
	}
	return true;
}

/*
 * Returns true if the first 256 names are as long as the second marker says. The markers may end at the token table, or at
 * seqs_of_names before that table (see markers_agree()). This check saves adding up the lengths of all names at a wrong
 * position: in Linux 7.3, whose tables are aligned to four bytes only, these sums took more steps than the whole search may
 * take.
 */
static bool first_marker_agrees(struct kallsyms *k)
{
	size_t bytes = align_up(4 * (((size_t)k->num + MARKER_STEP - 1) / MARKER_STEP), k->align), pos = k->names, len;
	size_t seqs = align_up(3 * (size_t)k->num, k->align);

	if (k->num <= MARKER_STEP)
		return true;
	for (unsigned i = 0; i < MARKER_STEP; i++) {
		if (!spend(k, 1) || !kallsyms_name_length(k, &pos, &len))
			return false;
		pos += len;
	}
	for (unsigned i = 0; i < 2; i++) {
		size_t after = bytes + i * seqs;

		if (after <= k->token_table && guest_image_u32(k->image, k->token_table - after + 4) == pos - k->names)
			return true;
	}
	return false;
}

/* Returns true if the first name expands to a type letter and a name. This cheap check excludes most wrong positions. */
static bool first_name_plausible(struct kallsyms *k)
{
	char name[SYMTAB_MAX_NAME];
	size_t pos = k->names, len, n;

	/*
	 * Spend one step per token, not per name: a hostile image may have empty tokens, and names of thousands of empty tokens
	 * that expand to nothing.
	 */
	if (!kallsyms_name_length(k, &pos, &len) || !spend(k, len))
		return false;
	n = kallsyms_expand(k, pos, len, name, sizeof(name));
	return n > 1 && ((name[0] >= 'A' && name[0] <= 'Z') || (name[0] >= 'a' && name[0] <= 'z'));
}

static bool names_here(struct kallsyms *k, size_t num_at)
{
	k->num = guest_image_u32(k->image, num_at);
	if (!k->num || k->num > SYMTAB_MAX_SYMBOLS || (k->align == 8 && guest_image_u32(k->image, num_at + 4)))
		return false;
	k->names = num_at + k->align;
	/* Try both length encodings: the version is not known, and tables without long names fit both. */
	for (unsigned kind = 0; kind < 2; kind++) {
		k->long_names = kind == 0;
		if (first_name_plausible(k) && first_marker_agrees(k) && walk_names(k) && markers_agree(k))
			return true;
	}
	return false;
}

/*
 * Search downwards from the tokens, because in all kernel versions the names precede the tokens. The match nearest to the
 * tokens is most likely the right one.
 */
bool kallsyms_find_names(struct kallsyms *k)
{
	for (k->align = 8; k->align >= 4; k->align -= 4) {
		for (size_t at = k->token_table & ~(k->align - 1); at >= k->image->first + k->align; at -= k->align) {
			if (!spend(k, 1))
				return false;
			if (names_here(k, at - k->align))
				return true;
		}
	}
	return false;
}

uint64_t kallsyms_address(const struct kallsyms *k, uint32_t index)
{
	uint32_t offset = guest_image_u32(k->image, k->offsets + 4 * (size_t)index);

	switch (k->encoding) {
	case KALLSYMS_RELATIVE:
		return k->relative_base + offset;
	case KALLSYMS_PERCPU:
		/* base + ~offset is the same as "base - 1 - offset" in the kernel's kallsyms_sym_address(). */
		return (int32_t)offset >= 0 ? offset : k->relative_base + ~offset;
	case KALLSYMS_SELF:
		break;
	}
	return k->image->base + k->offsets + 4 * (size_t)index + (uint64_t)(int64_t)(int32_t)offset;
}

/* Returns true if the addresses are sorted, as in kallsyms. A wrong position or encoding gives unsorted addresses. */
static bool addresses_sorted(const struct kallsyms *k)
{
	uint64_t last = 0;

	for (uint32_t i = 0; i < k->num; i++) {
		uint64_t addr = kallsyms_address(k, i);

		if (addr < last)
			return false;
		last = addr;
	}
	return last >= k->image->base;
}

/* Try a table of offsets at `at`, followed by relative_base. Returns true if the resulting addresses are plausible. */
static bool based_offsets(struct kallsyms *k, size_t at)
{
	size_t base = at + align_up(4 * (size_t)k->num, 8);

	if (!inside_image(k, at, 4 * (size_t)k->num) || !inside_image(k, base, 8))
		return false;
	k->offsets = at;
	k->relative_base = guest_image_u64(k->image, base);
	if (!x86_kernel_address(k->relative_base))
		return false;
	/*
	 * With KALLSYMS_PERCPU, all symbols except absolute symbols have negative entries. So a single negative entry
	 * distinguishes this encoding from KALLSYMS_RELATIVE.
	 */
	k->encoding = KALLSYMS_RELATIVE;
	for (uint32_t i = 0; i < k->num && k->encoding == KALLSYMS_RELATIVE; i++) {
		if ((int32_t)guest_image_u32(k->image, at + 4 * (size_t)i) < 0)
			k->encoding = KALLSYMS_PERCPU;
	}
	return addresses_sorted(k);
}

/* Try a table of self-relative offsets at `at`. Returns true if the resulting addresses are plausible. */
static bool self_relative_offsets(struct kallsyms *k, size_t at)
{
	if (!inside_image(k, at, 4 * (size_t)k->num))
		return false;
	k->offsets = at;
	k->encoding = KALLSYMS_SELF;
	return x86_kernel_address(kallsyms_address(k, 0)) && !(kallsyms_address(k, 0) % KERNEL_ALIGN) && addresses_sorted(k);
}

bool kallsyms_find_offsets(struct kallsyms *k)
{
	size_t after = align_up(k->token_index + 2 * KALLSYMS_TOKENS, k->align);
	size_t before = align_up(4 * (size_t)k->num, 8) + 16; /* bytes of offsets, relative_base and num_syms */

	if (based_offsets(k, after) || (k->names >= before && based_offsets(k, k->names - before)))
		return true;
	/* Try this encoding last: it has no relative_base to check, so any table of growing numbers could look like offsets. */
	return self_relative_offsets(k, after);
}
