/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the record of accesses and locks during a run, and calls the judge of this record every few seconds. The suspector
 * tries to confirm each suspected race: the detector samples the two sites until the race is seen, until the suspector gives
 * up, or until the suspicion is withdrawn because locks order the accesses.
 *
 * Threads: the detector calls suspector_moment() on the thread that follows locks, and suspector_race() on the reporter's
 * thread. The suspector's own thread judges. All other functions are called on the session's thread.
 */
#ifndef OUTRIDER_SESSION_SUSPECTOR_H
#define OUTRIDER_SESSION_SUSPECTOR_H

#include "hv/base/err.h"
#include "hv/detect/detect.h"
#include "hv/race/rendezvous.h"
#include "hv/race/section_replay.h"
#include "hv/race/suspicion.h"
#include "hv/session/screen.h"

/* Judges the record. This is a callback, so that the session does not depend on the rules. */
struct suspector_judge {
	/*
	 * Judges as protect_judge() does. Called on the suspector's thread. If `last` is true, called on the session's thread
	 * after the run, and may then read debug files and sources.
	 */
	int (*judge)(void *ctx, const struct protection *p, bool last, struct suspicions *out, struct err *err);
	void *ctx;
};

struct suspector_namer {
	/*
	 * Improve the names that protection_name() has made. Called once, on the session's thread after the run. NULL: keep
	 * those names.
	 */
	int (*name)(void *ctx, struct protection *p, struct err *err);
	void *ctx;
};

struct suspector_config {
	struct detect *detect;
	struct guest *guest;
	struct screen *screen;
	const struct suspector_judge *judge;
	struct suspector_namer namer;
};

struct suspector;

/*
 * Create a suspector. `config` is copied; what it points to must outlive the suspector's thread. Returns NULL with
 * EXIT_INTERNAL in `err` on failure.
 */
struct suspector *suspector_new(const struct suspector_config *config, struct err *err);

/* Start the thread. Returns 0, or -1 with EXIT_INTERNAL in `err`. */
int suspector_start(struct suspector *s, struct err *err);

/* Add a lock moment to the record. Implements moment() of struct detect_sink. */
void suspector_moment(struct suspector *s, const struct lock_moment *m);

/*
 * Add to the record the outcome of a copy that ran critical sections in three orders (hv/race/section_replay.h). Called on the
 * replayer's thread.
 */
void suspector_sections_replayed(struct suspector *s, const struct rendezvous_sections *sections,
				 const struct section_replay_instance *instance);

/* Record that the race with this ID was seen. */
void suspector_race(struct suspector *s, const char id[RACE_ID_MAX]);

/*
 * Join the thread and judge the record for the last time. Call it after the detector was stopped. Returns 0, or -1 with the
 * first failure in `err`, unless `err` has an error already; the record and the list are then as complete as possible. `s` may
 * be NULL here and below.
 */
int suspector_finish(struct suspector *s, struct err *err);

/* Return the record and the list of suspicions, with names, after suspector_finish(). The suspector owns them. */
const struct protection *suspector_record(const struct suspector *s);
const struct suspicions *suspector_found(const struct suspector *s);

/* Join the thread, if it still runs, and free the suspector. */
void suspector_free(struct suspector *s);

#endif
