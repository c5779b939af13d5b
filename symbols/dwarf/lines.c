/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbols/dwarf/lines.h"

#include <stdio.h>
#include <stdlib.h>

#include "symbols/dwarf/die.h"
#include "symbols/dwarf/line_program.h"

static struct di_lines *read_lines(struct di_unit *u)
{
	struct di_section *s = di_file_section(&u->di->file, ".debug_line", u->di->err);
	struct di_lines *lines = calloc(1, sizeof(*lines));
	struct di_line_code code;
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
		status = di_line_header(u, &c, &code, lines) || di_line_run(u, &c, &code, lines) || di_lines_sort(u->di, lines);
	}
	if (status || u->di->err->code != EXIT_OK) {
		di_lines_free(lines);
		return NULL;
	}
	return lines;
}

const struct di_lines *di_lines(struct di_unit *u)
{
	if (!u->lines)
		u->lines = read_lines(u);
	return u->lines;
}

const char *di_lines_path(struct di_unit *u, const struct di_lines *lines, uint64_t file)
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
