/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens, reads, writes and flushes the file or block device of the host that holds a disk image. */
#include "hv/vmm/block/disk_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hv/vmm/block/disk_sector.h"

static int check_kind(const struct stat *st, const char *path, struct err *err)
{
	if (S_ISREG(st->st_mode) || S_ISBLK(st->st_mode))
		return 0;
	return err_set(err, EXIT_INPUT, "disk image %s is %s: give a file or a block device that holds the disk", path,
		       S_ISDIR(st->st_mode) ? "a folder" : "neither a file nor a block device");
}

static int refuse_open(int error, const char *path, bool write, struct err *err)
{
	switch (error) {
	case ENOENT:
		return err_set(err, EXIT_INPUT, "cannot open disk image %s: %s: to make an empty disk: truncate -s 8G IMAGE",
			       path, strerror(error));
	case EBUSY:
		return err_set(err, EXIT_INPUT, "disk image %s is a block device that the host uses: unmount it first", path);
	case EACCES:
	case EPERM:
	case EROFS:
		if (write)
			return err_set(err, EXIT_INPUT,
				       "cannot open disk image %s for writing: %s: get the right to write to it, or use the "
				       "image with ,ro or ,overlay",
				       path, strerror(error));
		/* fall through */
	default:
		return err_set(err, EXIT_INPUT, "cannot open disk image %s: %s", path, strerror(error));
	}
}

static int measure(struct disk_file *file, const char *path, struct err *err)
{
	struct stat st;

	if (fstat(file->fd, &st) < 0)
		return err_set(err, EXIT_INPUT, "cannot read disk image %s: %s", path, strerror(errno));
	if (check_kind(&st, path, err) < 0)
		return -1;
	file->size = (uint64_t)st.st_size;
	if (S_ISBLK(st.st_mode) && ioctl(file->fd, BLKGETSIZE64, &file->size) < 0)
		return err_set(err, EXIT_INPUT, "cannot tell the size of disk image %s: %s", path, strerror(errno));
	if (file->size == 0)
		return err_set(err, EXIT_INPUT, "disk image %s is empty: to make a disk of 8 GiB: truncate -s 8G IMAGE", path);
	if (file->size % DISK_SECTOR)
		return err_set(err, EXIT_INPUT,
			       "disk image %s has %llu bytes, which is no multiple of %u: the file may be truncated; if it is "
			       "complete, round its size up by: "
			       "truncate -s %%512 IMAGE",
			       path, (unsigned long long)file->size, DISK_SECTOR);
	return 0;
}

int disk_file_open(struct disk_file *file, const char *path, bool write, struct err *err)
{
	/*
	 * Check the type of the file before opening the file, because open() of some devices has side effects, and open() of a
	 * FIFO waits.
	 */
	int flags = (write ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	struct stat st;

	*file = (struct disk_file){.fd = -1};
	if (stat(path, &st) < 0)
		return refuse_open(errno, path, write, err);
	if (check_kind(&st, path, err) < 0)
		return -1;
	/* With O_EXCL, open() of a block device fails while a file system on the device is mounted (open(2)). */
	if (write && S_ISBLK(st.st_mode))
		flags |= O_EXCL;
	file->fd = open(path, flags);
	if (file->fd < 0)
		return refuse_open(errno, path, write, err);
	if (measure(file, path, err) < 0) {
		disk_file_close(file);
		return -1;
	}
	return 0;
}

void disk_file_close(struct disk_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

int disk_file_read(struct disk_file *file, struct disk_iov *v, size_t len, uint64_t offset)
{
	return disk_iov_read(file->fd, v, len, offset);
}

int disk_file_write(struct disk_file *file, struct disk_iov *v, size_t len, uint64_t offset)
{
	return disk_iov_write(file->fd, v, len, offset);
}

int disk_file_flush(struct disk_file *file)
{
	int error = atomic_load(&file->flush_error);

	if (!error && fdatasync(file->fd) < 0) {
		error = errno;
		atomic_store(&file->flush_error, error);
	}
	return error;
}

/*
 * Call fallocate(). Sets *cannot if the host does not support the operation for this file, or for a range that is not aligned
 * to the file's blocks.
 */
static int allocate(const struct disk_file *file, int mode, uint64_t offset, uint64_t len, bool *cannot)
{
	int rc;

	do
		rc = fallocate(file->fd, mode | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)len);
	while (rc < 0 && errno == EINTR);
	*cannot = rc < 0 && (errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL || errno == ENODEV);
	return rc < 0 ? errno : 0;
}

int disk_file_discard(struct disk_file *file, uint64_t offset, uint64_t len)
{
	bool cannot;
	int error;

	if (len == 0)
		return 0;
	error = allocate(file, FALLOC_FL_PUNCH_HOLE, offset, len, &cannot);
	return cannot ? 0 : error;
}

static int write_zeroes(struct disk_file *file, uint64_t offset, uint64_t len)
{
	static uint8_t zeroes[1 << 16]; /* always zero */

	while (len > 0) {
		size_t part = len < sizeof(zeroes) ? (size_t)len : sizeof(zeroes);
		struct iovec piece = {zeroes, part};
		struct disk_iov v = {&piece, 1};
		int error = disk_file_write(file, &v, part, offset);

		if (error)
			return error;
		offset += part;
		len -= part;
	}
	return 0;
}

int disk_file_zero(struct disk_file *file, uint64_t offset, uint64_t len, bool unmap)
{
	bool cannot = true;
	int error = 0;

	if (len == 0)
		return 0;
	if (unmap)
		error = allocate(file, FALLOC_FL_PUNCH_HOLE, offset, len, &cannot);
	if (cannot)
		error = allocate(file, FALLOC_FL_ZERO_RANGE, offset, len, &cannot);
	return cannot ? write_zeroes(file, offset, len) : error;
}
