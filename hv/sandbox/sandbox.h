/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Confinement of this process, so that a guest that has taken over one of its threads gains little. The process drops the
 * privileges that it was started with (capabilities(7)), cannot gain any (PR_SET_NO_NEW_PRIVS), and cannot create or change
 * files (landlock(7)). Each thread can make only the system calls that a thread of its kind needs (seccomp(2)). A helper
 * process opens the few files that a run writes (opener.h): it makes open(2), rename(2) and unlink(2) for the threads that
 * write files, transparently to them. docs/security.md says which attacks this stops.
 *
 * A system call that is not in a thread's list ends the process with EXIT_INTERNAL and a line on standard error that names the
 * thread and the call. It never fails silently.
 *
 * The order of calls: sandbox_prepare() while the process has one thread; sandbox_drop() on the same thread when everything
 * that needs privileges is open; sandbox_enter() on the same thread when everything else is open; and sandbox_thread() on each
 * other thread when that thread starts, at any time. A process that does not call sandbox_prepare() is not confined, and all
 * other calls do nothing. Programs that are built with a sanitizer are not confined either, because sanitizers make system
 * calls of their own.
 */
#ifndef OUTRIDER_SANDBOX_SANDBOX_H
#define OUTRIDER_SANDBOX_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "hv/base/err.h"
#include "hv/sandbox/kinds.h"

struct sandbox_config {
	/* The kinds of threads that will be started: a bit (1u << kind) for each. */
	unsigned used;
	/* The sampler and the reporter may fetch debug files from servers. */
	bool fetch;
	/*
	 * The `write_count` files that will be written. Each may be created and removed, and so may FILE.next, which may be
	 * renamed to FILE or exchanged with it. NULL: none.
	 */
	const char *const *writes;
	size_t write_count;
	/* A folder in which files of any name may be created, renamed and removed. NULL: none. */
	const char *folder;
	/* A path: the process may connect to each Unix socket PATH_PORT, with any number as PORT. NULL: to none. */
	const char *calls;
};

/*
 * Returns true if this build and the host's kernel can confine a process. Writes into `why`, of `size` bytes, a short text on
 * what is available or missing; `why` may be NULL if `size` is 0.
 */
bool sandbox_available(char *why, size_t size);

/*
 * Returns true if the host's kernel has Landlock. Without Landlock, only system call filters keep a run from files. Writes a
 * short text on this into `why`, of `size` bytes; `why` may be NULL if `size` is 0.
 */
bool sandbox_bounds_files(char *why, size_t size);

#define SANDBOX_MISSING_MAX 256

/* Write a message for the user about confinement that this host lacks. Returns false if this host lacks none. */
bool sandbox_missing(char line[SANDBOX_MISSING_MAX]);

/*
 * Make the process unable to gain privileges, record the file descriptors that it has inherited, and let sandbox_thread()
 * confine threads from now on. Before a forbidden system call ends the process, `last` is called in a signal handler on the
 * thread that made the call. `last` may set a terminal's mode, and do nothing else; it may be NULL. Returns 0, or -1 with err
 * set: EXIT_INPUT if the host cannot confine a process.
 */
int sandbox_prepare(void (*last)(void *ctx), void *ctx, struct err *err);

/*
 * For a process that is not confined otherwise: make the calling thread, and threads that it starts later, unable to gain
 * privileges. Returns 0, or -1 with EXIT_INTERNAL.
 */
int sandbox_no_new_privileges(struct err *err);

/*
 * Close the inherited file descriptors above 2, lower the limits of the process, and drop privileges. If root runs the process
 * for a user who called sudo(8), the calling thread gets that user and that user's groups. If root runs it for no other user,
 * the thread stays root's, with only the capability CAP_DAC_OVERRIDE, which allows root to write a report to any place. User
 * and capabilities change for the calling thread and for threads that it starts later. Threads that were started earlier keep
 * their user, and drop their capabilities in sandbox_thread(). Returns 0, or -1 with err set.
 */
int sandbox_drop(struct err *err);

/*
 * Call act() with the user and the groups that sandbox_drop() gives the calling thread, before or after sandbox_drop(), so that
 * files which act() creates belong to that user. If the calling thread still runs as another user, act() runs on a thread of
 * its own, and this function waits for it. Returns what act() returns, or -1 with err set if act() could not be called.
 */
int sandbox_as_user(int (*act)(void *ctx, struct err *err), void *ctx, struct err *err);

/*
 * Confine the calling thread permanently. Threads that it starts later inherit the confinement. Returns 0, or -1 with err set.
 */
int sandbox_enter(const struct sandbox_config *config, struct err *err);

/*
 * Connect to the Unix socket PATH_PORT. In a confined process the opener connects, and `path` must be the `calls` of
 * sandbox_enter(). Returns a non-blocking file descriptor, or -1 with errno set.
 */
int sandbox_call(const char *path, uint32_t port);

/*
 * End the opener, so that it does not outlive the run. Every request to the opener fails from then on. If a process ends
 * without this call, the opener ends shortly after that process.
 */
void sandbox_finish(void);

/*
 * Confine the calling process permanently. It must be a helper of the run (helper.h) that connects a guest to networks, and
 * that the process `parent` forked after sandbox_prepare(). The helper gets the user that sandbox_drop() gives, and no
 * capability. It may use sockets of IPv4 and IPv6, read files only in the folders of the `count` files of `reads` (with
 * Landlock), and allocate at most `memory` bytes. If `parent` is not confined, the helper only becomes unable to gain
 * privileges, and other processes of the user cannot read its memory. Returns 0, or -1 with err set.
 */
int sandbox_network_process(pid_t parent, const char *const *reads, size_t count, size_t memory, struct err *err);

/* Confine the calling thread permanently to what a thread of that kind needs. Ends the process on failure. */
void sandbox_thread(enum sandbox_kind kind);

#endif
