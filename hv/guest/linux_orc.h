/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the unwind tables (ORC) of the kernel and its modules. */
#ifndef OUTRIDER_GUEST_LINUX_ORC_H
#define OUTRIDER_GUEST_LINUX_ORC_H

#include <stdint.h>

#include "hv/guest/guest.h"
#include "symbols/unwind/orc.h"

/* Find the kernel's unwind table, its format, and the text that it covers. */
void linux_find_unwind(struct guest *g);

/* Find the unwind table of the module whose struct module is at GVA `address`. Sets out->count to 0 if it has none. */
void linux_find_module_unwind(const struct guest *g, uint64_t address, struct orc_table *out);

#endif
