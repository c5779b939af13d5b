/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints the results of replaying a scenario, as text and as JSON, on standard output. */
#ifndef OUTRIDER_CLI_REPLAY_SHOW_H
#define OUTRIDER_CLI_REPLAY_SHOW_H

#include "hv/replay/alone.h"
#include "hv/session/scene.h"

/* The results of both orders. */
struct replay_shown {
	/*
	 * The first replay whose outcome differs from the recorded one, or else the first replay. Its sites and data are named.
	 */
	struct replay_instance instance;
	/*
	 * `times`: number of replays. `same`: number of replays with the recorded outcome. `identical`: number of replays in
	 * which everything was as recorded.
	 */
	uint64_t times, same, identical;
};

/* Print the race, the results of both orders, and whether they are the recorded results. */
void replay_show_both(struct scene *s, const struct replay_shown *shown);

/* Print the result of the order in which the access of side `first` goes first. `same`: the result equals the recorded one. */
void replay_show_one(struct scene *s, unsigned first, const struct alone *one, bool same);

/*
 * replay_show_both_json() prints as JSON what replay_show_both() prints as text, and replay_show_one_json() what
 * replay_show_one() prints. Return 0, or -1 with EXIT_INTERNAL if memory runs out.
 */
int replay_show_both_json(struct scene *s, const struct replay_shown *shown, struct err *err);
int replay_show_one_json(struct scene *s, unsigned first, const struct alone *one, bool same, struct err *err);

#define REPLAY_INTRO_MAX 1024

/*
 * Write a description of the race in a few lines, for the user of a debugger who sees the order in which the access of side
 * `first` goes first.
 */
void replay_intro(const struct scene *s, unsigned first, char out[REPLAY_INTRO_MAX]);

#endif
