// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/replay/again.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "hv/base/die_with.h"
#include "hv/replay/holder.h"
#include "hv/replay/process.h"
#include "hv/sandbox/sandbox.h"

int again_start(const struct run_plan *plan, struct replay_job *job, struct err *err)
{
	pid_t parent = getpid(), pid;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_set(err, EXIT_INTERNAL, "replay: pipe: %s", strerror(errno));
	pid = fork();
	if (pid == 0) {
		die_with(parent);
		sandbox_thread(SANDBOX_COPY);
		holder_run_orders(plan, NULL, ends[1]);
	}
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return err_set(err, EXIT_INTERNAL, "replay: fork: %s", strerror(errno));
	}
	*job = (struct replay_job){.pid = pid, .fd = ends[0], .go = -1};
	return 0;
}
