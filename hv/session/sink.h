/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a session does with what the detector tells it: races go to the report, notes to the screen, and failures are kept
 * until the session asks for them.
 *
 * Threads: the detector calls from its sampler and its reporter thread, and the replayer from its own. Of these the reporter
 * thread and the replayer's use the report, under `report_lock`.
 */
#ifndef OUTRIDER_SESSION_SINK_H
#define OUTRIDER_SESSION_SINK_H

#include <pthread.h>
#include <stdatomic.h>

#include "hv/detect/detect.h"
#include "hv/report/report.h"
#include "hv/session/replayer.h"
#include "hv/session/screen.h"
#include "hv/session/suspector.h"

struct sink {
	/* The session owns these three and sets them before the detector starts. */
	struct screen *screen;
	struct guest *guest;
	struct report *report;
	/* Runs races in both orders. NULL: nobody asked for it. The session's own too. */
	struct replayer *replayer;
	/* Keeps what is seen of locks. NULL: they are not followed. The session's own too. */
	struct suspector *suspector;

	pthread_mutex_t report_lock;
	/* How many races the report has. Any thread may read it. */
	atomic_size_t races;
	/* The report knows the guest's kernel. The reporter thread's own. */
	bool kernel_told;
	/* The guest_modules_version() of the modules that the report knows. The reporter thread's own. */
	uint64_t modules_told;

	pthread_mutex_t lock; /* Guards the two members below, since both threads of the detector can fail. */
	struct err err;	      /* The first failure. */
	bool said;	      /* The user has read it. */
};

void sink_init(struct sink *s);
void sink_destroy(struct sink *s);

/* The callbacks for detect_new(). `s` must outlive the detector. With `replays` meetings are asked for, with `locks` moments.
 */
struct detect_sink sink_callbacks(struct sink *s, bool replays, bool locks);

/* Tell the report of the guest's kernel, if it does not know it. On the reporter thread, or after detect_stop(). */
void sink_kernel_known(struct sink *s);

/* Name the data and locks of a record by debug files, for struct suspector_config. `sink` is a struct sink. 0, or -1. */
int sink_name_locks(void *sink, struct protection *p, struct err *err);

/* What came of a race that was run in both orders, for struct replayer_config. `sink` is a struct sink. */
void sink_replayed(void *sink, const char *site_a, const char *site_b, const struct replay_instance *instance);

/*
 * Hand the first failure on to `err`, which keeps an error that it already has. Returns true when the error in `err` is this
 * failure and the user has read it. Called after detect_stop(), when the detector's threads are gone.
 */
bool sink_take_error(struct sink *s, struct err *err);

#endif
