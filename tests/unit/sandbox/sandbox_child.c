// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/unit/sandbox/sandbox_child.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

const char *const sandbox_kinds[] = {"vcpu",  "input",	 "console", "stopper", "blk",	   "net",  "rng",
				     "vsock", "sampler", "report",  "copy",    "debugger", "main", "network process"};

bool can_confine(void)
{
	char why[96];

	return sandbox_available(why, sizeof(why));
}

int in_child(const struct sandbox_config *config, enum sandbox_kind kind, deed *act, void *arg, char *said, size_t size)
{
	int ends[2], status;
	size_t used = 0;
	ssize_t n;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		dup2(ends[1], STDERR_FILENO);
		close(ends[0]);
		close(ends[1]);
		if (sandbox_prepare(NULL, NULL, NULL) < 0)
			_exit(100);
		if (kind == SANDBOX_MAIN && sandbox_enter(config, NULL) < 0)
			_exit(101);
		if (kind == NETWORK_PROCESS && sandbox_network_process(getppid(), NULL, 0, (size_t)512 << 20, NULL) < 0)
			_exit(102);
		if (kind < SANDBOX_MAIN)
			sandbox_thread(kind);
		_exit(act(arg));
	}
	close(ends[1]);
	while ((n = read(ends[0], said + used, size - 1 - used)) > 0)
		used += (size_t)n;
	said[used] = '\0';
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

void assert_stopped(enum sandbox_kind kind, deed *act, void *arg, const char *call)
{
	static const struct sandbox_config config = {.used = ALL_KINDS};
	char said[1024], wanted[160];
	int status = in_child(&config, kind, act, arg, said, sizeof(said));

	snprintf(wanted, sizeof(wanted),
		 "outrider: the sandbox stopped the thread %s, which must not make the system call %s:", sandbox_kinds[kind],
		 call);
	if (!strstr(said, wanted))
		print_error("wanted: %s\nsaid: %s\n", wanted, said);
	assert_non_null(strstr(said, wanted));
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), EXIT_INTERNAL);
}
