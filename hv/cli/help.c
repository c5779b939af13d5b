// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints the text of --help of outrider and of its subcommands. */
#include "hv/cli/help.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/session/terminal.h"

/*
 * Limits of the width of help texts. In less than WIDTH_MIN columns argp cannot lay out its two columns. Lines longer than
 * WIDTH_MAX are hard to read.
 */
#define WIDTH_MIN 50
#define WIDTH_MAX 110
/* The column, counted from 0, in which argp begins the explanation of an option. */
#define EXPLAINED_AT 29

/*
 * The exit codes. Each line applies to the subcommands in `commands`, or to all if it is NULL. "campaign-run" means `outrider
 * campaign run`. A code may have several lines.
 */
static const struct exit_line {
	const char *code;
	const char *commands;
	const char *what;
} exit_lines[] = {
	{"0", "run attach", "the run ended as asked, whether races were found or not"},
	{"0", "list", "the domains were listed"},
	{"0", "agent", "the agent carried out the command"},
	{"0", "report prune", "the races were shown"},
	{"0", "diff", "the differences were shown, whether there are any or not"},
	{"0", "locks", "the locks were shown, every assertion was checked and none is broken"},
	{"0", "campaign-run", "the round has ended, and nothing in it is what the campaign file calls a failure"},
	{"0", "campaign-check", "the campaign file has no error"},
	{"0", "doctor", "this host can run guests for outrider"},
	{"1", "run attach report",
	 "--fail-on found what it looks for, or a run that sampled nothing or is not finished; --error-exitcode gives another "
	 "status"},
	{"1", "diff",
	 "a race that --fail-on looks for is new or worse, or a new run sampled nothing or is not finished; --error-exitcode "
	 "gives another status"},
	{"1", "locks",
	 "an assertion is broken or was never checked, or --fail-on found what it looks for; --error-exitcode gives another "
	 "status"},
	{"1", "agent", "the job that --wait waited for has failed"},
	{"0", "campaign-status campaign-show campaign-diff", "the store was read, whatever is in it"},
	{"0", "campaign-triage", "the state of the race was stored"},
	{"1", "campaign-show campaign-diff",
	 "--fail-on looks for something that is in the list, or runs failed; --error-exitcode gives another status"},
	{"1", "campaign-run",
	 "the round has ended, and something in it is what the campaign file calls a failure, or runs failed"},
	{"0", "replay", "the outcomes are the recorded ones, or the core is written, or gdb has disconnected"},
	{"1", "replay", "the outcomes are not the recorded ones"},
	{"0", "explore", "no forced schedule did harm, or --record-only was given"},
	{"1", "explore",
	 "a forced schedule did harm: the kernel complained, the programs hung, or their exit statuses are those of no serial "
	 "order"},
	{"2", NULL, "an option or argument was wrong"},
	{"3", "run", "a file, host or guest cannot be used: kernel, image, symbols, /dev/kvm, a full disk"},
	{"3", "attach", "a file, host or guest cannot be used: domain, gdbstub, symbols, a full disk"},
	{"3", "replay", "a file or host cannot be used: scenario, symbols, /dev/kvm, another vendor's CPU, a full disk"},
	{"3", "explore",
	 "a file or host cannot be used, the guest does not reach the mark, or the programs do harm in a serial order"},
	{"3", "list", "libvirt cannot be reached"},
	{"3", "agent", "no agent connected or answered, or it refused the command"},
	{"3", "report prune diff", "a file cannot be used, or the output cannot be written"},
	{"3", "locks", "a file cannot be used, has no record of locks or is wrong, or the output cannot be written"},
	{"3", "campaign-status campaign-show campaign-diff campaign-triage",
	 "the store, or a file, cannot be used, or it has no such round; or the output cannot be written"},
	{"3", "campaign-run campaign-check",
	 "a file, host or store cannot be used: the campaign file, what it names, a full disk; or no run gave an answer"},
	{"3", "doctor", "this host cannot run guests for outrider"},
	{"4", "run", "the guest died"},
	{"4", "attach", "the QEMU of the domain died"},
	{"5", NULL, "outrider itself failed"},
	{"124", "run attach", "--timeout was over"},
};

/* Returns whether `word` is in the list of words `words`. */
static bool has_word(const char *words, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = words; (at = strstr(at, word)) != NULL; at += len) {
		if ((at == words || at[-1] == ' ') && (at[len] == ' ' || at[len] == '\0'))
			return true;
	}
	return false;
}

/*
 * Print `text` in lines of at most `width` characters. The first line continues the current line, and the following lines begin
 * with `indent` blanks.
 */
