/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A section of a module, as it was loaded. */
#ifndef OUTRIDER_SYMBOLS_MODULES_SECTION_H
#define OUTRIDER_SYMBOLS_MODULES_SECTION_H

#include <stdint.h>

#define SECTION_NAME_MAX 48 /* bytes with the final NUL; a longer name is cut off */

/* Where a section of a module's file is in the guest's memory. */
struct image_section {
	char name[SECTION_NAME_MAX]; /* for example ".data..read_mostly" */
	uint64_t addr;		     /* GVA */
};

#endif
