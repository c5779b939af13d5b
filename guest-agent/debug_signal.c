// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks that the agent gets a SIGTRAP for each trap (#BP, #DB) that it causes in its own code. */
#include <signal.h>
#include <string.h>
#include <sys/ucontext.h>
#include <ucontext.h>

#include "agent.h"
#include "debug.h"

/* Exception vectors (#DB and #BP). The kernel stores the vector in REG_TRAPNO of the signal's context. */
#define TRAP_DB 1
#define TRAP_BP 3
#define EFLAGS_TF 0x100

/* The traps that the handler counted. At file scope, because a signal handler gets no pointer from the program. */
static volatile struct {
	unsigned int breakpoints, steps, other;
	greg_t rip;
} seen;

static void on_trap(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	greg_t vector = uc->uc_mcontext.gregs[REG_TRAPNO];

	(void)sig;
	seen.rip = uc->uc_mcontext.gregs[REG_RIP];
	if (vector == TRAP_BP && info->si_code == SI_KERNEL)
		seen.breakpoints++;
	else if (vector == TRAP_DB && info->si_code == TRAP_TRACE)
		seen.steps++;
	else
		seen.other++;
}

static bool report_seen(bool ok)
{
	if (!ok)
		say("debug: not the expected traps: %u breakpoints, %u steps, %u other traps, the last at 0x%llx",
		    seen.breakpoints, seen.steps, seen.other, (unsigned long long)seen.rip);
	return ok;
}

static bool install_handler(void)
{
	struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};

	seen.breakpoints = seen.steps = seen.other = 0;
	return !sigaction(SIGTRAP, &action, NULL);
}

bool check_int3_handler(void)
{
	bool ok = install_handler();

	for (int i = 0; ok && i < DEBUG_ROUNDS; i++) {
		greg_t after;

		__asm__ volatile("leaq 1f(%%rip), %0\n\tint3\n1:" : "=&r"(after) : : "memory");
		ok = seen.rip == after && seen.breakpoints == (unsigned int)i + 1 && !seen.other && !seen.steps;
	}
	return report_seen(ok);
}

/*
 * Single-step a few instructions of the agent itself: one POPF sets TF, and a second clears TF. A trap follows each of the four
 * instructions after the first POPF.
 */
bool check_trap_flag(void)
{
	bool ok = install_handler();

	for (int i = 0; ok && i < DEBUG_ROUNDS; i++) {
		unsigned int before = seen.steps;

		__asm__ volatile("leaq -128(%%rsp), %%rsp\n\t" /* skip the red zone, which pushes would overwrite */
				 "pushfq\n\torq %0, (%%rsp)\n\tpopfq\n\t"
				 "nop\n\t"
				 "pushfq\n\tandq %1, (%%rsp)\n\tpopfq\n\t"
				 "leaq 128(%%rsp), %%rsp"
				 :
				 : "i"(EFLAGS_TF), "i"(~EFLAGS_TF)
				 : "memory", "cc");
		ok = seen.steps - before == 4 && !seen.other && !seen.breakpoints;
	}
	return report_seen(ok);
}
