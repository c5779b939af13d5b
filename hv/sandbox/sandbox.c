// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Confines this process and its threads. sandbox.h says what a confined thread cannot do, and in which order the functions must
 * be called.
 */
#include "hv/sandbox/sandbox.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "hv/base/die_with.h"
#include "hv/sandbox/calls.h"
#include "hv/sandbox/filter.h"
#include "hv/sandbox/opener.h"
#include "hv/sandbox/privileges.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/*
 * Longest wait for the opener (opener.h), which writes files for this process, to end. A disk takes some seconds to wake from
 * standby. An opener that waits for a dead file server is left running after this time.
 */
#define OPENER_END_MS 30000

#define NO_LANDLOCK "the host's kernel offers no Landlock"

static const char *const kind_names[] = {
	[SANDBOX_VCPU] = "vcpu",       [SANDBOX_INPUT] = "input", [SANDBOX_CONSOLE] = "console",
	[SANDBOX_STOPPER] = "stopper", [SANDBOX_BLK] = "blk",	  [SANDBOX_NET] = "net",
	[SANDBOX_RNG] = "rng",	       [SANDBOX_VSOCK] = "vsock", [SANDBOX_SAMPLER] = "sampler",
	[SANDBOX_REPORTER] = "report", [SANDBOX_COPY] = "copy",	  [SANDBOX_DEBUGGER] = "debugger",
	[SANDBOX_MAIN] = "main",
};

/*
 * Static, because confinement is a property of the process, as its signal handlers are. sandbox_prepare() writes this while the
 * process has one thread; afterwards any thread reads it.
 */
static struct {
	atomic_bool prepared;
	atomic_bool fetch;
	struct descriptors inherited;
	struct helper opener;
	pid_t pid; /* the process that started the opener */
} process;

bool sandbox_available(char *why, size_t size)
{
	bool works = !SANITIZED && prctl(PR_GET_SECCOMP) >= 0;

	if (SANITIZED)
		snprintf(why, size, "not in a build with a sanitizer");
	else if (!works)
		snprintf(why, size, "the host's kernel has no seccomp (CONFIG_SECCOMP_FILTER)");
	else
		snprintf(why, size, "a system call that a thread does not need ends the run");
	return works;
}

bool sandbox_bounds_files(char *why, size_t size)
{
	bool works = privileges_bound_files();

	snprintf(why, size, "%s",
		 works ? "the kernel lets a run write only the files that it was configured with"
		       : NO_LANDLOCK
			 "; Linux 5.13 does, with CONFIG_SECURITY_LANDLOCK and landlock in the kernel parameter lsm=");
	return works;
}

bool sandbox_missing(char line[SANDBOX_MISSING_MAX])
{
	snprintf(line, SANDBOX_MISSING_MAX, "%s",
		 NO_LANDLOCK ", so filters of system calls alone keep this run from your files: docs/security.md says what a "
			     "guest that breaks out could then reach");
	return !privileges_bound_files();
}

int sandbox_no_new_privileges(struct err *err)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_set(err, EXIT_INTERNAL, "PR_SET_NO_NEW_PRIVS failed: %s", strerror(errno));
	return 0;
}

/* Allocates and frees 4 MiB, more than malloc() caches for a thread, so that free() returns memory to the kernel. */
static void *return_memory(void *unused)
{
	static const size_t size = 1 << 16;
	void *volatile piece[64];

	for (size_t i = 0; i < 64; i++)
		piece[i] = malloc(size);
	for (size_t i = 64; i-- > 0;)
		free(piece[i]);
	return unused;
}

/*
 * Make the C library read /proc/sys/vm/overcommit_memory now, because most threads must not open files later. The C library
 * reads this file when it first returns memory of a thread other than the main thread, and caches the content for all threads.
 */
static int let_library_look(struct err *err)
{
	pthread_t thread;
	int rc = pthread_create(&thread, NULL, return_memory, NULL);

	if (rc == 0)
		rc = pthread_join(thread, NULL);
	return rc ? err_set(err, EXIT_INTERNAL, "cannot start a thread: %s", strerror(rc)) : 0;
}

int sandbox_prepare(void (*last)(void *ctx), void *ctx, struct err *err)
{
	char why[96];

	if (SANITIZED)
		return 0;
	if (!sandbox_available(why, sizeof(why)))
		return err_set(err, EXIT_INPUT, "no sandbox: %s; --no-sandbox runs without it", why);
	if (sandbox_no_new_privileges(err) < 0)
		return -1;
	/* The C library reads /etc/localtime at the first conversion of a time, on any thread. Make it do so now. */
	tzset();
	if (let_library_look(err) < 0)
		return -1;
	if (descriptors_read(&process.inherited, err) < 0 || helper_start(&process.opener, opener_serve, NULL, err) < 0 ||
	    filter_prepare(last, ctx, opener_stands_in, err) < 0)
		return -1;
	process.pid = getpid();
	atomic_store(&process.prepared, true);
	return 0;
}

