/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OUTRIDER_GUEST_LINUX_NAMES_H
#define OUTRIDER_GUEST_LINUX_NAMES_H

#include "hv/guest/guest.h"

/*
 * Find the symbol, a function's or a variable's, that contains `addr` in any module's own table. Unlike guest_symbol_at(), this
 * also finds addresses outside a module's text, which those of variables are. Returns 0, or -1 when there is none. Takes
 * modules_lock for reading.
 */
int linux_module_symbol_at(const struct guest *g, uint64_t addr, struct guest_symbol *out);

#endif
