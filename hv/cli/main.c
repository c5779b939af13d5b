// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hv/cli/commands.h"

static int help(FILE *to)
{
	fprintf(to, "Usage: outrider COMMAND [OPTION]...\n"
		    "Find data races in an unmodified x86-64 Linux kernel from outside the guest.\n\nCommands:\n");
	for (const struct cli_command *c = cli_commands; c->name; c++)
		fprintf(to, "  %-10s %s\n", c->name, c->what);
	fprintf(to, "\n`outrider COMMAND --help` explains a command; `outrider --version` names this version.\n\n%s",
		cli_exit_codes);
	return EXIT_OK;
}

/* If a standard stream were closed, the next opened file would take its number, and the console and errors would go into it. */
static void open_missing_streams(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= STDIN_FILENO && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

int main(int argc, char **argv)
{
	open_missing_streams();
	/* When the reader of our output goes away, write() fails. That error is handled there, with the terminal restored. */
	signal(SIGPIPE, SIG_IGN);
	if (argc < 2) {
		fputs("outrider: no command; see `outrider --help`\n", stderr);
		return EXIT_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0)
		return help(stdout);
	if (strcmp(argv[1], "--version") == 0) {
		puts("outrider " OUTRIDER_VERSION);
		return EXIT_OK;
	}
	for (const struct cli_command *c = cli_commands; c->name; c++) {
		if (strcmp(argv[1], c->name) == 0)
			return c->main(argc - 1, argv + 1);
	}
	fprintf(stderr, "outrider: '%s' is not a command; see `outrider --help`\n", argv[1]);
	return EXIT_USAGE;
}
