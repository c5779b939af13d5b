/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stressors of the workload "busy". Each exercises one part of the kernel, from several processes at once. A round is one
 * call of stressor.round(). It takes milliseconds on real hardware, checks what system calls return, and removes the files and
 * processes that it made.
 */
#ifndef OUTRIDER_BUSY_H
#define OUTRIDER_BUSY_H

#include <stdbool.h>

enum busy_result {
	BUSY_OK,
	BUSY_ERROR, /* errno says why */
	/* The guest lacks what the round needs, such as modules. Reported as "skipped", not as a failure. */
	BUSY_SKIP,
};

struct busy_worker {
	unsigned int cpu;  /* the CPU that the worker starts on; only the scheduler stressor moves to other CPUs */
	unsigned int seed; /* state of busy_random() */
	char dir[64];	   /* absolute path of the worker's own folder, which is in a tmpfs */
};

struct stressor {
	const char *name;
	bool once; /* the stressor has one process in all, instead of one on each CPU */
	enum busy_result (*round)(struct busy_worker *w);
};

extern const struct stressor stressor_exec, stressor_signals, stressor_futex, stressor_sched, stressor_timers;
extern const struct stressor stressor_files, stressor_pipes, stressor_procfs, stressor_mount;
extern const struct stressor stressor_unix, stressor_tcp, stressor_udp, stressor_memory, stressor_cow, stressor_modules;

/* Returns a pseudo-random number of 24 bits, and advances the worker's seed. */
unsigned int busy_random(struct busy_worker *w);

/* Bring up the loopback interface, which the network stressors need. Writes a line if that fails. */
void busy_loopback_up(void);

#endif
