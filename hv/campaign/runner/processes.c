// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the resources and open files of processes in /proc, on hosts where control groups cannot be used. */
#include "hv/campaign/runner/processes.h"

#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Call `each` with the pid of each process in /proc. */
static void each_process(void (*each)(void *ctx, pid_t pid), void *ctx)
{
	DIR *dir = opendir("/proc");
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)) != NULL) {
		if (isdigit((unsigned char)entry->d_name[0]))
			each(ctx, (pid_t)atoi(entry->d_name));
	}
	if (dir)
		closedir(dir);
}

struct usage {
	pid_t group;
	uint64_t ticks, pages;
};

static void add_usage(void *ctx, pid_t pid)
{
	struct usage *u = ctx;
	char path[64], text[1024];
	unsigned long user, system;
	long child_user, child_system, pages;
	int group;
	FILE *in;
	size_t n;
	const char *rest;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	in = fopen(path, "re");
	if (!in)
		return;
	n = fread(text, 1, sizeof(text) - 1, in);
	fclose(in);
	text[n] = '\0';
	/* Skip the process's name: it is in brackets, and can contain brackets. */
	rest = strrchr(text, ')');
	if (!rest || sscanf(rest, ") %*c %*d %d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %ld %ld %*d %*d %*d %*d %*u %*u %ld",
			    &group, &user, &system, &child_user, &child_system, &pages) != 6)
		return;
	if (group != u->group)
		return;
	u->ticks += user + system + (unsigned long)child_user + (unsigned long)child_system;
	u->pages += pages > 0 ? (uint64_t)pages : 0;
}

void processes_usage(pid_t group, uint64_t *cpu_ns, uint64_t *memory)
{
	struct usage u = {.group = group};

	each_process(add_usage, &u);
	*cpu_ns = u.ticks * (UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK));
	*memory = u.pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void kill_holder(void *ctx, pid_t pid)
{
	const struct stat *file = ctx;
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/fd/2", (int)pid);
	if (pid != getpid() && stat(path, &st) == 0 && st.st_dev == file->st_dev && st.st_ino == file->st_ino)
		kill(pid, SIGKILL);
}

void processes_kill_holders(int fd)
{
	struct stat file;

	if (fstat(fd, &file) == 0 && S_ISREG(file.st_mode))
		each_process(kill_holder, &file);
}
