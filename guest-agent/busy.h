/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stressors: each exercises one part of the kernel from several processes at once. A round is short (milliseconds on real
 * hardware), leaves nothing behind, and asks the kernel, not itself, for errors.
 */
#ifndef OUTRIDER_BUSY_H
#define OUTRIDER_BUSY_H

#include <stdbool.h>

enum busy_result {
	BUSY_OK,
	BUSY_SKIP,  /* this guest has not what it takes (no modules, no /proc/sys): said, not a failure */
	BUSY_ERROR, /* errno says why */
};

struct busy_worker {
	unsigned int cpu; /* started here; the scheduler stressor moves it */
	unsigned int seed;
	char dir[64]; /* this worker's own folder, absolute, in a tmpfs */
};

struct stressor {
	const char *name;
	bool once; /* one process, not one a CPU */
	enum busy_result (*round)(struct busy_worker *w);
};

extern const struct stressor stressor_exec, stressor_signals, stressor_futex, stressor_sched, stressor_timers;
extern const struct stressor stressor_files, stressor_pipes, stressor_procfs, stressor_mount;
extern const struct stressor stressor_unix, stressor_tcp, stressor_udp, stressor_memory, stressor_cow, stressor_modules;

/* A small pseudo-random number, from the worker's own seed. */
unsigned int busy_random(struct busy_worker *w);

/* Brings the loopback interface up, as the network stressors want it. */
void busy_loopback_up(void);

#endif
