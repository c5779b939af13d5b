/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the record of accesses and locks while a run goes on, has it judged every few seconds, and has the detector aim at each
 * pair of sites that is suspected, until the race is seen or the pair is given up on.
 *
 * Threads: the detector calls suspector_moment() on the thread that follows locks, and suspector_race() comes from its
 * reporter. A thread of the suspector's judges. All else is the session's.
 */
#ifndef OUTRIDER_SESSION_SUSPECTOR_H
#define OUTRIDER_SESSION_SUSPECTOR_H

#include "hv/base/err.h"
#include "hv/detect/detect.h"
#include "hv/race/suspicion.h"
#include "hv/session/screen.h"

/* Who judges the record: it is not the session that knows how. */
struct suspector_judge {
	/*
	 * As protect_judge() does. Called on the suspector's thread and, with `last`, on the session's after the run, when
	 * debug files and sources may be looked into.
	 */
	int (*judge)(void *ctx, const struct protection *p, bool last, struct suspicions *out, struct err *err);
	void *ctx;
};

struct suspector_namer {
	/*
	 * Give better names to what protection_name() has named. Called once, on the session's thread after the run. NULL:
	 * nobody has better ones.
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

/* `config` is copied, and what it points to must outlive the suspector's thread. NULL with EXIT_INTERNAL in `err`. */
struct suspector *suspector_new(const struct suspector_config *config, struct err *err);

/* Start the thread. Returns 0, or -1 with EXIT_INTERNAL in `err`. */
int suspector_start(struct suspector *s, struct err *err);

/* See struct detect_sink. */
void suspector_moment(struct suspector *s, const struct lock_moment *m);

/* The race with this id was seen. */
void suspector_race(struct suspector *s, const char id[RACE_ID_MAX]);

/*
 * The detector was stopped: join the thread and judge the record for the last time. Returns 0, or -1 with the first failure in
 * `err`: then the record and the list are as complete as they could be. NULL is allowed here and below.
 */
int suspector_finish(struct suspector *s, struct err *err);

/* What there is after suspector_finish(), with names. Both belong to the suspector. */
const struct protection *suspector_record(const struct suspector *s);
const struct suspicions *suspector_found(const struct suspector *s);

/* Join the thread, if it still runs, and free the suspector. */
void suspector_free(struct suspector *s);

#endif
