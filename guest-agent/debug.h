/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The checks of the workload "debug", which debugs itself in the guest's user space. What Outrider borrows from the CPU (INT3,
 * #DB and the debug registers) must keep working for the guest. A check returns true when every trap came once and at the right
 * place; otherwise it returns false, and may say a line.
 */
#ifndef OUTRIDER_DEBUG_H
#define OUTRIDER_DEBUG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define DEBUG_ROUNDS 50

/* An INT3, and single-stepping by EFLAGS.TF. Each trap goes to the program's own SIGTRAP handler. */
bool check_int3_handler(void);
bool check_trap_flag(void);

/*
 * A child under ptrace. The first check writes an INT3 into the child's text, steps over it and puts it back, each round. The
 * others use a data or execute debug register.
 */
bool check_ptrace_breakpoint(void);
bool check_ptrace_watch_write(void);
bool check_ptrace_watch_access(void);
bool check_ptrace_execute(void);

/* A PERF_TYPE_BREAKPOINT event of perf_event_open() that counts the program's own stores. */
bool check_perf_breakpoint(void);

/* The code and the data on which the checks trap. debug_step() stores to debug_data once, and then loads it once. */
extern volatile uint64_t debug_data;
void debug_step(void);

/*
 * Start a child under ptrace, and wait until it has stopped. It will call debug_step() DEBUG_ROUNDS times and exit with status
 * 0. Returns -1 when that fails.
 */
pid_t debug_child(void);

/* Resume the child by the ptrace request, and wait. Returns true when it stopped with SIGTRAP, else says a line. */
bool debug_resume(pid_t pid, int request);

/* Let the child run to its end if `ok`, else kill it. Returns true when it exited with status 0 and `ok` is true. */
bool debug_finish(pid_t pid, bool ok);

#endif
