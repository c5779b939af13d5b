// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/campaign/store/run_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int run_file_open(struct run_file *f, const char *path, struct err *err)
{
	struct stat st;
	int rc = 0;

	*f = (struct run_file){.path = path, .fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)};
	if (f->fd < 0)
		return err_set(err, EXIT_INPUT, "%s: cannot open the run's file: %s", path,
			       errno == ELOOP ? "it is a link" : strerror(errno));
	if (fstat(f->fd, &st) < 0 || !S_ISREG(st.st_mode))
		rc = err_set(err, EXIT_INPUT, "%s: the run's file is no regular file; it was not read", path);
	else if ((uint64_t)st.st_size > RUN_FILE_MAX)
		rc = err_set(err, EXIT_INPUT,
			     "%s: the run's file has %" PRIu64 " MiB, more than the limit of %" PRIu64 " MiB; it was not read",
			     path, (uint64_t)st.st_size >> 20, RUN_FILE_MAX >> 20);
	if (rc < 0)
		run_file_close(f);
	else
		snprintf(f->name, sizeof(f->name), "/proc/self/fd/%d", f->fd);
	return rc;
}

void run_file_close(struct run_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

void run_file_explain(const struct run_file *f, struct err *err)
{
	struct err before = *err;
	size_t len = strlen(f->name);

	if (strncmp(before.text, f->name, len) != 0)
		return;
	*err = (struct err){0};
	err_set(err, before.code, "%s%s", f->path, before.text + len);
}
