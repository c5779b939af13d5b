/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The list of a morning in its formats. Each is written whole to a stream. A write error stays in the stream, and the caller
 * looks for it once, by ferror() or fclose(). Pure functions of the struct morning. Any thread.
 */
#ifndef OUTRIDER_CAMPAIGN_LIST_LIST_H
#define OUTRIDER_CAMPAIGN_LIST_LIST_H

#include <stdio.h>

#include "hv/campaign/list/morning.h"

struct list_style {
	bool colour;	/* Use ANSI colours. Only for a terminal. */
	bool all;	/* Show also the races that are the same as before. */
	unsigned width; /* Fold lines to this many characters. 0: 100. */
};

/* For people at a terminal. The first lines say it all, and the races and findings follow. */
void list_text(FILE *out, const struct morning *m, const struct list_style *style);

/* A mail: its Subject: line, its other header lines, and the list in 72 columns of plain text. */
void list_mail(FILE *out, const struct morning *m, const struct list_style *style);

/* The document outrider-campaign-list/1, which docs/campaigns.md describes. Returns 0, or -1 when memory ran out. */
int list_json(FILE *out, const struct morning *m, struct err *err);

/* One HTML page, which needs nothing from elsewhere and can be read without scripts. */
void list_html(FILE *out, const struct morning *m);

#endif
