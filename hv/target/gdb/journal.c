/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The journal: a file that lists the breakpoints planted in a machine, in case this process is killed (journal.h). */
#include "hv/target/gdb/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "hv/base/fnv1a.h"

#define MAGIC 0x4a52544fu
#define LOCK_TRIES 20u /* number of tries to take the lock, 10 ms apart */

struct gdb_journal {
	int fd;
	char path[512];
	struct gdb_planted *planted;
};

/*
 * Create the folder for journals: in /run for root, else in $XDG_RUNTIME_DIR or /tmp. A journal is of no use after a boot of
 * the host, which ends all guests, and most systems empty these folders at each boot.
 */
static int make_folder(char *folder, size_t size, struct err *err)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	struct stat st;

	if (geteuid() == 0)
		snprintf(folder, size, "/run/outrider");
	else if (runtime)
		snprintf(folder, size, "%s/outrider", runtime);
	else
		snprintf(folder, size, "/tmp/outrider-%d", (int)geteuid());
	if (mkdir(folder, 0700) && errno != EEXIST)
		return err_set(err, EXIT_INPUT, "%s: cannot make the folder for journals: %s", folder, strerror(errno));
	if (lstat(folder, &st) || !S_ISDIR(st.st_mode) || st.st_uid != geteuid())
		return err_set(err, EXIT_INPUT, "%s: the journal needs a folder that you own, and this is none: remove it",
			       folder);
	return 0;
}

/* Returns true if `path` still names the open file `fd`. */
static bool is_same_file(int fd, const char *path)
{
	struct stat open_file, named;

	return fstat(fd, &open_file) == 0 && lstat(path, &named) == 0 && open_file.st_dev == named.st_dev &&
	       open_file.st_ino == named.st_ino;
}

/*
 * Take the file's lock. The guard of a killed outrider (hv/session/guard.h) has the lock for a moment when it removes the file,
 * so try for a while. Returns 0, or -1.
 */
static int take_lock(int fd)
{
	const struct timespec pause = {.tv_nsec = 10000000};

	for (unsigned i = 0; i < LOCK_TRIES; i++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return 0;
		nanosleep(&pause, NULL);
	}
	return -1;
}

/*
 * Open the file and take its lock. The last owner, or its guard, can remove the file between these two steps. A lock on the
 * removed file protects nothing, because the next outrider creates a new file at the same path. So try again with a new file.
 */
static int lock_file(struct gdb_journal *j, const char *key, struct err *err)
{
	do {
		if (j->fd >= 0)
			close(j->fd);
		j->fd = open(j->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (j->fd < 0)
			return err_set(err, EXIT_INPUT, "%s: %s", j->path, strerror(errno));
		if (take_lock(j->fd))
			return err_set(err, EXIT_INPUT, "%s: another outrider is attached", key);
	} while (!is_same_file(j->fd, j->path));
	return 0;
}

static int open_file(struct gdb_journal *j, const char *key, struct err *err)
{
	char folder[400];

	if (make_folder(folder, sizeof(folder), err))
		return -1;
	/* Name the file by a hash, because a key can have characters that a file name cannot have. */
	snprintf(j->path, sizeof(j->path), "%s/%016" PRIx64 ".journal", folder, fnv1a(FNV1A_START, key));
	if (lock_file(j, key, err))
		return -1;
	if (ftruncate(j->fd, sizeof(*j->planted)))
		return err_set(err, EXIT_INPUT, "%s: %s", j->path, strerror(errno));
	j->planted = mmap(NULL, sizeof(*j->planted), PROT_READ | PROT_WRITE, MAP_SHARED, j->fd, 0);
	if (j->planted != MAP_FAILED)
		return 0;
	j->planted = NULL;
	return err_set(err, EXIT_INPUT, "%s: %s", j->path, strerror(errno));
}

static void free_journal(struct gdb_journal *j)
{
	if (j->planted)
		munmap(j->planted, sizeof(*j->planted));
	if (j->fd >= 0)
		close(j->fd);
	free(j);
}

struct gdb_journal *gdb_journal_open(const char *key, bool *left, struct err *err)
{
	struct gdb_journal *j = calloc(1, sizeof(*j));

	*left = false;
	if (!j) {
		err_set(err, EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	j->fd = -1;
	if (open_file(j, key, err)) {
		free_journal(j);
		return NULL;
	}
	*left = j->planted->magic == MAGIC;
	if (!*left || j->planted->count > GDB_POINTS_MAX)
		j->planted->count = 0;
	j->planted->magic = MAGIC;
	return j;
}

struct gdb_planted *gdb_journal_planted(struct gdb_journal *j)
{
	return j->planted;
}

const char *gdb_journal_path(const struct gdb_journal *j)
{
	return j->path;
}

void gdb_journal_close(struct gdb_journal *j, bool clean)
{
	if (!j)
		return;
	if (clean)
		unlink(j->path);
	free_journal(j);
}

void gdb_journal_remove(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return;
	/* Remove the file only under its lock, and only if `path` still names this file: else another outrider uses it. */
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 && is_same_file(fd, path))
		unlink(path);
	close(fd);
}
