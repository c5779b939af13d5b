/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What came of replaying a scenario, for people and as JSON, on standard output. */
#ifndef OUTRIDER_CLI_REPLAY_SHOW_H
#define OUTRIDER_CLI_REPLAY_SHOW_H

#include "hv/replay/alone.h"
#include "hv/session/scene.h"

/* What came of both orders. */
struct replay_shown {
	/* The first replay, or the first one with another outcome than the one that was recorded. It is named. */
	struct replay_instance instance;
	/* How many replays there were, how many had the recorded outcome, and how many were identical to the recorded one. */
	uint64_t times, same, identical;
};

/* Print the race, what came of both orders, and whether that is what was recorded. */
void replay_show_both(struct scene *s, const struct replay_shown *shown);

/* Print what came of one order, the one that lets the access of side `first` go first. `same`: it went as recorded. */
void replay_show_one(struct scene *s, unsigned first, const struct alone *one, bool same);

/* The same as JSON. Return 0, or -1 with EXIT_INTERNAL: memory ran out. */
int replay_show_both_json(struct scene *s, const struct replay_shown *shown, struct err *err);
int replay_show_one_json(struct scene *s, unsigned first, const struct alone *one, bool same, struct err *err);

/* A few lines on the race, for a debugger's user. */
#define REPLAY_INTRO_MAX 1024
void replay_intro(const struct scene *s, unsigned first, char out[REPLAY_INTRO_MAX]);

#endif
