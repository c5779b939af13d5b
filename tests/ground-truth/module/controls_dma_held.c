// SPDX-License-Identifier: GPL-2.0-or-later
/* Group "controls", with a device: what is beside a request's memory, and what both only read. */
#include <linux/completion.h>
#include <linux/mm.h>

#include "gt.h"

#define GT_DMAHALF_BYTES 2048

/* The device reads and fills the first half of a page, and a CPU writes the word behind it, in the other half. */
struct gt_dmahalf {
	u8 lent[GT_DMAHALF_BYTES];
	u64 neighbour;
};
static struct gt_disk gt_dmahalf_disk;
static struct gt_dmahalf *gt_dmahalf_buffer;

static int gt_dmahalf_setup(void)
{
	int rc = harness_disk_open(&gt_dmahalf_disk);

	if (!rc)
		gt_dmahalf_buffer = page_address(gt_dmahalf_disk.page);
	return rc;
}

static void gt_dmahalf_teardown(void)
{
	harness_disk_close(&gt_dmahalf_disk);
}

static gt_fn void gt_dmahalf_writer(u64 round)
{
	struct gt_dmahalf *buffer = gt_dmahalf_buffer;

	buffer->neighbour = round;
}

static void gt_dmahalf_device_step(u64 round)
{
	harness_disk_part(&gt_dmahalf_disk, round % 2, GT_DMAHALF_BYTES);
}

const struct gt_case gt_case_dmahalf = {
	.name = "dmahalf",
	.group = "controls",
	.side = {{"writer", gt_dmahalf_writer, 0}, {"device", gt_dmahalf_device_step, 1}},
	.available = harness_disk_there,
	.setup = gt_dmahalf_setup,
	.teardown = gt_dmahalf_teardown,
};

/* The device writes a page to the disk, and a CPU reads the page meanwhile: both only read the memory. */
struct gt_dmaboth {
	u64 header;
};
static struct gt_disk gt_dmaboth_disk;
static struct gt_dmaboth *gt_dmaboth_buffer;

static int gt_dmaboth_setup(void)
{
	int rc = harness_disk_open(&gt_dmaboth_disk);

	if (!rc)
		gt_dmaboth_buffer = page_address(gt_dmaboth_disk.page);
	return rc;
}

static void gt_dmaboth_teardown(void)
{
	harness_disk_close(&gt_dmaboth_disk);
}

static gt_fn void gt_dmaboth_reader(u64 round)
{
	struct gt_dmaboth *buffer = gt_dmaboth_buffer;

	gt_use(buffer->header);
}

static void gt_dmaboth_device_step(u64 round)
{
	harness_disk_request(&gt_dmaboth_disk, true);
}

const struct gt_case gt_case_dmaboth = {
	.name = "dmaboth",
	.group = "controls",
	.side = {{"reader", gt_dmaboth_reader, 0}, {"device", gt_dmaboth_device_step, 1}},
	.available = harness_disk_there,
	.setup = gt_dmaboth_setup,
	.teardown = gt_dmaboth_teardown,
};

/*
 * Double buffers: a CPU fills one buffer while the device writes the other to the disk. Two completions hand the buffers over,
 * so each round works on the buffer that the other side has done with.
 */
static struct gt_disk gt_dmadouble_disk[2];
static DECLARE_COMPLETION(gt_dmadouble_filled);
static DECLARE_COMPLETION(gt_dmadouble_free);
/* The number of buffers that each side has done with. Each is used by its own side only. */
static u64 gt_dmadouble_fills gt_datum, gt_dmadouble_writes gt_datum;

static int gt_dmadouble_setup(void)
{
	int rc = harness_disk_open(&gt_dmadouble_disk[0]);

	if (rc)
		return rc;
	rc = harness_disk_open(&gt_dmadouble_disk[1]);
	if (rc) {
		harness_disk_close(&gt_dmadouble_disk[0]);
		return rc;
	}
	gt_dmadouble_fills = gt_dmadouble_writes = 0;
	reinit_completion(&gt_dmadouble_filled);
	reinit_completion(&gt_dmadouble_free);
	/* Both buffers are free. */
	complete(&gt_dmadouble_free);
	complete(&gt_dmadouble_free);
	return 0;
}

static void gt_dmadouble_teardown(void)
{
	harness_disk_close(&gt_dmadouble_disk[0]);
	harness_disk_close(&gt_dmadouble_disk[1]);
}

static gt_fn void gt_dmadouble_filler(u64 round)
{
	u64 *buffer = page_address(gt_dmadouble_disk[gt_dmadouble_fills % 2].page);

	if (!harness_wait(&gt_dmadouble_free))
		return;
	*buffer = round;
	gt_dmadouble_fills++;
	complete(&gt_dmadouble_filled);
}

static void gt_dmadouble_device_step(u64 round)
{
	if (!harness_wait(&gt_dmadouble_filled))
		return;
	harness_disk_request(&gt_dmadouble_disk[gt_dmadouble_writes % 2], true);
	gt_dmadouble_writes++;
	complete(&gt_dmadouble_free);
}

const struct gt_case gt_case_dmadouble = {
	.name = "dmadouble",
	.group = "controls",
	.side = {{"filler", gt_dmadouble_filler, 0}, {"device", gt_dmadouble_device_step, 1}},
	.available = harness_disk_there,
	.setup = gt_dmadouble_setup,
	.teardown = gt_dmadouble_teardown,
};
