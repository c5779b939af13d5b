// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses the command line of `outrider run`, and checks the values of its options. */
#include "hv/cli/run_options.h"

#include <string.h>

#define MIB (UINT64_C(1) << 20)
#define TIB (UINT64_C(1) << 40)
#define KIB (UINT64_C(1) << 10)
#define CONSOLE_LIMIT (UINT64_C(1) << 30)
#define CONSOLE_LIMIT_MAX (1024 * TIB)
#define MEMORY_MIN (64 * MIB)
#define SECOND UINT64_C(1000000000)
/*
 * Default and maximum of --device-rate, in windows a second. The maximum is 100 because the sampler asks devices for a request
 * some 100 times a second.
 */
#define DEVICE_RATE 20
#define DEVICE_RATE_MAX 100
#define REPLAY_FOR (2 * SECOND)
#define REPLAY_FOR_MAX (3600 * SECOND)

enum run_key {
	KEY_KERNEL = 0x100,
	KEY_INITRD,
	KEY_APPEND,
	KEY_CPUS,
	KEY_MEMORY,
	KEY_CONSOLE,
	KEY_CONSOLE_LIMIT,
	KEY_CONSOLE_CLEAN,
	KEY_OVERHEAD,
	KEY_DEVICE_RATE,
	KEY_NO_DEVICE_WINDOWS,
	KEY_REPLAY,
	KEY_REPLAY_FOR,
	KEY_SAVE,
	KEY_NO_DETECT,
	KEY_NO_SANDBOX,
};

static const struct argp_option options[] = {
	{NULL, 0, NULL, 0, "The machine", 1},
	{"kernel", KEY_KERNEL, "FILE", 0, "kernel to boot: a bzImage, or an ELF vmlinux with a PVH note (required)", 0},
	{"initrd", KEY_INITRD, "FILE", 0, "the kernel's initial RAM disk", 0},
	{"append", KEY_APPEND, "CMDLINE", 0, "kernel command line, added to the options that give the guest its console", 0},
	{"cpus", KEY_CPUS, "N", 0, "number of virtual CPUs, 1 to 16 (default 2)", 0},
	{"memory", KEY_MEMORY, "SIZE", 0,
	 "guest memory, in MiB or with K, M, G or T (default 512M); the host reserves it only as the guest uses it", 0},
	{"console", KEY_CONSOLE, "FILE", 0, "write the guest's serial console to FILE (default: standard output)", 0},
	{"console-limit", KEY_CONSOLE_LIMIT, "SIZE", 0,
	 "write no more than SIZE of the console to the file of --console, in MiB or with K, M, G or T (default 1G)", 0},
	{"console-clean", KEY_CONSOLE_CLEAN, NULL, 0,
	 "show the console's control characters as \\xHH, so that the guest cannot control the terminal", 0},
	{"overhead", KEY_OVERHEAD, "PERCENT", 0,
	 "percent of the CPUs' time that sampling may cost, 1 to 50; --rate is then only an upper limit", DETECT_GROUP_HOW},
	{"device-rate", KEY_DEVICE_RATE, "N", 0,
	 "hold N requests of the guest's devices per second, each for up to --delay, before the device accesses the request's "
	 "memory (1 to 100, default 20)",
	 DETECT_GROUP_HOW},
	{"no-device-windows", KEY_NO_DEVICE_WINDOWS, NULL, 0, "hold no requests of devices", DETECT_GROUP_HOW},
	{"replay", KEY_REPLAY, NULL, 0,
	 "run races in both orders, in copies of the machine, and print the outcome of each order; see docs/replay.md",
	 DETECT_GROUP_HOW},
	{"replay-for", KEY_REPLAY_FOR, "T", 0,
	 "how long each order of --replay runs on freely, to see whether it ends in trouble (default 2s; 0: not at all)",
	 DETECT_GROUP_HOW},
	{"save", KEY_SAVE, "FOLDER", 0,
	 "keep the first instance of each outcome of a race in this folder, for `outrider replay` and debuggers",
	 DETECT_GROUP_HOW},
	{"no-detect", KEY_NO_DETECT, NULL, 0, "only run the guest, as a baseline to compare with", DETECT_GROUP_HOW},
	{"no-sandbox", KEY_NO_SANDBOX, NULL, 0, "run outrider without confinement, to debug it; see docs/security.md",
	 DETECT_GROUP_HOW},
	{0},
};

