/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stopper ends a run from outside the guest: on Ctrl-C and its like, when --duration is over, and when the guest's kernel
 * has panicked and would otherwise stand there for ever. The stopper's own thread waits for the signals, so no code of ours
 * runs in a signal handler. It listens from the first thing that a session does to the last, so that there is no moment at
 * which Ctrl-C does nothing.
 *
 * A signal while the engine is being opened makes the engine give up. If it does not do so within two seconds, the process
 * ends with 128 plus the signal's number. A signal while the machine runs stops the engine. A second signal ends the process at
 * once, whatever it is at.
 */
#ifndef OUTRIDER_SESSION_STOPPER_H
#define OUTRIDER_SESSION_STOPPER_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/session/engine.h"
#include "hv/session/screen.h"
#include "hv/session/terminal.h"

/* What the user is told when a signal has ended the opening. The argument is the signal's name without "SIG". */
#define STOPPER_GAVE_UP "SIG%s: ended before the search for races had begun"

struct stopper_config {
	struct engine *engine;	   /* The engine that is stopped, and watched for a panic. */
	struct terminal *terminal; /* It is restored when a signal ends the process at once. */
	uint64_t duration_ns;	   /* The limit of elapsed_ns(). 0: there is no limit. */
	/* The time so far, in nanoseconds. It is called on the stopper's thread while the engine runs, and must not wait. */
	uint64_t (*elapsed_ns)(void *ctx);
	/* Called again and again on the stopper's thread while the engine runs. It must not wait. It may be NULL. */
	void (*tick)(void *ctx);
	void *ctx; /* The argument of elapsed_ns() and tick(). */
};

struct stopper;

/*
 * Block SIGINT, SIGTERM and SIGHUP in this thread and in those that it starts, and start the stopper's thread. No other thread
 * may exist yet, since such a thread would take the signal and the process would die of it. `config` and what it points to must
 * last until stopper_finish(). Returns NULL with err set on failure.
 */
struct stopper *stopper_start(const struct stopper_config *config, struct err *err);

/* The first signal that has come so far, or 0. */
int stopper_signal(struct stopper *s);

/*
 * The engine is open and is about to run. What stops it is shown on `screen`, which must last until stopper_closing(). Returns
 * false when a signal has come already: then the engine must not run.
 */
bool stopper_running(struct stopper *s, struct screen *screen);

/*
 * The engine's run is over, or will not come. Returns what made the stopper stop the engine, or STOP_NONE. A signal that comes
 * after --duration is over counts as the reason. From now on a signal does nothing, and a second one ends the process.
 */
enum stop_reason stopper_closing(struct stopper *s);

/* Join the stopper's thread and free the stopper. NULL is allowed. */
void stopper_finish(struct stopper *s);

#endif
