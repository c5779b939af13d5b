/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The commands that the guest's owner lets the host start by name: a file with a line "NAME COPIES COMMAND" for each. COPIES is
 * "once", or "percpu" for a copy on each CPU. COMMAND is for /bin/sh. A line that begins with "#" is a comment.
 */
#ifndef OUTRIDER_NAMED_COMMANDS_H
#define OUTRIDER_NAMED_COMMANDS_H

#include <stdbool.h>
#include <stdio.h>

#define NAMED_COMMANDS_FILE "/etc/outrider/guest-agent.conf"

struct named_command {
	char name[64];
	bool percpu;
	char command[1024];
};

/* Find the command whose name is the first `len` bytes of `name`. Returns false if there is no such command, or no file. */
bool named_command_find(const char *file, const char *name, size_t len, struct named_command *found);

/* Call fn(ctx, command) for each command of the file. Write a message for each line that is neither command nor comment. */
void named_commands_each(const char *file, void (*fn)(void *ctx, const struct named_command *command), void *ctx);

#endif
