/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comparing a datum's names with the patterns of lists and suppressions. */
#ifndef OUTRIDER_PRUNER_DATUM_MATCH_H
#define OUTRIDER_PRUNER_DATUM_MATCH_H

#include "hv/race/facts.h"
#include "hv/race/names.h"

/*
 * Set `out` to the last part of the member's path without an index, for example "b" of "a.b[2]". A datum without a member gives
 * its variable's name in the same way. A datum that has neither gives "".
 */
void datum_last_part(const struct datum_name *d, char out[DEBUGINFO_PATH_MAX]);

/*
 * Returns whether the datum's names match the shell patterns. Each string may have several patterns, separated by blanks. A
 * NULL string matches every name. The type is matched without its qualifiers. The member is matched by its whole path, for
 * example "stats.rx_packets", or by the path's last part. A datum that is no member is matched by its variable's name there.
 */
bool datum_match(const struct datum_name *d, const char *variable, const char *type, const char *member);

/*
 * Set `out` to what the guest's own tables say of the datum. Of many data its allocator and its types (BTF) say as much as
 * debug files. Without a variable and a type it is DATUM_UNNAMED.
 */
void datum_of_memory(const struct guest_memory *memory, struct datum_name *out);

#endif
