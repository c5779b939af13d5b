// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/race/names.h"

#include <stdlib.h>
#include <string.h>

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

struct source_line *race_names_add(struct race_names *names, struct err *err)
{
	if (names->count == names->room) {
		size_t room = names->room ? 2 * names->room : 32;
		struct source_line *lines = realloc(names->lines, room * sizeof(*lines));

		if (!lines) {
			err_set(err, EXIT_INTERNAL, "out of memory while naming a race");
			return NULL;
		}
		names->lines = lines;
		names->room = room;
	}
	names->lines[names->count] = (struct source_line){0};
	return &names->lines[names->count++];
}
