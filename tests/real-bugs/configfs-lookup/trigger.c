/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPU 0 looks for a file that is not in the directory of a target of netconsole, and CPU 1 seeks in this directory. */
#include "../trigger.h"

#include <sys/mount.h>
#include <sys/stat.h>

#define MOUNT "/tmp/config"
#define TARGET MOUNT "/netconsole/target"

static int directory;

static void look(void *opaque)
{
	(void)opaque;
	if (access(TARGET "/none", F_OK) == 0)
		die("find no file in " TARGET);
}

static void seek(void *opaque)
{
	(void)opaque;
	for (int i = 0; i < times(16); i++)
		lseek(directory, 2 + i % 8, SEEK_SET);
}

int main(void)
{
	need(mkdir(MOUNT, 0700), "make " MOUNT);
	need(mount("none", MOUNT, "configfs", 0, NULL), "mount configfs");
	need(mkdir(TARGET, 0700), "make " TARGET);
	directory = need(open(TARGET, O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open " TARGET);
	repeat_both(look, seek, NULL);
}
