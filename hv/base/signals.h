/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of signals that several parts of Outrider handle or block, and the signal of a kick. */
#ifndef OUTRIDER_BASE_SIGNALS_H
#define OUTRIDER_BASE_SIGNALS_H

#include <signal.h>
#include <stddef.h>

/* Signals of a crash: a thread raises them by a fault of its own or by abort(), and they end the process. */
static const int crash_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};

#define CRASH_SIGNALS (sizeof(crash_signals) / sizeof(crash_signals[0]))

/*
 * Fill `set` with the signals that a thread without signal handling should block: all except crash signals and SIGSYS, which
 * the seccomp filter of the confinement raises. If these were blocked too, a crash or a forbidden system call would end the
 * process without running a handler.
 */
static inline void signals_but_crashes(sigset_t *set)
{
	sigfillset(set);
	for (size_t i = 0; i < CRASH_SIGNALS; i++)
		sigdelset(set, crash_signals[i]);
	sigdelset(set, SIGSYS);
}

/*
 * Returns the signal that makes a vCPU leave KVM_RUN (hv/vmm/kick.c). It is the only signal that the confinement lets a copy of
 * the machine send to the run.
 */
static inline int signals_kick(void)
{
	return SIGRTMIN + 1;
}

#endif
