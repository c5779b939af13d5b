/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The condition codes of x86-64, for the tables of instructions. Private to symbols/insn. */
#ifndef OUTRIDER_SYMBOLS_INSN_CONDITIONS_H
#define OUTRIDER_SYMBOLS_INSN_CONDITIONS_H

/*
 * Expands to X(name, value) for each of the sixteen condition codes that Jcc, SETcc and CMOVcc share. Each name begins with
 * `prefix`.
 */
#define INSN_ALL_CC(X, prefix, value)                                                                                       \
	X(prefix##O, value), X(prefix##NO, value), X(prefix##B, value), X(prefix##AE, value), X(prefix##E, value),          \
		X(prefix##NE, value), X(prefix##BE, value), X(prefix##A, value), X(prefix##S, value), X(prefix##NS, value), \
		X(prefix##P, value), X(prefix##NP, value), X(prefix##L, value), X(prefix##GE, value), X(prefix##LE, value), \
		X(prefix##G, value)

#endif
