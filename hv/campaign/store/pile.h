/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The coverage of several runs, summed in bounded memory. Only hv/campaign/store/ uses this header.
 *
 * Texts of coverage (digest.h) are piled up, and when there is too much of them they become one text, with each site once. So a
 * pile takes the memory of what it may hold, or some times that of the sum.
 */
#ifndef OUTRIDER_CAMPAIGN_STORE_PILE_H
#define OUTRIDER_CAMPAIGN_STORE_PILE_H

#include "hv/campaign/store/cover.h"

struct pile {
	size_t room;  /* How many bytes of texts it may hold, unless the sum alone is larger. Set by the caller. */
	char **texts; /* The names of the sites point into them. */
	struct cover_site *sites;
	size_t text_count, site_count;
	size_t held;   /* Bytes of the texts. */
	size_t summed; /* Bytes that were left when they became one last. */
};

/* Add a text from malloc(), which belongs to the pile from now on. Returns 0, or -1 with err set. */
int pile_add(struct pile *p, char *text, struct err *err);

/* All of it as one text from malloc(), with each site once, by name in byte order. NULL with err set: memory ran out. */
char *pile_text(struct pile *p, size_t *len, struct err *err);

/* What is in it. A pile that was freed is empty, and may be used again. */
void pile_free(struct pile *p);

#endif
