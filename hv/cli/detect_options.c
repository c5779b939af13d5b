// SPDX-License-Identifier: GPL-2.0-or-later
/* The options of every command that looks for races: what to sample, how, and where the results go. */
#include "hv/cli/detect_options.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "hv/cli/aim_option.h"
#include "hv/cli/choice.h"
#include "hv/report/coverage/prefer_json.h"

#define DELAY_MAX_US 1000000
#define NS_PER_US 1000
#define STATS_EVERY_LEAST UINT64_C(1000000000)

enum detect_key {
	KEY_SYMBOLS = 0x200,
	KEY_DEBUGINFOD,
	KEY_SAMPLE,
	KEY_MODULE,
	KEY_CALLEES,
	KEY_PER_CPU,
	KEY_RATE,
	KEY_DELAY,
	KEY_SEED,
	KEY_DURATION,
	KEY_JSON,
	KEY_COVERAGE,
	KEY_PREFER,
	KEY_AIM,
	KEY_LOCKS,
	KEY_LOCK_LIST,
	KEY_STATS_EVERY,
	KEY_WAIT_KERNEL,
	KEY_TIMEOUT,
	KEY_ON_COMPLAINT,
};

static const struct argp_option options[] = {
	{NULL, 0, NULL, 0, "What is sampled", 2},
	{"symbols", KEY_SYMBOLS, "PATH", 0,
	 "vmlinux or System.map of this kernel, a module's file, or a folder with debug files, found by build id; may be given "
	 "several times (default: the tables in the guest's memory; /usr/lib/debug and debuginfod's cache are always searched "
	 "too)",
	 0},
	{"debuginfod", KEY_DEBUGINFOD, NULL, 0, CLI_DEBUGINFOD_HELP, 0},
	{"sample", KEY_SAMPLE, "GLOB,...", 0, "sample only functions with these names, for example 'ext4_*,jbd2_*'", 0},
	{"module", KEY_MODULE, "NAME[,NAME...]", 0, "sample only these modules, each from when it is loaded", 0},
	{"sample-with-callees", KEY_CALLEES, "DEPTH", OPTION_ARG_OPTIONAL,
	 "sample what the functions of --sample or --module call, too, while these have called it: the functions that they "
	 "call "
	 "directly (1, the default), also those that these call (2), or one step more (3)",
	 0},
	{"prefer", KEY_PREFER, "FILE", 0, "choose sites by the weights in FILE, instead of all sites equally often", 0},
	{"aim", KEY_AIM, "FILE[#ID,...]", 0,
	 "sample only the sites of the races in the JSON report FILE, or of those with these ids, so that they happen again",
	 0},
	{"locks", KEY_LOCKS, NULL, 0,
	 "follow the locks of the code that --module or --sample names, report accesses that no common lock orders as "
	 "suspicions, and sample these on purpose",
	 0},
	{"lock-list", KEY_LOCK_LIST, "FILE", 0, "more functions that take and give back locks, for --locks", 0},
	{"per-cpu", KEY_PER_CPU, NULL, 0, "sample per-CPU data (GS-relative accesses) too", 0},
	{NULL, 0, NULL, 0, "How", DETECT_GROUP_HOW},
	{"rate", KEY_RATE, "HITS", 0,
	 "keep the number of sampled accesses per second near HITS (default 100; with `run --overhead` this is an upper limit, "
	 "and "
	 "there is none by default)",
	 0},
	{"delay", KEY_DELAY, "MICROSECONDS", 0, "longest time that an access is held back (default 10000)", 0},
	{"seed", KEY_SEED, "N", 0, "seed of the choice of sample points (default: random, and reported)", 0},
	{"duration", KEY_DURATION, "T", 0,
	 "end the run after sampling for T (500ms, 30s, 2m, 1h). If nothing can be sampled, end it T after the kernel was "
	 "found",
	 0},
	{"wait-kernel", KEY_WAIT_KERNEL, "T", 0,
	 "end the run with exit status 3 when no kernel is found within T (default 1m; 0: no limit)", 0},
	{"timeout", KEY_TIMEOUT, "T", 0, "end the whole run after T, boot included, keep the results, and exit with status 124",
	 0},
	{"on-complaint", KEY_ON_COMPLAINT, "ACTION", 0,
	 "what to do when the guest's kernel complains of itself: stop the run with exit status 4 after an oops, BUG() or "
	 "panic "
	 "(stop, the default), after a warning or lockup as well (panic), or after a panic only (continue)",
	 0},
	{NULL, 0, NULL, 0, "Results", 4},
	{"json", KEY_JSON, "FILE", 0, "write the races to FILE, which is valid at every moment", 0},
	{"coverage", KEY_COVERAGE, "FILE", 0, "write what was sampled of each site to FILE, every ten seconds and at the end",
	 0},
	{"stats-every", KEY_STATS_EVERY, "T", 0,
	 "every T (1s or more), show a line with what was sampled and found since the line before, and what it cost", 0},
	{"quiet", 'q', NULL, 0, "show only the races, the summary and errors", 0},
	{"verbose", 'v', NULL, 0,
	 "say which debug files are used, and show the line of --stats-every every ten seconds if that option is not given", 0},
	{0},
};

