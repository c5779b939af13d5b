// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes a shell command that repeats a run and aims it at one race (docs/aiming.md). */
#include "hv/campaign/list/again.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Returns the end of the argument that begins at `text`. The runner has written the arguments by shell_word(): in single quotes
 * if necessary, with '\'' for each single quote in an argument.
 */
static const char *end_of_word(const char *text)
{
	bool quoted = false;

	for (; *text && (quoted || *text != ' '); text++) {
		if (*text == '\'')
			quoted = !quoted;
		else if (!quoted && *text == '\\' && text[1])
			text++;
	}
	return text;
}

/*
 * Returns whether the argument `word` is an option that again_command() leaves out, together with its value, the next argument.
 */
static bool is_dropped(const char *word, size_t len)
{
	static const char *const dropped[] = {"--json", "--coverage", "--console", "--prefer"};

	for (size_t i = 0; i < sizeof(dropped) / sizeof(dropped[0]); i++) {
		if (strlen(dropped[i]) == len && memcmp(word, dropped[i], len) == 0)
			return true;
	}
	return false;
}

static void put_quoted(FILE *out, const char *text)
{
	fputc('\'', out);
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", out);
		else
			fputc(*text, out);
	}
	fputc('\'', out);
}

bool again_explores(const char *command)
{
	return strstr(command, " explore ") != NULL;
}

char *again_command(const char *command, const char *folder, const char *report)
{
	char *text = NULL, *races = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	bool skip = false;

	if (!out || asprintf(&races, "%s/races.json#%s", folder, report) < 0) {
		if (out)
			fclose(out);
		free(text);
		return NULL;
	}
	while (*command) {
		const char *end = end_of_word(command);
		size_t len = (size_t)(end - command);

		if (!skip && !is_dropped(command, len) && len)
			fprintf(out, "%.*s ", (int)len, command);
		skip = !skip && is_dropped(command, len);
		command = end + (*end == ' ');
	}
	fputs("--aim ", out);
	put_quoted(out, races);
	fputs(" --json again.json", out);
	free(races);
	return fclose(out) == 0 ? text : NULL;
}
