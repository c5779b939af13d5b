/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rules, one in each file. A name in quotes below is the name, in reports, of the rule whose function follows. A rule
 * returns true when it fits the race, and then has set class, rule and evidence of *out. To add a rule, add a file here, a line
 * to this header, and a row to the table in table.c.
 */
#ifndef OUTRIDER_PRUNER_RULES_RULES_H
#define OUTRIDER_PRUNER_RULES_RULES_H

#include "pruner/patterns/view.h"
#include "pruner/rules/verdict.h"

/* "changed-under-write-back". */
bool rule_write_back(const struct view *v, struct verdict *out);
/*
 * Fits every race with a device that rule_write_back() does not fit. The rule is "user-built-synchronisation" for a loop that
 * waits for a device, and otherwise "device-not-awaited".
 */
bool rule_device(const struct view *v, struct verdict *out);
/* The rule "lock-word" fits if the datum is the word of a lock, or a word of the scheduler such as a preemption count. */
bool rule_lock_word(const struct view *v, struct verdict *out);
/* "get-after-last-put". */
bool rule_last_put(const struct view *v, struct verdict *out);
bool rule_marked(const struct view *v, struct verdict *out);
/* "double-fetch". */
bool rule_double_fetch(const struct view *v, struct verdict *out);
/*
 * The rule is "rcu-publication" if both sides follow the rules of RCU. If a side breaks them, the rule is
 * "freed-under-readers", "reused-under-readers" or "reader-outside-rcu".
 */
bool rule_rcu(const struct view *v, struct verdict *out);
bool rule_flags(const struct view *v, struct verdict *out);
/* "same-flag-update". */
bool rule_same_flags(const struct view *v, struct verdict *out);
bool rule_counter(const struct view *v, struct verdict *out);
bool rule_double_check(const struct view *v, struct verdict *out);
bool rule_same_value(const struct view *v, struct verdict *out);
bool rule_spin(const struct view *v, struct verdict *out);
/* The rule "lone-word" fits only if the source of at least one side was not read. */
bool rule_lone_word(const struct view *v, struct verdict *out);
/* "lone-flag". */
bool rule_lone_flag(const struct view *v, struct verdict *out);
/* "locked-update". */
bool rule_locked_update(const struct view *v, struct verdict *out);
/* "only-peeked". */
bool rule_peek(const struct view *v, struct verdict *out);
bool rule_shown(const struct view *v, struct verdict *out);

/*
 * Two functions for the rule "sequence-count". rule_seqcount() fits if the code of both sides proves that a sequence count
 * orders the accesses, and rule_doubtful_seqcount() if a part of the proof is missing.
 */
bool rule_seqcount(const struct view *v, struct verdict *out);
bool rule_doubtful_seqcount(const struct view *v, struct verdict *out);

/*
 * Two functions for the rule "not-handed-over". The rule fits if the report has a race on the data that a pointer or a flag
 * should hand over.
 */
bool rule_broken_handoff_pointer(const struct view *v, struct verdict *out);
bool rule_broken_handoff_flag(const struct view *v, struct verdict *out);

/* The first two functions are for the rule "handed-over", by a pointer and by a flag, and the third is for "ring-queue". */
bool rule_handoff_pointer(const struct view *v, struct verdict *out);
bool rule_handoff_flag(const struct view *v, struct verdict *out);
bool rule_queue(const struct view *v, struct verdict *out);

/* The rules "special-variable", "approximate-computation" and "both-values-valid" fit if a list of names has the datum. */
bool rule_special(const struct view *v, struct verdict *out);
bool rule_approximate(const struct view *v, struct verdict *out);
bool rule_both_valid(const struct view *v, struct verdict *out);

#endif
