/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a run leaves in the store. It is made of the run's files (digest_read.c) or of another store (merge.c), and written by
 * one function for both (digest_write.c). Only hv/campaign/store/ uses this header.
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

/* What is kept of a single observation. The CPU of a device's side, and of one that nobody saw, is -1. */
struct digest_instance {
	int64_t how, cpu[2];
	int64_t time_ns, held_ns;
};

/* A race of the run's report. */
struct digest_race {
	struct race_key key;
	const char *report;  /* The report's id. */
	const char *site[2]; /* In byte order. */
	int64_t seen, first_ns, last_ns;
	struct digest_verdict verdict;
	/* More places of a datum that has a name, which another store knows. */
	const char **places;
	size_t place_count;
	struct digest_instance *instances;
	size_t instance_count;
	/* The race's object as JSON, squeezed. NULL: it is not at hand. */
	void *record;
	size_t record_size;
};

/* What was sampled. `text` has a line for each site: name, armed, hits, windows, conflicts. NULL: it is not known. */
struct digest_cover {
	char *text;
	size_t len;
};

/* All zero: nothing is known. Every string is in `text`. */
struct digest {
	const char *build_id; /* hexadecimal, "": not known */
	const char *banner;
	int64_t hits, windows, conflicts, sampled_ns, lost_permille, pool;
	struct digest_race *races;
	size_t race_count;
	struct digest_cover cover;
	struct store_text *text;
};

/* Make an empty digest with strings. 0, or -1 with EXIT_INTERNAL. digest_free() must follow in both cases. */
int digest_init(struct digest *d, struct err *err);
void digest_free(struct digest *d);

/* Read a run's report, and what it says of the run. -1 with EXIT_INPUT: it is not as it must be. */
int digest_read_races(struct digest *d, const char *path, struct err *err);

/* Read a run's coverage. */
int digest_read_coverage(struct digest *d, const char *path, struct err *err);

/* The run that a digest is of. */
struct digest_run {
	int64_t id, round;
	const char *uuid;
	int64_t started;
};

/* Write a digest, in a transaction that has made sure that the run was not written before. */
int digest_write(struct db *db, const struct digest *d, const struct digest_run *run, struct err *err);

/* The id of a kernel in the database, which is made if need be. */
int kernel_id(struct db *db, const char *build_id, const char *banner, int64_t *id, struct err *err);

/* Keep a race's record, if it is earlier than the first one or later than the last one that are there. */
int record_write(struct db *db, int64_t race, const struct digest_run *run, const char *report, const void *data, size_t size,
		 struct err *err);

/* Whether verdict a weighs more than b: the worse class, then the higher rank, then by text, so that any two have an order. */
bool verdict_weighs_more(const struct digest_verdict *a, const struct digest_verdict *b);

#endif
