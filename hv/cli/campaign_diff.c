// SPDX-License-Identifier: GPL-2.0-or-later
/* `outrider campaign diff`: compares two rounds with each other, and ignores all other rounds. */
#include "hv/cli/campaign.h"
#include "hv/cli/campaign_list.h"

struct options {
	struct campaign_show show; /* must be first: parsers take its address for this struct's address (cli_parse()) */
	const char *rounds[2];
	unsigned count;
};

static const char doc[] =
	"Compare two rounds of a campaign: which races only one of them saw, and which they judge otherwise.\v"
	"OLD and NEW are the numbers of the rounds. What other rounds saw does not count here: "
	"a race is new when OLD did not see it.";

static error_t parser(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->show;
		return 0;
	case ARGP_KEY_ARG:
		if (o->count == 2)
			return cli_usage(state, "%.80s: diff takes two rounds, OLD and NEW", arg);
		o->rounds[o->count++] = arg;
		return 0;
	case ARGP_KEY_END:
		return o->count == 2 ? 0 : cli_usage(state, "diff needs two rounds, OLD and NEW");
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {{&campaign_show_argp, 0, NULL, 0}, {0}};
const struct argp campaign_diff_argp = {.parser = parser, .args_doc = "OLD NEW", .doc = doc, .children = children};

int campaign_diff(int argc, char **argv)
{
	struct err err = {0};
	struct options o = {0};
	struct store *store = NULL;

	campaign_show_init(&o.show, &err);
	if (cli_parse(&campaign_diff_argp, argc, argv, &o.show.place.input) == 0 &&
	    (store = campaign_place_open(&o.show.place, STORE_READ, &err))) {
		const struct summary_query query = {.round = o.rounds[1], .against = o.rounds[0]};

		campaign_show_list(&o.show, store, &query, &err);
	}
	store_close(store);
	return err.code == EXIT_OK ? o.show.code : cli_fail(&err);
}
