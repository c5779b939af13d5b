/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guest user space that debugs itself: everything Outrider borrows from the CPU (INT3, #DB, debug registers) must keep working
 * for its owners. Each check returns true when every trap came once, at the right place.
 */
#ifndef OUTRIDER_DEBUG_H
#define OUTRIDER_DEBUG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define DEBUG_ROUNDS 50

/* INT3 and single-step (EFLAGS.TF) handled by the program's own SIGTRAP handler. */
bool check_int3_handler(void);
bool check_trap_flag(void);

/* Under ptrace: an INT3 poked into the child's text, single-stepped over and put back; data and execute debug registers. */
bool check_ptrace_breakpoint(void);
bool check_ptrace_watch_write(void);
bool check_ptrace_watch_access(void);
bool check_ptrace_execute(void);

/* perf_event_open(PERF_TYPE_BREAKPOINT) counting the program's own stores. */
bool check_perf_breakpoint(void);

/* The code and the data that are trapped on. debug_step() stores debug_data once, then loads it once. */
extern volatile uint64_t debug_data;
void debug_step(void);

/* A traced child, stopped before its first debug_step(); it calls that DEBUG_ROUNDS times and exits with status 0. */
pid_t debug_child(void);

/* Resumes the child and waits: true when it stopped with SIGTRAP. */
bool debug_resume(pid_t pid, int request);

/* Lets the child go, and true when it then exited with status 0. A child that is lost is killed. */
bool debug_finish(pid_t pid, bool ok);

#endif
