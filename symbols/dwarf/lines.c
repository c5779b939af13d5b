/* SPDX-License-Identifier: GPL-2.0-or-later */
/* debuginfo_lines(): the source line of a PC and the chain of inlined functions. */
#include <stdio.h>
#include <stdlib.h>

#include "symbols/dwarf/die.h"
#include "symbols/dwarf/line_table.h"
#include "symbols/dwarf/query.h"
#include "symbols/dwarf/scope.h"

static struct di_lines *read_lines(struct di_unit *u)
{
	struct di_section *s = di_file_section(&u->di->file, ".debug_line", u->di->err);
	struct di_lines *lines = calloc(1, sizeof(*lines));
	struct di_cursor c;
	uint64_t at;
	int status = 0;

	if (!lines) {
		di_memory(u->di);
		return NULL;
	}
	lines->comp_dir = di_string(u, u->cu, DW_AT_comp_dir);
	if (s && di_offset_value(u, u->cu, DW_AT_stmt_list, &at)) {
		c = (struct di_cursor){.bytes = s->bytes, .at = at < s->size ? at : s->size, .end = s->size};
		status = di_lines_decode(u, &c, lines);
	}
	if (status || u->di->err->code != EXIT_OK) {
		di_lines_free(lines);
		return NULL;
	}
	return lines;
}

/*
 * Returns the unit's line table, which is empty if the unit has none. The first call reads the table. Returns NULL with the
 * error set on failure.
 */
static const struct di_lines *lines_of(struct di_unit *u)
{
	if (!u->lines)
		u->lines = read_lines(u);
	return u->lines;
}

/*
 * Returns the path of file number `file` of the line table, with its directory. The string lives as long as the debuginfo.
 * Returns NULL if there is no such file, or, with the error set, on failure.
 */
static const char *path_of(struct di_unit *u, const struct di_lines *lines, uint64_t file)
{
	const struct di_source *s;
	char path[4096];

	if (file >= lines->n_files)
		return NULL;
	s = &lines->files[file];
	if (!s->name)
		return NULL;
	if (*s->name == '/' || !s->dir || !*s->dir)
		return di_string_keep(u->di, s->name);
	snprintf(path, sizeof(path), "%s/%s", s->dir, s->name);
	return di_string_keep(u->di, path);
}

struct position {
	const char *file; /* NULL: unknown. */
	unsigned line, column;
};

static struct position position_of_pc(struct di_unit *u, const struct di_lines *lines, uint64_t pc)
{
	const struct di_line *row = di_lines_at(lines, pc);

	if (!row)
		return (struct position){0};
	return (struct position){path_of(u, lines, row->file), row->line, row->column};
}

static struct position position_of_call(struct di_unit *u, const struct di_lines *lines, Dwarf_Die die)
{
	uint64_t file = UINT64_MAX, line = 0, column = 0;

	di_number(u, die, DW_AT_call_file, &file);
	di_number(u, die, DW_AT_call_line, &line);
	di_number(u, die, DW_AT_call_column, &column);
	return (struct position){file == UINT64_MAX ? NULL : path_of(u, lines, file), (unsigned)line, (unsigned)column};
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
	lines = lines_of(u);
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
