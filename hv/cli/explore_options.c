// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses the command line of `outrider explore`, and checks the values of its options. */
#include "hv/cli/explore_options.h"

#include <string.h>
#include <unistd.h>

#include "hv/cli/choice.h"

#define MIB (UINT64_C(1) << 20)
#define TIB (UINT64_C(1) << 40)
#define MEMORY_MIN (64 * MIB)
#define SECOND UINT64_C(1000000000)
#define TIME_MAX (3600 * SECOND)
#define DURATION_MAX (24 * TIME_MAX)
#define TRIALS 100
#define TRIALS_MAX 1000000
#define WALKS_MAX 1000000
#define DEPTH 3
#define STEPS 300000
#define STEPS_MAX 100000000
/*
 * Maximum length of a program's command in bytes. The guest agent copies the command, with a NUL, into a buffer of 4096 bytes
 * (guest-agent/workload_pair.c).
 */
#define COMMAND_MAX 4095

enum explore_key {
	KEY_KERNEL = 0x100,
	KEY_INITRD,
	KEY_APPEND,
	KEY_CPUS,
	KEY_MEMORY,
	KEY_CONSOLE,
	KEY_A,
	KEY_B,
	KEY_PREPARE,
	KEY_A_ALSO,
	KEY_B_ALSO,
	KEY_TRIALS,
	KEY_DURATION,
	KEY_SKIP,
	KEY_RECORD_ONLY,
	KEY_NO_BASELINE,
	KEY_KEEP_GOING,
	KEY_STEPS,
	KEY_JOBS,
	KEY_WALKS,
	KEY_CHAINS,
	KEY_DEPTH,
	KEY_SEED,
	KEY_BOOT_TIMEOUT,
	KEY_RECORD_TIME,
	KEY_TRIAL_TIME,
	KEY_SAVE,
	KEY_FORM,
	KEY_NO_SANDBOX,
};

static const struct argp_option options[] = {
	{NULL, 0, NULL, 0, "The machine", 1},
	{"kernel", KEY_KERNEL, "FILE", 0, "kernel to boot: a bzImage, or an ELF vmlinux with a PVH note (required)", 0},
	{"initrd", KEY_INITRD, "FILE", 0, "the kernel's initial RAM disk, whose /init is build/guest-agent (required)", 0},
	{"append", KEY_APPEND, "CMDLINE", 0,
	 "kernel command line; its last words, after --, are for the guest agent, and the last one must be pair (default: "
	 "quiet "
	 "-- pair)",
	 0},
	{"cpus", KEY_CPUS, "N", 0, "number of virtual CPUs, 2 to 16 (default 2)", 0},
	{"memory", KEY_MEMORY, "SIZE", 0, "guest memory, in MiB or with K, M, G or T (default 256M)", 0},
	{"console", KEY_CONSOLE, "FILE", 0, "write the console of the boot to FILE", 0},
	{"boot-timeout", KEY_BOOT_TIMEOUT, "T", 0, "how long both programs may take to reach the mark (default 5m)", 0},
	{NULL, 0, NULL, 0, "The programs", 2},
	{"a", KEY_A, "COMMAND", 0, "shell command of program A, which runs on CPU 0 (required)", 0},
	{"b", KEY_B, "COMMAND", 0, "shell command of program B, which runs on CPU 1 (required)", 0},
	{"prepare", KEY_PREPARE, "COMMAND", 0, "shell command that runs before both programs are started", 0},
	{"a-also", KEY_A_ALSO, "FUNCTION", 0,
	 "program A includes the calls of FUNCTION that CPU 0 makes outside of A's system calls: a timer's callback, a work "
	 "item's function or an interrupt handler; may be given twice",
	 0},
	{"b-also", KEY_B_ALSO, "FUNCTION", 0, "the same for program B and CPU 1", 0},
	{NULL, 0, NULL, 0, "The exploration", 3},
	{"trials", KEY_TRIALS, "N", 0, "the most schedules that are forced (default 100)", 0},
	{"chains", KEY_CHAINS, "N", 0,
	 "for N candidates: hold one program after its access, record the other program once more, and try the candidates that "
	 "only this recording shows (default 0)",
	 0},
	{"walks", KEY_WALKS, "N", 0, "after the trials, run N random schedules (default 0)", 0},
	{"depth", KEY_DEPTH, "D", 0, "give each random schedule D - 1 change points, D from 2 to 4 (default 3)", 0},
	{"seed", KEY_SEED, "N", 0, "choose the random schedules by seed N (default 1)", 0},
	{"jobs", KEY_JOBS, "N", 0,
	 "run N trials at a time, 1 to 64 (default: the host's CPUs divided by the guest's, or fewer if memory is short)", 0},
	{"duration", KEY_DURATION, "T", 0, "start no more trials when T has passed since the first one, at most 24h", 0},
	{"skip", KEY_SKIP, "FILE", 0, "leave out the trials that FILE lists; see outrider-explore(1)", 0},
	{"keep-going", KEY_KEEP_GOING, NULL, 0, "go on after the first trial that found harm", 0},
	{"record-only", KEY_RECORD_ONLY, NULL, 0, "only record both programs, and list the candidates", 0},
	{"no-baseline", KEY_NO_BASELINE, NULL, 0,
	 "do not record the baseline program, whose code comes late among the candidates", 0},
	{"steps", KEY_STEPS, "N", 0, "record at most N instructions of the kernel for each program (default 300000)", 0},
	{"record-time", KEY_RECORD_TIME, "T", 0, "record each program for at most this time (default 2m)", 0},
	{"trial-time", KEY_TRIAL_TIME, "T", 0, "both programs hang if they have not ended after this time (default 8s)", 0},
	{NULL, 0, NULL, 0, "Results", 4},
	{"save", KEY_SAVE, "DIR", 0, "save each finding in a file of the folder DIR, which `outrider replay` runs", 0},
	{"format", KEY_FORM, "FORM", 0, "text, for people (default), or json", 0},
	{"quiet", 'q', NULL, 0, "print nothing but the result, and errors", 0},
	{"no-sandbox", KEY_NO_SANDBOX, NULL, 0, "run outrider without confinement, to debug it; see docs/security.md", 0},
	{0},
};

