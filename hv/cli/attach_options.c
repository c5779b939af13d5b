// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses the command line of `outrider attach`, and checks the values of its options. */
#include "hv/cli/attach_options.h"

#include <string.h>

enum attach_key {
	KEY_GDB = 0x100,
	KEY_OVERHEAD,
	KEY_CONNECT,
};

static const struct argp_option options[] = {
	{NULL, 0, NULL, 0, "The machine", 1},
	{"connect", KEY_CONNECT, "URI", 0, "connection to libvirt (default: libvirt's own default, as for virsh)", 0},
	{"gdb", KEY_GDB, "unix:PATH|HOST:PORT", 0, "attach to the gdbstub of any QEMU in place of DOMAIN", 0},
	{"overhead", KEY_OVERHEAD, "PERCENT", 0, "percent of the time that the guest may stand still, 1 to 50 (default 5)",
	 DETECT_GROUP_HOW},
	{0},
};

static const char doc[] =
	"Look for data races in the Linux kernel of a virtual machine that runs already, and leave it as it was.\v"
	"Ctrl-C detaches, keeps the results and prints the summary. A second Ctrl-C ends outrider at once.";

static error_t parser(int key, char *arg, struct argp_state *state)
{
	struct attach_options *o = state->input;
	uint64_t value;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->detect;
		return 0;
	case ARGP_KEY_ARG:
		if (o->engine.domain)
			return cli_usage(state, "give only one domain to attach to: '%s' or '%s'", o->engine.domain, arg);
		o->engine.domain = arg;
		return 0;
	case KEY_CONNECT:
		o->engine.connect = arg;
		return 0;
	case KEY_GDB:
		/* Accept QEMU's notation of the address, "tcp:HOST:PORT", as well. */
		o->engine.gdb = strncmp(arg, "tcp:", 4) == 0 ? arg + 4 : arg;
		return 0;
	case KEY_OVERHEAD:
		if (cli_number(arg, 1, DETECT_OVERHEAD_MAX, &value) < 0)
			return cli_usage(state, "--overhead %s: give percent, from 1 to 50", arg);
		o->engine.overhead = o->detect.session.overhead_percent = (unsigned)value;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {{&detect_argp, 0, NULL, 0}, {0}};
const struct argp cli_attach_argp = {
	.options = options, .parser = parser, .args_doc = "DOMAIN", .doc = doc, .children = children};

int attach_options_parse(struct attach_options *o, int argc, char **argv, struct err *err)
{
	*o = (struct attach_options){.input = {err}, .engine.overhead = 5};
	if (detect_options_init(&o->detect, argc, argv, err) < 0)
		return -1;
	o->detect.session.overhead_percent = o->engine.overhead;
	if (cli_parse(&cli_attach_argp, argc, argv, &o->input) < 0)
		return -1;
	if (o->engine.gdb && o->engine.domain)
		return err_set(err, EXIT_USAGE, "give DOMAIN %s or --gdb %s, not both", o->engine.domain, o->engine.gdb);
	if (!o->engine.gdb && !o->engine.domain)
		return err_set(err, EXIT_USAGE, "attach needs a DOMAIN (`outrider list` shows them) or --gdb ADDRESS");
	return detect_options_check(&o->detect, err);
}
