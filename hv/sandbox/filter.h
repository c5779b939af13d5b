/* SPDX-License-Identifier: GPL-2.0-or-later */
/* seccomp filters made from the list of system calls, and the handler of forbidden calls. */
#ifndef OUTRIDER_SANDBOX_FILTER_H
#define OUTRIDER_SANDBOX_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/base/err.h"

/*
 * A function that has another process make a forbidden system call, through the file descriptor `opener` that filter_load() was
 * given. Returns false if the other process does not make calls of this number. Otherwise sets *result to the call's result,
 * -errno for an error.
 */
typedef bool filter_stand_in(int opener, int call, const uint64_t args[6], long *result);

/*
 * Install the handler of forbidden system calls for the whole process: the handler has `stand_in` make the call, and ends the
 * process if `stand_in` returns false. `last` is as for sandbox_prepare(). Returns 0, or -1 with EXIT_INTERNAL.
 */
int filter_prepare(void (*last)(void *ctx), void *ctx, filter_stand_in *stand_in, struct err *err);

/*
 * Confine the calling thread to the calls of the kinds in `kinds` (bits, as in calls.h). Threads of CALLS_ASKING may use the
 * opener's socket `opener` (-1: none). If a thread of CALLS_STOOD_IN makes a forbidden call, the function `stand_in` of
 * filter_prepare() has the opener make it. The message about a forbidden call names the thread `name`, which must stay valid.
 * Returns 0, or -1 with EXIT_INPUT.
 */
int filter_load(unsigned kinds, const char *name, int opener, struct err *err);

#endif
