/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares the names of a datum with the patterns of lists and suppressions. */
#ifndef OUTRIDER_PRUNER_LISTS_DATUM_MATCH_H
#define OUTRIDER_PRUNER_LISTS_DATUM_MATCH_H

#include "hv/race/facts.h"
#include "hv/race/names.h"

/*
 * Set `out` to the last part of the member's path, without an index: "b" for "a.b[2]". For a datum without a member, use the
 * variable's name in the same way. For a datum with neither, set `out` to "".
 */
void datum_last_part(const struct datum_name *d, char out[DEBUGINFO_PATH_MAX]);

/*
 * Returns whether the datum's names match the shell patterns. Each string may have several patterns, separated by blanks. NULL
 * matches every name. Types are compared without qualifiers. `member` is compared with the whole path of the member, for
 * example "stats.rx_packets", and with the last part of that path. If the datum has no member, `member` is compared with the
 * variable's name.
 */
bool datum_match(const struct datum_name *d, const char *variable, const char *type, const char *member);

/*
 * Set `out` to the names that the guest's own tables give the datum: kallsyms for variables, slab caches and BTF for types.
 * These tables often give the same names as debug files. A datum inside a variable, without a known member, gets the name
 * "VARIABLE+". A datum with neither a variable nor a type becomes DATUM_UNNAMED.
 */
void datum_of_memory(const struct guest_memory *memory, struct datum_name *out);

#endif
