/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stopper ends a run from outside the guest: on SIGINT, SIGTERM or SIGHUP, when --duration, --timeout or --wait-kernel is
 * over, when the guest's kernel has panicked and would otherwise halt for ever, and at a complaint that is to end the run. From
 * then on, threads wait for readers of the run's output for one second at most (screen_hurry()). The stopper's thread waits for
 * the signals, so no code runs in a signal handler. This thread starts first and ends last in a session, so that Ctrl-C works
 * at every moment.
 *
 * A signal during open() makes the engine give up. The process exits if giving up takes more than two seconds, and exits at
 * once if the engine has no give_up(). The exit code is 128 plus the signal's number. The limits are checked only while the
 * engine runs. A signal while the machine runs stops the engine. A second signal ends the process at once in every phase.
 */
#ifndef OUTRIDER_SESSION_STOPPER_H
#define OUTRIDER_SESSION_STOPPER_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/session/engine.h"
#include "hv/session/screen.h"
#include "hv/session/terminal.h"

/* The message if a signal ended open(). The argument is the signal's name without "SIG". */
#define STOPPER_GAVE_UP "SIG%s: ended before the search for races had begun"

struct stopper_config {
	/* The engine to stop, and to check for a panic. */
	struct engine *engine;
	/* The terminal whose mode is restored when a signal ends the process at once. */
	struct terminal *terminal;
	/* Limit of elapsed_ns(), in ns; 0: no limit. */
	uint64_t duration_ns;
	/* Limit of the time from the engine's start until is_ready(), in ns. 0: none. */
	uint64_t wait_kernel_ns;
	/* Limit of the time since stopper_start(), in ns; 0: no limit. */
	uint64_t timeout_ns;
	/*
	 * Returns whether the guest's kernel was found and points could be armed. Called on the stopper's thread while the
	 * engine runs. Must not block.
	 */
	bool (*is_ready)(void *ctx);
	/*
	 * Returns the time to compare with duration_ns, in ns. Called on the stopper's thread while the engine runs. Must not
	 * block.
	 */
	uint64_t (*elapsed_ns)(void *ctx);
	/*
	 * Returns true once the guest's kernel has a complaint that ends the run. Called on the stopper's thread while the
	 * engine runs. Must not block. May be NULL.
	 */
	bool (*complained)(void *ctx);
	/* Shows the progress. Called repeatedly on the stopper's thread while the engine runs. Must not block. May be NULL. */
	void (*tick)(void *ctx);
	void *ctx; /* Argument of these functions. */
};

struct stopper;

/*
 * Block SIGINT, SIGTERM and SIGHUP in this thread and the threads that it starts later, and start the stopper's thread. No
 * other thread may exist yet: it would take the signal, and the process would die. `config` and what it points to must stay
 * valid until stopper_finish(). Returns NULL with err set on failure.
 */
struct stopper *stopper_start(const struct stopper_config *config, struct err *err);

/* Returns the number of the first signal so far, or 0 if there was none. */
int stopper_signal(struct stopper *s);

/*
 * Enter the phase in which the machine runs, after the engine was opened. Messages are written to `screen`, which must stay
 * valid until stopper_closing(). Returns false if a signal came before: then the engine must not run.
 */
bool stopper_running(struct stopper *s, struct screen *screen);

/*
 * Enter the phase in which the report is made, after the engine's run is over. Returns why the stopper stopped the engine, or
 * STOP_NONE. A signal that came while the engine was stopping for another reason replaces that reason. A first signal from now
 * on only calls screen_hurry().
 */
enum stop_reason stopper_ending(struct stopper *s);

/*
 * Enter the last phase, after the engine's run, or if the engine will not run. A first signal from now on does nothing, and a
 * second signal ends the process.
 */
void stopper_closing(struct stopper *s);

/* Join the stopper's thread and free the stopper. `s` may be NULL. */
void stopper_finish(struct stopper *s);

#endif
