/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which system calls a thread of each kind makes. */
#ifndef OUTRIDER_SANDBOX_CALLS_H
#define OUTRIDER_SANDBOX_CALLS_H

#include <seccomp.h>
#include <stddef.h>

#include "hv/sandbox/kinds.h"

/* Bits for sets of kinds: 1u << kind, and these. */
#define CALLS_FETCH (1u << 30) /* What fetches debug files from servers. */
#define CALLS_MAIN (1u << SANDBOX_MAIN)
#define CALLS_NET (1u << SANDBOX_NET)
#define CALLS_UNIX_SOCKETS (1u << SANDBOX_VSOCK | CALLS_FETCH) /* What may make sockets of AF_UNIX. */

/* A system call that a thread of the kinds `kinds` may make when all of its `arg_count` arguments are as `args` says. */
struct call {
	int number;
	unsigned kinds;
	unsigned arg_count;
	struct scmp_arg_cmp args[2];
};

/* The calls, `count` of them. A system call may be there several times: one entry that fits is enough. */
extern const struct call *const calls_list;
extern const size_t calls_count;

#endif
