// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/cli/run_options.h"

#include <string.h>
#include <sys/random.h>

#define MIB (UINT64_C(1) << 20)
#define TIB (UINT64_C(1) << 40)
#define MEMORY_MIN (64 * MIB)
#define RATE_MAX 1000000
#define DELAY_MAX_US 1000000
#define NS_PER_US 1000

enum run_key {
	KEY_KERNEL = 0x100,
	KEY_INITRD,
	KEY_APPEND,
	KEY_CPUS,
	KEY_MEMORY,
	KEY_SYMBOLS,
	KEY_SAMPLE,
	KEY_MODULE,
	KEY_PER_CPU,
	KEY_RATE,
	KEY_DELAY,
	KEY_SEED,
	KEY_DURATION,
	KEY_JSON,
	KEY_CONSOLE,
	KEY_NO_DETECT,
};

static const struct argp_option options[] = {
	{NULL, 0, NULL, 0, "The machine", 1},
	{"kernel", KEY_KERNEL, "FILE", 0, "bzImage, or ELF vmlinux with a PVH note, to boot (required)", 0},
	{"initrd", KEY_INITRD, "FILE", 0, "its initial RAM disk", 0},
	{"append", KEY_APPEND, "CMDLINE", 0, "kernel command line, added to what gives the guest its console", 0},
	{"cpus", KEY_CPUS, "N", 0, "1 to 16 virtual CPUs (default 2)", 0},
	{"memory", KEY_MEMORY, "SIZE", 0, "guest memory, with K, M, G or T (default 512M); reserved as it is used", 0},
	{"console", KEY_CONSOLE, "FILE", 0, "write the guest's serial console there (default: standard output)", 0},
	{NULL, 0, NULL, 0, "What is sampled", 2},
	{"symbols", KEY_SYMBOLS, "PATH", 0,
	 "vmlinux or System.map of this kernel, or a folder with debug files, found by build id (default: the tables in the "
	 "guest's "
	 "memory; /usr/lib/debug and debuginfod's cache are looked in anyway)",
	 0},
	{"sample", KEY_SAMPLE, "GLOB,...", 0, "only functions with these names, e.g. 'ext4_*,jbd2_*'", 0},
	{"module", KEY_MODULE, "NAME", 0, "only in this module; waits until it is loaded", 0},
	{"per-cpu", KEY_PER_CPU, NULL, 0, "per-CPU data (GS-relative accesses) too", 0},
	{NULL, 0, NULL, 0, "How", 3},
	{"rate", KEY_RATE, "HITS", 0, "sampled accesses per second to aim at (default 100)", 0},
	{"delay", KEY_DELAY, "MICROSECONDS", 0, "longest time to hold an access back (default 10000)", 0},
	{"seed", KEY_SEED, "N", 0, "of the choice of sample points (default: random, and reported)", 0},
	{"duration", KEY_DURATION, "T", 0, "stop the guest this long after the first point was armed: 500ms, 30s, 2m, 1h", 0},
	{"no-detect", KEY_NO_DETECT, NULL, 0, "only run the guest: the baseline to compare with", 0},
	{NULL, 0, NULL, 0, "Results", 4},
	{"json", KEY_JSON, "FILE", 0, "write the races there; the file is valid at every moment", 0},
	{0},
};

static const char doc[] =
	"Boot an unmodified Linux kernel in a virtual machine of our own and print each data race of it as it is found.\v"
	"Keys go to the guest's console, except Ctrl-C, which stops the guest, keeps the results and prints the summary; a "
	"second "
	"one ends at once.";

/* A value that is not what the option takes. */
static error_t wrong(struct argp_state *state, const char *option, const char *value, const char *wanted)
{
	return cli_usage(state, "--%s %s: give %s", option, value, wanted);
}

