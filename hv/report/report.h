/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report of one run: races as they are found, on the screen and in a JSON file, and a summary at the end. Callers need only
 * this header.
 *
 * No locks: one thread at a time uses a report. While the detector runs, only the detector's reporter thread uses it.
 */
#ifndef OUTRIDER_REPORT_REPORT_H
#define OUTRIDER_REPORT_REPORT_H

#include "hv/base/err.h"
#include "hv/race/complaint.h"
#include "hv/race/observation.h"
#include "hv/race/replay.h"
#include "hv/race/stats.h"
#include "hv/race/suspicion.h"
#include "hv/report/config.h"
#include "hv/report/modules.h"

struct report;

/*
 * Begin a report and create the JSON file, valid and without races. `config` is not copied: all of it must outlive the report.
 * Returns NULL with err set if memory runs out or the file cannot be created.
 */
struct report *report_new(const struct report_config *config, struct err *err);

/* The guest's kernel. */
struct report_kernel {
	/* The kernel's version line, "Linux version ...". */
	const char *banner;
	/* Source of the kernel's symbols: a file, or the guest's own tables. */
	const char *symbols;
	/* KASLR slide of the kernel image. */
	uint64_t slide;
	/* Build id of `build_id_len` bytes. */
	const uint8_t *build_id;
	/* 0: unknown. */
	size_t build_id_len;
};

/*
 * Record the facts about the guest's kernel. To be called once, before the first observation. `kernel` is copied, and its
 * strings are made printable. Returns 0, or -1 with err set.
 */
int report_set_kernel(struct report *r, const struct report_kernel *kernel, struct err *err);

/* Record that from now on exactly these `n` modules are loaded. The modules are copied. Returns 0, or -1 with err set. */
int report_set_modules(struct report *r, const struct report_module *loaded, size_t n, struct err *err);

/*
 * Add a copy of an observation. A new race is written to the file before it is printed. If the file can no longer be written,
 * the first failure is returned as an error; the race is printed in any case. Returns 0, or -1 with err set.
 */
int report_observe(struct report *r, const struct observation *o, struct err *err);

/*
 * Record that the guest's log is read during the run: a report without complaints then means that the kernel had none. Called
 * once, before the first complaint.
 */
void report_reads_log(struct report *r);

/*
 * Add a copy of a complaint. The complaint is written to the file, and then printed, unless RUN_COMPLAINTS_MAX complaints were
 * recorded already. Returns 0, or -1 with err set, as report_observe().
 */
int report_complaint(struct report *r, const struct complaint *c, struct err *err);

/* Returns the number of races recorded. */
size_t report_races(const struct report *r);

/*
 * Add and print the result of running one instance of a race in both orders. `site_a` and `site_b` are as for
 * race_store_add_replay(). report_finish() writes the result to the file. Does nothing if the race was not recorded. Returns 0,
 * or -1 with err set.
 */
int report_replay(struct report *r, const char *site_a, const char *site_b, const struct replay_instance *instance,
		  struct err *err);

/*
 * Name the data and locks of a lock record by debug files, as naming_locks() does, with the modules of the last
 * report_set_modules(). Takes at most 20 s of CPU time. Returns 0, or -1 with err set.
 */
int report_name_locks(struct report *r, struct protection *protection, struct err *err);

/*
 * Add the lock record, with names by protection_name(), and the suspicions. Call it once, before report_finish(), which writes
 * them to the file and prints the suspicions. The record and the suspicions are copied. Marks the races that were suspected.
 * Returns 0, or -1 with err set.
 */
int report_locks(struct report *r, const struct protection *protection, const struct suspicions *suspicions, struct err *err);

/*
 * Finish the report: have the races judged, print the summary, and rewrite the file with the final results. `end` is a word or
 * line that says how the run ended. `stats` may be NULL if nothing was counted. Returns 0, or -1 with err set if the file could
 * not be completed; its last valid state then remains.
 */
int report_finish(struct report *r, const struct detect_stats *stats, const char *end, struct err *err);

/* Close the file and free the report. `r` may be NULL. */
void report_free(struct report *r);

#endif
