/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The receiver of the detector's callbacks (struct detect_sink). It adds races to the report, writes messages to the screen,
 * and keeps failures for the session.
 *
 * Threads: the detector calls the functions of the sink on its sampler's and its reporter's thread, and on the thread that
 * follows locks; it calls the functions for rendezvous on vCPU threads and on the rendezvous thread. The replayer calls
 * sink_replayed() and sink_sections_replayed() on its own thread. The reporter's and the replayer's thread use the report, and
 * take `report_lock` for this.
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

/*
 * Which complaints of the guest's kernel end the run (--on-complaint). A panic and a corrupt kernel stack always end the run.
 */
enum complaint_stop {
	/* The run ends at complaints after which the task or the machine does not continue. */
	COMPLAINT_STOP_FATAL,
	COMPLAINT_STOP_ANY,
	COMPLAINT_STOP_NONE,
};

struct sink {
	/* The session owns the five objects below, and sets the pointers before the detector starts. */
	struct screen *screen;
	struct guest *guest;
	struct report *report;
	/* Runs races in both orders. NULL without --replay. */
	struct replayer *replayer;
	/* Keeps the record of locks. NULL: locks are not followed. */
	struct suspector *suspector;

	pthread_mutex_t report_lock;
	/* Number of races in the report. Any thread may read it. */
	atomic_size_t races;
	/* Which complaints end the run. Set by the session before the detector starts. */
	enum complaint_stop complaint_stop;
	/* Text of the first complaint that ends the run. Written once, before `complained` is set. */
	char complaint[COMPLAINT_TEXT_MAX];
	/* Any thread may read it. */
	atomic_bool complained;
	/* The facts of the guest's kernel were passed to the report. Used by the reporter's thread. */
	bool kernel_told;
	/* guest_modules_version() of the modules that the report has now. Used by the reporter's thread. */
	uint64_t modules_told;

	/* Guards the two members below; the sampler, the reporter or the replayer sets them on failure. */
	pthread_mutex_t lock;
	struct err err; /* The first failure. */
	bool said;	/* The user has seen the first failure. */
};

void sink_init(struct sink *s);
void sink_destroy(struct sink *s);

/*
 * Returns the callbacks for detect_new(). `s` must outlive the detector. `replays`: include the callbacks for rendezvous;
 * `locks`: include the callback for lock moments.
 */
struct detect_sink sink_callbacks(struct sink *s, bool replays, bool locks);

/* Pass the facts about the guest's kernel to the report, once. Called on the reporter's thread, or after detect_stop(). */
void sink_kernel_known(struct sink *s);

/*
 * Find names in debug files for the data and locks in *p, the record of accesses and locks. A callback for struct
 * suspector_config; `sink` is a struct sink. Returns 0, or -1 with err set.
 */
int sink_name_locks(void *sink, struct protection *p, struct err *err);

/*
 * Add to the report the outcome of running a race in both orders. A callback for struct replayer_config; `sink` is a struct
 * sink.
 */
void sink_replayed(void *sink, const char *site_a, const char *site_b, const struct replay_instance *instance);

/*
 * Add to the suspector's record the outcome of a copy that ran critical sections in three orders (hv/race/section_replay.h). A
 * callback for struct replayer_config; `sink` is a struct sink.
 */
void sink_sections_replayed(void *sink, const struct rendezvous_sections *sections,
			    const struct section_replay_instance *instance);

/*
 * Set `err` to the first failure, unless `err` has an error already. Returns true if `err` now has this failure and the user
 * has seen it. Called after detect_stop(), when the detector's threads have ended.
 */
bool sink_take_error(struct sink *s, struct err *err);

#endif
