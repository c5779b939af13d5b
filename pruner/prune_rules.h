/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rules' configuration: the lists of variables and functions that the rules look into, the kernel that the races are of,
 * and that kernel's source. docs/pruning.md describes the lists.
 *
 * A struct prune_rules may be used by one thread at a time.
 */
#ifndef OUTRIDER_PRUNER_PRUNE_RULES_H
#define OUTRIDER_PRUNER_PRUNE_RULES_H

#include "hv/base/err.h"
#include "symbols/files/sources.h"

struct prune_rules;

/* Make the rules with the lists that this program was built with, pruner/ *.conf. Returns NULL with err set on failure. */
struct prune_rules *prune_rules_new(struct err *err);
void prune_rules_free(struct prune_rules *rules);

/* Add the lists in the file `path`. Returns 0, or -1 with EXIT_INPUT and the wrong line's number in err. */
int prune_rules_add(struct prune_rules *rules, const char *path, struct err *err);

/*
 * Set the guest kernel's source files. Marked accesses that leave no trace in machine code are looked for there. `sources` must
 * outlive the rules. NULL, the default: there are none.
 */
void prune_rules_set_sources(struct prune_rules *rules, struct sources *sources);

/*
 * Set the kernel that the races are of, by its banner ("Linux version 6.1.0-..."). With a NULL banner the kernel is not known,
 * and entries for any range of kernels are used.
 */
void prune_rules_set_kernel(struct prune_rules *rules, const char *banner);

/*
 * Add a kernel that the races are of. The first one is set as prune_rules_set_kernel() does. With kernels of several versions
 * only those entries are used that are good for any kernel.
 */
void prune_rules_add_kernel(struct prune_rules *rules, const char *banner);

#endif
