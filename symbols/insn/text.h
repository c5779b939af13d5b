/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Instructions as text for people, in AT&T syntax as objdump and kernel oopses print them. */
#ifndef OUTRIDER_SYMBOLS_INSN_TEXT_H
#define OUTRIDER_SYMBOLS_INSN_TEXT_H

#include "symbols/insn/insn.h"

#define INSN_TEXT_MAX 320 /* bytes, with the NUL */

/* Owns a Capstone handle. Two threads must not use a printer at the same time. */
struct insn_printer;

/* Make a printer. Returns NULL if memory runs out or Capstone cannot be set up. Free it with insn_printer_free(). */
struct insn_printer *insn_printer_new(void);

/* Free a printer. `p` may be NULL. */
void insn_printer_free(struct insn_printer *p);

/*
 * Format an instruction that insn_decode() has decoded: "mov    0x10(%rdi),%eax". `target` is the name to print for the target
 * of a direct call or jump; if it is NULL, the address is printed. An operand relative to RIP gets its address appended after
 * "#". If Capstone does not know the instruction or disagrees about its length, the bytes are printed: ".byte  0x0f,0xb9". The
 * text is printable ASCII if `target` is.
 */
void insn_text(struct insn_printer *p, const struct insn *insn, const char *target, char out[INSN_TEXT_MAX]);

#endif
