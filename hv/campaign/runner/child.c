// SPDX-License-Identifier: GPL-2.0-or-later
/* Starts and ends the processes of one run: the program, and its supervisor. */
#include "hv/campaign/runner/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hv/base/clock.h"
#include "hv/campaign/runner/supervisor.h"
#include "hv/campaign/runner/processes.h"
#include "hv/campaign/runner/spool.h"

#define OTHERS_WAIT_NS UINT64_C(5000000000)
#define OTHERS_KILL_NS UINT64_C(30000000000)
#define LOOK_NS 50000000
#define LOOKS 40 /* attempts to take the lock, LOOK_NS apart */

/*
 * Create the file `name` in the run's folder, for standard output or standard error of the program. Returns its descriptor, or
 * -1 with err set.
 */
static int open_log(const char *folder, const char *name, struct err *err)
{
	char *path = spool_path(folder, name, err);
	struct stat st;
	int fd = -1;

	if (!path)
		return -1;
	/* Remove anything but a regular file: an earlier attempt of the run can have left a link or FIFO here. */
	if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode))
		unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	if (fd < 0)
		err_set(err, EXIT_INPUT, "cannot open %s: %s", path, strerror(errno));
	free(path);
	return fd;
}

/* Lock the file. Retry for 2 s, because `campaign status` (hv/campaign/list/status.c) takes the lock for a moment. */
static bool lock_log(int fd)
{
	const struct timespec look = {.tv_nsec = LOOK_NS};

	for (int i = 0; i < LOOKS; i++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return true;
		nanosleep(&look, NULL);
	}
	return false;
}

static int open_logs(struct supervisor *k, const char *folder, struct err *err)
{
	k->out = open_log(folder, "stdout.log", err);
	k->log = open_log(folder, "stderr.log", err);
	if (k->out < 0 || k->log < 0)
		return -1;
	if (!lock_log(k->log))
		return err_set(err, EXIT_INPUT, "%s: a process of this run is still there", folder);
	return 0;
}

static void close_both(int fds[2])
{
	for (int i = 0; i < 2; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
}

int child_start(struct child *c, struct cgroup_base *base, const struct child_config *config, struct err *err)
{
	struct supervisor k = {.config = config, .out = -1, .log = -1};
	int life[2] = {-1, -1}, result[2] = {-1, -1};

	*c = (struct child){.life = -1, .result = -1};
	if (open_logs(&k, config->folder, err) < 0)
		goto out;
	if (pipe2(life, O_CLOEXEC) < 0 || pipe2(result, O_CLOEXEC | O_NONBLOCK) < 0) {
		err_set(err, EXIT_INPUT, "cannot start a run: pipe: %s", strerror(errno));
		goto out;
	}
	cgroup_make(base, &c->group, config->limits->memory);
	k.group = &c->group;
	k.life = life[0];
	k.result = result[1];
	c->supervisor = fork();
	if (c->supervisor == 0)
		supervisor_main(&k);
	if (c->supervisor < 0) {
		c->supervisor = 0;
		cgroup_remove(&c->group);
		err_set(err, EXIT_INPUT, "cannot start a run: fork: %s", strerror(errno));
		goto out;
	}
	/* The supervisor does the same: whichever process is first, the group exists before either of the two uses it. */
	setpgid(c->supervisor, c->supervisor);
	c->life = life[1];
	c->result = result[0];
	life[1] = result[0] = -1;
out:
	close_both((int[]){k.out, k.log});
	close_both(life);
	close_both(result);
	return c->supervisor ? 0 : -1;
}

static void note_end(struct child *c, int status, bool lost)
{
	if (c->ended)
		return;
	c->ended = true;
	c->status = status;
	c->lost = lost;
	c->ended_ns = monotonic_ns();
}

bool child_is_over(struct child *c)
{
	siginfo_t info = {0};
	int status;

	if (!c->ended && read(c->result, &status, sizeof(status)) == sizeof(status))
		note_end(c, status, false);
	/*
	 * Poll for the supervisor's end. WNOWAIT keeps the supervisor a zombie, so that its pid and its group's id cannot be
	 * reused.
	 */
	if (waitid(P_PID, (id_t)c->supervisor, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ? errno == EINTR : info.si_pid == 0)
		return false;
	/* Read the status once more: the supervisor may have written it just before it ended. */
	if (!c->ended && read(c->result, &status, sizeof(status)) == sizeof(status))
		note_end(c, status, false);
	note_end(c, 0, true);
	child_kill(c);
	waitpid(c->supervisor, NULL, 0);
	return true;
}

void child_terminate(const struct child *c)
{
	kill(-c->supervisor, SIGTERM);
}

void child_kill(const struct child *c)
{
	/* Kill the group by its id: the supervisor was not reaped, so no other process group can have this id. */
	kill(-c->supervisor, SIGKILL);
	cgroup_kill(&c->group);
}

void child_usage(const struct child *c, uint64_t *cpu_ns, uint64_t *memory)
{
	processes_usage(c->supervisor, cpu_ns, memory);
	cgroup_usage(&c->group, cpu_ns, memory);
}

bool child_ran_out(const struct child *c)
{
	return cgroup_ran_out(&c->group);
}

void child_free(struct child *c)
{
	if (c->life >= 0)
		close(c->life);
	if (c->result >= 0)
		close(c->result);
	cgroup_remove(&c->group);
	*c = (struct child){.life = -1, .result = -1};
}

int child_end_others(const char *folder, struct err *err)
{
	const struct timespec look = {.tv_nsec = LOOK_NS};
	char *path = spool_path(folder, "stderr.log", err);
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
	uint64_t begin = monotonic_ns(), waited = 0;

	while (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0 && waited < OTHERS_KILL_NS) {
		if (waited > OTHERS_WAIT_NS)
			processes_kill_holders(fd);
		nanosleep(&look, NULL);
		waited = monotonic_ns() - begin;
	}
	if (waited >= OTHERS_KILL_NS)
		err_set(err, EXIT_INPUT, "%s: a process of this run is still there: end it, and try again", folder);
	if (fd >= 0)
		close(fd);
	free(path);
	return waited >= OTHERS_KILL_NS || !path ? -1 : 0;
}
