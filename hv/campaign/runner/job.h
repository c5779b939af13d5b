/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A run of the plan in this round, from its planning until it is in the store. watch.c starts and watches the run, judge.c
 * decides how it ended, and run_store.c writes it to the store. Not thread-safe.
 */
#ifndef OUTRIDER_CAMPAIGN_RUNNER_JOB_H
#define OUTRIDER_CAMPAIGN_RUNNER_JOB_H

#include "hv/campaign/runner/child.h"
#include "hv/campaign/runner/console.h"
#include "hv/campaign/runner/ending.h"
#include "hv/campaign/runner/heartbeat.h"
#include "hv/campaign/runner/machine.h"

enum job_state {
	JOB_WAITING,
	JOB_RUNNING,
	JOB_ENDED, /* The run has ended, and is not in the store yet. */
	JOB_DONE,  /* The run is in the store. */
};

struct job {
	const struct plan_run *run;
	enum job_state state;
	char uuid[STORE_UUID_MAX];
	char *folder;  /* NULL: the run was never started */
	char *command; /* shell command that repeats the run */
	unsigned attempts;
	bool begun; /* The beginning of the run is recorded in the store. */
	/* largest N of the run's quarantined folders FOLDER~N, and largest N of those that are stored */
	unsigned quarantined, quarantined_stored;
	/* This and all following members are the state of the current attempt. */
	struct child child;
	struct machine machine;
	struct console console;
	struct heartbeat heartbeat;
	struct ending ending;
	uint64_t started_ns, usage_ns;
	uint64_t sigterm_ns; /* monotonic_ns() when the run was asked to end; 0: it was not asked */
	bool killed;	     /* The runner killed the run. */
	bool cut_short;	     /* The runner asked the run to end early because of a signal; the run must start again. */
	bool program_given;  /* The program is not Outrider itself, but the campaign's <emulator>. */
};

struct job_config {
	const char *program;
	bool emulator;	    /* `program` is the campaign's <emulator>. */
	const char *prefer; /* name of the file for --prefer in the run's folder; NULL: no --prefer */
	const char *skip;   /* name of the file for --skip in the run's folder; NULL: no --skip */
	unsigned again;	    /* number of trials that earlier runs made, and that this run makes again */
	bool to_repeat;	    /* Make the command for a user to repeat the run later, when the heartbeat's socket is gone. */
};

/* Start the run. j->folder must be set. Returns 0, or -1 with err set. */
int job_start(struct job *j, struct cgroup_base *base, const struct job_config *config, struct err *err);

/*
 * Check a run that is in progress: its limits, its console and the guest agent's heartbeat. Returns true if the run has ended;
 * then call job_judge().
 */
bool job_poll(struct job *j);

/* Ask the run to end with SIGTERM. job_poll() kills it after 30 s. */
void job_terminate(struct job *j);

/* Kill the run. */
void job_kill(struct job *j);

/* What became of an attempt. */
enum job_verdict {
	JOB_OVER,	 /* The run is finished, and j->ending has its outcome. */
	JOB_INTERRUPTED, /* A foreign process killed the run, or the runner cut it short: it must start again. */
	JOB_LOST,	 /* The machine that carries the guest failed. This is no finding; j->ending has the message. */
};
enum job_verdict job_judge(struct job *j);

/*
 * Free what a job has only while it runs: close the heartbeat's sockets and the pipes to the supervisor, and remove the run's
 * control group.
 */
void job_release(struct job *j);

#endif
