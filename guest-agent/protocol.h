/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses what the host sends to the agent (docs/guest-agent.md): splits a stream of bytes into lines, and parses a line as a
 * command. These functions read from memory, and do not check that a workload or a job exists.
 */
#ifndef OUTRIDER_PROTOCOL_H
#define OUTRIDER_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * The vsock port of the host (context id 2) to which the agent connects. Only a privileged program can listen on a port below
 * 1024.
 */
#define AGENT_PORT 999

/* The longest line in bytes, without its newline. */
#define LINE_LENGTH 511

/* The bytes of a line that have come so far. A reader starts as all zeros. */
struct line_reader {
	char text[LINE_LENGTH + 1];
	size_t len;
	/* The line is longer than LINE_LENGTH. Its bytes are dropped up to the newline. */
	bool too_long;
};

enum line_state {
	LINE_MORE,     /* the bytes ended before the line did */
	LINE_WHOLE,    /* the line is in reader->text, with a '\0' instead of its newline */
	LINE_TOO_LONG, /* a line that was longer than LINE_LENGTH has ended */
};

/*
 * Take bytes of one line from the `n` bytes at `data`. Returns how many bytes were taken, and sets *state. After LINE_WHOLE the
 * text is valid until the next call, which begins the next line. A carriage return before the newline is left out.
 */
size_t line_take(struct line_reader *reader, const char *data, size_t n, enum line_state *state);

enum verb { VERB_HELP, VERB_WORKLOADS, VERB_STATUS, VERB_START, VERB_STOP, VERB_ENOUGH, VERB_POWEROFF, VERB_EMPTY, VERB_BAD };

struct command {
	enum verb verb;
	const char *argument; /* of VERB_START and VERB_ENOUGH: what follows the verb; it points into the line */
	unsigned int job;     /* of VERB_STOP: the job's number, or 0 for all jobs */
	char why[96];	      /* of VERB_BAD: what is wrong with the line */
};

/* Read a line as a command. A line with a control character other than a tab is VERB_BAD. */
void command_read(const char *line, struct command *command);

/* Print one line for each command, with its description. Each line begins with `prefix`. */
void commands_print(FILE *out, const char *prefix);

#endif
