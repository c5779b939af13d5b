/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The header of a line table (section 6.2.4 of DWARF 5 and of DWARF 4): parameters of its program, directories and files. */
#include "symbols/dwarf/line_program.h"

#include <stdlib.h>

#define MAX_ENTRIES 65536u /* most entries of a directory or file table; bounds hostile files */
#define MAX_FORMATS 16u	   /* fields of an entry; DWARF 5 defines five */

/* An entry of a directory or file table. Its other fields (time, size, checksum) are skipped. */
struct file_entry {
	const char *name; /* In the file's sections. NULL: unreadable. */
	uint64_t dir;	  /* For a file: the index of its directory. */
};

/* Returns the string at an offset of a section, or NULL if there is no valid string. */
static const char *string_at(struct debuginfo *di, const char *section, uint64_t offset)
{
	struct di_section *s = di_file_section(&di->file, section, di->err);
	struct di_cursor c;

	if (!s || offset >= s->size)
		return NULL;
	c = (struct di_cursor){.bytes = s->bytes, .at = offset, .end = s->size};
	return di_cstring(&c);
}

/* Read one value of form `form`, into *string if it is a string, or *number if it is a number. */
static void take_form(struct debuginfo *di, struct di_cursor *c, uint64_t form, size_t width, const char **string,
		      uint64_t *number)
{
	switch (form) {
	case DW_FORM_string:
		*string = di_cstring(c);
		break;
	case DW_FORM_line_strp:
		*string = string_at(di, ".debug_line_str", di_take(c, width));
		break;
	case DW_FORM_strp:
		*string = string_at(di, ".debug_str", di_take(c, width));
		break;
	case DW_FORM_udata:
		*number = di_uleb(c);
		break;
	case DW_FORM_data1:
		*number = di_take(c, 1);
		break;
	case DW_FORM_data2:
		*number = di_take(c, 2);
		break;
	case DW_FORM_data4:
		*number = di_take(c, 4);
		break;
	case DW_FORM_data8:
		*number = di_take(c, 8);
		break;
	case DW_FORM_data16:
		di_skip(c, 16);
		break;
	case DW_FORM_block:
		di_skip(c, di_uleb(c));
		break;
	default:
		c->bad = true;
	}
}

/*
 * Read a DWARF 5 table: the format of its entries, their number, the entries. Returns 0, with c->bad set if the table is
 * invalid; or -1 with the error set if memory runs out.
 */
static int read_table(struct debuginfo *di, struct di_cursor *c, size_t width, struct file_entry **out, size_t *n)
{
	struct {
		uint64_t content, form;
	} formats[MAX_FORMATS];
	uint64_t n_formats = di_take(c, 1), count;

	*out = NULL;
	*n = 0;
	if (n_formats > MAX_FORMATS)
		c->bad = true;
	for (uint64_t i = 0; !c->bad && i < n_formats; i++) {
		formats[i].content = di_uleb(c);
		formats[i].form = di_uleb(c);
	}
	count = di_uleb(c);
	if (c->bad || count > MAX_ENTRIES)
		c->bad = true;
	if (c->bad || !count)
		return 0;
	*out = calloc(count, sizeof(**out));
	if (!*out)
		return di_memory(di);
	for (; *n < count && !c->bad; ++*n) {
		struct file_entry *e = &(*out)[*n];

		for (uint64_t i = 0; i < n_formats; i++) {
			const char *string = NULL;
			uint64_t number = 0;

			take_form(di, c, formats[i].form, width, &string, &number);
			if (formats[i].content == DW_LNCT_path)
				e->name = string;
			else if (formats[i].content == DW_LNCT_directory_index)
				e->dir = number;
		}
	}
	return 0;
}

/*
 * Read a table of DWARF 2 to 4: strings, terminated by an empty string. In a file table, three numbers follow each string.
 * Entries are numbered from 1. Returns as read_table() does.
 */
static int read_old_table(struct debuginfo *di, struct di_cursor *c, bool files, struct file_entry **out, size_t *n)
{
	struct di_cursor ahead = *c;
	const char *name;
	size_t count = 1;

	while ((name = di_cstring(&ahead)) && *name && count < MAX_ENTRIES) {
		for (int i = 0; files && i < 3; i++)
			di_uleb(&ahead);
		count++;
	}
	c->bad = ahead.bad || count == MAX_ENTRIES;
	*n = 0;
	*out = c->bad ? NULL : calloc(count, sizeof(**out));
	if (!*out)
		return c->bad ? 0 : di_memory(di);
	for (*n = 1; *n < count; ++*n) {
		struct file_entry *e = &(*out)[*n];

		e->name = di_cstring(c);
		if (files) {
			e->dir = di_uleb(c);
			di_uleb(c);
			di_uleb(c);
		}
	}
	di_skip(c, 1);
	return 0;
}

static int read_files(struct debuginfo *di, struct di_cursor *c, unsigned version, size_t width, struct di_lines *lines)
{
	struct file_entry *dirs = NULL, *files = NULL;
	size_t n_dirs = 0, n_files = 0;
	int status = -1;

	if (version >= 5 ? read_table(di, c, width, &dirs, &n_dirs) || read_table(di, c, width, &files, &n_files)
			 : read_old_table(di, c, false, &dirs, &n_dirs) || read_old_table(di, c, true, &files, &n_files))
		goto out;
	lines->files = calloc(n_files + 1, sizeof(*lines->files));
	if (!lines->files) {
		di_memory(di);
		goto out;
	}
	for (size_t i = 0; i < n_files; i++) {
		lines->files[i].name = files[i].name;
		lines->files[i].dir = files[i].dir < n_dirs ? dirs[files[i].dir].name : NULL;
	}
	lines->n_files = n_files;
	status = 0;
out:
	free(dirs);
	free(files);
	return status;
}

int di_line_header(struct di_unit *u, struct di_cursor *c, struct di_line_code *code, struct di_lines *lines)
{
	uint64_t program;
	size_t width;

	*code = (struct di_line_code){0};
	if (!di_enter(c, &width))
		return di_corrupt(u, "its line table ends beyond .debug_line", NULL);
	code->version = (unsigned)di_take(c, 2);
	if (code->version < 2 || code->version > 5)
		return di_corrupt(u, "its line table's version", NULL);
	if (code->version >= 5)
		di_skip(c, 2); /* Skip the address size, which DW_LNE_set_address implies, and the size of segment selectors. */
	program = di_take(c, width);
	program = program <= c->end - c->at ? c->at + program : c->end;
	code->min_length = di_take(c, 1);
	code->max_ops = code->version >= 4 ? di_take(c, 1) : 1;
	di_skip(c, 1); /* Skip default_is_stmt: every row is kept. */
	code->line_base = (int8_t)di_take(c, 1);
	code->line_range = di_take(c, 1);
	code->opcode_base = di_take(c, 1);
	for (uint64_t i = 1; i < code->opcode_base; i++)
		code->lengths[i] = (uint8_t)di_take(c, 1);
	if (c->bad || !code->line_range || !code->opcode_base || code->max_ops != 1)
		return di_corrupt(u, "its line table's head", NULL);
	if (read_files(u->di, c, code->version, width, lines))
		return -1;
	if (c->bad || c->at > program)
		return di_corrupt(u, "its file table", NULL);
	c->at = program;
	return 0;
}
