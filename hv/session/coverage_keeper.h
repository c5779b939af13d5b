/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the file of --coverage up to date. A thread rewrites the file every 10 s, or less often if writing takes long, so that
 * a killed run loses the coverage of its last seconds only. At the end of a run the complete file is written.
 *
 * All functions are called on the session's thread.
 */
#ifndef OUTRIDER_SESSION_COVERAGE_KEEPER_H
#define OUTRIDER_SESSION_COVERAGE_KEEPER_H

#include "hv/base/err.h"
#include "hv/detect/detect.h"
#include "hv/guest/guest.h"
#include "hv/session/screen.h"

struct coverage_keeper_config {
	/* The file to write. */
	const char *path;
	struct detect *detect;
	struct guest *guest;
	struct screen *screen;
	uint64_t seed;
};

struct coverage_keeper;

/*
 * Create the file. The strings in the config must stay valid until coverage_keeper_free(). The detector and the guest must
 * exist until coverage_keeper_finish(). Returns NULL with err set: EXIT_INPUT when the file cannot be created.
 */
struct coverage_keeper *coverage_keeper_new(const struct coverage_keeper_config *config, struct err *err);

/* Start the thread. Returns 0, or -1 with EXIT_INTERNAL in `err`. */
int coverage_keeper_start(struct coverage_keeper *k, struct err *err);

/*
 * Join the thread, and write the file for the last time. Call it after the detector was stopped. Errors are stored in `err`.
 * `k` may be NULL.
 */
void coverage_keeper_finish(struct coverage_keeper *k, struct err *err);

/* Join the thread, if it still runs, and free the keeper. `k` may be NULL. */
void coverage_keeper_free(struct coverage_keeper *k);

#endif
