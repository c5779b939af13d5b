// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Group "dmaheld": more races with a device, at places of a request where a detector seldom looks. As in the group dma, one
 * thread sends requests and waits for their ends, and the thread on the other CPU accesses the buffer without waiting.
 */
#include <linux/mm.h>

#include "gt.h"

/* A driver that stamps the last word of a page while the device writes the page to the disk. */
struct gt_dmalast {
	u8 body[PAGE_SIZE - sizeof(u64)];
	u64 stamp;
};
static struct gt_disk gt_dmalast_disk;
static struct gt_dmalast *gt_dmalast_buffer;

static int gt_dmalast_setup(void)
{
	int rc = harness_disk_open(&gt_dmalast_disk);

	if (!rc)
		gt_dmalast_buffer = page_address(gt_dmalast_disk.page);
	return rc;
}

static void gt_dmalast_teardown(void)
{
	harness_disk_close(&gt_dmalast_disk);
}

static gt_fn void gt_dmalast_stamper(u64 round)
{
	struct gt_dmalast *buffer = gt_dmalast_buffer;

	buffer->stamp = round;
}

static void gt_dmalast_device_step(u64 round)
{
	harness_disk_request(&gt_dmalast_disk, true);
}

const struct gt_case gt_case_dmalast = {
	.name = "dmalast",
	.group = "dmaheld",
	.side = {{"stamper", gt_dmalast_stamper, 0}, {"device", gt_dmalast_device_step, 1}},
	.available = harness_disk_there,
	.setup = gt_dmalast_setup,
	.teardown = gt_dmalast_teardown,
};

/* A driver that reads the last byte of a request's second segment before the device has filled it. */
struct gt_dmasecond {
	u8 body[PAGE_SIZE - 1];
	u8 last;
};
static struct gt_disk gt_dmasecond_disk;
/* Three pages, of which the third is the second segment: pages next to each other would be one segment. */
static struct page *gt_dmasecond_pages;
static struct gt_dmasecond *gt_dmasecond_buffer;

static int gt_dmasecond_setup(void)
{
	int rc = harness_disk_open(&gt_dmasecond_disk);

	if (rc)
		return rc;
	gt_dmasecond_pages = alloc_pages(GFP_KERNEL | __GFP_ZERO, 2);
	if (!gt_dmasecond_pages) {
		harness_disk_close(&gt_dmasecond_disk);
		return -ENOMEM;
	}
	split_page(gt_dmasecond_pages, 2);
	__free_page(gt_dmasecond_disk.page);
	gt_dmasecond_disk.page = gt_dmasecond_pages;
	gt_dmasecond_buffer = page_address(gt_dmasecond_pages + 2);
	return 0;
}

static void gt_dmasecond_teardown(void)
{
	/* The disk's page is the first of the four. */
	for (unsigned int i = 0; i < 4; i++)
		__free_page(gt_dmasecond_pages + i);
	gt_dmasecond_disk.page = NULL;
	harness_disk_close(&gt_dmasecond_disk);
}

static gt_fn void gt_dmasecond_reader(u64 round)
{
	struct gt_dmasecond *buffer = gt_dmasecond_buffer;

	gt_use(buffer->last);
}

static void gt_dmasecond_device_step(u64 round)
{
	harness_disk_two(&gt_dmasecond_disk, false, gt_dmasecond_pages + 2);
}

const struct gt_case gt_case_dmasecond = {
	.name = "dmasecond",
	.group = "dmaheld",
	.side = {{"reader", gt_dmasecond_reader, 0}, {"device", gt_dmasecond_device_step, 1}},
	.available = harness_disk_there,
	.setup = gt_dmasecond_setup,
	.teardown = gt_dmasecond_teardown,
};

/* A driver with two requests under way, which waits for the end of the first and then reads the buffer of the second. */
struct gt_dmawrong {
	u64 header;
};
static struct gt_disk gt_dmawrong_disk[2];

static int gt_dmawrong_setup(void)
{
	int rc = harness_disk_open(&gt_dmawrong_disk[0]);

	if (rc)
		return rc;
	rc = harness_disk_open(&gt_dmawrong_disk[1]);
	if (rc)
		harness_disk_close(&gt_dmawrong_disk[0]);
	return rc;
}

static void gt_dmawrong_teardown(void)
{
	harness_disk_close(&gt_dmawrong_disk[0]);
	harness_disk_close(&gt_dmawrong_disk[1]);
}

static gt_fn void gt_dmawrong_reader(u64 round)
{
	struct gt_dmawrong *other = page_address(gt_dmawrong_disk[1].page);

	harness_disk_request(&gt_dmawrong_disk[0], false);
	gt_use(other->header);
}

static void gt_dmawrong_device_step(u64 round)
{
	harness_disk_request(&gt_dmawrong_disk[1], false);
}

const struct gt_case gt_case_dmawrong = {
	.name = "dmawrong",
	.group = "dmaheld",
	.side = {{"reader", gt_dmawrong_reader, 0}, {"device", gt_dmawrong_device_step, 1}},
	.available = harness_disk_there,
	.setup = gt_dmawrong_setup,
	.teardown = gt_dmawrong_teardown,
};
