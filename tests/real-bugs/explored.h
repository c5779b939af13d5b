/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trigger under outrider explore. It sets its subsystem up before the mark, and each side makes one step, in a thread that is
 * started when the side's program writes to a FIFO: a thread that is newer than the program is recorded with it. The program
 * then reads the step's status from another FIFO. Part of trigger.h.
 */
#ifndef OUTRIDER_TRIGGER_EXPLORED_H
#define OUTRIDER_TRIGGER_EXPLORED_H

#include <stdint.h>
#include <sys/stat.h>

/* The environment variable with the folder of the FIFOs: go.0, done.0, go.1 and done.1. */
#define EXPLORED "EXPLORED"

static inline bool is_explored(void)
{
	return getenv(EXPLORED) != NULL;
}

/* How often a step repeats its call: `many` times, or once under outrider explore, where one time is enough. */
static inline int times(int many)
{
	return is_explored() ? 1 : many;
}

static inline void *explored_step(void *opaque)
{
	const struct trigger_side *side = opaque;

	is_explored_step = true;
	side->step(side->arg);
	return (void *)(intptr_t)step_status;
}

static inline int explored_fifo(const char *name, int cpu, int flags)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s.%d", getenv(EXPLORED), name, cpu);
	if (mkfifo(path, 0600) < 0 && errno != EEXIST)
		die("make a FIFO");
	return need(open(path, flags | O_CLOEXEC), "open a FIFO");
}

/* Make a side's step when its program says so. The FIFO for the status is made last: then all is ready. */
static inline void *explored_serve(void *opaque)
{
	struct trigger_side *side = opaque;
	void *status = NULL;
	pthread_t step;
	int go, done;
	char any;

	pin(side->cpu);
	go = explored_fifo("go", side->cpu, O_RDWR);
	done = explored_fifo("done", side->cpu, O_RDWR);
	need((int)read(go, &any, 1), "read a FIFO");
	errno = pthread_create(&step, NULL, explored_step, side);
	if (errno)
		die("start a thread");
	pthread_join(step, &status);
	need(dprintf(done, "%d\n", (int)(intptr_t)status), "write a status");
	return NULL;
}

static inline void __attribute__((noreturn)) explored_both(struct trigger_side sides[2])
{
	pthread_t servers[2];

	for (int i = 0; i < 2; i++) {
		errno = pthread_create(&servers[i], NULL, explored_serve, &sides[i]);
		if (errno)
			die("start a thread");
	}
	for (;;)
		pause();
}

#endif