/* Refuse a value that the option does not take. `wanted` says what the user may give. */
static error_t wrong(struct argp_state *state, const char *option, const char *value, const char *wanted)
{
	return cli_usage(state, "--%s %s: give %s", option, value, wanted);
}

static error_t callees_option(const char *arg, struct argp_state *state)
{
	struct detect_options *o = state->input;
	uint64_t depth = 1;

	if (arg && cli_number(arg, 1, DETECT_CALLEE_DEPTH_MAX, &depth) < 0)
		return wrong(state, "sample-with-callees", arg,
			     "1, 2 or 3, the number of steps from the functions that are named");
	o->session.detect.callee_depth = (unsigned)depth;
	return 0;
}

static error_t number_option(int key, char *arg, struct argp_state *state)
{
	struct detect_options *o = state->input;
	uint64_t value = 0;

	switch (key) {
	case KEY_CALLEES:
		return callees_option(arg, state);
	case KEY_RATE:
		if (cli_number(arg, 1, DETECT_RATE_MAX, &value) < 0)
			return wrong(state, "rate", arg, "hits per second, from 1 to 1000000");
		o->session.detect.rate = (unsigned)value;
		o->rate = true;
		return 0;
	case KEY_DELAY:
		if (cli_number(arg, 1, DELAY_MAX_US, &value) < 0)
			return wrong(state, "delay", arg, "microseconds, from 1 to 1000000, without a unit");
		o->session.detect.delay_ns = value * NS_PER_US;
		return 0;
	case KEY_SEED:
		if (cli_number(arg, 0, UINT64_MAX, &o->session.detect.seed) < 0)
			return wrong(state, "seed", arg, "a number of at most 64 bits");
		return 0;
	case KEY_STATS_EVERY:
		if (cli_time(arg, &o->session.stats_every_ns) < 0 || o->session.stats_every_ns < STATS_EVERY_LEAST)
			return wrong(state, "stats-every", arg, "a time from 1s on, for example 10s or 5m");
		return 0;
	case KEY_WAIT_KERNEL:
		if (cli_time(arg, &o->session.wait_kernel_ns) < 0)
			return wrong(state, "wait-kernel", arg, "a time, for example 90s, 5m or 0 for no limit");
		o->wait_kernel = true;
		return 0;
	case KEY_TIMEOUT:
		if (cli_time(arg, &o->session.timeout_ns) < 0 || o->session.timeout_ns == 0)
			return wrong(state, "timeout", arg, "a time, for example 90s, 10m or 1h");
		return 0;
	case KEY_DURATION:
		if (cli_time(arg, &o->session.duration_ns) < 0 || o->session.duration_ns == 0)
			return wrong(state, "duration", arg, "a time, for example 500ms, 30s, 2m or 1h");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* The words of --on-complaint, indexed by enum complaint_stop. */
static const char *const complaint_words[] = {
	[COMPLAINT_STOP_FATAL] = "stop", [COMPLAINT_STOP_ANY] = "panic", [COMPLAINT_STOP_NONE] = "continue"};

static const char *complaint_stop_word(size_t i)
{
	return i < sizeof(complaint_words) / sizeof(complaint_words[0]) ? complaint_words[i] : NULL;
}

const struct cli_choice complaint_choice = {"ACTION", complaint_stop_word};

static error_t complaint_option(char *arg, struct argp_state *state)
{
	struct detect_options *o = state->input;
	size_t index;
	error_t rc = cli_choose(state, &complaint_choice, "on-complaint", arg, &index);

	if (rc == 0)
		o->session.complaint_stop = (enum complaint_stop)index;
	return rc;
}

static error_t parser(int key, char *arg, struct argp_state *state)
{
	struct detect_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->judge;
		return 0;
	case KEY_SYMBOLS:
		o->symbols[o->session.symbol_count++] = arg;
		return 0;
	case 'q':
		o->session.quiet = true;
		o->judge.quiet = true;
		return 0;
	case 'v':
		o->session.verbose = true;
		return 0;
	case KEY_DEBUGINFOD:
		o->session.debuginfod = true;
		return 0;
	case KEY_SAMPLE:
		o->session.detect.sample = arg;
		return 0;
	case KEY_MODULE:
		o->session.detect.module = arg;
		return 0;
	case KEY_PER_CPU:
		o->session.detect.per_cpu = true;
		return 0;
	case KEY_JSON:
		o->session.json = arg;
		return 0;
	case KEY_COVERAGE:
		o->session.coverage = arg;
		o->session.detect.coverage = true;
		return 0;
	case KEY_PREFER:
		o->prefer_file = arg;
		return 0;
	case KEY_AIM:
		o->aim_at = arg;
		return 0;
	case KEY_LOCKS:
		o->locks = true;
		o->session.suspect = &o->judge.suspect;
		return 0;
	case KEY_ON_COMPLAINT:
		return complaint_option(arg, state);
	case KEY_LOCK_LIST:
		o->session.lock_list = arg;
		return 0;
	default:
		return number_option(key, arg, state);
	}
}

static const struct argp_child children[] = {{&judge_argp, 0, NULL, 0}, {0}};
const struct argp detect_argp = {.options = options, .parser = parser, .children = children};

/*
 * Default of --wait-kernel: 60 s. A kernel boots within seconds on hardware, and within a minute on a host that is itself a
 * virtual machine.
 */
#define WAIT_KERNEL_NS UINT64_C(60000000000)

/*
 * Read the time to wait for the kernel from the environment, which sets it for all runs on a slow host, such as an emulated
 * one.
 */
static int read_environment(struct detect_options *o, struct err *err)
{
	const char *text = getenv("OUTRIDER_WAIT_KERNEL");

	o->session.wait_kernel_ns = WAIT_KERNEL_NS;
	if (text && *text && cli_time(text, &o->session.wait_kernel_ns) < 0)
		return err_set(
			err, EXIT_USAGE,
			"the environment variable OUTRIDER_WAIT_KERNEL is %s: give a time, for example 90s, 5m or 0 for no "
			"limit",
			text);
	return 0;
}

int detect_options_init(struct detect_options *o, int argc, char **argv, struct err *err)
{
	*o = (struct detect_options){.input = {err},
				     .session = {.detect = {.rate = 100, .delay_ns = 10000 * NS_PER_US},
						 .options = (const char *const *)argv,
						 .option_count = (size_t)argc}};
	if (judge_init(&o->judge, err) < 0 || read_environment(o, err) < 0)
		return -1;
	o->symbols = calloc((size_t)argc + 1, sizeof(*o->symbols));
	if (!o->symbols)
		return err_set(err, EXIT_INTERNAL, "out of memory");
	o->session.symbols = o->symbols;
	o->session.judge = &o->judge.report;
	o->session.sources = o->judge.sources;
	/* Choose a random seed. It has 32 bits only, because a user may have to type it. */
	if (getrandom(&o->session.detect.seed, sizeof(uint32_t), 0) != sizeof(uint32_t))
		return err_set(err, EXIT_INTERNAL, "no random number for a seed: give --seed N");
	return 0;
}

void detect_options_free(struct detect_options *o)
{
	prefer_free(o->prefer);
	known_races_free(o->known_races);
	judge_free(&o->judge);
	free(o->symbols);
}

/* Returns whether a comma-separated list has an empty part. */
static bool has_empty_part(const char *list)
{
	size_t len = strlen(list);

	return list[0] == ',' || (len && list[len - 1] == ',') || strstr(list, ",,");
}

/* With --aim, refuse the other options that select what is sampled: --aim alone selects the sites. */
static int check_aim(const struct detect_options *o, struct err *err)
{
	const char *other = o->session.detect.sample   ? "--sample"
			    : o->session.detect.module ? "--module"
			    : o->prefer_file	       ? "--prefer"
						       : NULL;

	if (!o->aim_at || !other)
		return 0;
	return err_set(err, EXIT_USAGE, "--aim says which sites are sampled: leave out %s", other);
}

static int check_locks(const struct detect_options *o, struct err *err)
{
	if (o->session.lock_list && !o->locks)
		return err_set(err, EXIT_USAGE, "--lock-list %s: give --locks, too", o->session.lock_list);
	if (fail_on_names_suspicions(&o->judge.fail_on) && !o->locks)
		return err_set(err, EXIT_USAGE, "--fail-on %s: without --locks nothing is suspected: give --locks, too",
			       fail_on_suspicion_word(&o->judge.fail_on));
	if (!o->locks)
		return 0;
	if (o->aim_at)
		return err_set(
			err, EXIT_USAGE,
			"--locks follows all locks of a module or of functions, not those of two sites: leave out --aim");
	if (!o->session.detect.module && !o->session.detect.sample)
		return err_set(err, EXIT_USAGE, "--locks: say whose locks, by --module NAME or --sample GLOB,...");
	return 0;
}

static int read_files(struct detect_options *o, struct err *err)
{
	if (o->prefer_file) {
		o->prefer = prefer_load(o->prefer_file, err);
		if (!o->prefer)
			return -1;
	}
	if (o->aim_at) {
		o->known_races = aim_option_load(o->aim_at, err);
		if (!o->known_races)
			return -1;
	}
	o->session.detect.prefer = o->prefer;
	o->session.detect.known_races = o->known_races;
	return 0;
}

int detect_options_check(struct detect_options *o, struct err *err)
{
	const char *sample = o->session.detect.sample, *module = o->session.detect.module;
	const char *json = o->session.json, *coverage = o->session.coverage;
	size_t len = module ? strlen(module) : 0;

	if (sample && has_empty_part(sample))
		return err_set(err, EXIT_USAGE,
			       "--sample %s: a name is empty: give function names, for example 'ext4_*,jbd2_*'", sample);
	if (len && has_empty_part(module))
		return err_set(err, EXIT_USAGE, "--module %s: a name is empty: give modules' names, for example 'jbd2,ext4'",
			       module);
	if (len > 3 && strcmp(module + len - 3, ".ko") == 0) {
		const char *name = strrchr(module, '/') ? strrchr(module, '/') + 1 : module;

		return err_set(err, EXIT_USAGE, "--module %s: give the module's name, %.*s; its file is for --symbols", module,
			       (int)(strlen(name) - 3), name);
	}
	if (o->session.stats_every_ns && o->session.quiet)
		return err_set(err, EXIT_USAGE, "--quiet shows no lines during the run: leave out --stats-every");
	if (o->session.detect.callee_depth && !sample && !module)
		return err_set(err, EXIT_USAGE,
			       "--sample-with-callees: say whose callees, by --module NAME or --sample GLOB,...");
	if (check_aim(o, err) < 0 || check_locks(o, err) < 0)
		return -1;
	if (json && coverage && strcmp(json, coverage) == 0)
		return err_set(err, EXIT_USAGE, "--json and --coverage both write to %s: give two files", json);
	return read_files(o, err);
}
