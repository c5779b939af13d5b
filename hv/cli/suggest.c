// SPDX-License-Identifier: GPL-2.0-or-later
/* "Did you mean": finds the known word that is nearest to a misspelled word. */
#include "hv/cli/suggest.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

/*
 * A word with more characters than this, typed or known, is not compared. Options and commands are shorter; the key of a run
 * need not be.
 */
#define WORD_MAX 40

static unsigned least(unsigned a, unsigned b, unsigned c)
{
	unsigned ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/*
 * Returns the number of edits from `a` to `b`: the optimal string alignment distance (Damerau's, without a second edit inside a
 * swapped pair). A capital letter in `a` equals the same small letter in `b`.
 */
static unsigned edits(const char *a, size_t a_len, const char *b, size_t b_len)
{
	unsigned d[WORD_MAX + 1][WORD_MAX + 1];

	for (size_t i = 0; i <= a_len; i++) {
		for (size_t j = 0; j <= b_len; j++) {
			if (i == 0 || j == 0) {
				d[i][j] = (unsigned)(i + j);
				continue;
			}
			d[i][j] = least(d[i - 1][j] + 1, d[i][j - 1] + 1,
					d[i - 1][j - 1] + (tolower((unsigned char)a[i - 1]) != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && d[i - 2][j - 2] + 1 < d[i][j])
				d[i][j] = d[i - 2][j - 2] + 1;
		}
	}
	return d[a_len][b_len];
}

struct suggest suggest_begin(const char *word, size_t len)
{
	return (struct suggest){.word = word, .len = len, .distance = UINT_MAX};
}

void suggest_offer(struct suggest *s, const char *known)
{
	size_t known_len = strlen(known);
	unsigned distance, allowed = s->len > 3 ? (unsigned)s->len / 3 : 1;

	if (s->len == 0 || s->len > WORD_MAX || known_len > WORD_MAX)
		return;
	distance = edits(s->word, s->len, known, known_len);
	if (s->len >= 2 && strncmp(s->word, known, s->len) == 0)
		distance = 1;
	/* Reject a known word that needs as many edits as the typed word has characters. */
	if (distance > allowed || distance >= s->len || distance >= s->distance)
		return;
	s->best = known;
	s->distance = distance;
}

const char *suggest_end(const struct suggest *s)
{
	return s->best;
}
