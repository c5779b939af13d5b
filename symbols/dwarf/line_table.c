/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decodes line tables (section 6.2 of DWARF 5 and of DWARF 4). A line table begins with its header (section 6.2.4), which has
 * the directories, the files, and parameters of the line number program. That program follows the header (section 6.2.5): its
 * instructions tell a state machine how to generate the rows.
 *
 * libdwarf is not used here for two reasons. The libdwarf of Debian 12 starts DWARF 5 programs with file 0, but the standard
 * (section 6.2.2) and all compilers start with file 1, and a caller cannot distinguish libdwarf's 0 from a program that sets
 * file 0. Also, libdwarf needs 100 bytes per row.
 */
#include "symbols/dwarf/line_table.h"

#include <stdlib.h>

#include "hv/base/grow.h"
#include "symbols/dwarf/cursor.h"

#define MAX_ENTRIES 65536u /* at most this many entries of a directory or file table; bounds hostile files */
#define MAX_FORMATS 16u	   /* at most this many fields of an entry in a directory or file table; DWARF 5 defines five */

/* Parameters of a line program (DWARF 5 section 6.2.4). */
struct program_head {
	unsigned version;
	uint64_t min_length; /* Bytes per unit of address advance. */
	uint64_t max_ops;    /* Operations per instruction; always 1 in an accepted table. */
	uint64_t line_range;
	uint64_t opcode_base;
	int64_t line_base;
	uint8_t lengths[256]; /* Number of operands of each standard opcode. */
};

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

/*
 * Read the header of the line table at `c` into `code`, and its file table into `lines`. Afterwards `c` covers the program
 * alone. Refuses tables for VLIW machines (several operations per instruction): the code is x86. Returns 0, or -1 with the
 * error set.
 */
static int read_header(struct di_unit *u, struct di_cursor *c, struct program_head *code, struct di_lines *lines)
{
	uint64_t program;
	size_t width;

	*code = (struct program_head){0};
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

/* The state machine that the line number program drives (section 6.2.2). */
struct line_state {
	struct di_unit *u;
	struct di_cursor *c;
	const struct program_head *code;
	struct di_lines *lines;
	uint64_t addr, file, line, column; /* The state machine's registers. */
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
	struct di_line *row = list_grow(&s->lines->at, &s->lines->n, sizeof(*row), NULL);

	if (!row)
		return di_memory(s->u->di);
	*row = (struct di_line){
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
	/* Skip an opcode that does not affect the rows, or that a newer DWARF has. The header gives the number of operands. */
	default:
		for (unsigned i = 0; i < s->code->lengths[opcode]; i++)
			di_uleb(s->c);
	}
}

/* Run the program at `c` and append its rows to `lines` in program order. Returns 0, or -1 with the error set. */
static int run_program(struct di_unit *u, struct di_cursor *c, const struct program_head *code, struct di_lines *lines)
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

static int compare_lines(const struct di_line *x, const struct di_line *y)
{
	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (x->end != y->end)
		return x->end ? -1 : 1;
	return 0;
}

static bool sorted(const struct di_lines *lines)
{
	for (size_t i = 1; i < lines->n; i++) {
		if (compare_lines(&lines->at[i - 1], &lines->at[i]) > 0)
			return false;
	}
	return true;
}

/*
 * Sort the rows by address. Among rows of one address, the ends of sequences come first, since the next sequence begins there.
 * The other rows keep their order, since the last of them applies. qsort() would not keep the order, so this is a merge sort.
 * Returns 0, or -1 with the error set if memory runs out.
 */
static int sort_rows(struct debuginfo *di, struct di_lines *lines)
{
	struct di_line *from = lines->at, *to;

	if (sorted(lines))
		return 0;
	to = calloc(lines->n, sizeof(*to));
	if (!to)
		return di_memory(di);
	for (size_t width = 1; width < lines->n; width *= 2) {
		for (size_t start = 0; start < lines->n; start += 2 * width) {
			size_t a = start, middle = start + width < lines->n ? start + width : lines->n;
			size_t b = middle, end = start + 2 * width < lines->n ? start + 2 * width : lines->n;

			for (size_t i = start; i < end; i++)
				to[i] = a < middle && (b == end || compare_lines(&from[a], &from[b]) <= 0) ? from[a++]
													   : from[b++];
		}
		lines->at = to;
		to = from;
		from = lines->at;
	}
	free(to);
	return 0;
}

int di_lines_decode(struct di_unit *u, struct di_cursor *c, struct di_lines *lines)
{
	struct program_head code;

	if (read_header(u, c, &code, lines) || run_program(u, c, &code, lines))
		return -1;
	return sort_rows(u->di, lines);
}

const struct di_line *di_lines_at(const struct di_lines *lines, uint64_t pc)
{
	size_t n = di_bisect(lines->at, lines->n, sizeof(*lines->at), pc);

	return n && !lines->at[n - 1].end ? &lines->at[n - 1] : NULL;
}

void di_lines_free(struct di_lines *lines)
{
	if (lines) {
		free(lines->at);
		free(lines->files);
	}
	free(lines);
}
