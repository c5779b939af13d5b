/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Confinement of this process, so that a guest that has taken over one of its threads gains little by it. The process gives up
 * privileges that it was started with (capabilities(7)), can gain none (PR_SET_NO_NEW_PRIVS), writes files only where it was
 * told to (landlock(7)), and each thread makes only the system calls that a thread of its kind needs (seccomp(2)).
 * docs/security.md tells what this stands in the way of.
 *
 * A system call that is not in a thread's list ends the process with EXIT_INTERNAL and a line on standard error that names the
 * thread and the call. It never fails in silence.
 *
 * The order of calls: sandbox_prepare() while there is one thread; sandbox_drop() on the same thread when all is open that
 * needs privileges; sandbox_enter() on it when all else is open; and sandbox_thread() by each other thread when it begins,
 * whenever that is. A process that does not call sandbox_prepare() is not confined, and all other calls do nothing there. So it
 * is in programs that are built with a sanitizer, since sanitizers make system calls of their own.
 */
#ifndef OUTRIDER_SANDBOX_SANDBOX_H
#define OUTRIDER_SANDBOX_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

#include "hv/base/err.h"
#include "hv/sandbox/kinds.h"

struct sandbox_config {
	/* The kinds of threads that there will be: a bit (1u << kind) for each. */
	unsigned used;
	/* The sampler and the reporter may fetch debug files from servers. */
	bool fetch;
	/* Files that will be written, `write_count` of them: each may be created, renamed and removed in its folder. NULL:
	 * none. */
	const char *const *writes;
	size_t write_count;
};

/*
 * Say whether this build and the host's kernel can confine a process. `why` becomes a few words on what there is, or on what is
 * missing, of at most `size` bytes; it may be NULL where `size` is 0.
 */
bool sandbox_available(char *why, size_t size);

/*
 * Make the process unable to gain privileges, note which descriptors it has inherited, and let sandbox_thread() confine threads
 * from now on. `last` is called before a forbidden system call ends the process, on the thread that made the call, in a signal
 * handler; it may set a terminal's mode, and nothing else. NULL: nothing is called. Returns 0, or -1 with EXIT_INPUT when the
 * host cannot do it.
 */
int sandbox_prepare(void (*last)(void *ctx), void *ctx, struct err *err);

/*
 * Of a process that is not confined otherwise: make the calling thread, and threads that it starts later, unable to gain
 * privileges. Returns 0, or -1 with EXIT_INTERNAL.
 */
int sandbox_no_new_privileges(struct err *err);

/*
 * Close the descriptors above 2 that the process has inherited, lower its limits, and give up privileges. Where root runs the
 * process, user and groups become those of the user who called sudo(8), if somebody did; otherwise the thread stays root's,
 * with no capability but CAP_DAC_OVERRIDE, by which root writes a report wherever it likes. User and capabilities are those of
 * the calling thread and of threads that it starts later: threads that were started before keep the user, and give up their
 * capabilities by sandbox_thread(). Returns 0, or -1 with err set.
 */
int sandbox_drop(struct err *err);

/*
 * Call act() with the user and the groups that sandbox_drop() is going to give the calling thread, or has given it, so that
 * what it makes in the file system belongs to this user. It runs on a thread of its own where that is another user than now,
 * and the call waits for it. Returns what act() returns, or -1 with err set when it could not be called.
 */
int sandbox_as_user(int (*act)(void *ctx, struct err *err), void *ctx, struct err *err);

/* Confine the calling thread for good. Threads that it starts later inherit it. Returns 0, or -1 with err set. */
int sandbox_enter(const struct sandbox_config *config, struct err *err);

/* Confine the calling thread to what a thread of that kind does, for good. It ends the process when that fails. */
void sandbox_thread(enum sandbox_kind kind);

#endif
