/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where each register is in a `g` packet and what number it has: from the stub's own description of the machine in XML (GDB
 * manual, appendix G), by name and never by a place known from somewhere else.
 */
#ifndef OUTRIDER_RSP_REGMAP_H
#define OUTRIDER_RSP_REGMAP_H

#include <stddef.h>

#include "hv/base/err.h"
#include "hv/base/x86.h"

#define REGMAP_REGS 26 /* as many as struct x86_regs needs */

struct regmap {
	struct {
		bool known;
		uint16_t number;
		uint8_t size;	 /* bytes */
		uint32_t offset; /* in the g packet, bytes */
	} regs[REGMAP_REGS];
};

/*
 * Read the document `annex` of the stub: a NUL-terminated text that the caller frees, or NULL with err set. The first is
 * "target.xml"; it may include others.
 */
typedef char *regmap_fetch(void *ctx, const char *annex, struct err *err);

/* 0; -1 with err set: not an x86-64 machine, or a register that is needed is missing. */
int regmap_read(struct regmap *map, regmap_fetch *fetch, void *ctx, struct err *err);

/*
 * The registers in the `len` bytes of a g packet. -1: one that is known lies outside. What the stub does not describe is 0; so
 * idt_base always is.
 */
int regmap_decode(const struct regmap *map, const uint8_t *bytes, size_t len, struct x86_regs *regs);

/*
 * The n-th register that TARGET_RESUME_REGS may change (general ones, RIP, RFLAGS), n from 0: its number, size and value. -1:
 * there are no more.
 */
int regmap_writable(const struct regmap *map, unsigned n, const struct x86_regs *regs, unsigned *number, unsigned *size,
		    uint64_t *value);

#endif
