/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The verdicts on a run that has just ended: the options of `run` and `attach` for verdicts, and the exit code that the
 * verdicts select.
 */
#ifndef OUTRIDER_CLI_JUDGE_H
#define OUTRIDER_CLI_JUDGE_H

#include "hv/cli/fail_on.h"
#include "hv/report/judge.h"
#include "hv/session/suspector.h"
#include "pruner/groups.h"
#include "pruner/prune.h"

struct judge {
	struct cli_input input; /* must be first: parsers take its address for this struct's address (cli_parse()) */
	struct fail_on fail_on;
	/* Computes verdicts for the report. */
	struct report_judge report;
	/* Judges suspicions, if locks are followed. */
	struct suspector_judge suspect;
	struct sources *sources;
	struct prune_rules *rules;
	struct suppressions *suppressions; /* NULL: none */
	struct verdicts verdicts;
	struct groups groups; /* of `verdicts`, sorted */
	/*
	 * Those facts of the run that --fail-on looks at, copied without their strings. `finished` is false until the races
	 * were judged.
	 */
	struct run_facts run;
	/*
	 * `suspicions`: number of all suspicions when the record of locks was last judged. `atomicities`: number of those of
	 * kind SUSPICION_ATOMICITY.
	 */
	size_t suspicions, atomicities;
	bool quiet; /* print no messages */
};

/* A child parser for argp, in the option group FAIL_ON_GROUP. Its input is a struct judge. */
extern const struct argp judge_argp;

/* Prepare the rules. Returns 0, or -1 with err set. In both cases call judge_free(). `j` must not be moved. */
int judge_init(struct judge *j, struct err *err);
void judge_free(struct judge *j);

/*
 * Print the error of a run that has ended with `code`, if there is one, and return the exit code: that of the run if the run
 * failed, otherwise the one that the verdicts, the suspicions and the facts of the run select. `code` may be EXIT_OK although
 * `err` has an error, or may be the exit code for a signal.
 */
int judge_code(struct judge *j, int code, const struct err *err);

#endif
