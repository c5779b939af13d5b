/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The helper inside a guest. It is the guest's /init, or an ordinary program when it is not process 1. It runs the workloads
 * that it is given, in order, and says on the console what it does, in lines that begin with "outrider-agent: ". The guest's
 * kernel stays stock, and the detector finds races without this helper.
 */
#ifndef OUTRIDER_AGENT_H
#define OUTRIDER_AGENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* The exit status of a workload. A status that is not listed is the workload's own. */
enum agent_rc {
	AGENT_OK = 0,
	AGENT_FAIL = 1,
	AGENT_USAGE = 2,     /* the workload's arguments are wrong */
	AGENT_UNKNOWN = 127, /* there is no workload of that name */
};

/* A workload is a name and a function, which runs in a process of its own. */
struct workload {
	const char *name;
	const char *usage; /* its line of the usage message */
	/* Returns an enum agent_rc. `args` is what follows "NAME:" on the command line, or "". */
	int (*run)(const char *args);
};

extern const struct workload workload_gt, workload_gtcase, workload_busy, workload_loop, workload_debug, workload_dmesg,
	workload_sleep, workload_wait, workload_sh, workload_modules;

/*
 * Write one line to the console, in one write so that the lines of two processes do not mix. `fmt` is printf's, without the
 * prefix and the newline.
 */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Say the line with ": " and the text of errno added. Returns AGENT_FAIL. */
int say_failed(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The time of CLOCK_MONOTONIC in seconds. */
double now(void);

/* Sleep for that long; a signal does not shorten it. */
void sleep_seconds(double seconds);

/* Read a number of seconds above 0 and at most a day. Returns false (and says a line) when `text` is not one. */
bool parse_seconds(const char *text, double *seconds);

/*
 * How long a workload runs. Without a limit it runs for `seconds`. With a limit above 0 it first waits until the console says
 * that it is enough, but not longer than `limit` seconds, and then runs for `seconds` more.
 */
struct duration {
	double seconds, limit;
};

/* Read "SECONDS[:LIMIT]"; both are as parse_seconds() has them. Returns false (and says a line) when `text` is not that. */
bool parse_duration(const char *text, struct duration *d);

/*
 * Read lines from standard input, for `limit` seconds at most, until one is "enough NAME". All other lines are dropped.
 * Returns false (and says a line) when the line did not come. At the end of the input the rest of the time is waited for all
 * the same.
 */
bool wait_for_enough(const char *name, double limit);

/* Returns when the duration `d` of `name` has passed: false when `d` has a limit and no "enough NAME" came. */
bool let_pass(const char *name, const struct duration *d);

/* Read up to size - 1 bytes of a small file, and add a '\0'. Returns how many bytes were read, or -1 with errno set. */
long read_text(const char *path, char *buf, size_t size);

/* Wait for the child `pid`. Returns its exit status, or 128 plus the number of the signal that killed it. */
int wait_status(int pid);

/*
 * Count a round of work into the counter that count_rounds_in() named. Heartbeats show from it that a workload makes
 * progress. Without a counter, do nothing. The counter is in memory that is shared with the processes of the workload.
 */
void count_rounds_in(atomic_ulong *counter);
void count_round(void);

/* Mount what the workloads need, and give this process a console. Only for process 1. */
void init_system(void);

/* Kill what the last workload left running. Only for process 1. */
void init_kill_rest(void);

/* Power the machine off. Only for process 1. Does not return. */
void init_power_off(void) __attribute__((noreturn));

#endif
