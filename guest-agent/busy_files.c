// SPDX-License-Identifier: GPL-2.0-or-later
/* Stressors of the workload "busy" that exercise file systems: files in a tmpfs, pipes, /proc and /sys, and mounts. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent.h"
#include "busy.h"

#define PATH_ROOM 128

static bool write_and_read(const char *path, unsigned int len)
{
	char buf[4096];
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	bool ok;

	if (fd < 0)
		return false;
	memset(buf, 'o', sizeof(buf));
	ok = write(fd, buf, len) == (ssize_t)len && pread(fd, buf, sizeof(buf), 0) == (ssize_t)len && !ftruncate(fd, len / 2) &&
	     !fsync(fd);
	close(fd);
	return ok;
}

static enum busy_result round_files(struct busy_worker *w)
{
	char a[PATH_ROOM], b[PATH_ROOM], sub[PATH_ROOM];
	struct stat st;
	DIR *dir;
	bool ok;

	snprintf(a, sizeof(a), "%s/a", w->dir);
	snprintf(b, sizeof(b), "%s/b", w->dir);
	snprintf(sub, sizeof(sub), "%s/sub", w->dir);
	ok = write_and_read(a, 1 + busy_random(w) % 4096) && !rename(a, b) && !link(b, a) && !stat(a, &st) &&
	     st.st_nlink == 2 && !unlink(a) && !symlink(b, a) && !mkdir(sub, 0700);
	dir = opendir(w->dir);
	while (dir && readdir(dir))
		;
	if (dir)
		closedir(dir);
	return ok && !rmdir(sub) && !unlink(a) && !unlink(b) ? BUSY_OK : BUSY_ERROR;
}

/*
 * Do the following ten times: write to a pipe, call epoll_wait() for the pipe and an eventfd, and read from the pipe. The
 * eventfd begins at 1 and so can always be read. Returns false if a call fails.
 */
static bool poll_pipe(int in, int out)
{
	char buf[2048] = "";
	struct epoll_event event = {.events = EPOLLIN};
	int poll = epoll_create1(EPOLL_CLOEXEC), counter = eventfd(1, EFD_CLOEXEC);
	bool ok = poll >= 0 && counter >= 0 && !epoll_ctl(poll, EPOLL_CTL_ADD, in, &event) &&
		  !epoll_ctl(poll, EPOLL_CTL_ADD, counter, &event);

	for (int i = 0; ok && i < 10; i++)
		ok = write(out, buf, sizeof(buf)) == sizeof(buf) && epoll_wait(poll, &event, 1, 1000) == 1 &&
		     read(in, buf, sizeof(buf)) == sizeof(buf);
	close(poll);
	close(counter);
	return ok;
}

static enum busy_result round_pipes(struct busy_worker *w)
{
	int fd[2], pid;
	char buf[256] = "";
	bool ok;

	(void)w;
	if (pipe2(fd, O_CLOEXEC))
		return BUSY_ERROR;
	ok = poll_pipe(fd[0], fd[1]);
	pid = fork();
	if (!pid) {
		for (int i = 0; i < 20; i++)
			if (write(fd[1], buf, sizeof(buf)) != sizeof(buf))
				_exit(1);
		_exit(0);
	}
	close(fd[1]);
	while (read(fd[0], buf, sizeof(buf)) > 0)
		;
	close(fd[0]);
	return pid > 0 && !wait_status(pid) && ok ? BUSY_OK : BUSY_ERROR;
}

const struct stressor stressor_files = {"files", false, round_files};
const struct stressor stressor_pipes = {"pipes", false, round_pipes};

/*
 * Read up to 64 files: each regular file of a folder if `suffix` is empty, otherwise FOLDER/NAME with `suffix` appended, for
 * each NAME that begins with a digit. Skip a file that does not open: kernels have different files. Returns how many files
 * were read.
 */
static unsigned int read_entries(const char *folder, const char *suffix)
{
	DIR *dir = opendir(folder);
	struct dirent *e;
	unsigned int count = 0;
	char path[PATH_ROOM * 4], buf[4096];

	while (dir && (e = readdir(dir)) && count < 64) {
		if (*e->d_name == '.' || (*suffix && (*e->d_name < '1' || *e->d_name > '9')))
			continue;
		if (snprintf(path, sizeof(path), "%s/%s%s", folder, e->d_name, suffix) >= (int)sizeof(path))
			continue;
		if (e->d_type != DT_REG && !*suffix)
			continue;
		count += read_text(path, buf, sizeof(buf)) > 0;
	}
	if (dir)
		closedir(dir);
	return count;
}

static enum busy_result round_procfs(struct busy_worker *w)
{
	static const char *const files[] = {"/proc/stat",	 "/proc/meminfo",  "/proc/vmstat",    "/proc/interrupts",
					    "/proc/softirqs",	 "/proc/slabinfo", "/proc/self/maps", "/proc/self/smaps",
					    "/proc/self/status", "/proc/net/tcp",  "/proc/net/unix",  "/proc/loadavg",
					    "/proc/zoneinfo",	 "/proc/schedstat"};
	static const char *const folders[] = {"/proc/sys/kernel",	"/proc/sys/vm", "/proc/sys/fs",
					      "/proc/sys/net/ipv4",	"/sys/kernel",	"/sys/kernel/mm/transparent_hugepage",
					      "/sys/devices/system/cpu"};
	char buf[4096];

	if (read_text(files[busy_random(w) % (sizeof(files) / sizeof(*files))], buf, sizeof(buf)) < 0 && errno != ENOENT)
		return BUSY_ERROR;
	read_entries(folders[busy_random(w) % (sizeof(folders) / sizeof(*folders))], "");
	return read_entries("/proc", "/stat") ? BUSY_OK : BUSY_ERROR;
}

/* Mount and unmount in a new mount namespace, so that a worker that is killed leaves no mount in the guest. */
static enum busy_result round_mount(struct busy_worker *w)
{
	int pid = fork(), rc;

	if (!pid) {
		if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
			_exit(2);
		_exit(mount("tmpfs", w->dir, "tmpfs", 0, "size=64k") || umount(w->dir));
	}
	rc = pid > 0 ? wait_status(pid) : AGENT_FAIL;
	return rc == 2 ? BUSY_SKIP : rc ? BUSY_ERROR : BUSY_OK;
}

const struct stressor stressor_procfs = {"procfs", false, round_procfs};
const struct stressor stressor_mount = {"mount", false, round_mount};
