/* SPDX-License-Identifier: GPL-2.0-or-later */
/* debuginfo_lines(): the source line of a PC and the chain of inlined functions. */
#include "symbols/dwarf/die.h"
#include "symbols/dwarf/lines.h"
#include "symbols/dwarf/query.h"
#include "symbols/dwarf/scope.h"

struct position {
	const char *file; /* NULL: unknown. */
	unsigned line, column;
};

static struct position position_of_pc(struct di_unit *u, const struct di_lines *lines, uint64_t pc)
{
	const struct di_line *row = di_lines_at(lines, pc);

	if (!row)
		return (struct position){0};
	return (struct position){di_lines_path(u, lines, row->file), row->line, row->column};
}

static struct position position_of_call(struct di_unit *u, const struct di_lines *lines, Dwarf_Die die)
{
	uint64_t file = UINT64_MAX, line = 0, column = 0;

	di_number(u, die, DW_AT_call_file, &file);
	di_number(u, die, DW_AT_call_line, &line);
	di_number(u, die, DW_AT_call_column, &column);
	return (struct position){file == UINT64_MAX ? NULL : di_lines_path(u, lines, file), (unsigned)line, (unsigned)column};
}

/*
 * Convert scopes to frames, innermost first. `position` is the source position of the PC. The DIE of an inlined function has
 * the position of its call, which is the position of the next frame. Returns the number of frames, or -1 with the error set.
 */
static int frames_of(struct di_unit *u, const struct di_scopes *scopes, const struct di_lines *lines, struct position position,
		     struct debuginfo_frame *frames)
{
	int n = 0;

	for (size_t i = scopes->n; i-- && n < DEBUGINFO_MAX_FRAMES;) {
		const struct di_scope *s = &scopes->at[i];
		struct di_unit *same;
		Dwarf_Die die;

		if (s->tag != DW_TAG_subprogram && s->tag != DW_TAG_inlined_subroutine)
			continue;
		if (di_die_at(u->di, s->where, &same, &die))
			return -1;
		frames[n++] = (struct debuginfo_frame){
			.function = di_name(u, die, true),
			.file = position.file,
			.comp_dir = lines->comp_dir,
			.line = position.line,
			.column = position.column,
			.inlined = s->tag == DW_TAG_inlined_subroutine,
		};
		position = position_of_call(u, lines, die);
		dwarf_dealloc_die(die);
		if (s->tag == DW_TAG_subprogram)
			break;
	}
	return n;
}

static int find_frames(struct debuginfo *di, uint64_t pc, struct debuginfo_frame *frames)
{
	struct di_unit *u = di_unit_of_code(di, pc);
	const struct di_lines *lines;
	struct di_scopes scopes;
	struct position position;
	int n;

	if (!u)
		return 0;
	lines = di_lines(u);
	if (!lines || di_scopes(u, pc, &scopes))
		return -1;
	position = position_of_pc(u, lines, pc);
	n = frames_of(u, &scopes, lines, position, frames);
	if (n == 0 && position.line) {
		frames[0] = (struct debuginfo_frame){
			.function = di_file_function(&di->file, pc),
			.file = position.file,
			.comp_dir = lines->comp_dir,
			.line = position.line,
			.column = position.column,
		};
		n = 1;
	}
	return n;
}

int debuginfo_lines(struct debuginfo *di, uint64_t pc, struct debuginfo_frame frames[DEBUGINFO_MAX_FRAMES], struct err *err)
{
	struct di_query q;
	uint64_t link;
	int n = 0;

	di_begin(di, &q, err);
	if (di_file_to_link(&di->file, pc, &link))
		n = find_frames(di, link, frames);
	return di_end(di, &q, n);
}
