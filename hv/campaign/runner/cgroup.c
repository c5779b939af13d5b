// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Control groups of version 2 (cgroups(7)): each run has one, which counts its resources, limits its memory, and kills all its
 * processes.
 */
#include "hv/campaign/runner/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "outrider-"
#define RUNNER PREFIX "runner-"
#define FILE_MAX 4096

/* ---- files ---- */

/* Write `text` to a file of the group. Called after fork(), so malloc() is not allowed, nor is stdio, which calls it. */
static bool write_file(const char *folder, const char *name, const char *text)
{
	char path[PATH_MAX + 64];
	bool ok = false;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		ok = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
		close(fd);
	}
	return ok;
}

static bool read_file(const char *folder, const char *name, char text[FILE_MAX])
{
	char path[PATH_MAX + 64];
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, FILE_MAX - 1);
		close(fd);
	}
	text[n < 0 ? 0 : n] = '\0';
	return n > 0;
}

/*
 * Read from the group's file `name` the number that follows `word` and a blank at the start of a line. Returns false if there
 * is none.
 */
static bool read_field(const char *folder, const char *name, const char *word, uint64_t *value)
{
	char text[FILE_MAX], *line = text;

	if (!read_file(folder, name, text))
		return false;
	for (; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		if (strncmp(line, word, strlen(word)) == 0 && line[strlen(word)] == ' ') {
			*value = strtoull(line + strlen(word), NULL, 10);
			return true;
		}
	}
	return false;
}

/* ---- find the group ---- */

/*
 * Find the mount point of cgroup version 2. Format of mountinfo (proc(5)): "36 35 98:0 /root /mount options... - type source
 * options".
 */
static bool find_mount(char mount[PATH_MAX])
{
	FILE *in = fopen("/proc/self/mountinfo", "re");
	char *line = NULL, root[256];
	size_t size = 0;
	bool found = false;

	while (in && !found && getline(&line, &size, in) > 0)
		found = strstr(line, " - cgroup2 ") && sscanf(line, "%*s %*s %*s %255s %4095s", root, mount) == 2 &&
			strcmp(root, "/") == 0;
	free(line);
	if (in)
		fclose(in);
	return found;
}

/* Read the path of this process's group, relative to the mount point. */
static bool find_own(char own[PATH_MAX])
{
	FILE *in = fopen("/proc/self/cgroup", "re");
	char *line = NULL;
	size_t size = 0;
	bool found = false;

	while (in && !found && getline(&line, &size, in) > 0)
		found = sscanf(line, "0::%4095[^\n]", own) == 1;
	free(line);
	if (in)
		fclose(in);
	return found;
}

/*
 * Returns the pid of the runner that made the group with this name: PREFIX "PID-N" for a run, or RUNNER "PID" for the runner
 * itself. Returns 0 for any other name.
 */
static pid_t owner(const char *name)
{
	size_t len = strncmp(name, RUNNER, strlen(RUNNER)) == 0 ? strlen(RUNNER) : strlen(PREFIX);

	return strncmp(name, PREFIX, strlen(PREFIX)) == 0 ? (pid_t)atoi(name + len) : 0;
}

/*
 * Remove the groups of killed runners; rmdir() fails for a group that has processes. A live runner's group can be empty for a
 * moment, so keep the groups of live runners. Remove groups with this process's pid, too: they are from an earlier process that
 * had the same pid or, in cgroup_leave(), of runs that have ended. Returns whether a group of another runner is left.
 */
static bool sweep(const char *base)
{
	DIR *dir = opendir(base);
	const struct dirent *entry;
	bool others = false;

	while (dir && (entry = readdir(dir)) != NULL) {
		pid_t pid = owner(entry->d_name);

		if (pid > 0 && pid != getpid() && (kill(pid, 0) == 0 || errno == EPERM))
			others = true;
		else if (pid > 0 && unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR) < 0)
			others = true;
	}
	if (dir)
		closedir(dir);
	return others;
}

