/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The grammar of campaign files, docs/campaign.rng, which is compiled into the program. Any thread may call these functions. */
#ifndef OUTRIDER_CAMPAIGN_PLAN_GRAMMAR_H
#define OUTRIDER_CAMPAIGN_PLAN_GRAMMAR_H

#include <libxml/tree.h>

#include "hv/base/err.h"

/*
 * Check the document of the file `path` against the grammar. Returns 0, or -1 with EXIT_INPUT and a message that names the line
 * and what was expected there.
 */
int grammar_check(const char *path, xmlDoc *doc, struct err *err);

#endif
