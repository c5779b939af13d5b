// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks with a child under ptrace: the agent uses breakpoints and debug registers as gdb does. */
#include <errno.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <unistd.h>

#include "agent.h"
#include "debug.h"

/* DR7 for debug register 0: its local enable bit, and its type and length fields (SDM vol. 3, 18.2.4). */
#define DR7_ENABLE 1ul
#define DR7_EXECUTE (DR7_ENABLE)
#define DR7_WRITE_8 (DR7_ENABLE | 1ul << 16 | 2ul << 18)
#define DR7_ACCESS_8 (DR7_ENABLE | 3ul << 16 | 2ul << 18)
#define DR6_REGISTER_0 1ul

static unsigned long debug_register(unsigned int n)
{
	return offsetof(struct user, u_debugreg) + n * sizeof(long);
}

static bool poke_user(pid_t pid, unsigned long where, unsigned long value)
{
	return !ptrace(PTRACE_POKEUSER, pid, where, value);
}

static bool peek_user(pid_t pid, unsigned long where, unsigned long *value)
{
	errno = 0;
	*value = (unsigned long)ptrace(PTRACE_PEEKUSER, pid, where, NULL);
	return !errno;
}

static bool stopped_at(pid_t pid, unsigned long rip)
{
	unsigned long at;

	return peek_user(pid, offsetof(struct user, regs.rip), &at) && at == rip;
}

static bool poke_text(pid_t pid, unsigned long where, long value)
{
	return !ptrace(PTRACE_POKETEXT, pid, where, value);
}

bool check_ptrace_breakpoint(void)
{
	unsigned long where = (unsigned long)debug_step;
	pid_t pid = debug_child();
	long text, trap;
	bool ok = pid > 0;

	errno = 0;
	text = ok ? ptrace(PTRACE_PEEKTEXT, pid, where, NULL) : 0;
	trap = (text & ~0xffl) | 0xcc;
	ok = ok && !errno && poke_text(pid, where, trap);
	for (int i = 0; ok && i < DEBUG_ROUNDS; i++)
		ok = debug_resume(pid, PTRACE_CONT) && stopped_at(pid, where + 1) && poke_text(pid, where, text) &&
		     poke_user(pid, offsetof(struct user, regs.rip), where) && debug_resume(pid, PTRACE_SINGLESTEP) &&
		     !stopped_at(pid, where) && poke_text(pid, where, trap);
	return pid > 0 && debug_finish(pid, ok);
}

/*
 * Start a child with debug register 0 set to `address`, and DR7 set to `dr7`. Returns true if each of the child's DEBUG_ROUNDS
 * calls of debug_step() traps `per_round` times, and DR6 names only debug register 0 each time.
 */
static bool count_register(unsigned long address, unsigned long dr7, unsigned int per_round)
{
	pid_t pid = debug_child();
	unsigned long dr6 = 0;
	bool ok = pid > 0 && poke_user(pid, debug_register(0), address) && poke_user(pid, debug_register(7), dr7);

	for (unsigned int i = 0; ok && i < DEBUG_ROUNDS * per_round; i++) {
		ok = debug_resume(pid, PTRACE_CONT) && peek_user(pid, debug_register(6), &dr6) &&
		     (dr6 & 0xf) == DR6_REGISTER_0 && poke_user(pid, debug_register(6), 0) &&
		     (dr7 != DR7_EXECUTE || stopped_at(pid, address));
		if (!ok)
			say("debug: trap %u of %u is not the expected one: DR6 0x%lx", i + 1, DEBUG_ROUNDS * per_round, dr6);
	}
	return pid > 0 && debug_finish(pid, ok);
}

bool check_ptrace_watch_write(void)
{
	return count_register((unsigned long)&debug_data, DR7_WRITE_8, 1);
}

bool check_ptrace_watch_access(void)
{
	return count_register((unsigned long)&debug_data, DR7_ACCESS_8, 2);
}

bool check_ptrace_execute(void)
{
	return count_register((unsigned long)debug_step, DR7_EXECUTE, 1);
}
