// SPDX-License-Identifier: GPL-2.0-or-later
/* Loads the modules that vm-images/build-initramfs put into the guest. A guest with udev does not need this workload. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent.h"

#define LOAD_ORDER "/lib/modules/load-order"

static int load(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = AGENT_OK;

	if (fd < 0)
		return say_failed("modules: %s", path);
	if (syscall(SYS_finit_module, fd, "", 0) && errno != EEXIST)
		rc = say_failed("modules: load %s", path);
	close(fd);
	return rc;
}

static int run_modules(const char *args)
{
	char text[16384], *save;
	int rc = AGENT_OK;

	if (*args) {
		say("modules: takes no argument");
		return AGENT_USAGE;
	}
	if (read_text(LOAD_ORDER, text, sizeof(text)) < 0)
		return say_failed("modules: %s", LOAD_ORDER);
	for (char *path = strtok_r(text, "\n", &save); path; path = strtok_r(NULL, "\n", &save))
		if (load(path))
			rc = AGENT_FAIL;
	return rc;
}

const struct workload workload_modules = {"modules", "modules: load the modules of " LOAD_ORDER ", in that order", run_modules};
