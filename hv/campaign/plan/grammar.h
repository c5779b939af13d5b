/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The grammar of campaign files, docs/campaign.rng, which is a part of the program. Any thread. */
#ifndef OUTRIDER_CAMPAIGN_PLAN_GRAMMAR_H
#define OUTRIDER_CAMPAIGN_PLAN_GRAMMAR_H

#include <libxml/tree.h>

#include "hv/base/err.h"

/* Hold the document of the file `path` against the grammar. Returns 0, or -1 with EXIT_INPUT and what was expected on which
 * line. */
int grammar_check(const char *path, xmlDoc *doc, struct err *err);

#endif
