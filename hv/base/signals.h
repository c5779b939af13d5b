/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OUTRIDER_BASE_SIGNALS_H
#define OUTRIDER_BASE_SIGNALS_H

#include <signal.h>
#include <stddef.h>

/* The signals by which the kernel or the C library ends a process because of what one of its threads did. */
static const int crash_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};

#define CRASH_SIGNALS (sizeof(crash_signals) / sizeof(crash_signals[0]))

/*
 * Fill `set` with what a thread blocks that takes no signals: all but those of a crash. A thread that blocks these too ends the
 * process all the same, but no handler runs before.
 */
static inline void signals_but_crashes(sigset_t *set)
{
	sigfillset(set);
	for (size_t i = 0; i < CRASH_SIGNALS; i++)
		sigdelset(set, crash_signals[i]);
}

#endif
