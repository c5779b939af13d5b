/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds functions and variables of loaded modules by their address. */
#ifndef OUTRIDER_GUEST_LINUX_NAMES_H
#define OUTRIDER_GUEST_LINUX_NAMES_H

#include "hv/guest/guest.h"

/*
 * Find the function or variable that contains `addr` in the symbol table of any module. Unlike guest_symbol_at(), it also finds
 * addresses outside of modules' text, such as variables. Returns 0, or -1 if there is none. Takes modules_lock for reading.
 */
int linux_module_symbol_at(const struct guest *g, uint64_t addr, struct guest_symbol *out);

#endif
