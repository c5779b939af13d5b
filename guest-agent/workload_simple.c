// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Implements the workloads "sleep" and "wait", which let time pass, and "sh", which runs a shell or one command on the console.
 */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "agent.h"

static int run_sleep(const char *args)
{
	double seconds;

	if (!parse_seconds(args, &seconds))
		return AGENT_USAGE;
	sleep_seconds(seconds);
	return AGENT_OK;
}

const struct workload workload_sleep = {"sleep", "sleep:SECONDS", run_sleep};

static int run_wait(const char *args)
{
	double limit;

	if (!parse_seconds(args, &limit))
		return AGENT_USAGE;
	return wait_for_enough("wait", limit) ? AGENT_OK : AGENT_FAIL;
}

const struct workload workload_wait = {
	"wait", "wait:LIMIT: wait until the console says \"enough wait\"; fails after LIMIT seconds", run_wait};

/* Make the console the controlling terminal. Ctrl-C on the console signals only processes of that terminal's session. */
static void take_terminal(void)
{
	int fd;

	setsid();
	fd = open("/dev/console", O_RDWR);
	if (fd < 0)
		return;
	ioctl(fd, TIOCSCTTY, 1);
	close(fd);
}

int run_shell(const char *command)
{
	static const char *const shells[] = {"/bin/sh", "/bin/busybox", "/busybox"};

	for (size_t i = 0; i < sizeof(shells) / sizeof(*shells); i++) {
		if (*command)
			execl(shells[i], "sh", "-c", command, NULL);
		else
			execl(shells[i], "sh", NULL);
	}
	return say_failed("sh: this guest has no /bin/sh and no busybox");
}

static int run_sh(const char *args)
{
	/*
	 * Give only the interactive shell a controlling terminal. If a single command had one, the kernel would hang up the
	 * terminal at the command's end, and the command's last output would be lost.
	 */
	if (getppid() == 1 && !*args)
		take_terminal();
	return run_shell(args);
}

const struct workload workload_sh = {"sh", "sh[:COMMAND]: a shell on the console, or one command", run_sh};
