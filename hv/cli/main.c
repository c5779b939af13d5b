// SPDX-License-Identifier: GPL-2.0-or-later
/* The program: finds the subcommand on the command line, and runs it. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hv/cli/commands.h"
#include "hv/cli/completion.h"
#include "hv/cli/help.h"
#include "hv/cli/output.h"
#include "hv/cli/suggest.h"
#include "hv/cli/version.h"

/* Report an unknown command, and suggest a similar one. */
static int unknown(const char *word)
{
	struct err err = {0};
	struct suggest suggest = suggest_begin(word, strlen(word));

	if (word[0] == '-') {
		fprintf(stderr, "outrider: %s: a command comes first, for example `outrider run`; see `outrider --help`\n",
			word);
		return EXIT_USAGE;
	}

	for (const struct cli_command *c = cli_commands; c->name; c++)
		suggest_offer(&suggest, c->name);
	if (suggest_end(&suggest))
		err_set(&err, EXIT_USAGE, "'%.80s' is not a command; did you mean `outrider %s`?", word, suggest_end(&suggest));
	else
		err_set(&err, EXIT_USAGE, "'%.80s' is not a command; see `outrider --help`", word);
	return cli_fail(&err);
}

/* Run `outrider help COMMAND` as `outrider COMMAND --help`. */
static int help(int argc, char **argv)
{
	char option[] = "--help";

	if (argc == 0) {
		help_outrider(cli_commands);
		return EXIT_OK;
	}
	for (const struct cli_command *c = cli_commands; c->name; c++) {
		if (strcmp(argv[0], c->name) != 0)
			continue;
		if (c->inner && argc > 1)
			return c->main(3, (char *[]){argv[0], argv[1], option, NULL});
		return c->main(2, (char *[]){argv[0], option, NULL});
	}
	return unknown(argv[0]);
}

/*
 * Open missing standard streams: otherwise the next file to be opened would get the number of a closed stream, and console
 * output and errors would go into that file.
 */
static void open_missing_streams(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= STDIN_FILENO && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

static int command(int argc, char **argv)
{
	if (argc < 2) {
		fputs("outrider: no command; see `outrider --help`\n", stderr);
		return EXIT_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0)
		return help(argc - 2, argv + 2);
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		version_print(&report_formats);
		return EXIT_OK;
	}
	if (strcmp(argv[1], "completion") == 0)
		return completion(cli_commands, cli_choices, argv[2]);
	for (const struct cli_command *c = cli_commands; c->name; c++) {
		if (strcmp(argv[1], c->name) == 0)
			return c->main(argc - 1, argv + 1);
	}
	return unknown(argv[1]);
}

int main(int argc, char **argv)
{
	open_missing_streams();
	/*
	 * Ignore SIGPIPE: if the reader of our output has gone, write() then fails with EPIPE, and the writer can restore the
	 * terminal before it ends.
	 */
	signal(SIGPIPE, SIG_IGN);
	return output_end(command(argc, argv));
}
