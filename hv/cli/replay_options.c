// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses the command line of `outrider replay`, and checks the values of its options. */
#include "hv/cli/replay_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "hv/base/grow.h"
#include "hv/cli/choice.h"
#include "hv/cli/replay_gdb.h"

#define TIMES_MAX 1000000
#define DAY_NS (UINT64_C(86400) * 1000000000)

enum replay_key {
	KEY_ORDER = 0x100,
	KEY_FOR,
	KEY_TIMES,
	KEY_GDB,
	KEY_GDB_TCP,
	KEY_VMCORE,
	KEY_FORM,
	KEY_SYMBOLS,
	KEY_DEBUGINFOD,
	KEY_NO_SANDBOX,
};

static const struct argp_option options[] = {
	{NULL, 0, NULL, 0, "What is run", 1},
	{"order", KEY_ORDER, "1|2", 0,
	 "only this order, once: 1 lets the first side make its access first, 2 the second side (default: both orders, twice "
	 "each, compared)",
	 0},
	{"for", KEY_FOR, "T", 0,
	 "how long each order runs on after both accesses: 500ms, 2s, 1m; 0 for not at all (default: as in the run that saved "
	 "the "
	 "scenario)",
	 0},
	{"times", KEY_TIMES, "N", 0, "replay it N times, and say how many of them came out as recorded", 0},
	{NULL, 0, NULL, 0, "Looking into it", 2},
	{"gdb", KEY_GDB, "unix:[PATH]", 0,
	 "let gdb connect to this Unix socket, and step the order of --order (default 1) from before both accesses; without "
	 "PATH, outrider makes a socket in a folder of yours, and prints its path",
	 0},
	{"gdb-tcp", KEY_GDB_TCP, "[HOST:]PORT", 0,
	 "like --gdb, but on a TCP port: any user of this host can connect, and with HOST anybody who reaches that address", 0},
	{"vmcore", KEY_VMCORE, "FILE", 0,
	 "write the machine to FILE as a core for crash and drgn: without --order as it is before both accesses, and with "
	 "--order as it is after this order and the time of --for",
	 0},
	{NULL, 0, NULL, 0, "Names and results", 3},
	{"symbols", KEY_SYMBOLS, "PATH", 0,
	 "vmlinux or System.map of this kernel, a module's file, or a folder with debug files; may be given several times "
	 "(/usr/lib/debug and debuginfod's cache are always searched too)",
	 0},
	{"debuginfod", KEY_DEBUGINFOD, NULL, 0, CLI_DEBUGINFOD_HELP, 0},
	{"format", KEY_FORM, "FORM", 0, "text, for people (default), or json", 0},
	{"quiet", 'q', NULL, 0, "print nothing but the result, and errors", 0},
	{"verbose", 'v', NULL, 0, "say which debug files are used", 0},
	{"no-sandbox", KEY_NO_SANDBOX, NULL, 0, "run outrider without confinement, to debug it; see docs/security.md", 0},
	{0},
};

static const char doc[] =
	"Run both orders of a race again, from the moment before its two accesses, and print the outcome of each.\v"
	"SCENARIO is a file that `outrider run --replay --save` or `outrider explore --save` kept. It has all of the machine "
	"at that moment, so nothing else is needed but a host with the same vendor's CPUs.";

static error_t add_symbols(struct replay_options *o, const char *path)
{
	const char **to = list_grow(&o->symbols, &o->symbol_count, sizeof(*to), NULL);

	if (!to)
		return ENOMEM;
	*to = path;
	return 0;
}

static error_t add_path(struct replay_options *o, const char *path, struct argp_state *state)
{
	if (o->path)
		return cli_usage(state, "give only one scenario to replay: '%s' or '%s'", o->path, path);
	o->path = path;
	return 0;
}

