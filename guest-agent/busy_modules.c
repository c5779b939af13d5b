// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A stressor of the workload "busy": loads the kernel modules that the file ORDER lists and that are not loaded yet, in the
 * order of the file, and unloads them in reverse order.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent.h"
#include "busy.h"

#define ORDER "/lib/modules/load-order"
#define MAX_MODULES 32

/* Returns 0, or the value of errno. */
static int load_module(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;

	if (fd < 0)
		return errno;
	rc = syscall(SYS_finit_module, fd, "", 0) ? errno : 0;
	close(fd);
	return rc;
}

/* Unload the module of the file `path`. The kernel names the module of a-b.ko a_b. */
static void unload_module(const char *path)
{
	char name[64];
	const char *slash = strrchr(path, '/');

	snprintf(name, sizeof(name), "%s", slash ? slash + 1 : path);
	name[strcspn(name, ".")] = '\0';
	for (char *p = name; *p; p++)
		if (*p == '-')
			*p = '_';
	syscall(SYS_delete_module, name, O_NONBLOCK);
}

static enum busy_result round_modules(struct busy_worker *w)
{
	char text[8192], *save, *loaded[MAX_MODULES];
	int n = 0, rc = 0;

	(void)w;
	if (read_text(ORDER, text, sizeof(text)) <= 0)
		return BUSY_SKIP;
	for (char *path = strtok_r(text, "\n", &save); path && n < MAX_MODULES; path = strtok_r(NULL, "\n", &save)) {
		rc = load_module(path);
		if (!rc)
			loaded[n++] = path;
		else if (rc != EEXIST)
			break;
	}
	for (int i = n; i > 0; i--)
		unload_module(loaded[i - 1]);
	errno = rc;
	return rc && rc != EEXIST ? BUSY_ERROR : n ? BUSY_OK : BUSY_SKIP;
}

const struct stressor stressor_modules = {"modules", true, round_modules};