static void print_folded(const char *text, size_t indent, size_t width)
{
	size_t at = indent;

	for (const char *word = text; *word;) {
		size_t len = strcspn(word, " ");

		if (at > indent && at + 1 + len > width) {
			printf("\n%*s", (int)indent, "");
			at = indent;
		} else if (at > indent) {
			putchar(' ');
			at++;
		}
		printf("%.*s", (int)len, word);
		at += len;
		word += len;
		word += strspn(word, " ");
	}
	putchar('\n');
}

static size_t help_width(void)
{
	unsigned width = terminal_width();

	if (width < WIDTH_MIN)
		return WIDTH_MIN;
	return width > WIDTH_MAX ? WIDTH_MAX : width;
}

static void print_exit_lines(const char *command, size_t width)
{
	char word[64], *blank;

	snprintf(word, sizeof(word), "%s", command);
	blank = strchr(word, ' ');
	if (blank)
		*blank = '-';
	puts("Exit status:");
	for (size_t i = 0; i < sizeof(exit_lines) / sizeof(exit_lines[0]); i++) {
		const struct exit_line *line = &exit_lines[i];

		if (line->commands && !has_word(line->commands, word))
			continue;
		printf("  %s  ", line->code);
		print_folded(line->what, 5, width);
	}
}

/*
 * Print a line from argp, folded. The explanation of an option begins in a fixed column, and its further lines begin there,
 * too. An option that reaches into that column gets a line of its own.
 */
static void print_line(const char *line, size_t width)
{
	size_t blanks = strspn(line, " "), begin = blanks, option = blanks;

	if (line[blanks] == '-' && strlen(line) > EXPLAINED_AT) {
		begin = option = EXPLAINED_AT;
		if (line[begin - 1] != ' ')
			option += strcspn(line + begin, " ");
	}
	printf("%.*s", (int)option, line);
	line += option;
	line += strspn(line, " ");
	if (option > begin && *line)
		printf("\n%*s", (int)begin, "");
	print_folded(line, begin, width);
}

/*
 * Returns argp's help in lines that are not folded, from malloc(), or NULL if memory runs out. argp must not fold a line: if a
 * part of a line ends just at the margin, argp may read the byte after the end of its buffer (glibc's argp-fmtstream.c), and
 * its output is then random. ARGP_HELP_FMT is the only way to set argp's line width.
 */
static char *unfolded(const struct argp *argp, char *program)
{
	char *text = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size);

	if (!memory)
		return NULL;
	setenv("ARGP_HELP_FMT", "rmargin=10000", 1);
	argp_help(argp, memory, ARGP_HELP_STD_HELP & ~(unsigned)ARGP_HELP_EXIT_OK, program);
	if (fclose(memory) == 0)
		return text;
	free(text);
	return NULL;
}

void help_command(const struct argp *argp, const char *command)
{
	size_t width = help_width();
	char program[64], *text, *rest;

	snprintf(program, sizeof(program), "outrider %s", command);
	text = unfolded(argp, program);
	if (!text)
		return;
	rest = text;
	for (char *line = strsep(&rest, "\n"); line && rest; line = strsep(&rest, "\n"))
		print_line(line, width);
	free(text);
	putchar('\n');
	print_exit_lines(command, width);
}

static void print_commands(const struct cli_command *commands, size_t width)
{
	puts("Commands:");
	for (const struct cli_command *c = commands; c->name; c++) {
		printf("  %-10s ", c->name);
		print_folded(c->what, 13, width);
	}
}

void help_group(const struct argp *argp, const char *command, const struct cli_command *inner)
{
	size_t width = help_width();
	size_t what = strcspn(argp->doc, "\v");

	printf("Usage: outrider %s %s\n", command, argp->args_doc);
	printf("%.*s\n\n", (int)what, argp->doc);
	print_commands(inner, width);
	puts("\nOptions:");
	fputs("  -h, --help  ", stdout);
	print_folded("explain this command; after one of its commands, explain that command", 14, width);
	if (argp->doc[what]) {
		putchar('\n');
		print_folded(argp->doc + what + 1, 0, width);
	}
	putchar('\n');
	print_exit_lines(command, width);
}

void help_outrider(const struct cli_command *commands)
{
	size_t width = help_width();

	puts("Usage: outrider COMMAND [OPTION]...\n"
	     "Find data races in an unmodified x86-64 Linux kernel from outside the guest.\n");
	print_commands(commands, width);
	puts("\nOptions:");
	fputs("  -h, --help     ", stdout);
	print_folded("explain outrider; after a command, explain that command", 17, width);
	fputs("  -V, --version  ", stdout);
	print_folded("name this version, its libraries and its features", 17, width);
	puts("\n`outrider COMMAND --help` explains a command and its exit status.");
}
