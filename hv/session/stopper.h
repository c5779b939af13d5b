/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stopper ends a run from outside the guest: on Ctrl-C and its like, when --duration is over, and when the guest's kernel
 * has panicked and would otherwise stand there for ever. The stopper's own thread waits for the signals, so no code of ours
 * runs in a signal handler.
 */
#ifndef OUTRIDER_SESSION_STOPPER_H
#define OUTRIDER_SESSION_STOPPER_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/session/engine.h"
#include "hv/session/screen.h"
#include "hv/session/terminal.h"

struct stopper_config {
	struct engine *engine;		   /* The engine that is stopped, and watched for a panic. */
	struct screen *screen;		   /* Where the reason is shown. */
	struct terminal *terminal;	   /* It is restored when a second signal ends the process at once. */
	uint64_t duration_ns;		   /* The limit of elapsed_ns(). 0: there is no limit. */
	uint64_t (*elapsed_ns)(void *ctx); /* The time so far, in nanoseconds. Called on the stopper's thread. */
	void *ctx;			   /* The argument of elapsed_ns(). */
};

struct stopper;

/*
 * Block SIGINT, SIGTERM and SIGHUP in this thread and in the threads that it starts. Call this before any other thread exists,
 * since such a thread would take the signal and the process would die of it.
 */
void stopper_block_signals(void);

/*
 * Start the stopper's thread. `config` and what it points to must last until stopper_finish(). Returns NULL with err set on
 * failure.
 */
struct stopper *stopper_start(const struct stopper_config *config, struct err *err);

/*
 * Join the stopper's thread after the engine's run is over, and free the stopper. Returns what made the stopper stop the
 * engine, or STOP_NONE. A signal that comes after --duration is over counts as the reason.
 */
enum stop_reason stopper_finish(struct stopper *s);

#endif
