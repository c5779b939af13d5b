/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An overlay: a temporary file that takes the writes to a disk, in blocks of OVERLAY_BLOCK bytes, while the image is only read.
 * A bitmap tells which blocks are in the temporary file. A block is copied to the temporary file as a whole before a part of
 * the block is written.
 */
#include "hv/vmm/block/disk_overlay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * A claim of the blocks `first` to `last`: a thread is writing them to the temporary file for the first time. The struct is on
 * that thread's stack.
 */
struct overlay_claim {
	uint64_t first, last;
	struct overlay_claim *next;
};

/* ---- the temporary file ---- */

static int open_nameless(const char *folder)
{
	char name[4096];
	int fd = open(folder, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);

	/*
	 * Some file systems, such as NFS, do not support O_TMPFILE. On such a file system, make a file with a name and unlink
	 * it.
	 */
	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
		return fd;
	if (snprintf(name, sizeof(name), "%s/outrider-XXXXXX", folder) >= (int)sizeof(name)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0)
		unlink(name);
	return fd;
}

/* Returns the folder of a path, which the caller frees, or NULL if memory runs out. */
static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return strdup(".");
	return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

static int open_in(struct disk_overlay *o, char *folder)
{
	if (!folder) {
		errno = ENOMEM;
		return -1;
	}
	free(o->folder);
	o->folder = folder;
	o->top.fd = open_nameless(folder);
	if (o->top.fd < 0)
		return -1;
	return ftruncate(o->top.fd, (off_t)o->base.size);
}

/* Returns true for a block device. The folder of a block device (/dev) is in memory, and so is no place for an overlay. */
static bool is_device(const struct disk_file *file)
{
	struct stat st;

	return fstat(file->fd, &st) == 0 && S_ISBLK(st.st_mode);
}

static int open_top(struct disk_overlay *o, const struct disk_file *base, const char *path, struct err *err)
{
	const char *asked = getenv("TMPDIR");
	int rc;

	o->top = (struct disk_file){.fd = -1, .size = o->base.size};
	if (asked && *asked)
		rc = open_in(o, strdup(asked));
	else if (is_device(base) || (rc = open_in(o, folder_of(path))) < 0) {
		disk_file_close(&o->top);
		rc = open_in(o, strdup("/var/tmp"));
	}
	if (rc == 0)
		return 0;
	return err_set(err, EXIT_INPUT,
		       "cannot make the overlay of disk image %s in %s: %s: let TMPDIR name a folder with room", path,
		       o->folder ? o->folder : "any folder", strerror(errno));
}

static int read_image(void *ctx, struct disk_iov *v, size_t len, uint64_t offset)
{
	return disk_file_read(ctx, v, len, offset);
}

/*
 * Finish opening an overlay: allocate its bitmap. `rc` is the result of opening its temporary file. If `rc` is negative, or if
 * memory runs out, free the overlay and return -1.
 */
static int finish_open(struct disk_overlay *o, int rc, struct err *err)
{
	uint64_t blocks = (o->base.size + OVERLAY_BLOCK - 1) / OVERLAY_BLOCK;

	if (rc == 0)
		o->there = calloc((blocks + 63) / 64, sizeof(*o->there));
	if (rc == 0 && !o->there)
		rc = err_set(err, EXIT_INPUT, "no memory for the overlay of a disk image of %llu bytes",
			     (unsigned long long)o->base.size);
	if (rc == 0) {
		pthread_mutex_init(&o->lock, NULL);
		pthread_cond_init(&o->released, NULL);
		return 0;
	}
	disk_file_close(&o->top);
	free(o->folder);
	*o = (struct disk_overlay){0};
	return -1;
}

int disk_overlay_open(struct disk_overlay *o, struct disk_file *base, const char *path, struct err *err)
{
	*o = (struct disk_overlay){.base = {.read = read_image, .ctx = base, .size = base->size}};
	return finish_open(o, open_top(o, base, path, err), err);
}

