// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `outrider doctor`: prints the results of probe_host() for the user, and how to start a lab if this host's KVM cannot run
 * outrider's guests.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

/*
 * Print whether the sandbox works. This does not affect the exit code: on a host without the sandbox, guests still run with
 * --no-sandbox.
 */
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

/*
 * Paths of the program that starts a lab: LAB_INSTALLED is relative to the folder of an installed outrider, and LAB_IN_TREE to
 * the root of a source tree.
 */
#define LAB_INSTALLED "outrider-lab"
#define LAB_IN_TREE "tests/lab/outrider"
/* outrider is at most this many folders below the root of a source tree: two, as in build/san-thread/outrider. */
#define TREE_DEPTH 2

/* Store in `path` the path of the file `name` in `folder`. Returns whether this file can be executed. */
static bool is_program(const char *folder, const char *name, char path[PATH_MAX])
{
	return snprintf(path, PATH_MAX, "%s/%s", folder, name) < PATH_MAX && access(path, X_OK) == 0;
}

/* Print how to start a lab with the outrider that runs now. */
static void print_lab(void)
{
	char folder[PATH_MAX], root[PATH_MAX], path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", folder, sizeof(folder) - 1);
	char *slash;

	folder[len > 0 ? len : 0] = '\0';
	slash = strrchr(folder, '/');
	if (slash)
		*slash = '\0';
	printf("outrider can run in a lab, an emulated host with a KVM that works: ");
	if (is_program(folder, LAB_INSTALLED, path)) {
		printf("%s doctor\n", path);
		return;
	}
	strcpy(root, folder);
	for (int i = 0; i < TREE_DEPTH && (slash = strrchr(root, '/')); i++) {
		*slash = '\0';
		if (is_program(root, LAB_IN_TREE, path)) {
			printf("OUTRIDER_BUILD=%s %s doctor\n", folder, path);
			return;
		}
	}
	printf("install the Debian package outrider, which has " LAB_INSTALLED
	       ", or get its source tree, which has " LAB_IN_TREE "\n");
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
	if (!probe.usable)
		print_lab();
	printf("%s\n", probe.verdict);
	return probe.usable ? EXIT_OK : EXIT_INPUT;
}
