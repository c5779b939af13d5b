/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Data as lists and suppressions speak of them. */
#ifndef OUTRIDER_PRUNER_DATUM_MATCH_H
#define OUTRIDER_PRUNER_DATUM_MATCH_H

#include "hv/race/names.h"

/* The last part of a member's path, or else of the variable's name, without an index: "b" of "a.b[2]"; "": there is neither. */
void datum_last_part(const struct datum_name *d, char out[DEBUGINFO_PATH_MAX]);

/*
 * Whether a datum's names match shell patterns, each of them several separated by blanks; NULL: any will do. A type is matched
 * without its qualifiers, a member by its whole path ("stats.rx_packets") or by its last part; what is no member has the
 * variable's name for one.
 */
bool datum_match(const struct datum_name *d, const char *variable, const char *type, const char *member);

#endif
