// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Does what the agent does only as process 1 of the guest: mounts file systems, opens the console, and powers the machine off.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent.h"

static const struct {
	const char *type, *where, *options;
	bool required;
} mounts[] = {
	{"devtmpfs", "/dev", "mode=0755", true},
	{"proc", "/proc", "", true},
	{"sysfs", "/sys", "", true},
	{"debugfs", "/sys/kernel/debug", "", false},
	{"tracefs", "/sys/kernel/tracing", "", false},
	{"tmpfs", "/tmp", "size=64m,mode=1777", true},
};

/*
 * Open the console as standard input, output and error. If the initramfs has no /dev/console, the kernel started this process
 * without these three descriptors; the devtmpfs that was just mounted has /dev/console.
 */
static void open_console(void)
{
	int fd = open("/dev/console", O_RDWR | O_NOCTTY);

	if (fd < 0)
		return;
	for (int i = 0; i < 3; i++)
		if (i != fd)
			dup2(fd, i);
	if (fd > 2)
		close(fd);
}

void init_system(void)
{
	for (size_t i = 0; i < sizeof(mounts) / sizeof(*mounts); i++) {
		mkdir(mounts[i].where, 0755);
		if (mount(mounts[i].type, mounts[i].where, mounts[i].type, 0, mounts[i].options) && errno != EBUSY &&
		    mounts[i].required)
			say_failed("mount %s on %s", mounts[i].type, mounts[i].where);
		if (i == 0)
			open_console();
	}
	setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1);
	setenv("HOME", "/", 1);
}

void init_kill_rest(void)
{
	/* Ignore the result: kill() fails when there is no other process. The signal does not reach kernel threads. */
	kill(-1, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0)
		;
}

void init_power_off(void)
{
	sync();
	reboot(RB_POWER_OFF);
	say_failed("power off");
	for (;;)
		pause();
}
