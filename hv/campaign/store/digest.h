/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The data of one run that go into the store. They come from the run's files (digest_read.c) or from another store (merge.c,
 * digest_take.c), and digest_write.c writes both. Only hv/campaign/store/ uses this header.
 */
#ifndef OUTRIDER_CAMPAIGN_STORE_DIGEST_H
#define OUTRIDER_CAMPAIGN_STORE_DIGEST_H

#include "hv/campaign/store/db.h"
#include "hv/campaign/store/key.h"
#include "hv/campaign/store/store.h"

struct digest_verdict {
	enum verdict_class class;
	int rank;
	const char *rule, *evidence, *suppressed;
};

/* One kept observation of a race. The CPU is -1 for a device and for an unseen writer. */
struct digest_instance {
	int64_t how, cpu[2];
	int64_t time_ns, held_ns;
};

/* One race of the run's report. */
struct digest_race {
	struct race_key key;
	const char *report;  /* The race's id in the report. */
	const char *site[2]; /* In byte order. */
	int64_t seen, first_ns, last_ns;
	struct digest_verdict verdict;
	/* Further places of a named datum, from another store. */
	const char **places;
	size_t place_count;
	struct digest_instance *instances;
	size_t instance_count;
	/* The race's JSON object, compressed (squeeze.h). NULL: there is none. */
	void *record;
	size_t record_size;
};

/* Coverage of a run. `text` has a line for each site: name, armed, hits, windows, conflicts. NULL: unknown. */
struct digest_cover {
	char *text;
	size_t len;
};

/* All zero is an empty digest. `text` owns every string. */
struct digest {
	const char *build_id; /* hexadecimal; "" if unknown */
	const char *banner;
	int64_t hits, windows, conflicts, sampled_ns, lost_permille, pool;
	struct digest_race *races;
	size_t race_count;
	struct digest_cover cover;
	struct store_text *text;
};

/* Make an empty digest with memory for strings. 0, or -1 with EXIT_INTERNAL. Call digest_free() in both cases. */
int digest_init(struct digest *d, struct err *err);
void digest_free(struct digest *d);

/* Read a run's report: its races, their verdicts, and the figures of the run. -1 with EXIT_INPUT: the file is invalid. */
int digest_read_races(struct digest *d, const char *path, struct err *err);

/* Read a run's coverage file. -1 with EXIT_INPUT: the file is invalid, or of another kernel than the report. */
int digest_read_coverage(struct digest *d, const char *path, struct err *err);

/* The row of the run that a digest belongs to. */
struct digest_run {
	int64_t id, round;
	const char *uuid;
	int64_t started;
};

/*
 * Write a digest. The caller has a transaction, and has checked in it that the run was not written before. 0, or -1 with err
 * set.
 */
int digest_write(struct db *db, const struct digest *d, const struct digest_run *run, struct err *err);

/* Find or insert a kernel, and set *id. *id is 0 if nothing is known about the kernel. 0, or -1 with err set. */
int kernel_id(struct db *db, const char *build_id, const char *banner, int64_t *id, struct err *err);

/*
 * Write a race's record if it is earlier than the first record that the store keeps, or later than the last one. 0, or -1
 * with err set.
 */
int record_write(struct db *db, int64_t race, const struct digest_run *run, const char *report, const void *data, size_t size,
		 struct err *err);

/*
 * Whether verdict a goes before b: the more serious class first, then the higher rank, then the texts in byte order, so that
 * the order is total.
 */
bool verdict_weighs_more(const struct digest_verdict *a, const struct digest_verdict *b);

#endif
