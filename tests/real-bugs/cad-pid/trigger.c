/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One thread writes two process ids in turn to kernel.cad_pid, and the other reads it. */
#include "../trigger.h"

#include <signal.h>
#include <sys/wait.h>

#define CAD_PID "/proc/sys/kernel/cad_pid"

static void set(void *opaque)
{
	char text[16];
	pid_t child = need(fork(), "fork");

	(void)opaque;
	if (child == 0) {
		pause();
		_exit(0);
	}
	snprintf(text, sizeof(text), "%d", child);
	write_text(CAD_PID, text);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	write_text(CAD_PID, "1");
}

static void get(void *opaque)
{
	char text[16];
	int fd = open(CAD_PID, O_RDONLY | O_CLOEXEC);

	(void)opaque;
	for (int i = 0; i < 100; i++)
		if (pread(fd, text, sizeof(text), 0) < 0)
			die("read " CAD_PID);
	close(fd);
}

int main(void)
{
	if (!write_text(CAD_PID, "1"))
		die("write " CAD_PID);
	repeat_both(set, get, NULL);
}
