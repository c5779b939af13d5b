// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/replay/expendable.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hv/replay/process.h"

/* The highest that there is (proc(5), oom_score_adj). */
#define FIRST "1000"
#define ANSWER_MS 1000

/* ---- in the process ---- */

static bool is_child_of(pid_t pid, pid_t parent)
{
	char path[40], text[512];
	const char *behind_name;
	int fd, of = 0;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	/* The name is in parentheses, and may have some of its own. */
	behind_name = strrchr(text, ')');
	return behind_name && sscanf(behind_name, ") %*c %d", &of) == 1 && of == parent;
}

static bool mark(pid_t pid, pid_t parent)
{
	char path[48];
	bool done;
	int fd;

	if (pid <= 0 || !is_child_of(pid, parent))
		return false;
	snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", pid);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	done = write(fd, FIRST, sizeof(FIRST) - 1) == sizeof(FIRST) - 1;
	close(fd);
	return done;
}

/* Ctrl-C is for the run, which ends this process. */
static void leave_signals(void)
{
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
}

static _Noreturn void serve(pid_t parent, int asked, int answers)
{
	pid_t pid;

	leave_signals();
	process_die_with(parent);
	if (dup2(asked, 0) < 0 || dup2(answers, 1) < 0)
		_exit(1);
	close_range(2, ~0u, 0);
	while (read(0, &pid, sizeof(pid)) == sizeof(pid)) {
		const char done = (char)mark(pid, parent);

		if (write(1, &done, 1) != 1)
			break;
	}
	_exit(0);
}

/* ---- in the run ---- */

static void close_pair(const int ends[2])
{
	close(ends[0]);
	close(ends[1]);
}

int expendable_start(struct expendable *e, struct err *err)
{
	pid_t parent = getpid(), pid;
	int ask[2], answer[2];

	if (pipe2(ask, O_CLOEXEC) < 0)
		return err_set(err, EXIT_INTERNAL, "pipe: %s", strerror(errno));
	if (pipe2(answer, O_CLOEXEC) < 0) {
		close_pair(ask);
		return err_set(err, EXIT_INTERNAL, "pipe: %s", strerror(errno));
	}
	pid = fork();
	if (pid == 0)
		serve(parent, ask[0], answer[1]);
	close(ask[0]);
	close(answer[1]);
	if (pid < 0) {
		close(ask[1]);
		close(answer[0]);
		return err_set(err, EXIT_INTERNAL, "fork: %s", strerror(errno));
	}
	*e = (struct expendable){.pid = pid, .ask = ask[1], .answer = answer[0]};
	return 0;
}

bool expendable_mark(struct expendable *e, pid_t child)
{
	struct pollfd fd = {.fd = e->answer, .events = POLLIN};
	char done = 0;

	if (!e->pid || write(e->ask, &child, sizeof(child)) != sizeof(child))
		return false;
	/* An answer that came too late was another child's. */
	for (e->owed++; e->owed; e->owed--)
		if (poll(&fd, 1, ANSWER_MS) != 1 || read(e->answer, &done, 1) != 1)
			return false;
	return done;
}

void expendable_stop(struct expendable *e)
{
	if (!e->pid)
		return;
	close(e->ask);
	close(e->answer);
	while (waitpid(e->pid, NULL, 0) < 0 && errno == EINTR)
		;
	e->pid = 0;
}
