/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report of one run: races as they are found, on the screen and in a JSON file, and the summary at its end. This header is
 * all that a caller needs.
 *
 * No locks: one thread at a time uses a report. While the detector runs that is its reporter thread.
 */
#ifndef OUTRIDER_REPORT_REPORT_H
#define OUTRIDER_REPORT_REPORT_H

#include "hv/base/err.h"
#include "hv/race/observation.h"
#include "hv/race/replay.h"
#include "hv/race/stats.h"
#include "hv/race/suspicion.h"
#include "hv/report/config.h"
#include "hv/report/modules.h"

struct report;

/*
 * Begin a report, and make the JSON file, which is valid and has no races yet. Nothing of `config` is copied: it must last as
 * long as the report. NULL with err set: memory ran out, or the file cannot be made.
 */
struct report *report_new(const struct report_config *config, struct err *err);

/* What runs in the guest. */
struct report_kernel {
	/* The kernel's own version line, "Linux version ...". */
	const char *banner;
	/* Where the kernel's symbols are from: a file, or the guest's own tables. */
	const char *symbols;
	/* KASLR slide of the kernel's image. */
	uint64_t slide;
	/* Build id of the kernel, of build_id_len bytes. */
	const uint8_t *build_id;
	/* 0: the build id is not known. */
	size_t build_id_len;
};

/* Say what runs in the guest, once it is known and before the first observation. `kernel` is copied, with its strings made
 * printable. 0, or -1 with err set. */
int report_set_kernel(struct report *r, const struct report_kernel *kernel, struct err *err);

/* Say which `n` modules are loaded now, for the observations from now on. They are copied. 0, or -1 with err set. */
int report_set_modules(struct report *r, const struct report_module *loaded, size_t n, struct err *err);

/*
 * Take in an observation, which is copied. A new race is in the file before it is printed. The first time that the file cannot
 * be written any more is an error; the race is printed all the same. 0, or -1 with err set.
 */
int report_observe(struct report *r, const struct observation *o, struct err *err);

/* How many different races were observed so far and are kept. */
size_t report_races(const struct report *r);

/*
 * Take in what came of running one instance of a race in both orders: it is copied into the race's record and printed. `site_a`
 * and `site_b` are as for race_store_add_replay(). The file has it from the end of the run on. Nothing is done when the race
 * was not kept. 0, or -1 with err set.
 */
int report_replay(struct report *r, const char *site_a, const char *site_b, const struct replay_instance *instance,
		  struct err *err);

/*
 * Name the data and locks of a record by debug files, as naming_locks() does, with the modules that report_set_modules() was
 * told of last. It takes seconds at most. 0, or -1 with err set.
 */
int report_name_locks(struct report *r, struct protection *protection, struct err *err);

/*
 * Say what is under which lock, by names that protection_name() has given, and what is suspected. Call it once, before
 * report_finish(), which writes all of it to the file, and prints the suspicions. Neither need last. Races that were suspected
 * say so from then on. 0, or -1 with err set.
 */
int report_locks(struct report *r, const struct protection *protection, const struct suspicions *suspicions, struct err *err);

/*
 * The run is over: have the races judged, print the summary, and write the file anew, now as a complete one. `end` says in one
 * word or line how the run ended. `stats` may be NULL: nothing was counted. 0, or -1 with err set when the file is not
 * complete: then its last valid state is still there.
 */
int report_finish(struct report *r, const struct detect_stats *stats, const char *end, struct err *err);

/* Close the file and free the report. NULL is allowed. */
void report_free(struct report *r);

#endif
