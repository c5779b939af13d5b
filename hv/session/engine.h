/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine as a session sees it: something with a target that runs until it ends or is told to stop. Ours (vm_engine.c), or
 * one that was attached to (attach_engine.c).
 *
 * Order: open(); run(); over(); the detector is stopped; finish(); end_word(); close(), which is right at any point.
 */
#ifndef OUTRIDER_SESSION_ENGINE_H
#define OUTRIDER_SESSION_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/session/screen.h"
#include "hv/target/target.h"

struct engine;

/* What ended a run from outside the guest. */
enum stop_reason { STOP_NONE, STOP_SIGNAL, STOP_DURATION, STOP_PANIC };

struct engine_ops {
	/* Sets e->target, unless nothing is to be detected. `screen` outlives the machine. */
	int (*open)(struct engine *e, struct screen *screen, struct err *err);
	/* Run until it ends or was stopped. -1: our side failed. */
	int (*run)(struct engine *e, struct err *err);
	/* From any thread: run() is to return. */
	void (*stop)(struct engine *e);
	/* run() has returned, and the detector will take back what is its own. */
	void (*over)(struct engine *e);
	/* The detector has finished. Errors come into err, which keeps one it has. */
	void (*finish)(struct engine *e, struct err *err);
	/* What the guest's kernel has panicked of, or NULL: it has not, as far as is known. Any thread. */
	const char *(*panic)(const struct engine *e);
	/* How it ended, for the summary. A guest that died is an error in err, if there is none yet. */
	const char *(*end_word)(struct engine *e, enum stop_reason stopped, struct err *err);
	void (*close)(struct engine *e);
};

struct engine {
	const struct engine_ops *ops;
	struct target *target; /* NULL: nothing is detected */
	const char *beginning; /* in a note, when it starts to run */
	const char *stopping;  /* what stop() does, in a note */
	bool keyboard;	       /* the user's keys are the guest's */
	/* For the report; NULL and 0: not known. */
	const char *kernel, *cmdline;
	uint64_t memory;
	unsigned cpus;
};

#endif
