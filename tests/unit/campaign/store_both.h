/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests that are run on a store of each kind: the fixture, and the server that they share. For one .c file a program. */
#ifndef OUTRIDER_TESTS_STORE_BOTH_H
#define OUTRIDER_TESTS_STORE_BOTH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/campaign/store_rig.h"

static struct postgres_rig server;

struct fixture {
	enum rig_kind kind;
	struct store_rig rig;
	char place[RIG_PLACE_MAX];
	struct store *s;
	struct err err;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->kind = *(const enum rig_kind *)*state;
	store_rig_init(&f->rig, &server);
	store_rig_place(&f->rig, f->kind, f->place);
	f->s = store_rig_open(f->place, STORE_MAKE);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	store_close(f->s);
	store_rig_end(&f->rig);
	free(f);
	return 0;
}

static int start_server(void **state)
{
	(void)state;
	postgres_rig_start(&server);
	return 0;
}

static int end_server(void **state)
{
	(void)state;
	postgres_rig_end(&server);
	return 0;
}

static enum rig_kind sqlite = RIG_SQLITE, postgres = RIG_POSTGRES;
#define BOTH(test)                                                      \
	{#test " (SQLite)", test, setup, teardown, &sqlite},            \
	{                                                               \
#test " (PostgreSQL)", test, setup, teardown, &postgres \
	}

/* A report with these races. */
#define RACES(...)                                                                                \
	&(struct rig_report)                                                                      \
	{                                                                                         \
		.races = (const struct rig_race[]){__VA_ARGS__},                                  \
		.count = sizeof((const struct rig_race[]){__VA_ARGS__}) / sizeof(struct rig_race) \
	}

/* The races of a round, for store_races_free(). */
static inline struct store_races races_of(struct fixture *f, int64_t round, int64_t since)
{
	struct store_races_query q = {.round = round, .since = since};
	struct store_races races;

	if (store_races(f->s, &q, &races, &f->err) < 0)
		fail_msg("%s", f->err.text);
	return races;
}

static inline int64_t run_with(struct fixture *f, int64_t round, const char *key, const struct rig_report *report)
{
	return store_rig_run(f->s, round, key, store_rig_report(&f->rig, "races.json", report), NULL);
}

#endif