int sandbox_drop(struct err *err)
{
	if (!atomic_load(&process.prepared))
		return 0;
	descriptors_close(&process.inherited);
	privileges_limit();
	return privileges_drop(err);
}

struct deed {
	int (*act)(void *ctx, struct err *err);
	void *ctx;
	struct err *err;
	int rc;
};

/*
 * Body of a thread that drops its privileges and then calls the function of sandbox_as_user(): a thread cannot get its
 * privileges back.
 */
static void *act_as_user(void *arg)
{
	struct deed *deed = arg;

	deed->rc = privileges_drop(deed->err) < 0 ? -1 : deed->act(deed->ctx, deed->err);
	return NULL;
}

int sandbox_as_user(int (*act)(void *ctx, struct err *err), void *ctx, struct err *err)
{
	struct deed deed = {.act = act, .ctx = ctx, .err = err};
	pthread_t thread;
	int rc;

	if (!atomic_load(&process.prepared) || !privileges_for_caller())
		return act(ctx, err);
	rc = pthread_create(&thread, NULL, act_as_user, &deed);
	if (rc == 0)
		rc = pthread_join(thread, NULL);
	return rc ? err_set(err, EXIT_INTERNAL, "cannot start a thread: %s", strerror(rc)) : deed.rc;
}

int sandbox_enter(const struct sandbox_config *config, struct err *err)
{
	const struct opener_config asked = {config->writes, config->write_count, config->folder, config->calls};

	if (!atomic_load(&process.prepared))
		return 0;
	atomic_store(&process.fetch, config->fetch);
	if (opener_tell(process.opener.socket, &asked, err) < 0)
		return -1;
	/*
	 * Forbid writing: the opener opens files for this process. But libdebuginfod, which fetches debug files, writes to a
	 * cache in a folder that may not exist yet, so a run that uses it is not limited.
	 */
	if (!config->fetch && privileges_write_only(NULL, 0, err) < 0)
		return -1;
	return filter_load(config->used | CALLS_MAIN | (config->fetch ? CALLS_FETCH : 0), kind_names[SANDBOX_MAIN],
			   process.opener.socket, err);
}

int sandbox_network_process(pid_t parent, const char *const *reads, size_t count, size_t memory, struct err *err)
{
	/* Keep other processes of the user from reading this process's memory through /proc. */
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	prctl(PR_SET_NAME, "network", 0, 0, 0);
	if (sandbox_no_new_privileges(err) < 0)
		return -1;
	if (!atomic_load(&process.prepared))
		return 0;
	if (privileges_drop(err) < 0 || privileges_none(err) < 0)
		return -1;
	/* Set the death signal again: a change of the user clears it (prctl(2), PR_SET_PDEATHSIG). */
	die_with(parent);
	privileges_limit();
	privileges_limit_memory(memory);
	if (privileges_read_only(reads, count, err) < 0)
		return -1;
	return filter_load(CALLS_NETWORK, "network process", -1, err);
}

void sandbox_finish(void)
{
	helper_stop(&process.opener, OPENER_END_MS);
}

int sandbox_call(const char *path, uint32_t port)
{
	return atomic_load(&process.prepared) ? opener_call(process.opener.socket, port) : opener_connect(path, port);
}

void sandbox_thread(enum sandbox_kind kind)
{
	bool fetches = kind == SANDBOX_SAMPLER || kind == SANDBOX_REPORTER;
	struct err err = {0};

	if (!atomic_load(&process.prepared))
		return;
	/* A copy makes no requests to the opener, so it closes its descriptor of the socket. */
	if (kind == SANDBOX_COPY && getpid() != process.pid)
		close(process.opener.socket);
	/*
	 * A thread without a filter may have been started before sandbox_drop(): it then still has the process's first
	 * privileges.
	 */
	if (prctl(PR_GET_SECCOMP) == 0 && privileges_none(&err) < 0)
		goto fail;
	if (filter_load(1u << kind | (fetches && atomic_load(&process.fetch) ? CALLS_FETCH : 0), kind_names[kind],
			process.opener.socket, &err) == 0)
		return;
fail:
	dprintf(STDERR_FILENO, "outrider: thread %s: %s\n", kind_names[kind], err.text);
	_exit(EXIT_INTERNAL);
}
