/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A run of the plan in this round: from waiting to being in the store. attend.c starts it and looks after it, judge.c says how
 * it ended, and keep.c brings it into the store. One thread.
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
	JOB_ENDED, /* It has ended, and is not in the store yet. */
	JOB_DONE,  /* It is in the store. */
};

struct job {
	const struct plan_run *run;
	enum job_state state;
	char uuid[STORE_UUID_MAX];
	char *folder;  /* NULL: it was never started. */
	char *command; /* What repeats it, for a shell. */
	unsigned attempts;
	bool told;		      /* The store knows that it is at work. */
	unsigned asides, asides_kept; /* The last N of FOLDER~N, and the last of these that the store has. */
	/* While it runs, and for how it ended. */
	struct child child;
	struct machine machine;
	struct console console;
	struct heartbeat heartbeat;
	struct ending ending;
	uint64_t started_ns, looked_ns;
	uint64_t asked_ns;  /* When it was asked to end; 0: it was not. */
	bool killed;	    /* We have killed it. */
	bool cut_short;	    /* It was asked to end before its time was over, and must be run again. */
	bool program_given; /* The program is not outrider itself, but a campaign's <emulator>. */
};

struct job_config {
	const char *program;
	bool emulator;	    /* `program` is an <emulator>. */
	const char *prefer; /* The name of the file with what to prefer, in the run's folder; or NULL. */
	bool to_repeat;	    /* The command is for later, when the folder of the heartbeat's socket is gone. */
};

/* Start the run. j->folder is set. Returns 0, or -1 with err set. */
int job_start(struct job *j, struct cgroup_base *base, const struct job_config *config, struct err *err);

/* Look after a run that is running: limits, console, heartbeat. Returns true when it has ended, and job_judge() is due. */
bool job_look(struct job *j);

/* Ask it to end properly; it is killed when it does not do so in time. */
void job_ask(struct job *j);

/* End it at once. */
void job_kill(struct job *j);

/* How a run ended: a finding, a limit, or nothing special. */
enum job_verdict {
	JOB_OVER,	 /* It has ended, and j->ending says how. */
	JOB_INTERRUPTED, /* Somebody killed it from outside, or we cut it short: it is not finished. */
	JOB_LOST,	 /* What carries the guest has failed. That is no finding, and j->ending says what it said. */
};
enum job_verdict job_judge(struct job *j);

/* Free what only a running job has. */
void job_release(struct job *j);

/* Milliseconds since 1970. */
int64_t job_now(void);

#endif
