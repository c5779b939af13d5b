/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A disk of the guest: an image file, perhaps with an overlay that takes the writes. A copy of the machine has a copy of the
 * disk: an overlay in memory over the live disk, which is the disk of the running machine.
 */
#include "hv/vmm/block/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "hv/vmm/block/disk_file.h"
#include "hv/vmm/block/disk_format.h"
#include "hv/vmm/block/disk_lock.h"
#include "hv/vmm/block/disk_marks.h"
#include "hv/vmm/block/disk_overlay.h"

struct disk {
	char *path;
	bool read_only;
	struct disk_file image;
	bool has_overlay;
	struct disk_overlay overlay; /* zeroed unless has_overlay */
	struct disk_marks marks;     /* empty unless disk_allow_copies() was called */
	uint32_t copy_time;	     /* disk_marks_next() of the latest copy */
	bool is_copy;		     /* the overlay's base is another struct disk */
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
	disk_marks_close(&disk->marks);
	if (!disk->is_copy)
		disk_file_close(&disk->image);
	free(disk->path);
	free(disk);
}

/* ---- copies ---- */

int disk_allow_copies(struct disk *disk, struct err *err)
{
	return disk_marks_open(&disk->marks, disk->image.size, err);
}

void disk_copy_begins(struct disk *disk)
{
	disk->copy_time = disk_marks_next(&disk->marks);
}

unsigned disk_descriptors(const struct disk *disk, int fds[2])
{
	fds[0] = disk->image.fd;
	if (disk->has_overlay)
		fds[1] = disk->overlay.top.fd;
	return disk->has_overlay ? 2 : 1;
}

/* Returns true if the bytes of the live disk have not changed since the copy was made. A read-only disk never changes. */
static bool as_it_was(const struct disk *live, uint64_t offset, uint64_t len)
{
	return live->read_only || disk_marks_older(&live->marks, offset, len, live->copy_time);
}

/*
 * Read from the live disk, which the guest of the running machine may have written since the fork(). Returns DISK_NEWER if that
 * guest has written these bytes since: their content at the time of the fork() is lost.
 */
static int read_live(void *ctx, struct disk_iov *v, size_t len, uint64_t offset)
{
	struct disk *live = ctx;
	int error = live->has_overlay ? disk_overlay_read(&live->overlay, v, len, offset)
				      : disk_file_read(&live->image, v, len, offset);

	return error || as_it_was(live, offset, len) ? error : DISK_NEWER;
}

struct disk *disk_copy(struct disk *live, struct err *err)
{
	const struct disk_base base = {.read = read_live, .ctx = live, .size = live->image.size};
	struct disk *disk = calloc(1, sizeof(*disk));

	if (disk)
		disk->path = strdup(live->path);
	if (!disk || !disk->path) {
		err_set(err, EXIT_INTERNAL, "no memory for a disk");
		free(disk);
		return NULL;
	}
	disk->image = (struct disk_file){.fd = live->image.fd, .size = live->image.size};
	disk->read_only = live->read_only;
	disk->is_copy = true;
	disk->has_overlay = true;
	if (disk_overlay_open_memory(&disk->overlay, &base, err) == 0)
		return disk;
	disk_close(disk);
	return NULL;
}

/* ---- requests ---- */

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
	return disk->has_overlay && disk->overlay.folder ? disk->overlay.folder : disk->path;
}

/* Returns 0, or the errno number of the reason why the access is not possible. */
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
	disk_marks_write(&disk->marks, offset, len);
	return disk->has_overlay ? disk_overlay_write(&disk->overlay, &v, len, offset)
				 : disk_file_write(&disk->image, &v, len, offset);
}

void disk_will_read(struct disk *disk, uint64_t offset, uint64_t len)
{
	/*
	 * Announce reads of the image only: the blocks of an overlay were written recently, and are mostly still in the host's
	 * page cache.
	 */
	/* posix_fadvise() takes a length of 0 as everything up to the end of the file. */
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
	disk_marks_write(&disk->marks, offset, len);
	return disk->has_overlay ? disk_overlay_discard(&disk->overlay, offset, len)
				 : disk_file_discard(&disk->image, offset, len);
}

int disk_zero(struct disk *disk, uint64_t offset, uint64_t len, bool unmap)
{
	int error = check(disk, offset, len, true);

	if (error || len == 0)
		return error;
	disk_marks_write(&disk->marks, offset, len);
	return disk->has_overlay ? disk_overlay_zero(&disk->overlay, offset, len)
				 : disk_file_zero(&disk->image, offset, len, unmap);
}
