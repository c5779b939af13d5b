/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the kernel and the initrd, and checks each read against the size of the file. */
#include "hv/vmm/boot_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int boot_file_open(struct boot_file *file, const char *what, const char *path, struct err *err)
{
	struct stat st;
	int rc = -1;

	/*
	 * O_NONBLOCK lets open() of a FIFO return before the FIFO has a writer. The check for a regular file then refuses the
	 * FIFO.
	 */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return err_set(err, EXIT_INPUT, "cannot open %s %s: %s", what, path, strerror(errno));
	if (fstat(fd, &st) < 0) {
		err_set(err, EXIT_INPUT, "cannot read %s %s: %s", what, path, strerror(errno));
		goto out;
	}
	if (!S_ISREG(st.st_mode)) {
		err_set(err, EXIT_INPUT, "%s %s is not a regular file", what, path);
		goto out;
	}
	if (st.st_size == 0) {
		err_set(err, EXIT_INPUT, "%s %s is empty", what, path);
		goto out;
	}
	*file = (struct boot_file){.fd = fd, .size = (uint64_t)st.st_size, .what = what, .path = path};
	rc = 0;
out:
	if (rc < 0)
		close(fd);
	return rc;
}

int boot_file_read(const struct boot_file *file, uint64_t offset, void *buf, size_t len, struct err *err)
{
	uint8_t *to = buf;

	if (offset > file->size || len > file->size - offset)
		return err_set(err, EXIT_INPUT, "%s %s is truncated: %zu bytes wanted at offset %llu of %llu", file->what,
			       file->path, len, (unsigned long long)offset, (unsigned long long)file->size);
	while (len > 0) {
		ssize_t n = pread(file->fd, to, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_set(err, EXIT_INPUT, "cannot read %s %s: %s", file->what, file->path,
				       n < 0 ? strerror(errno) : "it shrank while it was read");
		to += n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

void boot_file_close(struct boot_file *file)
{
	close(file->fd);
	file->fd = -1;
}
