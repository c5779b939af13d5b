/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs races in both orders (hv/replay): decides which rendezvous get a copy of the machine, starts their replays, and passes
 * the outcomes to the report. Holds some further copies paused (held.h), and runs them when the guest's kernel complains.
 *
 * Threads: the detector calls replayer_wants() on vCPU threads, under its lock, and replayer_rendezvous() on its rendezvous
 * thread. The replayer's own thread waits for results. All other functions are called on the session's thread.
 */
#ifndef OUTRIDER_SESSION_REPLAYER_H
#define OUTRIDER_SESSION_REPLAYER_H

#include "hv/guest/guest.h"
#include "hv/race/rendezvous.h"
#include "hv/race/replay.h"
#include "hv/race/section_replay.h"
#include "hv/replay/expendable.h"
#include "hv/session/engine.h"
#include "hv/session/screen.h"

struct replayer_config {
	struct engine *engine; /* with the operation `still` */
	struct guest *guest;
	struct screen *screen;
	/*
	 * Makes the OOM killer prefer copies of the machine. Must be started before the replayer. The replayer uses it with the
	 * replayer's lock held.
	 */
	struct expendable *expendable;
	/* Time for which each order runs on after its region, in ns. 0: not at all. */
	uint64_t free_ns;
	/* The folder for scenarios. NULL: no scenario is kept. */
	const char *save;
	/*
	 * Receives the outcome of an instance of the race with these site names. `site_a` is the side that goes first in order
	 * 0. Called on the replayer's thread.
	 */
	void (*replayed)(void *ctx, const char *site_a, const char *site_b, const struct replay_instance *instance);
	/*
	 * Receives the outcome of a copy that ran critical sections in three orders (hv/race/section_replay.h). NULL: no such
	 * copies are wanted. Called on the replayer's thread.
	 */
	void (*sections_replayed)(void *ctx, const struct rendezvous_sections *sections,
				  const struct section_replay_instance *instance);
	void *ctx;
};

struct replayer;

/*
 * Create a replayer. `config` is copied; what it points to must outlive the replayer. Returns NULL with `err` set on failure.
 */
struct replayer *replayer_new(const struct replayer_config *config, struct err *err);

/* Start the thread. Returns 0, or -1 with err set. Call replayer_stop() in either case. */
int replayer_start(struct replayer *r, struct err *err);

/*
 * Allow replays to begin, after the guest's kernel was found. Reads the kernel's symbols and some words of its memory; later
 * calls do nothing. Called on the detector's reporter thread, and not in a callback.
 */
void replayer_kernel_known(struct replayer *r);

/*
 * The callbacks rendezvous_wanted(), sections_wanted() and rendezvous() of struct detect_sink. The first two return whether a
 * copy of the machine is wanted at a rendezvous, and the third makes the copy.
 */
bool replayer_wants(struct replayer *r, uint64_t gva_a, uint64_t gva_b);
bool replayer_wants_sections(struct replayer *r, uint64_t first, uint64_t second, uint64_t between, bool begin);
void replayer_rendezvous(struct replayer *r, const struct rendezvous *m);

/*
 * The guest's kernel has complained: run the copies that are held, and set `last_moment` in the results of all copies that
 * exist. These copies were made just before the complaint, so their races may have caused it. Does nothing after
 * replayer_closing(). Called on the detector's reporter thread.
 */
void replayer_complained(struct replayer *r);

/*
 * Wait for the results of the last moments: the copies that existed when the guest's kernel complained. Call it after the guest
 * has ended, and before the detector is stopped, since the copies die with the detector's threads. Without a complaint, waits
 * at most 300 ms for one that the detector has not read yet. After a complaint, waits until these copies have results, at most
 * 5 minutes. Returns early if goes_on() returns false; it is called at least every 50 ms. `r` may be NULL here and below.
 */
void replayer_wait(struct replayer *r, bool (*goes_on)(void *ctx), void *ctx);

/* Prepare for the end of the run: start no further replay, and do not report a replay that ends without a result. */
void replayer_closing(struct replayer *r);

/* End the replays under way. Call it after the detector was stopped. */
void replayer_stop(struct replayer *r);
void replayer_free(struct replayer *r);

#endif