static const char doc[] =
	"Boot an unmodified Linux kernel in a virtual machine of our own and print each of its data races when it is found.\v"
	"Keys go to the guest's console, except Ctrl-C, which stops the guest, keeps the results and prints the summary. A "
	"second Ctrl-C ends outrider at once.";

/* Refuse a value that the option does not take. `wanted` says what the user may give. */
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
		o->engine.vm.cpus = (unsigned)value;
		return 0;
	case KEY_MEMORY:
		if (cli_size(arg, MEMORY_MIN, TIB, &value) < 0 || value % MIB != 0)
			return wrong(state, "memory", arg, "a size from 64M to 1T in whole MiB, for example 512, 512M or 5G");
		o->engine.vm.memory = value;
		return 0;
	case KEY_CONSOLE_LIMIT:
		if (cli_size(arg, KIB, CONSOLE_LIMIT_MAX, &value) < 0)
			return wrong(state, "console-limit", arg, "a size from 1K to 1024T, for example 100M");
		o->engine.console_limit = value;
		return 0;
	case KEY_OVERHEAD:
		if (cli_number(arg, 1, DETECT_OVERHEAD_MAX, &value) < 0)
			return wrong(state, "overhead", arg, "percent, from 1 to 50");
		o->detect.session.overhead_percent = (unsigned)value;
		o->detect.session.detect.overhead = (double)value / 100;
		return 0;
	case KEY_DEVICE_RATE:
		if (cli_number(arg, 1, DEVICE_RATE_MAX, &value) < 0)
			return wrong(state, "device-rate", arg, "requests per second, from 1 to 100");
		o->device_rate = (unsigned)value;
		return 0;
	case KEY_REPLAY_FOR:
		if (cli_time(arg, &value) < 0 || value > REPLAY_FOR_MAX)
			return wrong(state, "replay-for", arg, "a time from 0 to 1h, for example 8s");
		o->detect.session.replay_free_ns = value;
		o->replay_for = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parser(int key, char *arg, struct argp_state *state)
{
	struct run_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->devices;
		state->child_inputs[1] = &o->detect;
		return 0;
	case KEY_KERNEL:
		o->engine.vm.kernel = arg;
		return 0;
	case KEY_INITRD:
		o->engine.vm.initrd = arg;
		return 0;
	case KEY_APPEND:
		o->engine.vm.cmdline = arg;
		return 0;
	case KEY_CONSOLE:
		o->engine.console = arg;
		return 0;
	case KEY_CONSOLE_CLEAN:
		o->engine.console_clean = true;
		return 0;
	case KEY_SAVE:
		o->detect.session.replay_save = arg;
		return 0;
	case KEY_REPLAY:
		o->engine.vm.copies = o->detect.session.replay = true;
		return 0;
	case KEY_NO_DEVICE_WINDOWS:
		o->no_device_windows = true;
		return 0;
	case KEY_NO_DETECT:
		o->detect.session.no_detect = true;
		return 0;
	case KEY_NO_SANDBOX:
		o->detect.session.no_sandbox = true;
		return 0;
	default:
		return number_option(key, arg, state);
	}
}

static const struct argp_child children[] = {{&device_argp, 0, NULL, 0}, {&detect_argp, 0, NULL, 0}, {0}};
const struct argp cli_run_argp = {.options = options, .parser = parser, .doc = doc, .children = children};

/* Refuse `file`, the output file that --`option` names, if it is a disk image of the guest. */
static int check_images(const struct run_options *o, const char *option, const char *file, struct err *err)
{
	for (size_t i = 0; file && i < o->devices.disk_count; i++) {
		if (strcmp(o->devices.disks[i].path, file) == 0)
			return err_set(err, EXIT_USAGE, "%s would write over the image of --disk %s: give another file", option,
				       file);
	}
	return 0;
}

/*
 * Refuse --device-rate together with an option that allows no window at a device. Set the rate at which windows begin at
 * devices.
 */
