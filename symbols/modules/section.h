/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One section of a loaded module. */
#ifndef OUTRIDER_SYMBOLS_MODULES_SECTION_H
#define OUTRIDER_SYMBOLS_MODULES_SECTION_H

#include <stdint.h>

#define SECTION_NAME_MAX 48 /* bytes, including the NUL; a longer name is truncated */

/* The load address of a section of a module's file. */
struct image_section {
	char name[SECTION_NAME_MAX]; /* for example ".data..read_mostly" */
	uint64_t addr;		     /* GVA */
};

#endif
