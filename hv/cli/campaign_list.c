// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Parses the options of the commands that read the store of campaigns (which store and campaign, and how to show the results),
 * and shows the results.
 */
#include "hv/cli/campaign_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "hv/campaign/list/fill.h"
#include "hv/campaign/list/race_history.h"
#include "hv/cli/campaign.h"
#include "hv/cli/choice.h"
#include "hv/session/terminal.h"

/* Lines are at most 100 characters wide: longer lines are hard to read, even on a wide terminal. */
#define WIDTH_MAX 100
/*
 * The HTML page of a race lists at most this many runs, the newest. A race that every run sees would fill thousands of rows in
 * a year of nights.
 */
#define RUNS_MAX 200

/* ---- options: store and campaign ---- */

enum place_key { KEY_STORE = 0x300, KEY_CAMPAIGN };

static const struct argp_option store_options[] = {
	{"store", KEY_STORE, "STORE", 0, CAMPAIGN_STORE_HELP, 0},
	{0},
};

static error_t store_parser(int key, char *arg, struct argp_state *state)
{
	struct campaign_place *p = state->input;

	if (key != KEY_STORE)
		return ARGP_ERR_UNKNOWN;
	p->store = arg;
	return 0;
}

const struct argp campaign_store_argp = {.options = store_options, .parser = store_parser};

static const struct argp_option place_options[] = {
	{"campaign", KEY_CAMPAIGN, "NAME", 0, "the campaign (default: the one whose round was started last)", 0},
	{0},
};