int disk_overlay_open_memory(struct disk_overlay *o, const struct disk_base *base, struct err *err)
{
	int rc = 0;

	*o = (struct disk_overlay){.base = *base, .top = {.size = base->size}};
	o->top.fd = memfd_create("disk of a copy", MFD_CLOEXEC);
	if (o->top.fd < 0 || ftruncate(o->top.fd, (off_t)base->size) < 0)
		rc = err_set(err, EXIT_INPUT, "no memory for the disk of a copy of the machine: %s", strerror(errno));
	return finish_open(o, rc, err);
}

void disk_overlay_close(struct disk_overlay *o)
{
	if (!o->there)
		return;
	disk_file_close(&o->top);
	free(o->folder);
	free((void *)o->there);
	pthread_mutex_destroy(&o->lock);
	pthread_cond_destroy(&o->released);
	*o = (struct disk_overlay){0};
}

/* ---- the bitmap of blocks in the temporary file ---- */

static bool is_there(const struct disk_overlay *o, uint64_t block)
{
	return atomic_load_explicit(&o->there[block / 64], memory_order_acquire) >> block % 64 & 1;
}

static bool all_there(const struct disk_overlay *o, uint64_t first, uint64_t last)
{
	while (first <= last && is_there(o, first))
		first++;
	return first > last;
}

/*
 * Set the bits of the blocks. The release order pairs with the acquire in is_there(): a thread that sees a bit also sees the
 * block's bytes in the file.
 */
static void set_there(struct disk_overlay *o, uint64_t first, uint64_t last)
{
	for (uint64_t block = first; block <= last; block++)
		atomic_fetch_or_explicit(&o->there[block / 64], UINT64_C(1) << block % 64, memory_order_release);
}

static bool claimed(const struct disk_overlay *o, const struct overlay_claim *c)
{
	for (const struct overlay_claim *other = o->claims; other; other = other->next)
		if (other->first <= c->last && c->first <= other->last)
			return true;
	return false;
}

/* Wait until no other thread has claimed any of these blocks, and claim them. A thread has at most one claim. */
static void claim(struct disk_overlay *o, struct overlay_claim *c)
{
	pthread_mutex_lock(&o->lock);
	while (claimed(o, c))
		pthread_cond_wait(&o->released, &o->lock);
	c->next = o->claims;
	o->claims = c;
	pthread_mutex_unlock(&o->lock);
}

static void release(struct disk_overlay *o, struct overlay_claim *c)
{
	pthread_mutex_lock(&o->lock);
	for (struct overlay_claim **p = &o->claims; *p; p = &(*p)->next) {
		if (*p == c) {
			*p = c->next;
			break;
		}
	}
	pthread_cond_broadcast(&o->released);
	pthread_mutex_unlock(&o->lock);
}

/* ---- requests ---- */

int disk_overlay_read(struct disk_overlay *o, struct disk_iov *v, size_t len, uint64_t offset)
{
	while (len > 0) {
		uint64_t block = offset / OVERLAY_BLOCK, end = offset + len;
		bool there = is_there(o, block);
		uint64_t run = (block + 1) * OVERLAY_BLOCK;
		size_t part;
		int error;

		while (run < end && is_there(o, run / OVERLAY_BLOCK) == there)
			run += OVERLAY_BLOCK;
		part = (size_t)((run < end ? run : end) - offset);
		error = there ? disk_file_read(&o->top, v, part, offset) : o->base.read(o->base.ctx, v, part, offset);
		if (error)
			return error;
		offset += part;
		len -= part;
	}
	return 0;
}

/* Copy a block from the image to the temporary file, unless it is there already. The caller has claimed the block. */
static int copy_up(struct disk_overlay *o, uint64_t block)
{
	uint8_t bytes[OVERLAY_BLOCK];
	uint64_t offset = block * OVERLAY_BLOCK, rest = o->base.size - offset;
	size_t len = rest < OVERLAY_BLOCK ? (size_t)rest : OVERLAY_BLOCK;
	struct iovec from = {bytes, len}, to = {bytes, len};
	int error;

	if (is_there(o, block))
		return 0;
	error = o->base.read(o->base.ctx, &(struct disk_iov){&from, 1}, len, offset);
	return error ? error : disk_file_write(&o->top, &(struct disk_iov){&to, 1}, len, offset);
}

