// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the value of --fail-on: a list of words, each of which names results that make a command fail. */
#include "hv/cli/fail_words.h"

#include <string.h>

/*
 * Bytes of a word of --fail-on, including the NUL. A longer word is cut, and then refused, because no command has such a word.
 */
#define WORD_MAX 64

static bool has_word(const struct cli_choice *choice, const char *word)
{
	for (size_t i = 0; choice->word(i); i++) {
		if (strcmp(choice->word(i), word) == 0)
			return true;
	}
	return false;
}

/*
 * Returns "any-new" for "new" and "new-race", unless the command lists the given word or does not list "any-new". Returns any
 * other word unchanged.
 */
static const char *spelling(const struct cli_choice *choice, const char *word)
{
	static const char *const others[] = {"new", "new-race"};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (strcmp(word, others[i]) == 0 && !has_word(choice, word) && has_word(choice, FAIL_WORD_ANY_NEW))
			return FAIL_WORD_ANY_NEW;
	}
	return word;
}

static error_t read_word(struct argp_state *state, const struct cli_choice *choice, const struct fail_word *words,
			 const char *word, struct fail_words *out)
{
	size_t index;
	error_t rc = cli_choose(state, choice, "fail-on", spelling(choice, word), &index);

	if (rc)
		return rc;
	if (words[index].leaves_out) {
		out->off |= words[index].bits;
		out->on &= ~words[index].bits;
	} else {
		out->on |= words[index].bits;
		out->off &= ~words[index].bits;
	}
	return 0;
}

error_t fail_words_read(struct argp_state *state, const struct cli_choice *choice, const struct fail_word *words,
			const char *arg, struct fail_words *out)
{
	char word[WORD_MAX];
	error_t rc;

	for (;;) {
		size_t len = strcspn(arg, ",");
		size_t kept = len < sizeof(word) ? len : sizeof(word) - 1;

		memcpy(word, arg, kept);
		word[kept] = '\0';
		rc = read_word(state, choice, words, word, out);
		if (rc || !arg[len])
			return rc;
		arg += len + 1;
	}
}

unsigned fail_words_bits(const struct fail_words *w, unsigned fallback, unsigned implied)
{
	unsigned bits = w->on ? w->on : fallback;

	if (bits & ~implied)
		bits |= implied;
	return bits & ~w->off;
}
