/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Locks bytes of a disk image so that no other program uses the image in a conflicting way. disk_lock.h says what each byte
 * means to QEMU and libvirt.
 */
#include "hv/vmm/block/disk_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <unistd.h>

/* A range of the file to lock: `count` bytes from `first` on. */
struct lock_bytes {
	short type; /* F_RDLCK: shared; F_WRLCK: exclusive */
	off_t first, count;
};

/* The locks to take, in this order. disk_lock.h says what the bytes mean. */
static const struct lock_bytes writer_takes[] = {{F_WRLCK, 0, 1}, {F_RDLCK, 100, 1}, {F_WRLCK, 101, 3}, {F_WRLCK, 201, 3}};
static const struct lock_bytes reader_takes[] = {{F_RDLCK, 0, 1}, {F_RDLCK, 100, 1}, {F_RDLCK, 201, 1}, {F_RDLCK, 203, 1}};

/*
 * Locks that are not taken, but must not conflict with a lock of another program. A lock on byte 200 means that its holder
 * allows other programs no consistent reads.
 */
static const struct lock_bytes writer_asks[] = {{F_WRLCK, 200, 1}};
static const struct lock_bytes reader_asks[] = {{F_WRLCK, 101, 1}, {F_WRLCK, 103, 1}, {F_WRLCK, 200, 1}};

static struct flock lock_of(const struct lock_bytes *bytes)
{
	return (struct flock){.l_type = bytes->type, .l_whence = SEEK_SET, .l_start = bytes->first, .l_len = bytes->count};
}

static int refuse(bool write, const char *path, struct err *err)
{
	if (write)
		return err_set(
			err, EXIT_INPUT,
			"disk image %s is in use, by another outrider or --disk, a QEMU or a libvirt domain ('fuser -v' on it "
			"says which): stop that program, or use the image with ,ro or ,overlay if no program writes to it",
			path);
	return err_set(err, EXIT_INPUT,
		       "disk image %s is being written to, by another outrider or --disk, a QEMU or a libvirt domain ('fuser "
		       "-v' on it "
		       "says which): stop that program, or use a copy",
		       path);
}

int disk_lock(int fd, bool write, const char *path, struct err *err)
{
	const struct lock_bytes *takes = write ? writer_takes : reader_takes, *asks = write ? writer_asks : reader_asks;
	size_t take_count = write ? sizeof(writer_takes) / sizeof(*takes) : sizeof(reader_takes) / sizeof(*takes);
	size_t ask_count = write ? sizeof(writer_asks) / sizeof(*asks) : sizeof(reader_asks) / sizeof(*asks);

	for (size_t i = 0; i < take_count; i++) {
		struct flock lock = lock_of(&takes[i]);

		/* Ignore other errors: this file system, or this host, does not support open file description locks. */
		if (fcntl(fd, F_OFD_SETLK, &lock) < 0)
			return errno == EAGAIN || errno == EACCES ? refuse(write, path, err) : 0;
	}
	for (size_t i = 0; i < ask_count; i++) {
		struct flock lock = lock_of(&asks[i]);

		/* The kernel sets the type to F_UNLCK if no other lock conflicts. */
		if (fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK)
			return refuse(write, path, err);
	}
	return 0;
}
