// SPDX-License-Identifier: GPL-2.0-or-later
/* `outrider doctor`: prints the results of probe_host() for the user. */
#include <stdio.h>

#include "hv/cli/cli.h"
#include "hv/sandbox/sandbox.h"
#include "hv/vmm/probe.h"

static const char doc[] =
	"Try with a tiny guest what the detector needs: breakpoints, debug registers, single-step, and passing the guest's own "
	"debug exceptions back to it. Asking KVM is not enough, because some KVMs claim what they do not do.";

static error_t parser(int key, char *arg, struct argp_state *state)
{
	(void)key;
	(void)arg;
	(void)state;
	return ARGP_ERR_UNKNOWN;
}

static const char *mark(const struct probe_check *check)
{
	if (!check->tried)
		return "-";
	if (check->works)
		return "ok";
	return check->needed ? "FAILS" : "no";
}

static void print_caps(const struct host_probe *probe)
{
	for (unsigned i = 0; i < probe->caps; i++) {
		if (!probe->cap[i].present)
			printf("  %-6s %s is not offered by this host's KVM\n", "lacks", probe->cap[i].name);
	}
}

/* Print whether the sandbox works. This does not affect the exit code: without the sandbox, --no-sandbox runs guests. */
static void print_sandbox(void)
{
	char why[128];
	bool works = sandbox_available(why, sizeof(why));

	printf("  %-6s %-28s %s\n", works ? "ok" : "no", "sandbox (seccomp)", why);
	works = sandbox_bounds_files(why, sizeof(why));
	printf("  %-6s %-28s %s\n", works ? "ok" : "no", "sandbox (Landlock)", why);
}

/* Print whether --replay works. This does not affect the exit code: guests run without --replay, too. */
static void print_replay(const struct host_probe *probe)
{
	bool works = probe->blocks_interrupts;

	printf("  %-6s %-28s %s\n", works ? "ok" : "no", "both orders (--replay)",
	       works ? "KVM claims that it keeps interrupts away from single steps"
		     : "KVM does not keep interrupts away from single steps; Linux 5.16 does");
}

const struct argp cli_doctor_argp = {.parser = parser, .doc = doc};

int cli_doctor(int argc, char **argv)
{
	struct err err = {0};
	struct cli_input input = {&err};
	struct host_probe probe;

	if (cli_parse(&cli_doctor_argp, argc, argv, &input) < 0 || probe_host(&probe, &err) < 0)
		return cli_fail(&err);
	for (int i = 0; i < PROBE_CHECKS; i++)
		printf("  %-6s %-28s %s\n", mark(&probe.check[i]), probe.check[i].name, probe.check[i].finding);
	print_sandbox();
	print_replay(&probe);
	print_caps(&probe);
	printf("%s\n", probe.verdict);
	return probe.usable ? EXIT_OK : EXIT_INPUT;
}
