/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What ends a run from outside the guest: Ctrl-C and its like, --duration, and a kernel that has panicked and would sit
 * there for ever. A thread of its own waits for the signals, so nothing of ours ever runs in a signal handler.
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
	struct engine *engine;	   /* stopped; watched for a panic */
	struct screen *screen;	   /* told why */
	struct terminal *terminal; /* restored when a second signal ends the process at once */
	uint64_t duration_ns;	   /* 0: no limit */
	uint64_t (*elapsed_ns)(void *ctx);
	void *ctx;
};

struct stopper;

/*
 * Block SIGINT, SIGTERM and SIGHUP in this thread and those it starts. Before any other thread exists, or that thread would
 * take the signal and die of it.
 */
void stopper_block_signals(void);

/* NULL: see err. `config` and what it points to must last until stopper_finish(). */
struct stopper *stopper_start(const struct stopper_config *config, struct err *err);

/* The machine is over: join the thread; says what had stopped it, if it was us. */
enum stop_reason stopper_finish(struct stopper *s);

#endif
