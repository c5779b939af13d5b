/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The helper inside a guest. It is the guest's /init, or an ordinary program when it is not process 1. It runs the workloads of
 * its command line one after another, and says on the console what it does, in lines that begin with "outrider-agent: ". The
 * guest's kernel stays stock, and the detector finds races without this helper.
 */
#ifndef OUTRIDER_AGENT_H
#define OUTRIDER_AGENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* The exit status of a workload. Any other status has a meaning that only its workload defines. */
enum agent_rc {
	AGENT_OK = 0,
	AGENT_FAIL = 1,
	AGENT_USAGE = 2,     /* the workload's arguments are wrong */
	AGENT_UNKNOWN = 127, /* there is no workload of that name */
};

/* A workload is a name and a function, which runs in a process of its own. */
struct workload {
	const char *name;
	const char *usage; /* the line that describes the workload in the usage message */
	/* Returns an enum agent_rc. `args` is what follows "NAME:" on the command line, or "". */
	int (*run)(const char *args);
};

extern const struct workload workload_gt, workload_gtcase, workload_busy, workload_loop, workload_debug, workload_dmesg,
	workload_sleep, workload_wait, workload_sh, workload_modules, workload_pair;

/*
 * Write one line to the console, in one write so that the lines of two processes do not mix. `fmt` is printf's, without the
 * prefix and the newline.
 */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Write a line as say() does, with ": " and the text of errno appended. Returns AGENT_FAIL. */
int say_failed(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Returns the time of CLOCK_MONOTONIC in seconds. */
double now(void);

/* Sleep for `seconds`. A signal does not shorten the sleep. */
void sleep_seconds(double seconds);

/* Parse a number of seconds, above 0 and at most 86400. Returns false and writes a line if `text` is no such number. */
bool parse_seconds(const char *text, double *seconds);

/*
 * How long a workload runs, in seconds. If `limit` is 0, the workload runs for `seconds`. Otherwise it runs until the line
 * "enough NAME" comes on standard input or `limit` seconds have passed, and after that for another `seconds`.
 */
struct duration {
	double seconds, limit;
};

/* Parse "SECONDS[:LIMIT]", each as parse_seconds() does. Returns false and writes a line if `text` has another form. */
bool parse_duration(const char *text, struct duration *d);

/*
 * Read lines from standard input, for `limit` seconds at most, until one is "enough NAME". All other lines are dropped. Returns
 * false, with a message on the console, if "enough NAME" did not come. The end of the input does not shorten the wait.
 */
bool wait_for_enough(const char *name, double limit);

/* Wait until the duration `d` of the workload `name` has passed. Returns false if `d` has a limit and no "enough NAME" came. */
bool let_pass(const char *name, const struct duration *d);

/* Replace this process by a shell that carries out `command`. Returns AGENT_FAIL, with a line written, if there is no shell. */
int run_shell(const char *command);

/* Read up to size - 1 bytes of a small file, and add a '\0'. Returns how many bytes were read, or -1 with errno set. */
long read_text(const char *path, char *buf, size_t size);

/* Wait for the child `pid`. Returns its exit status, or 128 plus the number of the signal that killed it. */
int wait_status(int pid);

/*
 * count_rounds_in() sets the counter of this process and its children, and count_round() adds a round of work to that counter.
 * Without a counter, count_round() does nothing. The counter is in memory that the agent shares with the processes of the
 * workload: the agent sends the count with each heartbeat, so that the host sees whether the workload makes progress.
 */
void count_rounds_in(atomic_ulong *counter);
void count_round(void);

/* Mount the file systems that the workloads need, and open the console for this process. Only for process 1. */
void init_system(void);

/* Kill the processes that the last workload left running. Only for process 1. */
void init_kill_rest(void);

/* Power the machine off. Only for process 1. Does not return. */
void init_power_off(void) __attribute__((noreturn));

#endif
