/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A coverage sum: adds the coverage of several runs in bounded memory. Only hv/campaign/store/ uses this header.
 *
 * The sum collects texts of coverage (see run_data.h). When they exceed `room`, coverage_sum_add() replaces them by one text
 * with one line for each site. Memory is bounded by a multiple of `room`, or of the size of the summed text if that is larger.
 */
#ifndef OUTRIDER_CAMPAIGN_STORE_COVERAGE_SUM_H
#define OUTRIDER_CAMPAIGN_STORE_COVERAGE_SUM_H

#include "hv/campaign/store/coverage_text.h"

struct coverage_sum {
	size_t room;  /* set by the caller: the texts are summed up when they have more bytes than this */
	char **texts; /* The collected texts. Names of sites point into them while they are summed up. */
	struct coverage_text_site *sites;
	size_t text_count, site_count;
	size_t held;   /* bytes of all texts */
	size_t summed; /* bytes of the text that replaced the texts when coverage_sum_add() last summed them up */
};

/* Add a text from malloc(). The sum owns the text from now on, even on failure. Returns 0, or -1 with err set. */
int coverage_sum_add(struct coverage_sum *p, char *text, struct err *err);

/*
 * Returns the sum as one text from malloc(), with one line for each site, by name in byte order. Returns NULL with err set if
 * memory runs out.
 */
char *coverage_sum_text(struct coverage_sum *p, size_t *len, struct err *err);

/* Free the texts. The sum is then empty, and can be used again. */
void coverage_sum_free(struct coverage_sum *p);

#endif
