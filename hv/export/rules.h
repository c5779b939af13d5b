/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the rules that verdicts are named by say to someone who meets a race in a code host and knows nothing of Outrider. */
#ifndef OUTRIDER_EXPORT_RULES_H
#define OUTRIDER_EXPORT_RULES_H

#include "hv/export/export.h"

struct export_rule {
	/* The name of the rule, as export_race.rule has it. */
	const char *id;
	/* The level that most races of the rule have. */
	enum export_level level;
	/* What the rule found, as a sentence. */
	const char *found;
	/* What that means, in sentences. */
	const char *meaning;
	/* What to do next, in sentences. */
	const char *next;
};

/* All rules that `outrider prune --list-rules` has. The last entry is for races that no rule decided. */
extern const struct export_rule export_rules[];
extern const size_t export_rule_count;

/* The index in export_rules[] of the rule of that name. For NULL, and for a rule that is not there, it is the last index. */
size_t export_rule_index(const char *id);

#endif
