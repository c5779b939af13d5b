/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a round summary in its formats. Each function writes a whole document to a stream. A write error stays in the
 * stream, and the caller checks it with ferror() or fclose(). Pure functions of the struct summary. Any thread.
 */
#ifndef OUTRIDER_CAMPAIGN_LIST_LIST_H
#define OUTRIDER_CAMPAIGN_LIST_LIST_H

#include <stdio.h>

#include "hv/campaign/list/summary.h"

struct list_style {
	bool colour;	/* Use ANSI colours; only for a terminal. */
	bool all;	/* Also show races that did not change. */
	unsigned width; /* Fold lines at this number of characters. 0: 100. */
};

/* Write text for a terminal. The first lines summarise the round; races and findings follow. */
void list_text(FILE *out, const struct summary *m, const struct list_style *style);

/* Write a mail: a Subject: line, other header lines, and the summary as plain text of 72 columns. */
void list_mail(FILE *out, const struct summary *m, const struct list_style *style);

/*
 * Write the document outrider-campaign-list/1, which docs/campaigns.md describes. Returns 0, or -1 with err set if memory runs
 * out.
 */
int list_json(FILE *out, const struct summary *m, struct err *err);

/* Write one HTML page, which loads no other file and is readable without scripts. */
void list_html(FILE *out, const struct summary *m);

#endif
