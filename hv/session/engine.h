/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An engine is a machine as a session uses it: it has a target, and runs until it ends or is stopped. vm_engine.c is Outrider's
 * own virtual machine. attach_engine.c is a machine that was running before.
 *
 * A session calls open(), run() and over(), stops the detector, and then calls finish(), end_word() and close(). The session
 * may call close() at any point, as the last call.
 */
#ifndef OUTRIDER_SESSION_ENGINE_H
#define OUTRIDER_SESSION_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/session/screen.h"
#include "hv/target/target.h"

struct engine;
struct vm;

/* The reason for ending a run from outside the guest. */
enum stop_reason { STOP_NONE, STOP_SIGNAL, STOP_DURATION, STOP_TIMEOUT, STOP_NO_KERNEL, STOP_PANIC, STOP_COMPLAINT };

/* Functions are called on the session's thread, except where a comment says otherwise. */
struct engine_ops {
	/*
	 * Create the machine, and set e->target unless the engine's configuration excludes detection. `screen` outlives the
	 * engine. Returns 0, or -1 with err set.
	 */
	int (*open)(struct engine *e, struct screen *screen, struct err *err);
	/*
	 * Make open() fail within a second. Called on any thread, during open() only. give_up() is NULL if the process may
	 * exit at any point of open(), since nothing would be left behind on the host.
	 */
	void (*give_up)(struct engine *e);
	/* Run the machine until it ends or stop() is called. Returns 0, or -1 with err set if Outrider itself failed. */
	int (*run)(struct engine *e, struct err *err);
	/*
	 * Make run() return within two seconds, even if the machine's devices are waiting for the host. Called on any thread.
	 */
	void (*stop)(struct engine *e);
	/*
	 * Called after run(). Returns the name of a thread of the machine that still waits for the host, or NULL if there is
	 * none. run() has returned without waiting for this thread. The thread continues to use the machine and the screen, so
	 * the session must not call close(), and the process must exit. left() may be NULL.
	 */
	const char *(*left)(const struct engine *e);
	/*
	 * Make every thread that waits for a CPU of the machine return, since the machine has ended or was stopped. Called
	 * after run() has returned, before the detector removes its points.
	 */
	void (*over)(struct engine *e);
	/*
	 * End the use of the machine, for example detach from it. Called after the detector has finished. Sets `err` on
	 * failure, unless `err` has an error already.
	 */
	void (*finish)(struct engine *e, struct err *err);
	/* Returns the kernel's message for its panic, or NULL if there was none. Called on any thread. panic() may be NULL. */
	const char *(*panic)(const struct engine *e);
	/*
	 * Returns a few words on how the machine ended, for the summary. If the guest died, sets `err`, unless `err` has an
	 * error already.
	 */
	const char *(*end_word)(struct engine *e, enum stop_reason stopped, struct err *err);
	/*
	 * Returns the machine, to make a copy of it. Sets *held to the vCPUs that are halted because the target holds them, a
	 * bit (1u << index) for each. Called on any thread, while the machine stands still. still() is NULL if this engine's
	 * machine cannot be copied.
	 */
	struct vm *(*still)(struct engine *e, unsigned *held);
	/* Free what open() made. open() may have failed halfway. */
	void (*close)(struct engine *e);
};

struct engine {
	const struct engine_ops *ops;
	struct target *target; /* NULL: the engine detects nothing. */
	/* The first word of the message that announces the run: "booting". */
	const char *beginning;
	const char *stopping; /* What stop() does, as words for a message: "detaching". */
	/* When the time of --wait-kernel begins, as a phrase for an error: "the guest's start". */
	const char *since;
	bool keyboard; /* The user's keys go to the guest. */
	/* The guest's console is shown on a terminal. Set by open(). */
	bool console_on_screen;
	/* Kinds of threads that run() starts, a bit (1u << enum sandbox_kind) for each. 0: the engine cannot be confined. */
	unsigned sandbox_kinds;
	/* Path of a file that close() removes, set by open(). NULL: no such file. */
	const char *socket;
	/* Facts for the report. NULL and 0: unknown. */
	const char *kernel;
	const char *cmdline;
	uint64_t memory; /* Bytes. */
	unsigned cpus;
};

#endif
