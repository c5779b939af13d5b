/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The system calls that threads of each kind may make. */
#ifndef OUTRIDER_SANDBOX_CALLS_H
#define OUTRIDER_SANDBOX_CALLS_H

#include <seccomp.h>
#include <stddef.h>

#include "hv/sandbox/kinds.h"

/*
 * A set of kinds of threads is a mask: the bit 1u << kind for each enum sandbox_kind (kinds.h), and the bits 28 to 30 for kinds
 * that this enum lacks.
 */
#define CALLS_FETCH (1u << 30)	 /* Threads that fetch debug files from servers. */
#define CALLS_OPENER (1u << 29)	 /* The process that opens files for the run (opener.h). */
#define CALLS_NETWORK (1u << 28) /* The process that speaks to networks for a guest. */
#define CALLS_MAIN (1u << SANDBOX_MAIN)
#define CALLS_COPY (1u << SANDBOX_COPY)
#define CALLS_UNIX_SOCKETS (CALLS_OPENER | CALLS_FETCH) /* Threads that may make sockets of AF_UNIX. */
/*
 * CALLS_STOOD_IN: threads for which the opener (opener.h) makes the file system calls that are forbidden to them. CALLS_ASKING:
 * threads that may send requests to the opener.
 */
#define CALLS_STOOD_IN (1u << SANDBOX_REPORTER | CALLS_MAIN)
#define CALLS_ASKING (CALLS_STOOD_IN | 1u << SANDBOX_VSOCK)

/* A system call that threads of the kinds `kinds` may make if all `arg_count` conditions on its arguments in `args` hold. */
struct call {
	int number;
	unsigned kinds;
	unsigned arg_count;
	struct scmp_arg_cmp args[2];
};

/*
 * The list of allowed system calls, and the number of its entries, `calls_count`. A system call may have several entries in
 * calls_list[]. The call is allowed if the conditions of at least one of these entries hold.
 */
extern const struct call *const calls_list;
extern const size_t calls_count;

#endif