static error_t place_parser(int key, char *arg, struct argp_state *state)
{
	struct campaign_place *p = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = p;
		return 0;
	case KEY_CAMPAIGN:
		p->campaign = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child place_children[] = {{&campaign_store_argp, 0, NULL, 0}, {0}};
const struct argp campaign_place_argp = {.options = place_options, .parser = place_parser, .children = place_children};

struct store *campaign_place_open(const struct campaign_place *p, enum store_mode mode, struct err *err)
{
	char *usual = p->store ? NULL : store_default_path(err);
	struct store *store = NULL;

	if (p->store || usual)
		store = store_open(p->store ? p->store : usual, mode, STORE_WAIT_MS, err);
	free(usual);
	return store;
}

/* ---- options of campaign_show_argp ---- */

enum show_key { KEY_FORMAT = 0x320, KEY_ALL, KEY_SOURCES, KEY_NO_PAGER };

static const char *const forms[] = {
	[CAMPAIGN_TEXT] = "text", [CAMPAIGN_JSON] = "json", [CAMPAIGN_HTML] = "html", [CAMPAIGN_MAIL] = "mail"};

static const char *form_word(size_t i)
{
	return i < sizeof(forms) / sizeof(forms[0]) ? forms[i] : NULL;
}

const struct cli_choice campaign_forms = {"AS", form_word};

static const struct argp_option show_options[] = {
	{"format", KEY_FORMAT, "AS", 0,
	 "text, for people (default); json; html, a page with plots; or mail, plain text in 72 columns that begins with its "
	 "subject",
	 0},
	{"all", KEY_ALL, NULL, 0, "show also the races that did not change", 0},
	{"sources", KEY_SOURCES, "FOLDER", 0,
	 "the source tree of the kernel, whose MAINTAINERS says which subsystem a race belongs to", 0},
	{"output", 'o', "FILE", 0, "write to FILE, which is replaced when all is written (default: standard output)", 0},
	{"no-pager", KEY_NO_PAGER, NULL, 0, "do not pass text on a terminal through a pager", 0},
	{0},
};

static error_t form_option(struct campaign_show *s, const char *arg, struct argp_state *state)
{
	size_t index;
	error_t rc = cli_choose(state, &campaign_forms, "format", arg, &index);

	if (rc == 0)
		s->form = (enum campaign_form)index;
	return rc;
}

static error_t show_parser(int key, char *arg, struct argp_state *state)
{
	struct campaign_show *s = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &s->place;
		state->child_inputs[1] = &s->fail;
		return 0;
	case KEY_FORMAT:
		return form_option(s, arg, state);
	case KEY_ALL:
		s->all = true;
		return 0;
	case KEY_SOURCES:
		s->sources = arg;
		return 0;
	case 'o':
		s->redirect.file = arg;
		return 0;
	case KEY_NO_PAGER:
		s->redirect.no_pager = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {{&campaign_place_argp, 0, NULL, 0}, {&campaign_fail_argp, 0, NULL, 0}, {0}};
const struct argp campaign_show_argp = {.options = show_options, .parser = show_parser, .children = children};

void campaign_show_init(struct campaign_show *s, struct err *err)
{
	s->place.input.err = err;
	s->fail.input.err = err;
}

/* ---- a list, a race ---- */

/*
 * Returns the style of the output. Call it before the text is redirected to a pager, while standard output is still the
 * terminal.
 */
static struct list_style style_of(const struct campaign_show *s)
{
	struct list_style style = {.all = s->all, .width = WIDTH_MAX};

	if (s->redirect.file)
		return style;
	style.colour = terminal_wants_colour(STDOUT_FILENO);
	if (isatty(STDOUT_FILENO) && terminal_width() < WIDTH_MAX)
		style.width = terminal_width();
	return style;
}

static int print_list(struct campaign_show *s, const struct summary *m, struct err *err)
{
	struct list_style style = style_of(s);

	switch (s->form) {
	case CAMPAIGN_JSON:
		return list_json(stdout, m, err);
	case CAMPAIGN_HTML:
		list_html(stdout, m);
		return 0;
	case CAMPAIGN_MAIL:
		list_mail(stdout, m, &style);
		return 0;
	default:
		redirect_page(&s->redirect);
		list_text(stdout, m, &style);
		return 0;
	}
}

static int print_race(struct campaign_show *s, const struct race_history *history, const struct store_race_runs *runs,
		      struct err *err)
{
	struct list_style style = style_of(s);

	if (s->form == CAMPAIGN_JSON)
		return race_history_json(stdout, history, err);
	if (s->form == CAMPAIGN_HTML)
		return race_history_html(stdout, history, runs, err);
	redirect_page(&s->redirect);
	return race_history_text(stdout, history, &style, err);
}

/* Read the subsystems of --sources. Sets *out to NULL, and returns 0, if no sources were given. */
static int get_subsystems(const struct campaign_show *s, struct subsystems **out, struct err *err)
{
	*out = s->sources ? subsystems_read(s->sources, err) : NULL;
	return *out || !s->sources ? 0 : -1;
}

int campaign_show_list(struct campaign_show *s, struct store *store, const struct summary_query *query, struct err *err)
{
	struct summary_query selected = *query;
	struct subsystems *subsystems;
	struct summary m = {0};
	int rc = get_subsystems(s, &subsystems, err);

	selected.campaign = s->place.campaign;
	selected.subsystems = subsystems;
	selected.all = s->all;
	selected.bugs = s->form == CAMPAIGN_HTML;
	if (rc == 0)
		rc = summary_fill(&m, store, &selected, OUTRIDER_VERSION, err);
	if (rc == 0)
		rc = redirect_begin(&s->redirect, err);
	if (rc == 0) {
		rc = print_list(s, &m, err);
		redirect_end(&s->redirect, err);
		s->code = campaign_fail_code(&s->fail, &m);
	}
	summary_free(&m);
	subsystems_free(subsystems);
	return rc == 0 && err->code == EXIT_OK ? 0 : -1;
}

int campaign_show_race(struct campaign_show *s, struct store *store, int64_t race, struct err *err)
{
	struct subsystems *subsystems;
	struct race_history *history = NULL;
	struct store_race_runs runs = {0};
	int rc;

	if (s->form == CAMPAIGN_MAIL)
		return err_set(err, EXIT_USAGE, "--format mail shows a round; one race is shown as text, json or html");
	rc = get_subsystems(s, &subsystems, err);
	if (rc == 0)
		history = race_history_get(store, race, subsystems, OUTRIDER_VERSION, err);
	rc = history ? 0 : -1;
	if (rc == 0 && s->form == CAMPAIGN_HTML)
		rc = store_race_runs(store, race, RUNS_MAX, &runs, err);
	if (rc == 0)
		rc = redirect_begin(&s->redirect, err);
	if (rc == 0) {
		rc = print_race(s, history, &runs, err);
		redirect_end(&s->redirect, err);
	}
	store_race_runs_free(&runs);
	race_history_free(history);
	subsystems_free(subsystems);
	return rc == 0 && err->code == EXIT_OK ? 0 : -1;
}
