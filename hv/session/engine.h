/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An engine is a machine as a session sees it: it has a target, and it runs until it ends or is told to stop. vm_engine.c is a
 * virtual machine of our own. attach_engine.c is a machine that was running before and is attached to.
 *
 * A session calls open(), run() and over(), stops the detector, and then calls finish(), end_word() and close(). It may call
 * close() at any point, and then calls nothing more.
 */
#ifndef OUTRIDER_SESSION_ENGINE_H
#define OUTRIDER_SESSION_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/session/screen.h"
#include "hv/target/target.h"

struct engine;
struct vm;

/* What ended a run from outside the guest. */
enum stop_reason { STOP_NONE, STOP_SIGNAL, STOP_DURATION, STOP_PANIC };

/* All functions run on the session's thread where nothing else is said. */
struct engine_ops {
	/* Make the machine and set e->target, unless nothing is to be detected. `screen` outlives the engine. 0, or -1. */
	int (*open)(struct engine *e, struct screen *screen, struct err *err);
	/*
	 * Make open() fail within a second. Any thread may call this, and during open() only. NULL: the process can end at any
	 * point of open() without leaving anything behind.
	 */
	void (*give_up)(struct engine *e);
	/* Run the machine until it ends or stop() is called. Returns -1 with err set when our own side failed. */
	int (*run)(struct engine *e, struct err *err);
	/* Make run() return. Any thread may call this. */
	void (*stop)(struct engine *e);
	/* The session calls this after run() has returned and before the detector takes back what it planted. */
	void (*over)(struct engine *e);
	/* The session calls this after the detector has finished. An error comes into `err`, which keeps one that it has. */
	void (*finish)(struct engine *e, struct err *err);
	/* The kernel's own words for its panic, or NULL while no panic is known. Any thread may call this. The op may be NULL.
	 */
	const char *(*panic)(const struct engine *e);
	/* A few words on how the machine ended, for the summary. A guest that died sets `err`, unless it is set already. */
	const char *(*end_word)(struct engine *e, enum stop_reason stopped, struct err *err);
	/*
	 * The machine itself, to make a copy of, with the vCPUs that the target has halted to hold them in *held, a bit (1u <<
	 * index) for each. Called on any thread, while the machine stands still. NULL: such a machine cannot be copied.
	 */
	struct vm *(*still)(struct engine *e, unsigned *held);
	/* Free all that open() made, as far as it came. */
	void (*close)(struct engine *e);
};

struct engine {
	const struct engine_ops *ops;
	struct target *target; /* NULL: nothing is detected. */
	const char *beginning; /* A word for the note that is shown when the machine starts to run. */
	const char *stopping;  /* What stop() does, for a note. */
	bool keyboard;	       /* The keys that the user types go to the guest. */
	/* The kinds of threads that run() has, a bit (1u << enum sandbox_kind) for each. 0: the engine cannot be confined. */
	unsigned sandbox_kinds;
	/* A file that close() removes, known after open(). NULL: none. */
	const char *socket;
	/* The four members below are for the report. NULL and 0 mean that the value is not known. */
	const char *kernel;
	const char *cmdline;
	uint64_t memory; /* Bytes. */
	unsigned cpus;
};

#endif
