/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The registers of a CPU as gdb numbers them, and the description of them that gdb is given (GDB manual, appendix G). Pure
 * functions.
 */
#ifndef OUTRIDER_REPLAY_GDB_REGS_H
#define OUTRIDER_REPLAY_GDB_REGS_H

#include <stddef.h>
#include <stdint.h>

#include "hv/replay/cpu.h"

#define REGS_BYTES_MAX 1024 /* More than all registers together have. */
#define REGS_ONE_MAX 16	    /* Bytes of the largest one. */
#define REGS_XML_MAX 8192   /* Bytes of the description, with the NUL. */

/* The number of registers. */
unsigned regs_count(void);

/* Bytes of a register in the protocol. `number` is below regs_count(). */
unsigned regs_size(unsigned number);

/* The value of a register in the byte order of the protocol. Returns its size. */
unsigned regs_get(const struct replay_cpu *cpu, unsigned number, uint8_t out[REGS_ONE_MAX]);

/*
 * Set a register. Returns 0, or -1 when it cannot be set: only what a program may change is set, and other registers may be
 * set only to what they are.
 */
int regs_set(struct replay_cpu *cpu, unsigned number, const uint8_t *value);

/* Write the description, target.xml. Returns its length without the NUL. */
size_t regs_describe(char out[REGS_XML_MAX]);

#endif
