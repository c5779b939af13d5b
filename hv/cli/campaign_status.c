// SPDX-License-Identifier: GPL-2.0-or-later
/* `outrider campaign status`: shows which runs are in progress, which are left, and the result of the last round. */
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "hv/campaign/list/status.h"
#include "hv/cli/campaign.h"
#include "hv/cli/campaign_list.h"
#include "hv/cli/choice.h"
#include "hv/session/terminal.h"

enum key { KEY_FORMAT = 0x200, KEY_JSON };

struct options {
	struct campaign_place place; /* must be first: parsers take its address for this struct's address (cli_parse()) */
	bool json;		     /* --format json */
};

static const struct argp_option options[] = {
	{"format", KEY_FORMAT, "FORM", 0, "text, for people (default), or json", 0},
	/* older versions of outrider had --json instead of --format json */
	{"json", KEY_JSON, NULL, OPTION_HIDDEN, NULL, 0},
	{0},
};

static const char doc[] = "Say what runs now, what is left of the last round of a campaign, and how the round before went.";

static error_t parser(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->place;
		return 0;
	case KEY_FORMAT:
		return cli_choose_second(state, &diff_forms, "format", arg, &o->json);
	case KEY_JSON:
		o->json = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {{&campaign_place_argp, 0, NULL, 0}, {0}};
const struct argp campaign_status_argp = {.options = options, .parser = parser, .doc = doc, .children = children};

int campaign_status(int argc, char **argv)
{
	struct err err = {0};
	struct options o = {.place.input.err = &err};
	struct store *store = NULL;
	struct status *s = NULL;

	if (cli_parse(&campaign_status_argp, argc, argv, &o.place.input) == 0 &&
	    (store = campaign_place_open(&o.place, STORE_READ, &err)))
		s = status_get(store, o.place.campaign, &err);
	if (s && o.json)
		status_json(stdout, s, &err);
	else if (s)
		status_text(stdout, s, isatty(STDOUT_FILENO) ? terminal_width() : 0);
	status_free(s);
	store_close(store);
	return err.code == EXIT_OK ? EXIT_OK : cli_fail(&err);
}
