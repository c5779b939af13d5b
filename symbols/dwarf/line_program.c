/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The line number program (DWARF 5 section 6.2.5): a state machine that writes the table row by row. */
#include <stdlib.h>

#include "symbols/dwarf/line.h"

struct machine {
	struct di_unit *u;
	struct di_cursor *c;
	const struct di_line_code *code;
	struct di_lines *lines;
	size_t room;
	uint64_t addr, file, line, column;
};

static void reset(struct machine *m)
{
	m->addr = 0;
	m->file = 1;
	m->line = 1;
	m->column = 0;
}

/* An instruction, of a byte at least, makes one row at most: the section's size bounds the table's. */
static int add_row(struct machine *m, bool end)
{
	struct di_lines *lines = m->lines;

	if (lines->n == m->room) {
		size_t room = m->room ? m->room * 2 : 256;
		struct di_line *at = realloc(lines->at, room * sizeof(*at));

		if (!at)
			return di_memory(m->u->di);
		lines->at = at;
		m->room = room;
	}
	lines->at[lines->n++] = (struct di_line){
		.addr = m->addr,
		.file = m->file <= UINT32_MAX ? (uint32_t)m->file : UINT32_MAX,
		.line = m->line <= UINT32_MAX ? (uint32_t)m->line : 0,
		.column = m->column <= UINT16_MAX ? (uint16_t)m->column : 0,
		.end = end,
	};
	return 0;
}

static int extended(struct machine *m)
{
	uint64_t length = di_uleb(m->c), end;

	if (m->c->bad || !length || length > m->c->end - m->c->at)
		return di_corrupt(m->u, "its line program", NULL);
	end = m->c->at + length;
	switch (di_take(m->c, 1)) {
	case DW_LNE_end_sequence:
		if (add_row(m, true))
			return -1;
		reset(m);
		break;
	case DW_LNE_set_address:
		m->addr = di_take(m->c, length - 1 <= 8 ? length - 1 : 8);
		break;
	default: /* discriminators, and what vendors add */
		break;
	}
	m->c->at = end;
	return 0;
}

static void standard(struct machine *m, uint64_t opcode)
{
	switch (opcode) {
	case DW_LNS_advance_pc:
		m->addr += di_uleb(m->c) * m->code->min_length;
		break;
	case DW_LNS_advance_line:
		m->line += (uint64_t)di_sleb(m->c);
		break;
	case DW_LNS_set_file:
		m->file = di_uleb(m->c);
		break;
	case DW_LNS_set_column:
		m->column = di_uleb(m->c);
		break;
	case DW_LNS_const_add_pc:
		m->addr += (255 - m->code->opcode_base) / m->code->line_range * m->code->min_length;
		break;
	case DW_LNS_fixed_advance_pc:
		m->addr += di_take(m->c, 2);
		break;
	default: /* of no consequence for the rows, or of a later standard: the head says how many operands to pass over */
		for (unsigned i = 0; i < m->code->lengths[opcode]; i++)
			di_uleb(m->c);
	}
}

int di_line_run(struct di_unit *u, struct di_cursor *c, const struct di_line_code *code, struct di_lines *lines)
{
	struct machine m = {.u = u, .c = c, .code = code, .lines = lines};

	reset(&m);
	while (di_more(c)) {
		uint64_t opcode = di_take(c, 1);

		if (opcode >= code->opcode_base) {
			opcode -= code->opcode_base;
			m.addr += opcode / code->line_range * code->min_length;
			m.line += (uint64_t)(code->line_base + (int64_t)(opcode % code->line_range));
			if (add_row(&m, false))
				return -1;
		} else if (opcode == 0) {
			if (extended(&m))
				return -1;
		} else if (opcode == DW_LNS_copy) {
			if (add_row(&m, false))
				return -1;
		} else {
			standard(&m, opcode);
		}
	}
	return c->bad ? di_corrupt(u, "its line program", NULL) : 0;
}
