/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "hv/vmm/dev/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "hv/vmm/dev/disk_file.h"
#include "hv/vmm/dev/disk_format.h"
#include "hv/vmm/dev/disk_lock.h"
#include "hv/vmm/dev/disk_overlay.h"

struct disk {
	char *path;
	bool read_only;
	struct disk_file image;
	bool has_overlay;
	struct disk_overlay overlay; /* zeroed unless has_overlay */
};

struct disk *disk_open(const struct vmm_disk *config, struct err *err)
{
	struct disk *disk = calloc(1, sizeof(*disk));
	bool overlay = config->overlay && !config->read_only, write = !config->overlay && !config->read_only;

	if (disk)
		disk->path = strdup(config->path);
	if (!disk || !disk->path) {
		err_set(err, EXIT_INTERNAL, "no memory for a disk");
		free(disk);
		return NULL;
	}
	disk->read_only = config->read_only;
	if (disk_file_open(&disk->image, config->path, write, err) < 0 ||
	    (!config->raw && disk_format_check(disk->image.fd, config->path, err) < 0) ||
	    disk_lock(disk->image.fd, write, config->path, err) < 0 ||
	    (overlay && disk_overlay_open(&disk->overlay, &disk->image, config->path, err) < 0)) {
		disk_close(disk);
		return NULL;
	}
	disk->has_overlay = overlay;
	return disk;
}

void disk_close(struct disk *disk)
{
	if (!disk)
		return;
	disk_overlay_close(&disk->overlay);
	disk_file_close(&disk->image);
	free(disk->path);
	free(disk);
}

uint64_t disk_size(const struct disk *disk)
{
	return disk->image.size;
}

bool disk_read_only(const struct disk *disk)
{
	return disk->read_only;
}

const char *disk_path(const struct disk *disk)
{
	return disk->path;
}

const char *disk_written_path(const struct disk *disk)
{
	return disk->has_overlay ? disk->overlay.folder : disk->path;
}

/* 0, or why the range cannot be accessed so. */
static int check(const struct disk *disk, uint64_t offset, uint64_t len, bool write)
{
	if (offset > disk->image.size || len > disk->image.size - offset)
		return EINVAL;
	return write && disk->read_only ? EROFS : 0;
}

int disk_read(struct disk *disk, struct iovec *iov, unsigned count, uint64_t offset)
{
	struct disk_iov v = {iov, count};
	size_t len = disk_iov_len(iov, count);
	int error = check(disk, offset, len, false);

	if (error)
		return error;
	return disk->has_overlay ? disk_overlay_read(&disk->overlay, &v, len, offset)
				 : disk_file_read(&disk->image, &v, len, offset);
}

int disk_write(struct disk *disk, struct iovec *iov, unsigned count, uint64_t offset)
{
	struct disk_iov v = {iov, count};
	size_t len = disk_iov_len(iov, count);
	int error = check(disk, offset, len, true);

	if (error)
		return error;
	return disk->has_overlay ? disk_overlay_write(&disk->overlay, &v, len, offset)
				 : disk_file_write(&disk->image, &v, len, offset);
}

void disk_will_read(struct disk *disk, uint64_t offset, uint64_t len)
{
	/* What is in an overlay was written not long ago, and is mostly in memory still. */
	/* To posix_fadvise(), 0 bytes are all up to the end. */
	if (len && check(disk, offset, len, false) == 0)
		posix_fadvise(disk->image.fd, (off_t)offset, (off_t)len, POSIX_FADV_WILLNEED);
}

int disk_flush(struct disk *disk)
{
	return disk->has_overlay || disk->read_only ? 0 : disk_file_flush(&disk->image);
}

int disk_discard(struct disk *disk, uint64_t offset, uint64_t len)
{
	int error = check(disk, offset, len, true);

	if (error || len == 0)
		return error;
	return disk->has_overlay ? disk_overlay_discard(&disk->overlay, offset, len)
				 : disk_file_discard(&disk->image, offset, len);
}

int disk_zero(struct disk *disk, uint64_t offset, uint64_t len, bool unmap)
{
	int error = check(disk, offset, len, true);

	if (error || len == 0)
		return error;
	return disk->has_overlay ? disk_overlay_zero(&disk->overlay, offset, len)
				 : disk_file_zero(&disk->image, offset, len, unmap);
}
