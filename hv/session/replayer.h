/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Has races run in both orders (hv/replay): it decides which meetings of the detector are worth a copy of the machine, starts
 * their replays, and hands what came of them to the report.
 *
 * Threads: the detector calls replayer_wants() on CPUs' threads, under its lock, and replayer_meeting() on its own thread for
 * meetings. A thread of the replayer's waits for results. All else is the session's.
 */
#ifndef OUTRIDER_SESSION_REPLAYER_H
#define OUTRIDER_SESSION_REPLAYER_H

#include "hv/guest/guest.h"
#include "hv/race/meeting.h"
#include "hv/race/replay.h"
#include "hv/replay/expendable.h"
#include "hv/session/engine.h"
#include "hv/session/screen.h"

struct replayer_config {
	struct engine *engine; /* with the operation `still` */
	struct guest *guest;
	struct screen *screen;
	/* Started; the replayer uses it with its own lock held. */
	struct expendable *expendable;
	/* How long each order runs on freely, in nanoseconds. 0: not at all. */
	uint64_t free_ns;
	/* The folder that scenarios are kept in. NULL: none are kept. */
	const char *save;
	/*
	 * What came of an instance of the race with these site names; `site_a` is that of the side that goes first in order 0.
	 * Called on the replayer's thread.
	 */
	void (*replayed)(void *ctx, const char *site_a, const char *site_b, const struct replay_instance *instance);
	void *ctx;
};

struct replayer;

/* `config` is copied, and what it points to must outlive the replayer. NULL with `err` set. */
struct replayer *replayer_new(const struct replayer_config *config, struct err *err);

/* Start the thread. Returns 0, or -1 with err set. replayer_stop() must follow. */
int replayer_start(struct replayer *r, struct err *err);

/*
 * The guest's kernel is known, so that replays can begin. Reads its symbols and some words of its memory. Once; not in a
 * callback.
 */
void replayer_kernel_known(struct replayer *r);

/* See struct detect_sink. */
bool replayer_wants(struct replayer *r, uint64_t gva_a, uint64_t gva_b);
void replayer_meeting(struct replayer *r, const struct meeting *m);

/* The run is about to end: no replay is begun any more, and none that ends without a result is told of. */
void replayer_closing(struct replayer *r);

/* End what is under way, after the detector was stopped. NULL is allowed here and below. */
void replayer_stop(struct replayer *r);
void replayer_free(struct replayer *r);

#endif
