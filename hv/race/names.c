// SPDX-License-Identifier: GPL-2.0-or-later
/* Keeps what debug files say about one race: source lines, inlined functions, and the name of the datum. */
#include "hv/race/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/grow.h"

const char *datum_unqualified(const char *type)
{
	static const char *const words[] = {"const ", "volatile "};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strncmp(type, words[i], strlen(words[i])) == 0)
			return datum_unqualified(type + strlen(words[i]));
	}
	return type;
}

void race_names_free(struct race_names *names)
{
	if (!names)
		return;
	free(names->lines);
	free(names->code);
	free(names->files);
	free(names);
}

const struct source_line *race_names_lines(const struct race_names *names, unsigned side, unsigned frame, size_t *n)
{
	const struct source_line *first = NULL;

	*n = 0;
	for (size_t i = 0; names && i < names->count; i++) {
		const struct source_line *line = &names->lines[i];

		if (line->side != side || line->frame != frame)
			continue;
		if (!first)
			first = line;
		++*n;
	}
	return first;
}

static bool in_header(const char *file)
{
	size_t len = strlen(file);

	return len > 2 && strcmp(file + len - 2, ".h") == 0;
}

const struct source_line *race_names_place(const struct race_names *names, unsigned side)
{
	const struct source_line *outermost = NULL, *lines;
	size_t n;

	lines = race_names_lines(names, side, 0, &n);
	for (size_t i = 0; i < n; i++) {
		if (!lines[i].file[0] || !lines[i].line)
			continue;
		if (!in_header(lines[i].file))
			return &lines[i];
		outermost = &lines[i];
	}
	return outermost;
}

struct source_line *race_names_add(struct race_names *names, struct err *err)
{
	struct source_line *line = list_grow(&names->lines, &names->count, sizeof(*line), NULL);

	if (!line)
		err_set(err, EXIT_INTERNAL, "out of memory while naming a race");
	return line;
}

/* Returns the index of this path in names->files. Adds the path if it is new. Returns -1 if memory runs out. */
static int file_index(struct race_names *names, const char *file)
{
	char(*to)[SOURCE_FILE_MAX];

	for (size_t i = 0; i < names->file_count; i++) {
		if (strcmp(names->files[i], file) == 0)
			return (int)i;
	}
	to = list_grow(&names->files, &names->file_count, sizeof(*to), NULL);
	if (!to)
		return -1;
	snprintf(*to, sizeof(*to), "%s", file);
	return (int)names->file_count - 1;
}

int race_names_add_code(struct race_names *names, unsigned side, uint16_t at, const char *file, unsigned line, struct err *err)
{
	int index = file_index(names, file);
	struct code_line *code = index < 0 ? NULL : list_grow(&names->code, &names->code_count, sizeof(*code), NULL);

	if (!code)
		return err_set(err, EXIT_INTERNAL, "out of memory while naming a race");
	*code = (struct code_line){(uint8_t)side, at, (unsigned)index, line};
	return 0;
}

unsigned race_names_code(const struct race_names *names, unsigned side, uint16_t at, const char **file)
{
	*file = NULL;
	for (size_t i = 0; names && i < names->code_count; i++) {
		const struct code_line *c = &names->code[i];

		if (c->side != side || c->at != at)
			continue;
		*file = names->files[c->file];
		return c->line;
	}
	return 0;
}

void race_names_move_code(struct race_names *to, struct race_names *from)
{
	free(to->code);
	free(to->files);
	to->code = from->code;
	to->code_count = from->code_count;
	to->files = from->files;
	to->file_count = from->file_count;
	from->code = NULL;
	from->files = NULL;
	from->code_count = from->file_count = 0;
}
