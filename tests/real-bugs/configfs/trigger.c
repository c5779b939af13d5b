/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPU 0 makes and removes a target of netconsole. CPU 1 seeks in its directory, and in that above it. */
#include "../trigger.h"

#include <sys/mount.h>
#include <sys/stat.h>

#define MOUNT "/tmp/config"
#define TARGET MOUNT "/netconsole/target"

static int above;

static void seek(int fd)
{
	for (int i = 0; i < times(16); i++)
		lseek(fd, 2 + i % 8, SEEK_SET);
}

static void make_and_remove(void *opaque)
{
	(void)opaque;
	need(mkdir(TARGET, 0700), "make " TARGET);
	sched_yield();
	need(rmdir(TARGET), "remove " TARGET);
}

static void seek_both(void *opaque)
{
	int fd = open(TARGET, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)opaque;
	seek(above);
	if (fd < 0)
		return;
	seek(fd);
	close(fd);
}

int main(void)
{
	need(mkdir(MOUNT, 0700), "make " MOUNT);
	need(mount("none", MOUNT, "configfs", 0, NULL), "mount configfs");
	above = need(open(MOUNT "/netconsole", O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open netconsole's directory");
	repeat_both(make_and_remove, seek_both, NULL);
}
