// SPDX-License-Identifier: GPL-2.0-or-later
/* Takes the workloads from the arguments and from the kernel command line, and runs them one by one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent.h"
#include "serve.h"
#include "workloads.h"

#define OPTION "outrider.run="

struct outcome {
	int run, failed; /* numbers of workloads */
	bool stop;	 /* the argument "poweroff" or "serve" came: run no more workloads */
};

/* Run a workload in a new process. If the workload ran as process 1, its crash would be the end of init, and a kernel panic. */
static int run_workload(const char *word)
{
	const char *args;
	const struct workload *w = workload_find(word, &args);
	int pid;

	if (!w) {
		say("%s: no such workload", word);
		return AGENT_UNKNOWN;
	}
	fflush(NULL);
	pid = fork();
	if (pid < 0)
		return say_failed("%s: fork", word);
	if (!pid)
		exit(w->run(args));
	return wait_status(pid);
}

static void run_word(const char *word, struct outcome *o)
{
	double start = now();
	int rc;

	if (o->stop || !*word)
		return;
	if (!strcmp(word, "poweroff")) {
		o->stop = true;
		return;
	}
	say("%s: start", word);
	rc = run_workload(word);
	o->run++;
	o->failed += rc != 0;
	if (getpid() == 1)
		init_kill_rest();
	say("%s: done rc=%d seconds=%.2f", word, rc, now() - start);
}

static void usage(FILE *out)
{
	fprintf(out, "usage: outrider-guest-agent WORKLOAD...\n"
		     "       outrider-guest-agent [WORKLOAD...] serve [OPTION VALUE]...\n"
		     "  as /init: by the kernel's command line, \"-- WORD...\" or \"" OPTION "WORD,...\"\n\n");
	workloads_print(out);
	fprintf(out, "  poweroff: run no more workloads (as /init, this powers the machine off)\n"
		     "  serve: carry out the host's commands from now on; the words that follow are options of serve\n");
	serve_print_options(out);
}

/* Serve the host. "serve" is the last workload, because all arguments after "serve" are its options. */
static void run_serve(int argc, char **argv, struct outcome *o)
{
	bool power_off;

	if (o->stop)
		return;
	o->stop = true;
	o->run++;
	o->failed += serve(argc, argv, &power_off) != AGENT_OK;
	if (power_off && getpid() != 1)
		serve_power_off();
}

/*
 * Run the workload argv[0]. Returns how many of the `argc` arguments belong to this workload: all of them for "serve", else 1.
 */
static int run_argument(int argc, char **argv, struct outcome *o)
{
	if (strcmp(argv[0], "serve") != 0) {
		run_word(argv[0], o);
		return 1;
	}
	run_serve(argc - 1, argv + 1, o);
	return argc;
}

/*
 * Run the workloads of "outrider.run=A,B,C", for boot loaders that do not know "--". The kernel takes an argument with a dot
 * for a module's parameter and does not pass it on, so the option is read from /proc/cmdline.
 */
static void run_kernel_option(struct outcome *o)
{
	char line[4096], *save_word, *save;

	if (read_text("/proc/cmdline", line, sizeof(line)) < 0)
		return;
	for (char *word = strtok_r(line, " \t\n", &save_word); word; word = strtok_r(NULL, " \t\n", &save_word)) {
		if (!strcmp(word, "--"))
			return;
		if (strncmp(word, OPTION, strlen(OPTION)))
			continue;
		for (char *w = strtok_r(word + strlen(OPTION), ",", &save); w; w = strtok_r(NULL, ",", &save))
			run_argument(1, &w, o);
	}
}

int main(int argc, char **argv)
{
	struct outcome o = {0};
	bool init = getpid() == 1;

	if (!init && argc < 2) {
		usage(stderr);
		return AGENT_USAGE;
	}
	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		usage(stdout);
		return AGENT_OK;
	}
	if (init)
		init_system();
	say("ready");
	for (int i = 1; i < argc;)
		i += run_argument(argc - i, argv + i, &o);
	if (init)
		run_kernel_option(&o);
	say("end workloads=%d failed=%d", o.run, o.failed);
	if (init)
		init_power_off();
	return o.failed ? AGENT_FAIL : AGENT_OK;
}
