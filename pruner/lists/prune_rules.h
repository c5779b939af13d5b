/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The configuration of the rules: lists of variables and functions, the version of the guest kernel, and its source.
 * docs/pruning.md describes the lists.
 *
 * One thread at a time may use a struct prune_rules.
 */
#ifndef OUTRIDER_PRUNER_LISTS_PRUNE_RULES_H
#define OUTRIDER_PRUNER_LISTS_PRUNE_RULES_H

#include "hv/base/err.h"
#include "symbols/files/sources.h"

struct prune_rules;

/*
 * Make rules with the lists that this program was built with, pruner/lists/ *.conf. The caller gives the result to
 * prune_rules_free(). Returns NULL with err set on failure.
 */
struct prune_rules *prune_rules_new(struct err *err);
void prune_rules_free(struct prune_rules *rules);

/*
 * Add the lists in the file `path`. Returns 0, or -1 with err set: EXIT_INPUT with file, line and mistake, or EXIT_INTERNAL
 * when memory ran out.
 */
int prune_rules_add(struct prune_rules *rules, const char *path, struct err *err);

/*
 * Set the source files of the guest kernel. The rules search them for macros that mark an access, such as READ_ONCE(), because
 * these macros leave no trace in machine code. `sources` must outlive the rules. NULL, the default: no sources.
 */
void prune_rules_set_sources(struct prune_rules *rules, struct sources *sources);

/*
 * Set the kernel of the races by its banner ("Linux version 6.1.0-..."). If the banner is NULL or has no version, the kernel is
 * not known. Then all entries apply, whatever their range of kernels.
 */
void prune_rules_set_kernel(struct prune_rules *rules, const char *banner);

/*
 * Add a kernel of the races by its banner. The first call does the same as prune_rules_set_kernel(). When the versions differ,
 * only entries without a range of kernels apply.
 */
void prune_rules_add_kernel(struct prune_rules *rules, const char *banner);

#endif
