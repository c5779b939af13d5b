// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Splits the bytes that the host sends to the agent into lines, and parses a line as a command, such as "start NAME:ARGS" or
 * "stop JOB".
 */
#include "protocol.h"

#include <string.h>

size_t line_take(struct line_reader *reader, const char *data, size_t n, enum line_state *state)
{
	const char *end = memchr(data, '\n', n);
	size_t part = end ? (size_t)(end - data) : n, room = LINE_LENGTH - reader->len;

	if (part > room)
		reader->too_long = true;
	memcpy(reader->text + reader->len, data, part < room ? part : room);
	reader->len += part < room ? part : room;
	if (!end) {
		*state = LINE_MORE;
		return n;
	}
	*state = reader->too_long ? LINE_TOO_LONG : LINE_WHOLE;
	if (reader->len && reader->text[reader->len - 1] == '\r')
		reader->len--;
	/* Replace a '\0' inside the line, which would hide the bytes after it, by a character that command_read() refuses. */
	for (size_t i = 0; i < reader->len; i++)
		if (!reader->text[i])
			reader->text[i] = '\1';
	reader->text[reader->len] = '\0';
	reader->len = 0;
	reader->too_long = false;
	return part + 1;
}

enum argument { ARGUMENT_NONE, ARGUMENT_TEXT, ARGUMENT_JOB };

static const struct {
	const char *name;
	enum verb verb;
	enum argument argument;
	const char *usage;
} verbs[] = {
	{"help", VERB_HELP, ARGUMENT_NONE, "help: what the host can say"},
	{"workloads", VERB_WORKLOADS, ARGUMENT_NONE, "workloads: what can be started"},
	{"status", VERB_STATUS, ARGUMENT_NONE, "status: each job, running or ended"},
	{"start", VERB_START, ARGUMENT_TEXT, "start NAME[:ARGS]: start a workload or a configured command as a job"},
	{"stop", VERB_STOP, ARGUMENT_JOB, "stop [JOB]: stop a job, or all jobs, with every process that they started"},
	{"enough", VERB_ENOUGH, ARGUMENT_TEXT, "enough NAME: tell the jobs that wait for \"enough NAME\" to go on"},
	{"poweroff", VERB_POWEROFF, ARGUMENT_NONE, "poweroff: stop all jobs, and power the machine off"},
};
#define VERBS (sizeof(verbs) / sizeof(*verbs))

void commands_print(FILE *out, const char *prefix)
{
	for (size_t i = 0; i < VERBS; i++)
		fprintf(out, "%s%s\n", prefix, verbs[i].usage);
}

static void bad(struct command *command, const char *why)
{
	command->verb = VERB_BAD;
	snprintf(command->why, sizeof(command->why), "%s", why);
}

static bool has_control_character(const char *line)
{
	for (; *line; line++)
		if (((unsigned char)*line < ' ' && *line != '\t') || *line == 0x7f)
			return true;
	return false;
}

/* Parse the number of a job: 1 to 9 digits, and not 0. */
static bool read_job(const char *text, unsigned int *job)
{
	size_t len = strspn(text, "0123456789");

	*job = 0;
	if (!len || len > 9 || text[len])
		return false;
	for (; *text; text++)
		*job = *job * 10 + (unsigned int)(*text - '0');
	return *job > 0;
}

static void read_argument(enum argument kind, const char *text, struct command *command)
{
	if (kind == ARGUMENT_NONE && *text)
		bad(command, "the command takes no argument");
	else if (kind == ARGUMENT_TEXT && !*text)
		bad(command, "the command needs an argument; see help");
	else if (kind == ARGUMENT_JOB && *text && !read_job(text, &command->job))
		bad(command, "the argument is not the number of a job");
	else if (kind == ARGUMENT_TEXT)
		command->argument = text;
}

void command_read(const char *line, struct command *command)
{
	size_t len;

	*command = (struct command){.verb = VERB_EMPTY};
	if (has_control_character(line)) {
		bad(command, "the line has a control character");
		return;
	}
	line += strspn(line, " \t");
	len = strcspn(line, " \t");
	if (!len)
		return;
	for (size_t i = 0; i < VERBS; i++) {
		if (strlen(verbs[i].name) != len || strncmp(verbs[i].name, line, len) != 0)
			continue;
		command->verb = verbs[i].verb;
		read_argument(verbs[i].argument, line + len + strspn(line + len, " \t"), command);
		return;
	}
	bad(command, "there is no such command; see help");
}
