// SPDX-License-Identifier: GPL-2.0-or-later
/* `outrider campaign show`: shows what a round found, or the history of a race. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "hv/cli/campaign.h"
#include "hv/cli/campaign_list.h"

enum key { KEY_SINCE = 0x200 };

struct options {
	struct campaign_show show; /* must be first: parsers take its address for this struct's address (cli_parse()) */
	const char *what;	   /* a round or a race; NULL: not given */
	const char *since;
};

static const struct argp_option options[] = {
	{"since", KEY_SINCE, "ROUND", 0, "show all rounds after ROUND together, against ROUND (default: the round before)", 0},
	{0},
};

static const char doc[] =
	"Show what the last round of a campaign found: what is new, gone or judged otherwise, what broke, what is covered.\v"
	"ROUND is a round's number, and RACE is the id of a race in this list or in a report, or its first characters. "
	"A race is shown in full, with all rounds and builds that saw it. If a word of digits could be a round or a race, "
	"write "
	"round:N or race:ID.";

static error_t parser(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->show;
		return 0;
	case KEY_SINCE:
		o->since = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (o->what)
			return cli_usage(state, "%.80s: show takes one ROUND or RACE", arg);
		o->what = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {{&campaign_show_argp, 0, NULL, 0}, {0}};
const struct argp campaign_show_round_argp = {
	.options = options, .parser = parser, .args_doc = "[ROUND | RACE]", .doc = doc, .children = children};

/* ---- a round or a race ---- */

/*
 * A word of digits can be the beginning of a race's id only if it has at least this many digits. A shorter one is the number of
 * a round: in a store with some 100 races, each number of one digit begins the id of a race.
 */
#define RACE_DIGITS_MIN 4

enum kind { ROUND, RACE };

/* Returns whether `what` begins with `word`, "round:" or "race:". */
static bool begins(const char *what, const char *word)
{
	return strncmp(what, word, strlen(word)) == 0;
}

/*
 * Find out whether the campaign has a round with the number `what`. `campaign` NULL: the campaign of the round that started
 * last.
 */
static int has_round(struct store *store, const char *campaign, const char *what, bool *found, struct err *err)
{
	struct store_rounds_query q = {.campaign = campaign, .last = 1};
	struct store_rounds last = {0}, rounds = {0};
	int rc = store_rounds(store, &q, &last, err);

	*found = false;
	if (rc == 0 && last.count) {
		q = (struct store_rounds_query){.campaign = last.list[0].campaign, .name = what};
		rc = store_rounds(store, &q, &rounds, err);
	}
	/* store_rounds() also lists rounds whose uuid begins with `what`: count only a round with this number. */
	for (size_t i = 0; rc == 0 && i < rounds.count; i++)
		*found |= rounds.list[i].number == strtoull(what, NULL, 10);
	store_rounds_free(&last);
	store_rounds_free(&rounds);
	return rc;
}

/*
 * Decide whether `what`, which has only digits, names a round or a race. It is an error if a round has this number and a race
 * has an id that begins with it, so that the command never shows the wrong one of them.
 */
static int kind_of_digits(struct store *store, const char *campaign, const char *what, enum kind *kind, struct err *err)
{
	bool round;
	size_t races;

	if (has_round(store, campaign, what, &round, err) < 0 || store_race_count(store, what, &races, err) < 0)
		return -1;
	if (round && races)
		return err_set(err, EXIT_USAGE,
			       "%s is the number of a round, and the id of a race begins with it; give round:%s or race:%s",
			       what, what, what);
	if (!round && !races)
		return err_set(err, EXIT_INPUT, "%s: no round has the number %s, and no race has an id that begins with it",
			       store_where(store), what);
	*kind = round ? ROUND : RACE;
	return 0;
}

static int kind_of(struct store *store, const char *campaign, const char *what, enum kind *kind, struct err *err)
{
	size_t len = strlen(what);

	*kind = RACE;
	if (begins(what, STORE_RACE_WORD))
		return 0;
	*kind = ROUND;
	if (begins(what, STORE_ROUND_WORD) || (len < RACE_DIGITS_MIN && strspn(what, "0123456789") == len))
		return 0;
	*kind = RACE;
	/* A name with other characters than digits is no round's number, and neither is a name as long as a whole race id. */
	if (strspn(what, "0123456789") != len || len >= STORE_RACE_ID_MAX - 1)
		return 0;
	return kind_of_digits(store, campaign, what, kind, err);
}

static int show(struct options *o, struct store *store, struct err *err)
{
	const struct summary_query query = {.round = o->what, .since = o->since};
	enum kind kind = ROUND;
	int64_t race;

	if (o->what && kind_of(store, o->show.place.campaign, o->what, &kind, err) < 0)
		return -1;
	if (kind == ROUND)
		return campaign_show_list(&o->show, store, &query, err);
	if (o->since)
		return err_set(err, EXIT_USAGE, "--since is for rounds, and %.40s is no number of a round", o->what);
	if (store_race_find(store, o->what, &race, err) < 0)
		return -1;
	return campaign_show_race(&o->show, store, race, err);
}

int campaign_show(int argc, char **argv)
{
	struct err err = {0};
	struct options o = {0};
	struct store *store = NULL;

	campaign_show_init(&o.show, &err);
	if (cli_parse(&campaign_show_round_argp, argc, argv, &o.show.place.input) == 0 &&
	    (store = campaign_place_open(&o.show.place, STORE_READ, &err)))
		show(&o, store, &err);
	store_close(store);
	return err.code == EXIT_OK ? o.show.code : cli_fail(&err);
}
