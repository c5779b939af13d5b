/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The helper inside a guest: its /init, or an ordinary program when it is not process 1. It runs the workloads it is given, in
 * order, and says on the console what it does, one line each: "outrider-agent: ...". The kernel stays stock; nothing here is
 * needed for a race to be found.
 */
#ifndef OUTRIDER_AGENT_H
#define OUTRIDER_AGENT_H

#include <stdbool.h>
#include <stddef.h>

/* Exit status of a workload; what is not listed is the workload's own failure. */
enum agent_rc {
	AGENT_OK = 0,
	AGENT_FAIL = 1,
	AGENT_USAGE = 2,
	AGENT_UNKNOWN = 127,
};

/* A workload is a name and a function; `args` is what follows "NAME:", or "". It runs in a process of its own. */
struct workload {
	const char *name, *usage;
	int (*run)(const char *args);
};

extern const struct workload workload_gt, workload_gtcase, workload_busy, workload_loop, workload_debug, workload_dmesg,
	workload_sleep, workload_wait, workload_sh;

/* One line on the console, in one write so that two processes do not mix theirs. printf's format, no newline. */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* say() with errno's text behind; returns AGENT_FAIL. */
int say_failed(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Seconds on CLOCK_MONOTONIC. */
double now(void);

/* Sleeps through signals. */
void sleep_seconds(double seconds);

/* A positive number of seconds, at most a day; false (and a line said) when `text` is not one. */
bool parse_seconds(const char *text, double *seconds);

/*
 * How long a workload runs. Without a limit it runs for `seconds`. With a limit above 0 it first waits until the console says
 * that it is enough, but not longer than `limit` seconds, and then runs for `seconds` more.
 */
struct duration {
	double seconds, limit;
};

/* Reads "SECONDS[:LIMIT]"; both are as parse_seconds() has them. Returns false (and says a line) when `text` is not that. */
bool parse_duration(const char *text, struct duration *d);

/*
 * Reads lines from standard input, for `limit` seconds at most, until one is "enough NAME". All other lines are dropped.
 * Returns false (and says a line) when the line did not come. At the end of the input the rest of the time is waited for all
 * the same.
 */
bool wait_for_enough(const char *name, double limit);

/* Returns when the duration `d` of `name` has passed: false when `d` has a limit and nobody said that it was enough. */
bool let_pass(const char *name, const struct duration *d);

/* Reads up to size - 1 bytes of a small file and terminates them; -1 with errno set, else the length. */
long read_text(const char *path, char *buf, size_t size);

/* Waits for the child `pid` and returns its exit status, or 128 + the signal that killed it. */
int wait_status(int pid);

/* Mounts what a workload needs, and gives this process a console. Only for process 1. */
void init_system(void);

/* Kills what the last workload left running. Only for process 1. */
void init_kill_rest(void);

/* Ends the machine. Only for process 1; does not return. */
void init_power_off(void) __attribute__((noreturn));

#endif
