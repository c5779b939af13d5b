// SPDX-License-Identifier: GPL-2.0-or-later
/* Disassembles the code near a side's access, with the source line of each instruction. */
#include "hv/report/listing.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/clean.h"
#include "symbols/insn/flow.h"

#define TARGET_MAX 256 /* longer names are truncated */

struct listing_maker {
	struct insn_decoder *decoder;
	struct insn_printer *printer;
	struct sources *sources;
};

struct listing_maker *listing_maker_new(struct sources *sources, struct err *err)
{
	struct listing_maker *m = calloc(1, sizeof(*m));

	if (m) {
		m->sources = sources;
		m->decoder = insn_decoder_new();
		m->printer = insn_printer_new();
	}
	if (m && m->decoder && m->printer)
		return m;
	err_set(err, EXIT_INTERNAL, "out of memory");
	listing_maker_free(m);
	return NULL;
}

void listing_maker_free(struct listing_maker *m)
{
	if (!m)
		return;
	insn_printer_free(m->printer);
	insn_decoder_free(m->decoder);
	free(m);
}

static const char *callee_at(const struct race_side *side, uint16_t at)
{
	for (uint32_t i = 0; i < side->callee_count; i++) {
		if (side->callees[i].at == at)
			return side->callees[i].name;
	}
	return NULL;
}

/* Name the target of a direct call or jump. Returns false if only its address is known. */
static bool name_target(const struct race_side *side, uint16_t at, const struct insn *insn, char out[TARGET_MAX])
{
	const struct guest_symbol *own = &side->symbol;
	const char *callee = callee_at(side, at);
	char name[TARGET_MAX];
	struct insn_branch branch;

	if (!insn_direct_branch(insn, &branch))
		return false;
	if (callee) {
		clean_text(callee, sizeof(side->callees->name), out, TARGET_MAX);
		return true;
	}
	if (!own->name[0] || branch.target - own->addr >= own->size)
		return false;
	clean_text(own->name, sizeof(own->name), name, sizeof(name));
	snprintf(out, TARGET_MAX, "%.224s+0x%" PRIx64, name, branch.target - own->addr);
	return true;
}

/* Copy a line without leading and trailing blanks, and with blanks for tabs. */
static void trim(const char *text, size_t len, char out[LISTING_SOURCE_MAX])
{
	char plain[LISTING_SOURCE_MAX];
	size_t n = 0;

	while (len && isspace((unsigned char)text[len - 1]))
		len--;
	while (len && isspace((unsigned char)*text)) {
		text++;
		len--;
	}
	for (; n < len && n < sizeof(plain) - 1; n++)
		plain[n] = text[n] == '\t' ? ' ' : text[n];
	clean_text(plain, n, out, LISTING_SOURCE_MAX);
}

/*
 * Find the innermost source line of the instruction at offset `at`. For the accessing instruction, race->names may lack this
 * line: then take the line of the first frame of the call stack.
 */
static void find_line(const struct race *race, unsigned which, uint16_t at, struct listing_line *out)
{
	size_t n;
	const struct source_line *of_access = out->access ? race_names_lines(race->names, which, 0, &n) : NULL;

	out->line = race_names_code(race->names, which, at, &out->file);
	if (!out->line && of_access && of_access->line) {
		out->file = of_access->file;
		out->line = of_access->line;
	}
}

static void put_source(struct listing_maker *m, const struct listing_line *before, struct listing_line *out)
{
	size_t len;
	const char *text;

	if (!out->line)
		return;
	out->same_line = before && before->line == out->line && strcmp(before->file, out->file) == 0;
	text = sources_line(m->sources, out->file, out->line, &len);
	if (text)
		trim(text, len, out->source);
}

static bool put_line(struct listing_maker *m, const struct race_side *side, uint16_t at, struct listing_line *out)
{
	uint64_t gva = side->code_gva + at;
	char target[TARGET_MAX];
	struct insn insn;

	if (!insn_decode(m->decoder, side->code + at, side->code_len - at, gva, &insn))
		return false;
	insn_text(m->printer, &insn, name_target(side, at, &insn, target) ? target : NULL, out->text);
	if (side->symbol.name[0])
		snprintf(out->place, sizeof(out->place), "+0x%" PRIx64, gva - side->symbol.addr);
	else
		snprintf(out->place, sizeof(out->place), "%016" PRIx64, gva);
	return true;
}

void listing_make(struct listing_maker *m, const struct race *race, unsigned which, struct listing *out)
{
	const struct race_side *side = &race->first.sides[which];
	struct nearby nearby;

	*out = (struct listing){.access_known = side->kind == RACE_SIDE_CPU && side->pc};
	if (side->kind != RACE_SIDE_CPU)
		return;
	nearby_find(m->decoder, side, &nearby);
	for (unsigned i = 0; i < nearby.count; i++) {
		struct listing_line *line = &out->lines[out->count];

		if (!put_line(m, side, nearby.at[i], line))
			return;
		line->access = i == nearby.access;
		find_line(race, which, nearby.at[i], line);
		put_source(m, i ? line - 1 : NULL, line);
		out->count++;
	}
}
