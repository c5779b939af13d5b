/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "Did you mean": the known word that is nearest to a misspelled one. */
#ifndef OUTRIDER_CLI_SUGGEST_H
#define OUTRIDER_CLI_SUGGEST_H

#include <stddef.h>

struct suggest {
	const char *word; /* What the user typed. */
	size_t len;	  /* How many characters of `word` count. */
	const char *best; /* The nearest known word so far, or NULL. */
	unsigned distance;
};

/* Begin to look for what was meant by the first `len` characters of `word`. */
struct suggest suggest_begin(const char *word, size_t len);

/* Offer a known word. `known` must last as long as `s` is used. */
void suggest_offer(struct suggest *s, const char *known);

/*
 * Returns the nearest of the words offered; the first of equals. Returns NULL when none is near: the number of characters to
 * insert, delete, replace or swap with their neighbour may be one for each three characters of the typed word, and at least
 * one. Capitals in the typed word do not count. A known word that begins with two or more typed characters is near too.
 */
const char *suggest_end(const struct suggest *s);

#endif