static error_t number_option(int key, char *arg, struct argp_state *state)
{
	struct replay_options *o = state->input;
	uint64_t value;

	switch (key) {
	case KEY_ORDER:
		if (cli_number(arg, 1, 2, &value) < 0)
			return cli_usage(state, "--order %s: give 1 or 2", arg);
		o->order = (unsigned)value;
		return 0;
	case KEY_FOR:
		if (cli_time(arg, &o->free_ns) < 0 || o->free_ns > DAY_NS)
			return cli_usage(state, "--for %s: give a time up to 24h, for example 500ms, 2s or 1m, or 0", arg);
		o->free_given = true;
		return 0;
	case KEY_TIMES:
		if (cli_number(arg, 1, TIMES_MAX, &o->times) < 0)
			return cli_usage(state, "--times %s: give a number from 1 to 1000000", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t gdb_option(struct replay_options *o, const char *address, struct argp_state *state)
{
	if (o->gdb)
		return cli_usage(state, "give only one address for gdb: '%s' or '%s'", o->gdb, address);
	o->gdb = address;
	return 0;
}

static error_t parser(int key, char *arg, struct argp_state *state)
{
	struct replay_options *o = state->input;

	switch (key) {
	case KEY_GDB:
		if (!replay_gdb_is_unix(arg))
			return cli_usage(state,
					 "--gdb %s: give unix:PATH; any user can connect to a port, so that needs --gdb-tcp",
					 arg);
		return gdb_option(o, arg, state);
	case KEY_GDB_TCP:
		if (replay_gdb_is_unix(arg))
			return cli_usage(state, "--gdb-tcp %s: give a port, or --gdb %s", arg, arg);
		return gdb_option(o, arg, state);
	case KEY_VMCORE:
		o->vmcore = arg;
		return 0;
	case KEY_SYMBOLS:
		return add_symbols(o, arg);
	case KEY_DEBUGINFOD:
		o->debuginfod = true;
		return 0;
	case KEY_FORM:
		return cli_choose_second(state, &diff_forms, "format", arg, &o->json);
	case 'q':
		o->quiet = true;
		return 0;
	case 'v':
		o->verbose = true;
		return 0;
	case KEY_NO_SANDBOX:
		o->no_sandbox = true;
		return 0;
	case ARGP_KEY_ARG:
		return add_path(o, arg, state);
	default:
		return number_option(key, arg, state);
	}
}

const struct argp cli_replay_argp = {.options = options, .parser = parser, .args_doc = "SCENARIO", .doc = doc};

/* Returns whether both paths lead to the same file. */
static bool same_file(const char *a, const char *b)
{
	struct stat x, y;

	return strcmp(a, b) == 0 || (stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino);
}

static int check(const struct replay_options *o, struct err *err)
{
	if (!o->path)
		return err_set(
			err, EXIT_USAGE,
			"replay needs a SCENARIO that `outrider run --replay --save` kept; see `outrider replay --help`");
	if (o->gdb && o->vmcore)
		return err_set(err, EXIT_USAGE, "--gdb and --vmcore are two ways to look into the machine: give one of them");
	if (o->gdb && o->free_ns)
		return err_set(err, EXIT_USAGE, "with --gdb the debugger says how long the machine runs: leave out --for");
	if (o->gdb && o->json)
		return err_set(err, EXIT_USAGE, "--gdb has no result to print: leave out --format");
	if (o->times && (o->gdb || o->vmcore || o->order))
		return err_set(err, EXIT_USAGE, "--times replays both orders: leave out --order, --gdb and --vmcore");
	if (o->vmcore && same_file(o->vmcore, o->path))
		return err_set(err, EXIT_USAGE, "--vmcore would write over the scenario: give another file");
	if (o->vmcore && !o->order && (o->free_given || o->json))
		return err_set(err, EXIT_USAGE,
			       "--vmcore without --order writes the machine before both accesses: "
			       "give --order, or leave out --for and --format");
	return 0;
}

int replay_options_parse(struct replay_options *o, int argc, char **argv, struct err *err)
{
	*o = (struct replay_options){.input = {err}};
	return cli_parse(&cli_replay_argp, argc, argv, &o->input) < 0 ? -1 : check(o, err);
}

void replay_options_free(struct replay_options *o)
{
	free(o->symbols);
}
