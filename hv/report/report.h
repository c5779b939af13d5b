/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report of one run: races as they are found, on the screen and in a JSON file, and the summary at its end. This header is
 * all a caller needs.
 *
 * No locks: one thread at a time; while the detector runs that is its reporter thread.
 */
#ifndef OUTRIDER_REPORT_REPORT_H
#define OUTRIDER_REPORT_REPORT_H

#include "hv/base/err.h"
#include "hv/race/observation.h"
#include "hv/race/stats.h"
#include "hv/report/config.h"
#include "hv/report/modules.h"

struct report;

/* Makes the JSON file, valid and empty. Copies nothing of `config`: it must last. NULL: see err. */
struct report *report_new(const struct report_config *config, struct err *err);

struct report_kernel {
	const char *banner, *symbols; /* where the symbols are from */
	uint64_t slide;
	const uint8_t *build_id; /* of build_id_len bytes; 0: not known */
	size_t build_id_len;
};

/* What runs in the guest, once it is known; before the first observation. Copied. 0, or -1 with err set. */
int report_set_kernel(struct report *r, const struct report_kernel *kernel, struct err *err);

/* The modules loaded now, for the observations from now on. Copied. 0, or -1 with err set. */
int report_set_modules(struct report *r, const struct report_module *loaded, size_t n, struct err *err);

/*
 * An observation. A new race is in the file before it is printed. A file that cannot be written any more is an error in `err`
 * the first time; the race is printed all the same. 0, or -1 with err set.
 */
int report_observe(struct report *r, const struct observation *o, struct err *err);

/*
 * The run is over: print the summary and write the file anew, complete. `end` is one word or line on how it ended. `stats` may
 * be NULL. 0, or -1 with err set when the file is not complete; its last valid state is still there.
 */
int report_finish(struct report *r, const struct detect_stats *stats, const char *end, struct err *err);

void report_free(struct report *r);

#endif
