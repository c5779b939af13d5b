// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes and locks the folder of a round, and makes in it a folder for each run. */
#include "hv/campaign/runner/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXT_MAX 65536
#define QUARANTINE_MAX 1000

char *spool_path(const char *folder, const char *name, struct err *err)
{
	char *path = NULL;

	if (asprintf(&path, "%s/%s", folder, name) >= 0)
		return path;
	err_set(err, EXIT_INTERNAL, "out of memory");
	return NULL;
}

static int make_folder(const char *path, struct err *err)
{
	/* Make the folder with mode 0700, because the files can contain guest memory. */
	if (mkdir(path, 0700) == 0 || errno == EEXIST)
		return 0;
	return err_set(err, EXIT_INPUT, "cannot make the folder %s: %s", path, strerror(errno));
}

/* Make all folders of the path. */
static int make_folders(char *path, struct err *err)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		int rc;

		*slash = '\0';
		rc = make_folder(path, err);
		*slash = '/';
		if (rc < 0)
			return -1;
	}
	return make_folder(path, err);
}

/*
 * Make and lock the folder s->folder, and make its path absolute. Each shard has its own lock, because shards have different
 * runs. The lock is one of fcntl(), which belongs to the process. With flock(), a supervisor that was forked just before its
 * runner was killed would inherit the lock.
 */
static int lock_folder(struct spool *s, const char *shard, struct err *err)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	char *path, *absolute, name[64];

	if (make_folders(s->folder, err) < 0)
		return -1;
	absolute = realpath(s->folder, NULL);
	if (!absolute)
		return err_set(err, EXIT_INPUT, "cannot use the folder %s: %s", s->folder, strerror(errno));
	free(s->folder);
	s->folder = absolute;
	snprintf(name, sizeof(name), "lock%s%s", shard[0] ? "-" : "", shard);
	for (char *slash = strchr(name, '/'); slash; slash = strchr(slash, '/'))
		*slash = '-';
	path = spool_path(s->folder, name, err);
	if (!path)
		return -1;
	s->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (s->lock < 0)
		err_set(err, EXIT_INPUT, "cannot open %s: %s", path, strerror(errno));
	else if (fcntl(s->lock, F_SETLK, &lock) < 0)
		err_set(err, EXIT_INPUT,
			"another `outrider campaign run` is at work on this round, in %s: wait for it, or end it", s->folder);
	free(path);
	return err->code == EXIT_OK ? 0 : -1;
}

int spool_open(struct spool *s, const char *root, const char *round, const char *shard, struct err *err)
{
	s->lock = -1;
	/*
	 * Refuse a uuid that is not hexadecimal. It comes from the store, which is not trusted: "../x" would leave the spool.
	 */
	if (!round[0] || round[strspn(round, "0123456789abcdef")])
		return err_set(err, EXIT_INPUT, "the store is damaged: the uuid of its round is '%.40s'; take it from a backup",
			       round);
	s->folder = spool_path(root, round, err);
	return s->folder ? lock_folder(s, shard, err) : -1;
}

void spool_close(struct spool *s)
{
	if (s->folder && s->lock >= 0)
		close(s->lock);
	free(s->folder);
	*s = (struct spool){.lock = -1};
}

char *spool_run_folder(const struct spool *s, const char *run, struct err *err)
{
	char *path = spool_path(s->folder, run, err);

	if (path && make_folder(path, err) == 0)
		return path;
	free(path);
	return NULL;
}

static int write_all(int fd, const char *text)
{
	for (size_t left = strlen(text); left;) {
		ssize_t n = write(fd, text, left);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		text += n;
		left -= (size_t)n;
	}
	return fsync(fd);
}

/* Sync the folder: a rename in it is durable only after that. */
static void sync_folder(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	fsync(fd);
	close(fd);
}

int spool_write(const char *folder, const char *name, const char *text, struct err *err)
{
	char *path = spool_path(folder, name, err), *scratch = NULL;
	int fd = -1, rc = -1;

	if (!path || asprintf(&scratch, "%s.tmp", path) < 0) {
		scratch = NULL;
		err_set(err, EXIT_INTERNAL, "out of memory");
		goto out;
	}
	/* Remove the file, and create it anew with O_EXCL: a run could have put a link here that leads to another file. */
	unlink(scratch);
	fd = open(scratch, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || write_all(fd, text) < 0 || rename(scratch, path) < 0) {
		err_set(err, EXIT_INPUT, "cannot write %s: %s", path, strerror(errno));
		goto out;
	}
	sync_folder(folder);
	rc = 0;
out:
	if (fd >= 0)
		close(fd);
	free(scratch);
	free(path);
	return rc;
}

int spool_open_file(const char *folder, const char *name)
{
	char *path = spool_path(folder, name, NULL);
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
	struct stat st;

	free(path);
	if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

char *spool_read(const char *folder, const char *name)
{
	int fd = spool_open_file(folder, name);
	char *text = NULL;
	ssize_t n = -1;

	if (fd >= 0)
		text = malloc(TEXT_MAX + 1);
	if (text)
		n = read(fd, text, TEXT_MAX + 1);
	if (n < 0 || n > TEXT_MAX) {
		free(text);
		text = NULL;
	} else {
		text[n] = '\0';
	}
	if (fd >= 0)
		close(fd);
	return text;
}

bool spool_has(const char *folder, const char *name)
{
	char *path = spool_path(folder, name, NULL);
	struct stat st;
	bool has = path && lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0;

	free(path);
	return has;
}

uint64_t spool_size(const char *folder)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	uint64_t size = 0;
	struct stat st;

	while (dir && (entry = readdir(dir)) != NULL) {
		if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
			size += (uint64_t)st.st_size;
	}
	if (dir)
		closedir(dir);
	return size;
}

size_t spool_quarantine_number(const char *text, unsigned *n)
{
	const char *tilde = strrchr(text, '~');
	char *end;
	unsigned long number;

	if (!tilde || tilde[1] < '1' || tilde[1] > '9')
		return 0;
	number = strtoul(tilde + 1, &end, 10);
	if (*end || number >= QUARANTINE_MAX)
		return 0;
	*n = (unsigned)number;
	return (size_t)(tilde - text);
}

void spool_each_quarantined(const struct spool *s, void (*each)(void *ctx, const char *name, size_t len, unsigned n), void *ctx)
{
	DIR *dir = opendir(s->folder);
	const struct dirent *entry;
	unsigned n = 0;

	while (dir && (entry = readdir(dir)) != NULL) {
		size_t len = spool_quarantine_number(entry->d_name, &n);

		if (len)
			each(ctx, entry->d_name, len, n);
	}
	if (dir)
		closedir(dir);
}

unsigned spool_quarantine(const char *folder, unsigned last, struct err *err)
{
	for (unsigned n = last + 1; n < QUARANTINE_MAX; n++) {
		char *target = NULL;
		bool moved;

		if (asprintf(&target, "%s~%u", folder, n) < 0)
			break;
		moved = access(target, F_OK) < 0 && rename(folder, target) == 0;
		free(target);
		if (moved)
			return make_folder(folder, err) < 0 ? 0 : n;
	}
	err_set(err, EXIT_INPUT, "cannot rename the folder %s to put it into quarantine: %s", folder, strerror(errno));
	return 0;
}
