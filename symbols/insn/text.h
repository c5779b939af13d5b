/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Instructions as text for people, in the syntax of the GNU assembler (AT&T), as objdump and kernel oopses have them. */
#ifndef OUTRIDER_SYMBOLS_INSN_TEXT_H
#define OUTRIDER_SYMBOLS_INSN_TEXT_H

#include "symbols/insn/insn.h"

#define INSN_TEXT_MAX 320 /* bytes, with the NUL */

/* Owns a Capstone handle. A printer must not be used by two threads at a time. */
struct insn_printer;

/* Returns NULL when memory is out or Capstone cannot be set up. */
struct insn_printer *insn_printer_new(void);

/* `p` may be NULL. */
void insn_printer_free(struct insn_printer *p);

/*
 * Write down an instruction that insn_decode() has decoded: "mov    0x10(%rdi),%eax". `target` is what a direct call or jump
 * goes to, as people call it; NULL: its address is written. An operand relative to RIP has its address behind a "#". What
 * Capstone does not know, or takes to be of another length, is written as its bytes: ".byte  0x0f,0xb9". The text is printable
 * ASCII if `target` is.
 */
void insn_text(struct insn_printer *p, const struct insn *insn, const char *target, char out[INSN_TEXT_MAX]);

#endif
