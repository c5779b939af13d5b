// SPDX-License-Identifier: GPL-2.0-or-later
/* Starts a run of a campaign, and watches it until it ends or exceeds a limit. */
#include "hv/campaign/runner/job.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hv/base/clock.h"
#include "hv/campaign/runner/arguments.h"
#include "hv/campaign/runner/spool.h"

#define NS_PER_S UINT64_C(1000000000)
#define GRACE_NS (30 * NS_PER_S) /* After SIGTERM a run has this long to write its report; then it gets SIGKILL. */
#define REST_NS (10 * NS_PER_S)	 /* Processes that outlive the run's program have this long to end; then they get SIGKILL. */
/* The run's output, CPU time and memory are checked this often, and not oftener: a check reads many files. */
#define USAGE_NS (NS_PER_S / 2)

/* ---- start ---- */

static bool has_disk(const struct plan_run *r)
{
	for (size_t i = 0; i < r->argc; i++) {
		if (strcmp(r->argv[i], "--disk") == 0)
			return true;
	}
	return false;
}

static int prepare(void *ctx, struct err *err)
{
	return machine_start(ctx, err);
}

static void finish(void *ctx)
{
	machine_stop(ctx);
}

/* Remove files of an earlier attempt. run_store_quarantine() has already moved the files that must be kept. */
static void clear_folder(const struct job *j)
{
	static const char *const names[] = {"races.json", "coverage.json", "console.log", "status", "stdout.log", "stderr.log"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *path = spool_path(j->folder, names[i], NULL);

		if (path)
			unlink(path);
		free(path);
	}
}

static void reset(struct job *j)
{
	j->console = (struct console){.last_ns = monotonic_ns()};
	j->ending = (struct ending){.started = realtime_ms()};
	j->started_ns = j->usage_ns = monotonic_ns();
	j->sigterm_ns = 0;
	j->killed = j->cut_short = false;
	j->machine = (struct machine){.folder = j->folder, .run = j->run->attach && j->run->domain->file ? j->run : NULL};
	snprintf(j->machine.name, sizeof(j->machine.name), "outrider-%.12s", j->uuid);
}

int job_start(struct job *j, struct cgroup_base *base, const struct job_config *config, struct err *err)
{
	struct child_config child = {.folder = j->folder,
				     .limits = &j->run->limits,
				     .limit_files = !has_disk(j->run),
				     .prepare = prepare,
				     .finish = finish,
				     .ctx = &j->machine};
	struct job_config later = *config;
	char **argv = NULL, **shown = NULL;
	int rc = -1;

	later.to_repeat = true;
	clear_folder(j);
	reset(j);
	j->program_given = config->emulator;
	if (j->run->agent && heartbeat_open(&j->heartbeat, err) < 0)
		goto out;
	argv = arguments_make(j, config, err);
	shown = argv ? arguments_make(j, &later, err) : NULL;
	free(j->command);
	j->command = shown ? arguments_quote(shown, err) : NULL;
	if (!j->command || spool_write(j->folder, "command", j->command, err) < 0)
		goto out;
	child.argv = argv;
	rc = child_start(&j->child, base, &child, err);
out:
	free(argv);
	free(shown);
	if (rc < 0) {
		job_release(j);
		return -1;
	}
	j->attempts++;
	j->state = JOB_RUNNING;
	return 0;
}

void job_release(struct job *j)
{
	heartbeat_close(&j->heartbeat);
	if (j->child.supervisor)
		child_free(&j->child);
}

/* ---- while it runs ---- */

void job_terminate(struct job *j)
{
	if (j->sigterm_ns)
		return;
	j->sigterm_ns = monotonic_ns();
	child_terminate(&j->child);
}

void job_kill(struct job *j)
{
	j->killed = true;
	child_kill(&j->child);
}

/* Record that the run exceeded a limit, as the finding "WHAT VALUE UNIT" with its details in `file`, and ask the run to end. */
static void stop(struct job *j, enum store_outcome kind, const char *file, const char *what, uint64_t value, const char *unit)
{
	char line[ENDING_LINE_MAX];

	snprintf(line, sizeof(line), "%s %" PRIu64 " %s", what, value, unit);
	ending_add(&j->ending, kind, file, line);
	job_terminate(j);
}

static void check_usage(struct job *j, uint64_t now)
{
	const struct plan_limits *l = &j->run->limits;
	uint64_t cpu_ns = 0, memory = 0;

	if (now - j->usage_ns < USAGE_NS)
		return;
	j->usage_ns = now;
	if (l->output && spool_size(j->folder) > l->output)
		stop(j, STORE_LIMIT, "", "the run wrote more than its limit of", l->output >> 10, "KiB");
	if (!l->cpu_ns && !l->memory)
		return;
	child_usage(&j->child, &cpu_ns, &memory);
	if (l->cpu_ns && cpu_ns > l->cpu_ns)
		stop(j, STORE_LIMIT, "", "the run used more CPU time than its limit of", l->cpu_ns / NS_PER_S, "s");
	if (l->memory && memory > l->memory)
		stop(j, STORE_LIMIT, "", "the run used more memory than its limit of", l->memory >> 20, "MiB");
}

/*
 * Returns whether the run has a file of the guest's console in its folder. It has none if the run attaches to a domain that the
 * campaign did not start.
 */
static bool has_console(const struct plan_run *r)
{
	return !r->attach || r->domain->file;
}

static void check_guest(struct job *j, uint64_t now)
{
	const struct plan_limits *l = &j->run->limits;

	console_read(&j->console, j->folder, false, &j->ending);
	if (l->silence_ns && has_console(j->run) && now > j->console.last_ns && now - j->console.last_ns > l->silence_ns)
		stop(j, STORE_HANG, "console.log", "the guest's console was silent for more than", l->silence_ns / NS_PER_S,
		     "s");
	if (l->heartbeat_ns && heartbeat_silence(&j->heartbeat) > l->heartbeat_ns)
		stop(j, STORE_HANG, "console.log", "the guest's agent was silent for more than", l->heartbeat_ns / NS_PER_S,
		     "s");
}

bool job_poll(struct job *j)
{
	const struct plan_limits *l = &j->run->limits;
	uint64_t now = monotonic_ns();

	if (child_is_over(&j->child))
		return true;
	if (j->child.ended) {
		if (now - j->child.ended_ns > REST_NS)
			child_kill(&j->child);
		return false;
	}
	if (j->sigterm_ns && now - j->sigterm_ns > GRACE_NS)
		job_kill(j);
	if (j->sigterm_ns)
		return false;
	if (l->time_ns && now - j->started_ns > l->time_ns)
		stop(j, STORE_LIMIT, "", "the run took more than its limit of", l->time_ns / NS_PER_S, "s");
	check_usage(j, now);
	check_guest(j, now);
	return false;
}
