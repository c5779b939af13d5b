/* SPDX-License-Identifier: GPL-2.0-or-later */
/* seccomp filters made of the list of system calls, and what happens when one is broken. */
#ifndef OUTRIDER_SANDBOX_FILTER_H
#define OUTRIDER_SANDBOX_FILTER_H

#include "hv/base/err.h"

/*
 * Install the handler by which a forbidden system call ends the process, for the whole process. `last` is as sandbox_prepare()
 * says. Returns 0, or -1 with EXIT_INTERNAL.
 */
int filter_prepare(void (*last)(void *ctx), void *ctx, struct err *err);

/*
 * Let the calling thread make only the calls of the kinds in `kinds` (bits, as in calls.h). `name` is what the line about a
 * forbidden call names the thread, and must last. Returns 0, or -1 with EXIT_INPUT.
 */
int filter_load(unsigned kinds, const char *name, struct err *err);

#endif
