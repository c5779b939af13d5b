// SPDX-License-Identifier: GPL-2.0-or-later
/* `outrider campaign merge`: copies the contents of other stores into one. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "hv/campaign/store/store.h"
#include "hv/cli/campaign.h"
#include "hv/cli/output.h"

struct merge_options {
	struct cli_input input; /* must be first: parsers take its address for this struct's address (cli_parse()) */
	const char *store;
	char **from; /* the `count` arguments */
	size_t count;
	bool quiet;
};

enum merge_key { KEY_STORE = 0x100 };

static const struct argp_option options[] = {
	{"store", KEY_STORE, "STORE", 0, CAMPAIGN_STORE_HELP, 0},
	{"quiet", 'q', NULL, 0, "say nothing but errors", 0},
	{0},
};

static const char doc[] =
	"Merge all data of each FROM into the store. Each of them is a file or a PostgreSQL server.\v"
	"Merging again changes nothing. The history has the triage states of all stores, and the latest state counts.";

static error_t parser(int key, char *arg, struct argp_state *state)
{
	struct merge_options *o = state->input;

	switch (key) {
	case KEY_STORE:
		o->store = arg;
		return 0;
	case 'q':
		o->quiet = true;
		return 0;
	case ARGP_KEY_ARGS:
		o->from = state->argv + state->next;
		o->count = (size_t)(state->argc - state->next);
		return 0;
	case ARGP_KEY_NO_ARGS:
		return cli_usage(state, "merge needs a store to take from; see `outrider campaign merge --help`");
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp campaign_merge_argp = {.options = options, .parser = parser, .args_doc = "FROM...", .doc = doc};

static void print_merged(const char *from, const struct store_merged *m)
{
	printf("%s: new here are %" PRIu64 " round%s, %" PRIu64 " run%s, %" PRIu64 " race%s and %" PRIu64 " triage state%s\n",
	       from, m->rounds, m->rounds == 1 ? "" : "s", m->runs, m->runs == 1 ? "" : "s", m->races, m->races == 1 ? "" : "s",
	       m->triage, m->triage == 1 ? "" : "s");
	if (m->coverage_left)
		printf("%s: the coverage of %" PRIu64
		       " runs was not merged: it is part of a sum with the coverage of runs that this store has already\n",
		       from, m->coverage_left);
}

static int merge_one(struct store *into, const char *place, bool quiet, struct err *err)
{
	struct store *from = store_open(place, STORE_READ, STORE_WAIT_MS, err);
	struct store_merged merged = {0};
	int rc = from ? store_merge(into, from, &merged, err) : -1;

	if (rc == 0 && !quiet)
		print_merged(store_where(from), &merged);
	store_close(from);
	return rc;
}

/* Check that all stores can be read before creating the store to merge into. */
static int try_all(const struct merge_options *o, struct err *err)
{
	for (size_t i = 0; i < o->count; i++) {
		struct store *from = store_open(o->from[i], STORE_READ, STORE_WAIT_MS, err);

		if (!from)
			return -1;
		store_close(from);
	}
	return 0;
}

static int merge(const struct merge_options *o, struct err *err)
{
	char *usual = o->store ? NULL : store_default_path(err);
	const char *place = o->store ? o->store : usual;
	struct store *into = place && try_all(o, err) == 0 ? store_open(place, STORE_MAKE, STORE_WAIT_MS, err) : NULL;
	int rc = into ? 0 : -1;

	for (size_t i = 0; i < o->count && rc == 0; i++)
		rc = merge_one(into, o->from[i], o->quiet, err);
	store_close(into);
	free(usual);
	return rc;
}

int campaign_merge(int argc, char **argv)
{
	struct err err = {0};
	struct merge_options o = {.input.err = &err};

	if (cli_parse(&campaign_merge_argp, argc, argv, &o.input) < 0 || merge(&o, &err) < 0)
		return cli_fail(&err);
	return output_end(EXIT_OK);
}