static int check_device_windows(struct run_options *o, struct err *err)
{
	if (o->device_rate && o->no_device_windows)
		return err_set(err, EXIT_USAGE,
			       "--no-device-windows leaves --device-rate without effect: leave out one of them");
	if (o->device_rate && o->detect.session.no_detect)
		return err_set(err, EXIT_USAGE, "--no-detect holds no requests of devices: leave out --device-rate");
	if (o->device_rate && o->detect.aim_at)
		return err_set(err, EXIT_USAGE, "--aim samples two sites alone, and no devices: leave out --device-rate");
	if (!o->no_device_windows)
		o->detect.session.detect.device_rate = o->device_rate ? o->device_rate : DEVICE_RATE;
	return 0;
}

static int check(struct run_options *o, struct err *err)
{
	if (!o->engine.vm.kernel)
		return err_set(err, EXIT_USAGE, "run needs --kernel FILE; see `outrider run --help`");
	if (o->detect.session.no_detect && fail_on_is_asked(&o->detect.judge.fail_on))
		return err_set(err, EXIT_USAGE,
			       "--no-detect finds no race to fail on: leave out --fail-on and --error-exitcode");
	if (o->detect.session.no_detect && o->detect.session.json)
		return err_set(err, EXIT_USAGE, "--no-detect finds nothing to write to --json %s: give one of them",
			       o->detect.session.json);
	if (o->detect.session.no_detect && (o->detect.session.coverage || o->detect.prefer_file || o->detect.aim_at))
		return err_set(err, EXIT_USAGE, "--no-detect samples nothing: leave out --coverage, --prefer and --aim");
	if (o->detect.session.no_detect && o->detect.session.replay)
		return err_set(err, EXIT_USAGE, "--no-detect finds no race to run in both orders: leave out --replay");
	if (o->detect.session.no_detect && o->detect.session.overhead_percent)
		return err_set(err, EXIT_USAGE,
			       "--no-detect samples nothing, so there is no cost to limit: leave out --overhead");
	if (o->detect.session.no_detect && o->detect.session.stats_every_ns)
		return err_set(err, EXIT_USAGE, "--no-detect has nothing to count: leave out --stats-every");
	if (o->detect.session.no_detect && o->detect.wait_kernel)
		return err_set(err, EXIT_USAGE, "--no-detect looks for no kernel: leave out --wait-kernel");
	if (o->replay_for && !o->detect.session.replay)
		return err_set(err, EXIT_USAGE, "--replay-for says how long the orders of --replay run on: give --replay, too");
	if (o->detect.session.replay_save && !o->detect.session.replay)
		return err_set(err, EXIT_USAGE, "--save keeps what --replay has run in both orders: give --replay, too");
	if (o->detect.session.coverage && o->engine.console && strcmp(o->detect.session.coverage, o->engine.console) == 0)
		return err_set(err, EXIT_USAGE, "--coverage and --console both write to %s: give two files", o->engine.console);
	if (o->detect.session.json && o->engine.console && strcmp(o->detect.session.json, o->engine.console) == 0)
		return err_set(err, EXIT_USAGE, "--json and --console both write to %s: give two files", o->engine.console);
	if (check_images(o, "--json", o->detect.session.json, err) < 0 ||
	    check_images(o, "--coverage", o->detect.session.coverage, err) < 0 ||
	    check_images(o, "--console", o->engine.console, err) < 0)
		return -1;
	if (check_device_windows(o, err) < 0)
		return -1;
	return detect_options_check(&o->detect, err);
}

int run_options_parse(struct run_options *o, int argc, char **argv, struct err *err)
{
	*o = (struct run_options){
		.input = {err}, .engine.console_limit = CONSOLE_LIMIT, .engine.vm = {.cpus = 2, .memory = 512 * MIB}};
	device_options_init(&o->devices, err);
	if (detect_options_init(&o->detect, argc, argv, err) < 0)
		return -1;
	o->detect.session.replay_free_ns = REPLAY_FOR;
	if (cli_parse(&cli_run_argp, argc, argv, &o->input) < 0)
		return -1;
	if (o->detect.session.overhead_percent && !o->detect.rate)
		o->detect.session.detect.rate = DETECT_RATE_MAX;
	o->engine.no_target = o->detect.session.no_detect;
	device_options_apply(&o->devices, &o->engine.vm);
	return check(o, err);
}

void run_options_free(struct run_options *o)
{
	device_options_free(&o->devices);
	detect_options_free(&o->detect);
}
