/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The checks of the workload "debug", which uses breakpoints, watchpoints and single-stepping on itself and on its children in
 * the guest's user space. Outrider uses the same features of the CPU (INT3, #DB and the debug registers), and they must keep
 * working for the guest. A check returns true if every trap came once and at the right place, and otherwise false.
 */
#ifndef OUTRIDER_DEBUG_H
#define OUTRIDER_DEBUG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define DEBUG_ROUNDS 50

/*
 * check_int3_handler() checks an INT3, and check_trap_flag() single-stepping by EFLAGS.TF. A SIGTRAP handler of the agent
 * itself counts the traps.
 */
bool check_int3_handler(void);
bool check_trap_flag(void);

/*
 * These four functions check the traps of a child under ptrace, which calls debug_step() DEBUG_ROUNDS times. For each call,
 * check_ptrace_breakpoint() writes an INT3 into the child's text, removes it for one single-step, and writes it again. The
 * other three set debug register 0 to trap on a write, an access or an execution.
 */
bool check_ptrace_breakpoint(void);
bool check_ptrace_watch_write(void);
bool check_ptrace_watch_access(void);
bool check_ptrace_execute(void);

/* Check that a PERF_TYPE_BREAKPOINT event of perf_event_open() counts each store of the program to debug_data. */
bool check_perf_breakpoint(void);

/* The code and the data on which the checks trap. debug_step() stores to debug_data once, and then loads it once. */
extern volatile uint64_t debug_data;
void debug_step(void);

/*
 * Start a child under ptrace, and wait until it has stopped. When resumed, the child calls debug_step() DEBUG_ROUNDS times and
 * exits with status 0. Returns the child's process id, or -1.
 */
pid_t debug_child(void);

/*
 * Resume the child by the ptrace request `request`, and wait until the child stops or ends. Returns true if it stopped with
 * SIGTRAP. Otherwise writes a line and returns false.
 */
bool debug_resume(pid_t pid, int request);

/* If `ok`, let the child run to its end, else kill it. Returns true if `ok` is true and the child exited with status 0. */
bool debug_finish(pid_t pid, bool ok);

#endif
