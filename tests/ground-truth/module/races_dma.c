// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Group "dma": one side of the race is not a CPU but a device of the machine. In each case one thread sends requests and waits
 * for their ends, as a driver does, and the thread on the other CPU accesses the buffer without waiting.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "gt.h"

/* A driver that reads the buffer of a disk read before the device has completed the request. */
struct gt_dmaread {
	u64 header;
};
static struct gt_disk gt_dmaread_disk;
static struct gt_dmaread *gt_dmaread_buffer;

static int gt_dmaread_setup(void)
{
	int rc = harness_disk_open(&gt_dmaread_disk);

	if (!rc)
		gt_dmaread_buffer = page_address(gt_dmaread_disk.page);
	return rc;
}

static void gt_dmaread_teardown(void)
{
	harness_disk_close(&gt_dmaread_disk);
}

static gt_fn void gt_dmaread_reader(u64 round)
{
	struct gt_dmaread *buffer = gt_dmaread_buffer;

	gt_use(buffer->header);
}

static void gt_dmaread_device_step(u64 round)
{
	harness_disk_request(&gt_dmaread_disk, false);
}

const struct gt_case gt_case_dmaread = {
	.name = "dmaread",
	.group = "dma",
	.side = {{"reader", gt_dmaread_reader, 0}, {"device", gt_dmaread_device_step, 1}},
	.available = harness_disk_there,
	.setup = gt_dmaread_setup,
	.teardown = gt_dmaread_teardown,
};

/* A driver that changes a buffer while the device writes it to the disk: the disk may have either of the values. */
struct gt_dmawrite {
	u64 record;
};
static struct gt_disk gt_dmawrite_disk;
static struct gt_dmawrite *gt_dmawrite_buffer;

static int gt_dmawrite_setup(void)
{
	int rc = harness_disk_open(&gt_dmawrite_disk);

	if (!rc)
		gt_dmawrite_buffer = page_address(gt_dmawrite_disk.page);
	return rc;
}

static void gt_dmawrite_teardown(void)
{
	harness_disk_close(&gt_dmawrite_disk);
}

static gt_fn void gt_dmawrite_writer(u64 round)
{
	struct gt_dmawrite *buffer = gt_dmawrite_buffer;

	buffer->record = round;
}

static void gt_dmawrite_device_step(u64 round)
{
	harness_disk_request(&gt_dmawrite_disk, true);
}

const struct gt_case gt_case_dmawrite = {
	.name = "dmawrite",
	.group = "dma",
	.side = {{"writer", gt_dmawrite_writer, 0}, {"device", gt_dmawrite_device_step, 1}},
	.available = harness_disk_there,
	.setup = gt_dmawrite_setup,
	.teardown = gt_dmawrite_teardown,
};

/* A driver that gives the entropy device a buffer, and reads the buffer at once. */
struct gt_dmarng {
	u64 entropy;
	u8 rest[GT_RNG_BYTES - sizeof(u64)];
};
static struct gt_dmarng *gt_dmarng_buffer;

static int gt_dmarng_setup(void)
{
	int rc;

	gt_dmarng_buffer = kzalloc(sizeof(*gt_dmarng_buffer), GFP_KERNEL);
	if (!gt_dmarng_buffer)
		return -ENOMEM;
	rc = harness_rng_open();
	if (rc)
		kfree(gt_dmarng_buffer);
	return rc;
}

static void gt_dmarng_teardown(void)
{
	harness_rng_close();
	kfree(gt_dmarng_buffer);
}

static gt_fn void gt_dmarng_reader(u64 round)
{
	struct gt_dmarng *buffer = gt_dmarng_buffer;

	gt_use(buffer->entropy);
}

static void gt_dmarng_device_step(u64 round)
{
	harness_rng_request(gt_dmarng_buffer);
}

const struct gt_case gt_case_dmarng = {
	.name = "dmarng",
	.group = "dma",
	.side = {{"reader", gt_dmarng_reader, 0}, {"device", gt_dmarng_device_step, 1}},
	.available = harness_rng_there,
	.setup = gt_dmarng_setup,
	.teardown = gt_dmarng_teardown,
};
