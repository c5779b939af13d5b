/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The register map: each register's number, and its position in a `g` packet. Both come from the XML description of the machine
 * that the stub sends (GDB manual, appendix G). A register is looked up in the description by name; no layout is assumed.
 */
#ifndef OUTRIDER_RSP_REGMAP_H
#define OUTRIDER_RSP_REGMAP_H

#include <stddef.h>

#include "hv/base/err.h"
#include "hv/base/x86.h"

#define REGMAP_REGS 26 /* Number of registers that struct x86_regs needs. */

struct regmap {
	struct {
		bool known;	 /* The stub describes this register. */
		uint16_t number; /* The register's number in the protocol. */
		uint8_t size;	 /* The register's size in bytes. */
		uint32_t offset; /* The register's offset in the `g` packet, in bytes. */
	} regs[REGMAP_REGS];
};

/*
 * Read the document `annex` of the stub. Returns a NUL-terminated text that the caller frees, or NULL with `err` set. The
 * first document is "target.xml"; a document may include others.
 */
typedef char *regmap_fetch(void *ctx, const char *annex, struct err *err);

/*
 * Read the description through `fetch`. Returns 0, or -1 with `err` set, for example if the machine is not x86-64, or if a
 * needed register is missing.
 */
int regmap_read(struct regmap *map, regmap_fetch *fetch, void *ctx, struct err *err);

/*
 * Decode the registers from the `len` bytes of a `g` packet. A register that the stub does not describe becomes 0, and so does
 * idt_base. Returns 0, or -1 when a described register lies outside of the packet.
 */
int regmap_decode(const struct regmap *map, const uint8_t *bytes, size_t len, struct x86_regs *regs);

/*
 * Store the number, the size in bytes and the value of a register that a client may change when it resumes a CPU
 * (TARGET_RESUME_REGS). `n` is the register's index, from 0, in the list of these registers: the general registers, RIP and
 * RFLAGS. Returns 0, or -1 if the list has no index `n`.
 */
int regmap_writable(const struct regmap *map, unsigned n, const struct x86_regs *regs, unsigned *number, unsigned *size,
		    uint64_t *value);

#endif
