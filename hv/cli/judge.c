// SPDX-License-Identifier: GPL-2.0-or-later
/* Judges the races of a run that has just ended, and selects the exit code. */
#include "hv/cli/judge.h"

#include "pruner/locks/protect.h"

enum judge_key { KEY_SUPPRESS = 0x500, KEY_RULES, KEY_SOURCES };

static const struct argp_option options[] = {
	{NULL, 0, NULL, 0, "Verdicts, as by outrider report", FAIL_ON_GROUP},
	{"suppress", KEY_SUPPRESS, "FILE", 0, "a list of known races with reasons, which --fail-on does not look at", 0},
	{"rules", KEY_RULES, "FILE", 0, CLI_RULES_HELP, 0},
	{"sources", KEY_SOURCES, "FOLDER", 0, CLI_SOURCES_HELP, 0},
	{0},
};

static error_t parser(int key, char *arg, struct argp_state *state)
{
	struct judge *j = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &j->fail_on;
		return 0;
	case KEY_SUPPRESS:
		suppress_free(j->suppressions);
		j->suppressions = suppress_read_today(arg, j->input.err);
		return j->suppressions ? 0 : EINVAL;
	case KEY_RULES:
		return prune_rules_add(j->rules, arg, j->input.err) < 0 ? EINVAL : 0;
	case KEY_SOURCES:
		return sources_add(j->sources, arg, j->input.err) < 0 ? EINVAL : 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {{&fail_on_argp, 0, NULL, 0}, {0}};
const struct argp judge_argp = {.options = options, .parser = parser, .children = children};

static int judge_races(void *ctx, const struct race_store *store, const struct run_facts *run, struct err *err)
{
	struct judge *j = ctx;

	j->run = (struct run_facts){.finished = run->finished,
				    .sampled_ns = run->sampled_ns,
				    .hits = run->hits,
				    .windows = run->windows,
				    .complaints = {.count = run->complaints.count}};
	prune_rules_set_kernel(j->rules, run->kernel.banner);
	if (verdicts_judge_store(&j->verdicts, j->rules, j->suppressions, store, err) < 0 ||
	    groups_find(&j->groups, &j->verdicts, err) < 0)
		return -1;
	groups_sort(&j->groups);
	return 0;
}

static json_t *verdict(void *ctx, size_t index)
{
	const struct judge *j = ctx;

	return verdict_json(&j->verdicts.list[index]);
}

static const char *group(void *ctx, size_t index)
{
	const struct judge *j = ctx;

	return groups_of(&j->groups, index)->id;
}

static json_t *all_groups(void *ctx)
{
	const struct judge *j = ctx;

	return groups_json(&j->groups, &j->verdicts);
}

static void list(void *ctx, FILE *out)
{
	const struct judge *j = ctx;

	groups_sum(out, &j->groups);
	groups_table(out, &j->groups);
}

/*
 * Judge the record of locks `p`. `last`: the run is over, and this is the last judgement. Then use j->rules, which have the
 * user's rules and the sources, and store the number of suspicions. Earlier, judge without j->rules, because the thread that
 * names races uses the sources.
 */
static int judge_locks(void *ctx, const struct protection *p, bool last, struct suspicions *out, struct err *err)
{
	struct judge *j = ctx;
	int rc = protect_judge(p, last ? j->rules : NULL, out, err);

	if (last)
		j->suspicions = out->count;
	if (last)
		j->atomicities = suspicions_of_atomicity(out);
	return rc;
}

static void sum(void *ctx, FILE *out)
{
	const struct judge *j = ctx;

	verdicts_sum(out, &j->verdicts);
}

static void say(void *ctx, const char *line)
{
	const struct judge *j = ctx;

	if (!j->quiet)
		cli_message(line);
}

int judge_init(struct judge *j, struct err *err)
{
	const struct sources_sink sink = {.message = say, .ctx = j};

	*j = (struct judge){.input = {err},
			    .fail_on.input = {err},
			    .report = {.judge = judge_races,
				       .verdict = verdict,
				       .group = group,
				       .groups = all_groups,
				       .list = list,
				       .sum = sum,
				       .ctx = j},
			    .suspect = {.judge = judge_locks, .ctx = j},
			    .sources = sources_new(&sink, err),
			    .rules = prune_rules_new(err)};
	if (!j->sources || !j->rules)
		return -1;
	prune_rules_set_sources(j->rules, j->sources);
	return 0;
}

void judge_free(struct judge *j)
{
	groups_free(&j->groups);
	verdicts_free(&j->verdicts);
	suppress_free(j->suppressions);
	prune_rules_free(j->rules);
	sources_free(j->sources);
}

int judge_code(struct judge *j, int code, const struct err *err)
{
	const struct fail_on_found found = {.verdicts = &j->verdicts,
					    .runs = &j->run,
					    .run_count = 1,
					    .suspicions = j->suspicions,
					    .atomicities = j->atomicities};

	/*
	 * Take the error's exit code only if `code` is EXIT_OK. If a signal arrived before the session began, `code` is already
	 * the exit code for this signal.
	 */
	if (err->code != EXIT_OK && !code)
		code = (int)err->code;
	if (err->code != EXIT_OK)
		cli_fail(err);
	if (j->verdicts.list)
		suppress_leftover(j->suppressions, say, j);
	return code == EXIT_OK ? fail_on_code(&j->fail_on, &found) : code;
}
