/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "Did you mean": finds the known word that is nearest to a misspelled word. */
#ifndef OUTRIDER_CLI_SUGGEST_H
#define OUTRIDER_CLI_SUGGEST_H

#include <stddef.h>

struct suggest {
	const char *word; /* the word that the user typed */
	size_t len;	  /* number of characters of `word` to compare */
	const char *best; /* the nearest known word so far, or NULL */
	unsigned distance;
};

/* Begin a search for a known word similar to the first `len` characters of `word`. */
struct suggest suggest_begin(const char *word, size_t len);

/* Compare a known word with the typed one. `known` must last as long as `s` is used. */
void suggest_offer(struct suggest *s, const char *known);

/*
 * Returns the nearest of the offered words, the first of several with equal distance; or NULL if none is near. The distance is
 * the number of edits that turn the typed word into the known word. An edit inserts, deletes or replaces a character, or swaps
 * two neighbours. A capital in the typed word need not be replaced by its small letter. A known word is near if its distance is
 * at most a third of the number of typed characters, or 1. A known word is near, too, if it begins with the typed characters
 * and these are at least two.
 */
const char *suggest_end(const struct suggest *s);

#endif
