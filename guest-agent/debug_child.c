// SPDX-License-Identifier: GPL-2.0-or-later
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent.h"
#include "debug.h"

volatile uint64_t debug_data;

__attribute__((noinline)) void debug_step(void)
{
	uint64_t value;

	debug_data = 1;
	value = debug_data;
	__asm__ volatile("" : : "r"(value));
}

pid_t debug_child(void)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(1);
		raise(SIGSTOP);
		for (int i = 0; i < DEBUG_ROUNDS; i++)
			debug_step();
		_exit(0);
	}
	if (pid > 0 && waitpid(pid, &status, 0) == pid && WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP)
		return pid;
	return -1;
}

bool debug_resume(pid_t pid, int request)
{
	int status = 0;

	if (!ptrace(request, pid, NULL, NULL) && waitpid(pid, &status, 0) == pid && WIFSTOPPED(status) &&
	    WSTOPSIG(status) == SIGTRAP)
		return true;
	say("debug: the child did not stop with SIGTRAP: wait status 0x%x", (unsigned int)status);
	return false;
}

bool debug_finish(pid_t pid, bool ok)
{
	int status;

	if (!ok || ptrace(PTRACE_CONT, pid, NULL, NULL))
		kill(pid, SIGKILL);
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status) && ok;
}