/*
 * Copy the first block of a range to the temporary file (copy_up()), if the range covers only a part of the block. Do the same
 * for the last block.
 */
static int copy_up_ends(struct disk_overlay *o, uint64_t offset, uint64_t end)
{
	uint64_t first = offset / OVERLAY_BLOCK, last = (end - 1) / OVERLAY_BLOCK;
	bool cut_front = offset % OVERLAY_BLOCK, cut_back = end % OVERLAY_BLOCK && end < o->base.size;
	int error = 0;

	if (cut_front || (cut_back && first == last))
		error = copy_up(o, first);
	if (!error && cut_back && last != first)
		error = copy_up(o, last);
	return error;
}

int disk_overlay_write(struct disk_overlay *o, struct disk_iov *v, size_t len, uint64_t offset)
{
	struct overlay_claim c = {.first = offset / OVERLAY_BLOCK, .last = (offset + len - 1) / OVERLAY_BLOCK};
	int error;

	if (len == 0)
		return 0;
	if (all_there(o, c.first, c.last))
		return disk_file_write(&o->top, v, len, offset);
	claim(o, &c);
	error = copy_up_ends(o, offset, offset + len);
	if (!error)
		error = disk_file_write(&o->top, v, len, offset);
	if (!error)
		set_there(o, c.first, c.last);
	release(o, &c);
	return error;
}

/* Make whole blocks read as zeroes. */
static int zero_blocks(struct disk_overlay *o, uint64_t first, uint64_t last)
{
	struct overlay_claim c = {.first = first, .last = last};
	uint64_t start = first * OVERLAY_BLOCK, end = (last + 1) * OVERLAY_BLOCK;
	int error;

	claim(o, &c);
	/* Zero also blocks whose bits are clear, because a failed write may have left bytes in the file. */
	error = disk_file_zero(&o->top, start, (end < o->base.size ? end : o->base.size) - start, true);
	if (!error)
		set_there(o, first, last);
	release(o, &c);
	return error;
}

/*
 * Find the blocks that lie completely in a range: *first is the first of them, *end is the block after the last. The image's
 * last block may be short.
 */
static void whole_blocks(const struct disk_overlay *o, uint64_t offset, uint64_t len, uint64_t *first, uint64_t *end)
{
	*first = (offset + OVERLAY_BLOCK - 1) / OVERLAY_BLOCK;
	*end = (offset + len) / OVERLAY_BLOCK;
	if (offset + len == o->base.size && (offset + len) % OVERLAY_BLOCK)
		++*end;
}

int disk_overlay_discard(struct disk_overlay *o, uint64_t offset, uint64_t len)
{
	uint64_t first, end;

	whole_blocks(o, offset, len, &first, &end);
	return first < end ? zero_blocks(o, first, end - 1) : 0;
}

/* Write zeroes to less than a block. */
static int zero_part(struct disk_overlay *o, uint64_t offset, uint64_t end)
{
	uint8_t zeroes[OVERLAY_BLOCK] = {0};
	struct iovec piece = {zeroes, (size_t)(end - offset)};

	return disk_overlay_write(o, &(struct disk_iov){&piece, 1}, (size_t)(end - offset), offset);
}

int disk_overlay_zero(struct disk_overlay *o, uint64_t offset, uint64_t len)
{
	uint64_t first, last, end = offset + len;
	int error;

	whole_blocks(o, offset, len, &first, &last);
	if (first >= last) {
		/* The range covers no whole block: it lies in one block, or in the end of a block and the start of the next. */
		uint64_t border = first * OVERLAY_BLOCK;

		if (border <= offset || border >= end)
			return zero_part(o, offset, end);
		error = zero_part(o, offset, border);
		return error ? error : zero_part(o, border, end);
	}
	error = zero_part(o, offset, first * OVERLAY_BLOCK);
	if (!error)
		error = zero_blocks(o, first, last - 1);
	if (!error && last * OVERLAY_BLOCK < end)
		error = zero_part(o, last * OVERLAY_BLOCK, end);
	return error;
}
