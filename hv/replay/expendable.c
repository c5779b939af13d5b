// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes the kernel kill copies of the machine first when the host runs out of memory. */
#include "hv/replay/expendable.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * FIRST: the highest oom_score_adj, with which the kernel kills a process before all others (proc(5)). ANSWER_MS: how long the
 * run waits for the helper's answer, in ms. END_MS: how long the run waits for the helper's end, in ms; the helper only reads
 * and writes in /proc, which no disk delays.
 */
#define FIRST "1000"
#define ANSWER_MS 1000
#define END_MS 30000

/* ---- in the helper ---- */

static bool is_child_of(pid_t pid, pid_t parent)
{
	char path[40], text[512];
	const char *after_name;
	int fd, of = 0;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	/* The process's name is in parentheses, and may contain parentheses itself. So find the last ')'. */
	after_name = strrchr(text, ')');
	return after_name && sscanf(after_name, ") %*c %d", &of) == 1 && of == parent;
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

static void serve(void *ctx, pid_t parent, int socket)
{
	pid_t pid;

	(void)ctx;
	while (read(socket, &pid, sizeof(pid)) == sizeof(pid)) {
		const char done = (char)mark(pid, parent);

		if (write(socket, &done, 1) != 1)
			break;
	}
}

/* ---- in the run ---- */

int expendable_start(struct expendable *e, struct err *err)
{
	*e = (struct expendable){0};
	return helper_start(&e->helper, serve, NULL, err);
}

bool expendable_mark(struct expendable *e, pid_t child)
{
	struct pollfd fd = {.fd = e->helper.socket, .events = POLLIN};
	char done = 0;

	if (!e->helper.pid || write(e->helper.socket, &child, sizeof(child)) != sizeof(child))
		return false;
	/*
	 * Earlier calls may have stopped waiting before their answers came. Skip these answers: they are about other children.
	 */
	for (e->owed++; e->owed; e->owed--)
		if (poll(&fd, 1, ANSWER_MS) != 1 || read(e->helper.socket, &done, 1) != 1)
			return false;
	return done;
}

void expendable_stop(struct expendable *e)
{
	helper_stop(&e->helper, END_MS);
}
