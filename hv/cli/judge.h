/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verdicts on a run that has just ended: the options of `run` and `attach` for it, and the exit code that follows. */
#ifndef OUTRIDER_CLI_JUDGE_H
#define OUTRIDER_CLI_JUDGE_H

#include "hv/cli/fail_on.h"
#include "hv/report/judge.h"
#include "hv/session/suspector.h"
#include "pruner/prune.h"

struct judge {
	struct cli_input input; /* This must be the first member; see cli_parse(). */
	struct fail_on fail_on;
	/* Computes verdicts for the report. */
	struct report_judge report;
	/* Judges suspicions from followed locks. */
	struct suspector_judge suspect;
	struct sources *sources;
	struct prune_rules *rules;
	struct suppressions *suppressions; /* NULL: none */
	struct verdicts verdicts;
	bool quiet; /* print no messages */
};

/* A child parser for argp, in the option group FAIL_ON_GROUP. Its input is a struct judge. */
extern const struct argp judge_argp;

/* Prepare the rules. Returns 0, or -1 with err set. judge_free() must follow in both cases. `j` must not be moved. */
int judge_init(struct judge *j, struct err *err);
void judge_free(struct judge *j);

/*
 * To be called when a run has ended with `code`, which may be EXIT_OK in spite of an error in `err`, or be that of a signal.
 * Prints the error, if there is one. Returns the exit code: that of the run if the run failed, otherwise the one that the
 * verdicts select.
 */
int judge_code(struct judge *j, int code, const struct err *err);

#endif
