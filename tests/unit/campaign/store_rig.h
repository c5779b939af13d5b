/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Places for stores of both kinds, and reports of runs that never were, written as outrider writes them. */
#ifndef OUTRIDER_TESTS_STORE_RIG_H
#define OUTRIDER_TESTS_STORE_RIG_H

#include "hv/campaign/store/store.h"
#include "tests/unit/campaign/postgres_rig.h"

enum rig_kind { RIG_SQLITE, RIG_POSTGRES, RIG_KINDS };

/* A folder for files of a test, and new places for stores. */
struct store_rig {
	char folder[64];
	unsigned stores;
	struct postgres_rig *postgres; /* One server serves all tests of a program. */
};

void store_rig_init(struct store_rig *rig, struct postgres_rig *postgres);
void store_rig_end(struct store_rig *rig);

/* A place where there is no store yet. */
#define RIG_PLACE_MAX POSTGRES_URL_MAX
void store_rig_place(struct store_rig *rig, enum rig_kind kind, char place[RIG_PLACE_MAX]);

/* Open a store; the test has failed when it cannot be opened. */
struct store *store_rig_open(const char *place, enum store_mode mode);

/* A race of a report. What is 0 or NULL is not there, or is what the defaults below say. */
struct rig_race {
	const char *function[2]; /* NULL: "reader" and "writer". "module:function" of a module. */
	unsigned offset[2];	 /* of the instruction in the function */
	bool both_write;	 /* Else the first side reads. */
	const char *variable;	 /* the guest's tables know that the datum is `at` bytes into this variable */
	unsigned at;
	const char *type, *member; /* the guest's BTF knows that the datum is this */
	const char *owner, *path;  /* debug files say: member `path` of the type `owner` */
	const char *global;	   /* debug files say: this variable, and `path` in it */
	enum verdict_class class;
	int rank;
	const char *rule; /* NULL: the report has no verdict of this race. */
	unsigned count;	  /* 0: 1. At most 8 of them are kept as instances. */
};

/* A run's report. */
struct rig_report {
	const char *build_id, *banner; /* NULL: a usual one */
	const struct rig_race *races;
	size_t count;
	bool killed; /* The run was killed: the report has no end. */
};

/* Write a report to `name` in the rig's folder. Returns its path, which belongs to the rig and is valid until the next call. */
const char *store_rig_report(struct store_rig *rig, const char *name, const struct rig_report *report);

/* Write `text` to `name` in the rig's folder, and return the path in the same way. */
const char *store_rig_file(struct store_rig *rig, const char *name, const char *text);

/* The race of a report as the program has it. The caller frees it by race_free(). */
struct race *store_rig_race(const struct rig_race *r);

/* A round of campaign `campaign`, begun. `uuid` NULL: a random one. */
int64_t store_rig_round(struct store *s, const char *campaign, const char *uuid);

/* Do a run with that key: begin, and end with the report (NULL: none) and the coverage (NULL: none). Returns its id. */
int64_t store_rig_run(struct store *s, int64_t round, const char *key, const char *races, const char *coverage);

/*
 * All that lists say of the store, as text, without ids of the store. Two stores with the same content have the same. From
 * malloc().
 */
char *store_rig_dump(struct store *s);

#endif