static error_t number_option(int key, char *arg, struct argp_state *state)
{
	struct run_options *o = state->input;
	uint64_t value = 0;

	switch (key) {
	case KEY_CPUS:
		if (cli_number(arg, 1, VMM_MAX_CPUS, &value) < 0)
			return wrong(state, "cpus", arg, "a number from 1 to 16");
		o->vm.cpus = (unsigned)value;
		return 0;
	case KEY_MEMORY:
		if (cli_size(arg, MEMORY_MIN, TIB, &value) < 0 || value % MIB != 0)
			return wrong(state, "memory", arg, "a size from 64M to 1T in whole MiB, for example 512M or 5G");
		o->vm.memory = value;
		return 0;
	case KEY_RATE:
		if (cli_number(arg, 1, RATE_MAX, &value) < 0)
			return wrong(state, "rate", arg, "hits per second, from 1 to 1000000");
		o->detect.rate = (unsigned)value;
		return 0;
	case KEY_DELAY:
		if (cli_number(arg, 1, DELAY_MAX_US, &value) < 0)
			return wrong(state, "delay", arg, "microseconds, from 1 to 1000000");
		o->detect.delay_ns = value * NS_PER_US;
		return 0;
	case KEY_SEED:
		if (cli_number(arg, 0, UINT64_MAX, &o->detect.seed) < 0)
			return wrong(state, "seed", arg, "a number of at most 64 bits");
		return 0;
	case KEY_DURATION:
		if (cli_time(arg, &o->duration_ns) < 0 || o->duration_ns == 0)
			return wrong(state, "duration", arg, "a time, for example 500ms, 30s, 2m or 1h");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parser(int key, char *arg, struct argp_state *state)
{
	struct run_options *o = state->input;

	switch (key) {
	case KEY_KERNEL:
		o->vm.kernel = arg;
		return 0;
	case KEY_INITRD:
		o->vm.initrd = arg;
		return 0;
	case KEY_APPEND:
		o->vm.cmdline = arg;
		return 0;
	case KEY_SYMBOLS:
		o->symbols = arg;
		return 0;
	case KEY_SAMPLE:
		o->detect.sample = arg;
		return 0;
	case KEY_MODULE:
		o->detect.module = arg;
		return 0;
	case KEY_PER_CPU:
		o->detect.per_cpu = true;
		return 0;
	case KEY_JSON:
		o->json = arg;
		return 0;
	case KEY_CONSOLE:
		o->console = arg;
		return 0;
	case KEY_NO_DETECT:
		o->no_detect = true;
		return 0;
	default:
		return number_option(key, arg, state);
	}
}

static int check(const struct run_options *o, struct err *err)
{
	if (!o->vm.kernel)
		return err_set(err, EXIT_USAGE, "run needs --kernel FILE; see `outrider run --help`");
	if (o->detect.sample && o->detect.sample[0] == '\0')
		return err_set(err, EXIT_USAGE, "--sample is empty: give function names, for example 'ext4_*'");
	if (o->detect.module && o->detect.module[0] == '\0')
		return err_set(err, EXIT_USAGE, "--module is empty: give a module's name");
	if (o->no_detect && o->json)
		return err_set(err, EXIT_USAGE, "--no-detect finds nothing to write to --json %s: give one of them", o->json);
	return 0;
}

int run_options_parse(struct run_options *o, int argc, char **argv, struct err *err)
{
	const struct argp argp = {.options = options, .parser = parser, .doc = doc};

	*o = (struct run_options){
		.input = {err},
		.vm = {.cpus = 2, .memory = 512 * MIB},
		.detect = {.rate = 100, .delay_ns = 10000 * NS_PER_US},
	};
	/* Seeds are typed again by people: 32 bits are plenty. */
	if (getrandom(&o->detect.seed, sizeof(uint32_t), 0) != sizeof(uint32_t))
		return err_set(err, EXIT_INTERNAL, "no random number for a seed: give --seed N");
	if (cli_parse(&argp, argc, argv, &o->input) < 0)
		return -1;
	return check(o, err);
}
