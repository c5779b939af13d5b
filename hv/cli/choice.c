// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/cli/choice.h"

#include <stdio.h>
#include <string.h>

#include "hv/cli/suggest.h"

/* Write "one, two or three" into `out`. */
static void list_words(const struct cli_choice *choice, char *out, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; choice->word(i) && used < size; i++) {
		const char *between = i == 0 ? "" : choice->word(i + 1) ? ", " : " or ";

		used += (size_t)snprintf(out + used, size - used, "%s%s", between, choice->word(i));
	}
}

error_t cli_choose(struct argp_state *state, const struct cli_choice *choice, const char *option, const char *arg,
		   size_t *index)
{
	struct suggest suggest = suggest_begin(arg, strlen(arg));
	char words[256] = "";

	for (size_t i = 0; choice->word(i); i++) {
		if (strcmp(arg, choice->word(i)) == 0) {
			*index = i;
			return 0;
		}
		suggest_offer(&suggest, choice->word(i));
	}
	list_words(choice, words, sizeof(words));
	if (suggest_end(&suggest))
		return cli_usage(state, "--%s %s: give %s; did you mean %s?", option, arg, words, suggest_end(&suggest));
	return cli_usage(state, "--%s %s: give %s", option, arg, words);
}

error_t cli_choose_second(struct argp_state *state, const struct cli_choice *choice, const char *option, const char *arg,
			  bool *second)
{
	size_t index = 0;
	error_t rc = cli_choose(state, choice, option, arg, &index);

	*second = index == 1;
	return rc;
}