static void self_group(const struct cgroup_base *base, char path[PATH_MAX])
{
	if (snprintf(path, PATH_MAX, "%s/" RUNNER "%d", base->path, (int)getpid()) >= PATH_MAX)
		path[0] = '\0';
}

/*
 * Enable the memory controller for child groups. In cgroup version 2, a group that does so cannot have processes itself. So
 * move this process to a child group first.
 */
static bool enable_memory(const struct cgroup_base *base)
{
	char controllers[FILE_MAX], self[PATH_MAX];

	if (!read_file(base->path, "cgroup.controllers", controllers) || !strstr(controllers, "memory"))
		return false;
	self_group(base, self);
	if (mkdir(self, 0755) < 0)
		return false;
	if (write_file(self, "cgroup.procs", "0") && write_file(base->path, "cgroup.subtree_control", "+memory"))
		return true;
	write_file(base->path, "cgroup.procs", "0");
	rmdir(self);
	return false;
}

void cgroup_find(struct cgroup_base *base)
{
	char mount[PATH_MAX], own[PATH_MAX];

	*base = (struct cgroup_base){0};
	if (!find_mount(mount) || !find_own(own) ||
	    snprintf(base->path, sizeof(base->path), "%s%s", mount, strcmp(own, "/") == 0 ? "" : own) >=
		    (int)sizeof(base->path) ||
	    access(base->path, W_OK) < 0) {
		base->path[0] = '\0';
		return;
	}
	sweep(base->path);
	base->memory = enable_memory(base);
}

void cgroup_leave(struct cgroup_base *base)
{
	char self[PATH_MAX];

	if (!base->path[0] || !base->memory)
		return;
	self_group(base, self);
	write_file(base->path, "cgroup.procs", "0");
	rmdir(self);
	/*
	 * Disable the memory controller only if there is no other runner: the groups of other runners would lose their limits.
	 */
	if (!sweep(base->path))
		write_file(base->path, "cgroup.subtree_control", "-memory");
}

/* ---- one group ---- */

void cgroup_make(struct cgroup_base *base, struct cgroup *g, uint64_t memory)
{
	char text[32];

	g->path[0] = '\0';
	if (!base->path[0] ||
	    snprintf(g->path, sizeof(g->path), "%s/" PREFIX "%d-%u", base->path, (int)getpid(), base->made++) >=
		    (int)sizeof(g->path) ||
	    mkdir(g->path, 0755) < 0) {
		g->path[0] = '\0';
		return;
	}
	if (!memory || !base->memory)
		return;
	snprintf(text, sizeof(text), "%" PRIu64, memory);
	write_file(g->path, "memory.max", text);
	write_file(g->path, "memory.swap.max", "0");
}

void cgroup_enter(const struct cgroup *g)
{
	if (g->path[0])
		write_file(g->path, "cgroup.procs", "0");
}

void cgroup_usage(const struct cgroup *g, uint64_t *cpu_ns, uint64_t *memory)
{
	char text[FILE_MAX];
	uint64_t cpu_us;

	if (g->path[0] && read_field(g->path, "cpu.stat", "usage_usec", &cpu_us))
		*cpu_ns = cpu_us * 1000;
	if (g->path[0] && read_file(g->path, "memory.current", text))
		*memory = strtoull(text, NULL, 10);
}

bool cgroup_ran_out(const struct cgroup *g)
{
	uint64_t killed = 0;

	return g->path[0] && read_field(g->path, "memory.events", "oom_kill", &killed) && killed > 0;
}

void cgroup_kill(const struct cgroup *g)
{
	char text[FILE_MAX], *rest = text, *line;

	if (!g->path[0] || write_file(g->path, "cgroup.kill", "1") || !read_file(g->path, "cgroup.procs", text))
		return;
	while ((line = strsep(&rest, "\n")) != NULL) {
		if (atoi(line) > 0)
			kill(atoi(line), SIGKILL);
	}
}

void cgroup_remove(struct cgroup *g)
{
	if (g->path[0])
		rmdir(g->path);
	g->path[0] = '\0';
}
