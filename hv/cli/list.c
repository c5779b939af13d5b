// SPDX-License-Identifier: GPL-2.0-or-later
/* `outrider list`: lists libvirt's domains, and whether each can be attached to. */
#include <stdbool.h>
#include <stdio.h>

#include "hv/base/clean.h"
#include "hv/cli/cli.h"
#include "hv/libvirt/domain.h"

struct list_options {
	struct cli_input input; /* must be first: parsers take its address for this struct's address (cli_parse()) */
	const char *connect;
	bool names;
};

enum list_key { KEY_CONNECT = 0x100, KEY_NAMES };

static const struct argp_option options[] = {
	{"connect", KEY_CONNECT, "URI", 0, "connection to libvirt (default: libvirt's own default, as for virsh)", 0},
	{"names", KEY_NAMES, NULL, 0, "print only the names of the domains that can be attached to, one a line", 0},
	{0},
};

static const char doc[] = "List libvirt's domains, running or not, and whether `outrider attach` can look into each.";

static error_t parser(int key, char *arg, struct argp_state *state)
{
	struct list_options *o = state->input;

	switch (key) {
	case KEY_CONNECT:
		o->connect = arg;
		return 0;
	case KEY_NAMES:
		o->names = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void print(void *ctx, const struct domain_listed *domain)
{
	const struct list_options *o = ctx;
	char name[CLEAN_FIELD_MAX];

	snprintf(name, sizeof(name), "%s", domain->name);
	clean_line(name, sizeof(name));
	if (!o->names)
		printf("%-24s %-14s %s\n", name, domain->state, domain->why_not[0] ? domain->why_not : "can be attached to");
	else if (!domain->why_not[0])
		printf("%s\n", name);
}

const struct argp cli_list_argp = {.options = options, .parser = parser, .doc = doc};

int cli_list(int argc, char **argv)
{
	struct err err = {0};
	struct list_options o = {.input = {&err}};

	if (cli_parse(&cli_list_argp, argc, argv, &o.input) < 0 || domain_list(o.connect, print, &o, &err) < 0)
		return cli_fail(&err);
	return EXIT_OK;
}
