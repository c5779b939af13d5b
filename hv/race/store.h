/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The races of a run: observations in, races out, one for each unordered pair of sites.
 *
 * No locks: one thread at a time, the detector's reporter while it runs.
 */
#ifndef OUTRIDER_RACE_STORE_H
#define OUTRIDER_RACE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/race/names.h"
#include "hv/race/site.h"

#define RACE_INSTANCES_MAX 8 /* kept of each race, the first ones */

/* What is kept of one side of an instance. */
struct race_instance_side {
	bool known;
	uint16_t cpu;
	uint8_t rw; /* enum insn_rw bits */
	bool locked;
	struct guest_context context;
};

/* One observation of a race, the compact form. Sides are in the race's order, not the observation's. */
struct race_instance {
	unsigned run; /* of race_store_begin_run(): addresses and values of two runs have nothing to do with each other */
	uint64_t time_ns, held_ns; /* as in struct observation */
	enum race_how how;
	uint64_t gva, gpa; /* of the sampled datum */
	uint32_t data_len;
	uint8_t before[RACE_DATA_MAX], after[RACE_DATA_MAX];
	struct race_instance_side sides[2];
};

struct race {
	char id[RACE_ID_MAX];
	char site[2][SITE_NAME_MAX]; /* of first.sides[0] and first.sides[1] */
	uint8_t rw[2];		     /* of each side, over all instances */
	uint64_t count;
	uint64_t first_ns, last_ns;
	unsigned kept; /* instances kept, the first of them the one in `first` */
	struct race_instance instances[RACE_INSTANCES_MAX];
	struct race_names *names; /* NULL: no debug files were asked */
	uint64_t *modules;	  /* ids in the report's modules: those loaded when the first instance was seen; module_count */
	size_t module_count;
	struct observation first; /* in full */
};

/* A race and all it owns; one that is in a store belongs to that. */
void race_free(struct race *race);

struct race_store;

struct race_store *race_store_new(struct err *err);
void race_store_free(struct race_store *s);

/* KASLR slide of the kernel image, for sites without a symbol. Before the first observation. */
void race_store_set_slide(struct race_store *s, uint64_t slide);

/*
 * Add an observation (copied). Returns its race and says in *is_new whether it is the first of it; NULL when the observation is
 * no conflict (both sides LOCKed, or both only read: counted by race_store_ignored()) or, with err set, when memory ran out.
 * What names it is the caller's to fill in.
 */
struct race *race_store_add(struct race_store *s, const struct observation *o, bool *is_new, struct err *err);

/* What is put from now on is another run's. */
void race_store_begin_run(struct race_store *s);

/*
 * Take a race over as it is, from another run's report; a race that is there already takes over its instances and times. NULL
 * when memory ran out: then it is still the caller's.
 */
struct race *race_store_put(struct race_store *s, struct race *race, struct err *err);

/* In the order they were found. Races stay where they are until race_store_free(). */
size_t race_store_count(const struct race_store *s);
struct race *race_store_get(const struct race_store *s, size_t index);

uint64_t race_store_ignored(const struct race_store *s);

#endif
