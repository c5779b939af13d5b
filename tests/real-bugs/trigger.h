/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the triggers of the bench share. A trigger is the init's child in a guest: a static program that sets a subsystem up,
 * says "trigger: ready", and repeats the two sides of a race on CPUs 0 and 1 until the guest is stopped. A set-up that cannot
 * be made ends it with one line that says which call failed; the bench counts this as a failure of its own, never as "not
 * found".
 */
#ifndef OUTRIDER_TRIGGER_H
#define OUTRIDER_TRIGGER_H

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/* What a step ends with under outrider explore (explored.h): a value that no serial order gives is a wrong state. */
static _Thread_local int step_status;
/* This thread makes one step for outrider explore. */
static _Thread_local bool is_explored_step;

/* Say why the trigger cannot go on, with errno's text, and exit. Under outrider explore, only the step ends, with status 1. */
static inline void __attribute__((format(printf, 1, 2), noreturn)) die(const char *fmt, ...)
{
	int error = errno;
	va_list ap;

	printf("trigger: cannot ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf(": %s\n", strerror(error));
	fflush(stdout);
	if (is_explored_step)
		pthread_exit((void *)1);
	exit(1);
}

/* Returns `value` if it is not negative. Otherwise the call named `what` has failed, and the trigger ends. */
static inline int need(int value, const char *what)
{
	if (value < 0)
		die("%s", what);
	return value;
}

/* The set-up is done: from now on the two sides run. */
static inline void ready(void)
{
	printf("trigger: ready\n");
	fflush(stdout);
}

/* Bind the calling thread to a CPU. */
static inline void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	need(sched_setaffinity(0, sizeof(set), &set), "bind a thread to its CPU");
}

/* Write `text` to a file of /proc or /sys. Returns whether all of it was taken. */
static inline bool write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : write(fd, text, strlen(text));

	if (fd >= 0)
		close(fd);
	return n == (ssize_t)strlen(text);
}

/*
 * Let time pass on this CPU without sleeping: outrider ends a window early when no other CPU runs, so a side that sleeps
 * between its steps would not be waited for.
 */
static inline void spin_us(long us)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - begin.tv_sec) * 1000000 + (now.tv_nsec - begin.tv_nsec) / 1000 < us);
}

struct trigger_side {
	int cpu;
	void (*step)(void *arg);
	void *arg;
};

#include "explored.h"

static inline void *trigger_repeat(void *opaque)
{
	const struct trigger_side *side = opaque;

	pin(side->cpu);
	for (;;)
		side->step(side->arg);
	return NULL;
}

/*
 * Repeat `first` on CPU 0 and `second` on CPU 1, each in a thread of its own, both with `arg`. Does not return. Under outrider
 * explore, each is made once, when its program says so.
 */
static inline void __attribute__((noreturn)) repeat_both(void (*first)(void *), void (*second)(void *), void *arg)
{
	struct trigger_side sides[2] = {{0, first, arg}, {1, second, arg}};
	pthread_t other;

	if (is_explored())
		explored_both(sides);
	ready();
	errno = pthread_create(&other, NULL, trigger_repeat, &sides[1]);
	if (errno)
		die("start a thread");
	trigger_repeat(&sides[0]);
	exit(1);
}

#endif
