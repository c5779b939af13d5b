/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Explanations of the pruner's rules, for readers who see a race in a code host and do not know Outrider. */
#ifndef OUTRIDER_EXPORT_RULES_H
#define OUTRIDER_EXPORT_RULES_H

#include "hv/export/export.h"

struct export_rule {
	/* Name of the rule, as in export_race.rule. */
	const char *id;
	/* Level of most races of this rule. */
	enum export_level level;
	/* What the rule found: a sentence. */
	const char *found;
	/* What that means: sentences. */
	const char *meaning;
	/* What to do next: sentences. */
	const char *next;
};

/* All rules of `outrider prune --list-rules`. The last entry is for races without a deciding rule. */
extern const struct export_rule export_rules[];
extern const size_t export_rule_count;

/* Returns the index of the rule in export_rules[], or the last index for NULL and for an unknown name. */
size_t export_rule_index(const char *id);

#endif
