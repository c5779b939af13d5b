/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the commands that look into the store of campaigns share: where it is, and how what is in it is shown. */
#ifndef OUTRIDER_CLI_CAMPAIGN_LIST_H
#define OUTRIDER_CLI_CAMPAIGN_LIST_H

#include "hv/campaign/list/ask.h"
#include "hv/campaign/list/list.h"
#include "hv/campaign/store/store.h"
#include "hv/cli/campaign_fail.h"
#include "hv/cli/redirect.h"

/* The store and the campaign. */
struct campaign_place {
	struct cli_input input; /* This must be the first member; see cli_parse(). */
	const char *store;	/* NULL: store_default_place(). */
	const char *campaign;	/* NULL: the one whose round was started last. */
};

/* The parsers of these options, and of --store alone. The input of each is a struct campaign_place. */
extern const struct argp campaign_place_argp;
extern const struct argp campaign_store_argp;

/* Open the store. NULL with err set: it cannot be opened. */
struct store *campaign_place_open(const struct campaign_place *p, enum store_mode mode, struct err *err);

/* In the order of the words of campaign_forms. */
enum campaign_form { CAMPAIGN_TEXT, CAMPAIGN_JSON, CAMPAIGN_HTML, CAMPAIGN_MAIL };

/* How a list is shown. */
struct campaign_show {
	struct campaign_place place; /* This must be the first member; see cli_parse(). */
	struct campaign_fail fail;
	enum campaign_form form;
	bool all;
	const char *sources;
	struct redirect redirect;
	int code; /* What `fail` says of the list. */
};

/*
 * The parser of these options, those of struct campaign_place and struct campaign_fail among them. Its input is a struct
 * campaign_show. campaign_show_init() must come first.
 */
extern const struct argp campaign_show_argp;
void campaign_show_init(struct campaign_show *s, struct err *err);

/*
 * Show the list that `ask` asks for on standard output, or where the options say, and set s->code. The campaign, the subsystems
 * and whether all is wanted are filled in by the options. Returns 0, or -1 with err set.
 */
int campaign_show_list(struct campaign_show *s, struct store *store, const struct morning_ask *ask, struct err *err);

/* Show one race in full: as text or JSON only. Returns 0, or -1 with err set. */
int campaign_show_race(struct campaign_show *s, struct store *store, int64_t race, struct err *err);

#endif
