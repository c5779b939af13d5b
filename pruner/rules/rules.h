/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rules, a file each. A rule returns true when it fits the race, and has then set the class, the rule and the evidence of
 * *out. A new rule is a file here, a line in this header, and a line in each of the two tables of pruner/prune.c.
 */
#ifndef OUTRIDER_PRUNER_RULES_RULES_H
#define OUTRIDER_PRUNER_RULES_RULES_H

#include "pruner/view.h"

/*
 * "changed-under-write-back", "device-not-awaited", and "user-built-synchronisation" where a loop waits for a device. It fits
 * every race with a device.
 */
bool rule_device(const struct view *v, struct verdict *out);
bool rule_special(const struct view *v, struct verdict *out);
bool rule_marked(const struct view *v, struct verdict *out);
/* "rcu-publication", and what is wrong with it: "freed-under-readers", "reused-under-readers" and "reader-outside-rcu". */
bool rule_rcu(const struct view *v, struct verdict *out);
bool rule_flags(const struct view *v, struct verdict *out);
bool rule_counter(const struct view *v, struct verdict *out);
bool rule_double_check(const struct view *v, struct verdict *out);
bool rule_same_value(const struct view *v, struct verdict *out);
bool rule_spin(const struct view *v, struct verdict *out);
bool rule_shown(const struct view *v, struct verdict *out);

/* "sequence-count": where the code of both sides proves it, and where something is to be said against it. */
bool rule_sequence(const struct view *v, struct verdict *out);
bool rule_doubtful_sequence(const struct view *v, struct verdict *out);

/* "not-handed-over": the data of a flag, or of a pointer, that were seen racing. */
bool rule_broken_given(const struct view *v, struct verdict *out);
bool rule_broken_handover(const struct view *v, struct verdict *out);

/* "handed-over", of flags and of pointers, and "ring-queue", by the order of the code on both sides. */
bool rule_given(const struct view *v, struct verdict *out);
bool rule_handover(const struct view *v, struct verdict *out);
bool rule_queue(const struct view *v, struct verdict *out);

/* "approximate-computation" and "both-values-valid", by the lists of names. */
bool rule_named(const struct view *v, struct verdict *out);

#endif
