// SPDX-License-Identifier: GPL-2.0-or-later
/* `outrider campaign show`: shows what a round found, or the history of a race. */
#include <string.h>

#include "hv/cli/campaign.h"
#include "hv/cli/campaign_list.h"

enum key { KEY_SINCE = 0x200 };

struct options {
	struct campaign_show show; /* This must be the first member, as cli_parse() says. */
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
	"A race is shown in full, with all rounds and builds that saw it.";

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

/* Returns whether the argument is a round's number. The ids of races have 12 digits, so a shorter number is a round. */
static bool is_round(const char *what)
{
	return strspn(what, "0123456789") == strlen(what) && strlen(what) < STORE_RACE_ID_MAX - 1;
}

static int show(struct options *o, struct store *store, struct err *err)
{
	const struct summary_query query = {.round = o->what, .since = o->since};
	int64_t race;

	if (!o->what || is_round(o->what))
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
