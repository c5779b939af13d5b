/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The registers of a CPU in gdb's numbering, and the target description of them for gdb (GDB manual, appendix G). The functions
 * have no side effects.
 */
#ifndef OUTRIDER_REPLAY_GDB_REGS_H
#define OUTRIDER_REPLAY_GDB_REGS_H

#include <stddef.h>
#include <stdint.h>

#include "hv/replay/cpu.h"

#define REGS_BYTES_MAX 1024 /* bytes; all registers together have fewer */
#define REGS_ONE_MAX 16	    /* bytes of the largest register */
#define REGS_XML_MAX 8192   /* bytes of the description, with the NUL */

/* Returns the number of registers. */
unsigned regs_count(void);

/* Returns the bytes that a register has in the protocol. `number` must be below regs_count(). */
unsigned regs_size(unsigned number);

/* Store the value of a register in `out`, in the byte order of the protocol. Returns its size in bytes. */
unsigned regs_get(const struct replay_cpu *cpu, unsigned number, uint8_t out[REGS_ONE_MAX]);

/*
 * Set a register. Returns 0, or -1 when it cannot be set. Only registers that a program may change can be changed; for other
 * registers, only their present value is accepted.
 */
int regs_set(struct replay_cpu *cpu, unsigned number, const uint8_t *value);

/* Write the description, target.xml. Returns its length without the NUL. */
size_t regs_describe(char out[REGS_XML_MAX]);

#endif
