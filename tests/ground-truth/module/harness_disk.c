// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Requests to the guest's disk, through the stock driver. A request is direct I/O on the block device, so the device reads and
 * writes the case's own page, with no copy in between.
 */
#include <linux/bvec.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/uio.h>

#include "gt.h"

static char *disk = "/dev/vda";
module_param(disk, charp, 0444);
MODULE_PARM_DESC(disk, "the disk that the cases of direct memory access overwrite in part");

static struct file *harness_disk_file(void)
{
	return filp_open(disk, O_RDWR | O_DIRECT | O_LARGEFILE, 0);
}

bool harness_disk_there(void)
{
	struct file *file = harness_disk_file();

	if (IS_ERR(file))
		return false;
	filp_close(file, NULL);
	return true;
}

int harness_disk_open(struct gt_disk *d)
{
	d->file = harness_disk_file();
	if (IS_ERR(d->file))
		return PTR_ERR(d->file);
	d->page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (d->page)
		return 0;
	filp_close(d->file, NULL);
	return -ENOMEM;
}

void harness_disk_close(struct gt_disk *d)
{
	filp_close(d->file, NULL);
	if (d->page)
		__free_page(d->page);
}

/* A request for `count` segments, which have `len` bytes in all. */
static void harness_disk_transfer(struct gt_disk *d, bool write, const struct bio_vec *vec, unsigned int count, size_t len)
{
	loff_t at = GT_DISK_SECTOR * 512;
	struct iov_iter iter;
	ssize_t done;

	iov_iter_bvec(&iter, write ? WRITE : READ, vec, count, len);
	done = write ? vfs_iter_write(d->file, &iter, &at, 0) : vfs_iter_read(d->file, &iter, &at, 0);
	/* The kernel's log must be clean, so a disk that fails is no quiet disk. */
	WARN_ONCE(done != len, "outrider_gt: %s: %zd\n", disk, done);
}

void harness_disk_request(struct gt_disk *d, bool write)
{
	harness_disk_part(d, write, PAGE_SIZE);
}

void harness_disk_part(struct gt_disk *d, bool write, unsigned int len)
{
	const struct bio_vec vec = {.bv_page = d->page, .bv_len = len};

	harness_disk_transfer(d, write, &vec, 1, len);
}

void harness_disk_two(struct gt_disk *d, bool write, struct page *second)
{
	const struct bio_vec vec[] = {{.bv_page = d->page, .bv_len = PAGE_SIZE}, {.bv_page = second, .bv_len = PAGE_SIZE}};

	harness_disk_transfer(d, write, vec, 2, 2 * PAGE_SIZE);
}
