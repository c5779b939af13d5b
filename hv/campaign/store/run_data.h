/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The data of one run that are written to the store. They come from the run's files (run_data_read.c) or from another store
 * (merge.c, run_data_fetch.c). In both cases run_data_write.c writes them. Only hv/campaign/store/ uses this header.
 */
#ifndef OUTRIDER_CAMPAIGN_STORE_RUN_DATA_H
#define OUTRIDER_CAMPAIGN_STORE_RUN_DATA_H

#include <jansson.h>

#include "hv/campaign/store/db.h"
#include "hv/campaign/store/key.h"
#include "hv/campaign/store/store.h"

/* One kept observation of a race. The CPU is -1 for a device and for an unseen writer. */
struct run_data_instance {
	int64_t how, cpu[2];
	int64_t time_ns, held_ns;
};

/* One race of the run's report. */
struct run_data_race {
	struct store_key key;
	const char *report;  /* The race's id in the report. */
	const char *site[2]; /* Names of both sites, in byte order. Both "": the race is an atomicity suspicion (sections.h). */
	int64_t seen, first_ns, last_ns;
	struct store_verdict verdict;
	/*
	 * Only if the data come from another store: further places (store_key.place) at which the race's named datum was seen.
	 */
	const char **places;
	size_t place_count;
	struct run_data_instance *instances;
	size_t instance_count;
	/*
	 * The race's JSON object, or that of sections_json() for an atomicity suspicion, compressed (compress.h). NULL: the
	 * race has no record.
	 */
	void *record;
	size_t record_size;
};

/* Coverage of a run. `text` has a line for each site (struct coverage_text_site). NULL: unknown. */
struct run_data_coverage {
	char *text;
	size_t len;
};

/* What a run of `outrider explore` did with one pair of programs. `data` NULL: the run did not explore. */
struct run_data_explored {
	const char *prepare, *program[2]; /* shell commands of the guest */
	/*
	 * Numbers of candidates, of trials, and of schedules that no run has tried. `own`: number of candidates whose order
	 * likely matters (count_own() in explored_read.c).
	 */
	int64_t candidates, own, trials, untried;
	void *data; /* a line for each trial (EXPLORED_LINE of explored.h), compressed (compress.h); from malloc() */
	size_t size;
};

/* A complaint of the guest's kernel in the run's report. */
struct run_data_complaint {
	enum store_outcome kind; /* the kind of its finding: STORE_PANIC, STORE_LOCKUP or STORE_COMPLAINT */
	const char *line;	 /* the finding's line: the complaint's text, and where the CPU was */
	const char *text, *where;
	bool fatal;
	const char *file; /* the file with the details; NULL or "": the report */
};

/* The data of one run. All zero: no data. `text` owns every string. */
struct run_data {
	const char *build_id; /* hexadecimal; "" if unknown */
	const char *banner;
	int64_t hits, windows, conflicts, sampled_ns, lost_permille, pool;
	bool finished; /* The report is of a finished run. Valid only if the data come from a report. */
	struct run_data_race *races;
	size_t race_count;
	struct run_data_complaint *complaints;
	size_t complaint_count;
	struct run_data_coverage coverage;
	struct run_data_explored explored;
	struct store_text *text;
};

/* Make empty run data with memory for strings. Returns 0, or -1 with EXIT_INTERNAL. Call run_data_free() in both cases. */
int run_data_init(struct run_data *d, struct err *err);
void run_data_free(struct run_data *d);

/*
 * Read a run's report: its races, their verdicts, and the figures of the run. Returns 0, or -1 with err set: EXIT_INPUT if the
 * file is invalid.
 */
int run_data_read_races(struct run_data *d, const char *path, struct err *err);

/* Make `object` the race's record, as JSON, and free it. `object` is NULL if memory ran out. Returns 0, or -1 with err set. */
int run_data_keep(struct run_data_race *race, json_t *object, struct err *err);

/*
 * Sort the races by identity. All writers insert races in this order, so two writers cannot wait for each other (deadlock). Of
 * several races with the same identity and id, only the first is kept.
 */
void run_data_sort(struct run_data *d);

/*
 * Read a run's coverage file. Returns 0, or -1 with err set: EXIT_INPUT if the file is invalid, or is of another kernel than
 * the report.
 */
int run_data_read_coverage(struct run_data *d, const char *path, struct err *err);

/*
 * Read the data of the run with this id, in a transaction of its own. The store is trusted no more than a file. Returns 0, or
 * -1 with err set.
 */
int run_data_fetch(struct run_data *d, struct store *from, int64_t run, struct err *err);

/* The row of the run whose data are written. */
struct run_data_run {
	int64_t id, round;
	const char *uuid;
	int64_t started;
};

/*
 * Write a run's data. The caller has a transaction, and has checked in it that the run was not written before. Returns 0, or -1
 * with err set.
 */
int run_data_write(struct db *db, const struct run_data *d, const struct run_data_run *run, struct err *err);

/*
 * Find the kernel build in the database, or insert it, and set *id to its id. *id is 0 if both `build_id` and `banner` are "".
 * Returns 0, or -1 with err set.
 */
int kernel_id(struct db *db, const char *build_id, const char *banner, int64_t *id, struct err *err);

/*
 * Write a race's record if it is earlier than the first record that the store keeps, or later than the last one. Returns 0, or
 * -1 with err set.
 */
int record_write(struct db *db, int64_t race, const struct run_data_run *run, const char *report, const void *data, size_t size,
		 struct err *err);

/*
 * Returns whether verdict `a` sorts before `b`: the more serious class first, then the higher rank, then the texts in byte
 * order, so that the order is total.
 */
bool verdict_weighs_more(const struct store_verdict *a, const struct store_verdict *b);

#endif
