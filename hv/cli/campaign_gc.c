// SPDX-License-Identifier: GPL-2.0-or-later
/* `outrider campaign gc`: replaces the details of old rounds by sums. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hv/campaign/store/store.h"
#include "hv/cli/campaign.h"
#include "hv/cli/output.h"

#define KEEP_ROUNDS 30
#define KEEP_MAX 1000000
#define MIB (1024.0 * 1024)

struct gc_options {
	struct cli_input input; /* must be first: parsers take its address for this struct's address (cli_parse()) */
	const char *store;
	uint64_t keep;
	struct store_gc_plan plan;
};

enum gc_key { KEY_STORE = 0x100, KEY_KEEP, KEY_BEFORE, KEY_DRY_RUN };

static const struct argp_option options[] = {
	{"store", KEY_STORE, "STORE", 0, CAMPAIGN_STORE_HELP, 0},
	{"keep", KEY_KEEP, "N", 0, "leave the newest N rounds of each campaign as they are (default 30)", 0},
	{"before", KEY_BEFORE, "DATE", 0, "leave also the rounds that were started on DATE (YYYY-MM-DD, UTC) or later", 0},
	{"dry-run", KEY_DRY_RUN, NULL, 0, "only say what would be folded", 0},
	{0},
};

static const char doc[] =
	"Fold single observations and the coverage of single runs of old rounds into sums, and say what that freed.\v"
	"Lists stay the same. A round that has not ended is not folded, and neither are the observations of a race without a "
	"triage state.";

/* Returns the milliseconds from 1970 to the date, or -1 for an invalid date. */
static int64_t date_ms(const char *text)
{
	struct tm day = {0};
	const char *end = strptime(text, "%Y-%m-%d", &day);

	return end && !*end ? (int64_t)timegm(&day) * 1000 : -1;
}

static error_t parser(int key, char *arg, struct argp_state *state)
{
	struct gc_options *o = state->input;

	switch (key) {
	case KEY_STORE:
		o->store = arg;
		return 0;
	case KEY_KEEP:
		if (cli_number(arg, 1, KEEP_MAX, &o->keep) < 0)
			return cli_usage(state, "--keep %s: give a number from 1 to %d", arg, KEEP_MAX);
		return 0;
	case KEY_BEFORE:
		o->plan.before = date_ms(arg);
		return o->plan.before > 0 ? 0 : cli_usage(state, "--before %s: give a date such as 2026-11-22", arg);
	case KEY_DRY_RUN:
		o->plan.dry_run = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp campaign_gc_argp = {.options = options, .parser = parser, .doc = doc};

static void print_freed(const struct store_freed *f, bool dry_run)
{
	const char *would = dry_run ? "would be " : "";

	if (!f->rounds) {
		puts("there is nothing to fold");
		return;
	}
	printf("%" PRIu64 " round%s %sfolded: %" PRIu64 " single observation%s and the coverage of %" PRIu64 " run%s\n",
	       f->rounds, f->rounds == 1 ? "" : "s", would, f->instances, f->instances == 1 ? "" : "s", f->coverage,
	       f->coverage == 1 ? "" : "s");
	if (!dry_run)
		printf("the store is %.1f MiB smaller\n", f->bytes > 0 ? (double)f->bytes / MIB : 0);
}

static int gc(const struct gc_options *o, struct err *err)
{
	char *usual = o->store ? NULL : store_default_path(err);
	const char *place = o->store ? o->store : usual;
	struct store *s = place ? store_open(place, o->plan.dry_run ? STORE_READ : STORE_WRITE, STORE_WAIT_MS, err) : NULL;
	struct store_freed freed = {0};
	int rc = s ? store_gc(s, &o->plan, &freed, err) : -1;

	if (rc == 0)
		print_freed(&freed, o->plan.dry_run);
	store_close(s);
	free(usual);
	return rc;
}

int campaign_gc(int argc, char **argv)
{
	struct err err = {0};
	struct gc_options o = {.input.err = &err, .keep = KEEP_ROUNDS};

	if (cli_parse(&campaign_gc_argp, argc, argv, &o.input) < 0)
		return cli_fail(&err);
	o.plan.keep_rounds = (unsigned)o.keep;
	if (gc(&o, &err) < 0)
		return cli_fail(&err);
	return output_end(EXIT_OK);
}
