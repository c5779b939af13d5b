/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The line number program (DWARF 5 section 6.2.5): a state machine that generates the rows of the table. */
#include "symbols/dwarf/line_program.h"

#include <stdlib.h>

/* State of the machine. */
struct line_state {
	struct di_unit *u;
	struct di_cursor *c;
	const struct di_line_code *code;
	struct di_lines *lines;
	size_t room;			   /* Rows that `lines` has room for. */
	uint64_t addr, file, line, column; /* The machine's registers. */
};

static void reset(struct line_state *s)
{
	s->addr = 0;
	s->file = 1;
	s->line = 1;
	s->column = 0;
}

/* Append a row. Each opcode has at least one byte and adds at most one row, so the section's size bounds the table's size. */
static int add_row(struct line_state *s, bool end)
{
	struct di_lines *lines = s->lines;

	if (lines->n == s->room) {
		size_t room = s->room ? s->room * 2 : 256;
		struct di_line *at = realloc(lines->at, room * sizeof(*at));

		if (!at)
			return di_memory(s->u->di);
		lines->at = at;
		s->room = room;
	}
	lines->at[lines->n++] = (struct di_line){
		.addr = s->addr,
		.file = s->file <= UINT32_MAX ? (uint32_t)s->file : UINT32_MAX,
		.line = s->line <= UINT32_MAX ? (uint32_t)s->line : 0,
		.column = s->column <= UINT16_MAX ? (uint16_t)s->column : 0,
		.end = end,
	};
	return 0;
}

static int run_extended(struct line_state *s)
{
	uint64_t length = di_uleb(s->c), end;

	if (s->c->bad || !length || length > s->c->end - s->c->at)
		return di_corrupt(s->u, "its line program", NULL);
	end = s->c->at + length;
	switch (di_take(s->c, 1)) {
	case DW_LNE_end_sequence:
		if (add_row(s, true))
			return -1;
		reset(s);
		break;
	case DW_LNE_set_address:
		s->addr = di_take(s->c, length - 1 <= 8 ? length - 1 : 8);
		break;
	default: /* Skip discriminators and vendor extensions. */
		break;
	}
	s->c->at = end;
	return 0;
}

static void run_standard(struct line_state *s, uint64_t opcode)
{
	switch (opcode) {
	case DW_LNS_advance_pc:
		s->addr += di_uleb(s->c) * s->code->min_length;
		break;
	case DW_LNS_advance_line:
		s->line += (uint64_t)di_sleb(s->c);
		break;
	case DW_LNS_set_file:
		s->file = di_uleb(s->c);
		break;
	case DW_LNS_set_column:
		s->column = di_uleb(s->c);
		break;
	case DW_LNS_const_add_pc:
		s->addr += (255 - s->code->opcode_base) / s->code->line_range * s->code->min_length;
		break;
	case DW_LNS_fixed_advance_pc:
		s->addr += di_take(s->c, 2);
		break;
	/* Skip an opcode without effect on the rows, or of a later standard. The header has its number of operands. */
	default:
		for (unsigned i = 0; i < s->code->lengths[opcode]; i++)
			di_uleb(s->c);
	}
}

int di_line_run(struct di_unit *u, struct di_cursor *c, const struct di_line_code *code, struct di_lines *lines)
{
	struct line_state s = {.u = u, .c = c, .code = code, .lines = lines};

	reset(&s);
	while (di_more(c)) {
		uint64_t opcode = di_take(c, 1);

		if (opcode >= code->opcode_base) {
			opcode -= code->opcode_base;
			s.addr += opcode / code->line_range * code->min_length;
			s.line += (uint64_t)(code->line_base + (int64_t)(opcode % code->line_range));
			if (add_row(&s, false))
				return -1;
		} else if (opcode == 0) {
			if (run_extended(&s))
				return -1;
		} else if (opcode == DW_LNS_copy) {
			if (add_row(&s, false))
				return -1;
		} else {
			run_standard(&s, opcode);
		}
	}
	return c->bad ? di_corrupt(u, "its line program", NULL) : 0;
}
