/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses the options of the commands that read the store of campaigns (which store and campaign, and how to show the results),
 * and shows the results.
 */
#ifndef OUTRIDER_CLI_CAMPAIGN_LIST_H
#define OUTRIDER_CLI_CAMPAIGN_LIST_H

#include "hv/campaign/list/query.h"
#include "hv/campaign/list/list.h"
#include "hv/campaign/store/store.h"
#include "hv/cli/campaign_fail.h"
#include "hv/cli/redirect.h"

/* The store and the campaign. */
struct campaign_place {
	struct cli_input input; /* must be first: parsers take its address for this struct's address (cli_parse()) */
	const char *store;	/* NULL: store_default_path() */
	const char *campaign;	/* NULL: the campaign of the latest round */
};

/*
 * campaign_place_argp parses --store and --campaign, campaign_store_argp only --store. The input of each is a struct
 * campaign_place.
 */
extern const struct argp campaign_place_argp;
extern const struct argp campaign_store_argp;

/* Open the store. Returns NULL with err set if it cannot be opened. */
struct store *campaign_place_open(const struct campaign_place *p, enum store_mode mode, struct err *err);

/* The formats of the output, in the order of the words in campaign_forms. */
enum campaign_form { CAMPAIGN_TEXT, CAMPAIGN_JSON, CAMPAIGN_HTML, CAMPAIGN_MAIL };

/* How a list is shown. */
struct campaign_show {
	struct campaign_place place; /* must be first: parsers take its address for this struct's address (cli_parse()) */
	struct campaign_fail fail;
	enum campaign_form form;
	bool all;
	const char *sources;
	struct redirect redirect;
	int code; /* the command's exit code: `fail` (--fail-on) applied to the races and findings of the list */
};

/*
 * The parser of these options, including those of struct campaign_place and struct campaign_fail. Its input is a struct
 * campaign_show, after campaign_show_init().
 */
extern const struct argp campaign_show_argp;
void campaign_show_init(struct campaign_show *s, struct err *err);

/*
 * Show the list that `query` selects, and set s->code. The list goes to standard output, or to the file or the pager that the
 * options select (struct redirect). `campaign`, `subsystems` and `all` of the query are replaced by the values of the options.
 * Returns 0, or -1 with err set.
 */
int campaign_show_list(struct campaign_show *s, struct store *store, const struct summary_query *query, struct err *err);

/*
 * Show all that the store knows of one race (its history), in the format that the options select. Returns 0, or -1 with err
 * set.
 */
int campaign_show_race(struct campaign_show *s, struct store *store, int64_t race, struct err *err);

#endif