static const char doc[] = "Force interleavings of two programs in copies of a guest, and say which of them do harm.\v"
			  "The guest's /init must be the guest agent. docs/exploring.md describes the method and its limits.";

static error_t time_option(struct argp_state *state, const char *option, const char *arg, uint64_t *out)
{
	if (cli_time(arg, out) < 0 || *out == 0 || *out > TIME_MAX)
		return cli_usage(state, "--%s %s: give a time up to 1h, for example 500ms, 8s or 2m", option, arg);
	return 0;
}

static error_t duration_option(struct argp_state *state, const char *arg, uint64_t *out)
{
	if (cli_time(arg, out) < 0 || *out == 0 || *out > DURATION_MAX)
		return cli_usage(state, "--duration %s: give a time up to 24h, for example 90s or 10m", arg);
	return 0;
}

static error_t also_option(struct argp_state *state, unsigned side, const char *name)
{
	struct explore_options *o = state->input;

	for (unsigned i = 0; i < EXPLORE_ALSO_MAX; i++)
		if (!o->config.also[side][i]) {
			o->config.also[side][i] = name;
			return 0;
		}
	return cli_usage(state, "--%c-also %s: give at most %d functions", side ? 'b' : 'a', name, EXPLORE_ALSO_MAX);
}

static error_t number_option(int key, char *arg, struct argp_state *state)
{
	struct explore_options *o = state->input;
	uint64_t value = 0;

	switch (key) {
	case KEY_CPUS:
		if (cli_number(arg, 2, VMM_MAX_CPUS, &value) < 0)
			return cli_usage(state, "--cpus %s: give a number from 2 to 16", arg);
		o->config.vm.cpus = (unsigned)value;
		return 0;
	case KEY_MEMORY:
		if (cli_size(arg, MEMORY_MIN, TIB, &value) < 0 || value % MIB != 0)
			return cli_usage(state, "--memory %s: give a size from 64M to 1T in whole MiB, for example 256M", arg);
		o->config.vm.memory = value;
		return 0;
	case KEY_TRIALS:
		if (cli_number(arg, 1, TRIALS_MAX, &value) < 0)
			return cli_usage(state, "--trials %s: give a number from 1 to 1000000", arg);
		o->config.trials = (unsigned)value;
		o->trials_given = true;
		return 0;
	case KEY_STEPS:
		if (cli_number(arg, 1, STEPS_MAX, &o->config.steps) < 0)
			return cli_usage(state, "--steps %s: give a number from 1 to 100000000", arg);
		return 0;
	case KEY_CHAINS:
		if (cli_number(arg, 0, TRIALS_MAX, &value) < 0)
			return cli_usage(state, "--chains %s: give a number from 0 to 1000000", arg);
		o->config.chains = (unsigned)value;
		return 0;
	case KEY_WALKS:
		if (cli_number(arg, 0, WALKS_MAX, &value) < 0)
			return cli_usage(state, "--walks %s: give a number from 0 to %d", arg, WALKS_MAX);
		o->config.walks = (unsigned)value;
		return 0;
	case KEY_DEPTH:
		if (cli_number(arg, 2, EXPLORE_POINTS_MAX + 1, &value) < 0)
			return cli_usage(state, "--depth %s: give a number from 2 to %d", arg, EXPLORE_POINTS_MAX + 1);
		o->config.depth = (unsigned)value;
		return 0;
	case KEY_SEED:
		if (cli_number(arg, 0, UINT64_MAX, &o->config.seed) < 0)
			return cli_usage(state, "--seed %s: give a number", arg);
		return 0;
	case KEY_JOBS:
		if (cli_number(arg, 1, EXPLORE_JOBS_MAX, &value) < 0)
			return cli_usage(state, "--jobs %s: give a number from 1 to %d", arg, EXPLORE_JOBS_MAX);
		o->config.jobs = (unsigned)value;
		return 0;
	case KEY_DURATION:
		return duration_option(state, arg, &o->config.trials_ns);
	case KEY_BOOT_TIMEOUT:
		return time_option(state, "boot-timeout", arg, &o->config.boot_ns);
	case KEY_RECORD_TIME:
		return time_option(state, "record-time", arg, &o->config.record_ns);
	case KEY_TRIAL_TIME:
		return time_option(state, "trial-time", arg, &o->config.trial_ns);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parser(int key, char *arg, struct argp_state *state)
{
	struct explore_options *o = state->input;

	switch (key) {
	case KEY_KERNEL:
		o->config.vm.kernel = arg;
		return 0;
	case KEY_INITRD:
		o->config.vm.initrd = arg;
		return 0;
	case KEY_APPEND:
		o->config.vm.cmdline = arg;
		return 0;
	case KEY_CONSOLE:
		o->config.console = arg;
		return 0;
	case KEY_A:
		o->config.command[0] = arg;
		return 0;
	case KEY_B:
		o->config.command[1] = arg;
		return 0;
	case KEY_PREPARE:
		o->config.prepare = arg;
		return 0;
	case KEY_A_ALSO:
	case KEY_B_ALSO:
		return also_option(state, key == KEY_B_ALSO, arg);
	case KEY_KEEP_GOING:
		o->config.keep_going = true;
		return 0;
	case KEY_RECORD_ONLY:
		o->record_only = true;
		return 0;
	case KEY_NO_BASELINE:
		o->config.baseline = false;
		return 0;
	case KEY_SAVE:
		o->save = arg;
		return 0;
	case KEY_SKIP:
		o->skip = arg;
		return 0;
	case KEY_FORM:
		return cli_choose_second(state, &diff_forms, "format", arg, &o->json);
	case 'q':
		o->quiet = true;
		return 0;
	case KEY_NO_SANDBOX:
		o->no_sandbox = true;
		return 0;
	default:
		return number_option(key, arg, state);
	}
}

const struct argp cli_explore_argp = {.options = options, .parser = parser, .doc = doc};

static int check_command(const char *option, const char *command, struct err *err)
{
	size_t len = command ? strlen(command) : 0;

	if (len > COMMAND_MAX)
		return err_set(err, EXIT_USAGE, "--%s: the command has %zu bytes; give at most %d", option, len, COMMAND_MAX);
	return 0;
}

/*
 * Returns the default of --jobs. A copy's vCPUs run at the same time, so run only as many copies as the host has CPUs for. A
 * copy shares the memory that it does not write. Even so, count all of a copy's memory, and use three quarters of the host's
 * available memory.
 */
static unsigned default_jobs(const struct explore_config *c)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN), pages = sysconf(_SC_AVPHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	uint64_t jobs = cpus > 0 ? (uint64_t)cpus / c->vm.cpus : 1;
	uint64_t fit = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page / 4 * 3 / c->vm.memory : 1;

	jobs = jobs < fit ? jobs : fit;
	return jobs < 1 ? 1 : jobs < EXPLORE_JOBS_MAX ? (unsigned)jobs : EXPLORE_JOBS_MAX;
}

static int check(struct explore_options *o, struct err *err)
{
	const struct explore_config *c = &o->config;

	if (!c->vm.kernel || !c->vm.initrd)
		return err_set(err, EXIT_USAGE, "explore needs --kernel FILE and --initrd FILE; see `outrider explore --help`");
	if (!c->command[0] || !c->command[1])
		return err_set(err, EXIT_USAGE,
			       "explore needs two programs, --a COMMAND and --b COMMAND; see `outrider explore --help`");
	if (o->record_only && (o->trials_given || c->walks || c->trials_ns || c->keep_going || o->save || o->skip))
		return err_set(err, EXIT_USAGE,
			       "--record-only runs no trials: leave out --trials, --walks, --duration, --keep-going, --skip "
			       "and --save");
	if (o->record_only)
		o->config.trials = 0;
	if (!c->jobs)
		o->config.jobs = default_jobs(c);
	if (check_command("a", c->command[0], err) < 0 || check_command("b", c->command[1], err) < 0)
		return -1;
	return check_command("prepare", c->prepare, err);
}

int explore_options_parse(struct explore_options *o, int argc, char **argv, struct err *err)
{
	*o = (struct explore_options){
		.input = {err},
		.config = {.vm = {.cpus = 2, .memory = 256 * MIB, .cmdline = "quiet -- pair"},
			   .prepare = "",
			   .boot_ns = 300 * SECOND,
			   .record_ns = 120 * SECOND,
			   .trial_ns = 8 * SECOND,
			   .steps = STEPS,
			   .baseline = true,
			   .trials = TRIALS,
			   .depth = DEPTH,
			   .seed = 1},
	};
	return cli_parse(&cli_explore_argp, argc, argv, &o->input) < 0 ? -1 : check(o, err);
}
