// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the file with the commands that the host may start by name. A line of it is "NAME once|percpu COMMAND". */
#include "named_commands.h"

#include <errno.h>
#include <string.h>

#include "agent.h"

/*
 * Parse the line `line`, which has the number `number` in the file `file`. Returns true and fills in *c if the line is a valid
 * command. Returns false for a blank line and for a comment. For any other line, writes a message and returns false.
 */
static bool read_command(const char *file, unsigned int number, const char *line, struct named_command *c)
{
	char copies[16];

	line += strspn(line, " \t\n");
	if (!*line || *line == '#')
		return false;
	if (sscanf(line, "%63s %15s %1023[^\n]", c->name, copies, c->command) == 3 && !strchr(c->name, ':') &&
	    (!strcmp(copies, "once") || !strcmp(copies, "percpu"))) {
		c->percpu = !strcmp(copies, "percpu");
		return true;
	}
	say("%s:%u: a line must be NAME once|percpu COMMAND, and NAME must not contain ':'", file, number);
	return false;
}

void named_commands_each(const char *file, void (*fn)(void *ctx, const struct named_command *command), void *ctx)
{
	FILE *in = fopen(file, "re");
	struct named_command c;
	char line[1200];

	if (!in) {
		if (errno != ENOENT)
			say_failed("%s", file);
		return;
	}
	for (unsigned int number = 1; fgets(line, sizeof(line), in); number++)
		if (read_command(file, number, line, &c))
			fn(ctx, &c);
	fclose(in);
}

struct search {
	const char *name;
	size_t len;
	struct named_command *found;
	bool done;
};

static void look(void *ctx, const struct named_command *command)
{
	struct search *s = ctx;

	if (s->done || strlen(command->name) != s->len || strncmp(command->name, s->name, s->len) != 0)
		return;
	*s->found = *command;
	s->done = true;
}

bool named_command_find(const char *file, const char *name, size_t len, struct named_command *found)
{
	struct search s = {.name = name, .len = len, .found = found};

	named_commands_each(file, look, &s);
	return s.done;
}
