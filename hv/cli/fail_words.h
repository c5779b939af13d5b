/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The words of --fail-on, for all commands that have the option, so that one word means the same everywhere. The value of the
 * option is a list of words with commas between them, and the option may be given several times.
 */
#ifndef OUTRIDER_CLI_FAIL_WORDS_H
#define OUTRIDER_CLI_FAIL_WORDS_H

#include <stdbool.h>

#include "hv/cli/choice.h"

/* The words that several commands have. */
#define FAIL_WORD_HARMFUL "harmful"
#define FAIL_WORD_UNCLEAR "unclear"
#define FAIL_WORD_ANY_NEW "any-new"
#define FAIL_WORD_SUSPICION "suspicion"
#define FAIL_WORD_ATOMICITY "atomicity"
#define FAIL_WORD_COMPLAINT "complaint"
#define FAIL_WORD_UNSAMPLED "unsampled"
#define FAIL_WORD_UNFINISHED "unfinished"
/* Prefix that takes back what another word implies: `harmful` implies `unfinished`, but "harmful,no-unfinished" does not. */
#define FAIL_WORD_NO "no-"

struct fail_word {
	const char *word;
	/*
	 * The results that the word names, as bits: the word asks for them or, with `leaves_out`, leaves them out. Each command
	 * defines the meaning of its bits.
	 */
	unsigned bits;
	/* The word begins with FAIL_WORD_NO: it leaves out its bits. */
	bool leaves_out;
};

/* All zero: the option was not given. A later word wins over an earlier one. */
struct fail_words {
	/*
	 * Bits that words asked for, and bits that words with FAIL_WORD_NO left out. A bit that no word named is in neither.
	 */
	unsigned on, off;
};

/*
 * Read one value of --fail-on into `out`. `words` has the words that `choice` lists, in the same order. Also accepts "new" and
 * "new-race", the names in older versions of outrider, for "any-new", if the command has "any-new" and does not have the older
 * name itself. Returns 0. On failure, sets an error and returns an error_t for the parser to return.
 */
error_t fail_words_read(struct argp_state *state, const struct cli_choice *choice, const struct fail_word *words,
			const char *arg, struct fail_words *out);

/*
 * Returns the bits that make the command fail: those asked for, or `fallback` if none was asked for. If any bit outside of
 * `implied` is among these, the bits of `implied` are, too. Bits that the user left out (FAIL_WORD_NO) never make the command
 * fail.
 */
unsigned fail_words_bits(const struct fail_words *w, unsigned fallback, unsigned implied);

#endif
