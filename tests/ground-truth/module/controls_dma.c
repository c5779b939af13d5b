// SPDX-License-Identifier: GPL-2.0-or-later
/* Group "controls", with a device: the cases of the group dma done rightly, and the rings themselves. */
#include <linux/completion.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "gt.h"

/* dmaread's twin: the driver reads the buffer once the device has filled it, and gives it to the device again after that. */
struct gt_dmareadwait {
	u64 header;
};
static struct gt_disk gt_dmareadwait_disk;
static struct gt_dmareadwait *gt_dmareadwait_buffer;
static DECLARE_COMPLETION(gt_dmareadwait_filled);
static DECLARE_COMPLETION(gt_dmareadwait_free);

static int gt_dmareadwait_setup(void)
{
	int rc = harness_disk_open(&gt_dmareadwait_disk);

	if (rc)
		return rc;
	gt_dmareadwait_buffer = page_address(gt_dmareadwait_disk.page);
	reinit_completion(&gt_dmareadwait_filled);
	reinit_completion(&gt_dmareadwait_free);
	complete(&gt_dmareadwait_free);
	return 0;
}

static void gt_dmareadwait_teardown(void)
{
	harness_disk_close(&gt_dmareadwait_disk);
}

static gt_fn void gt_dmareadwait_reader(u64 round)
{
	struct gt_dmareadwait *buffer = gt_dmareadwait_buffer;

	if (!harness_wait(&gt_dmareadwait_filled))
		return;
	gt_use(buffer->header);
	complete(&gt_dmareadwait_free);
}

static void gt_dmareadwait_device_step(u64 round)
{
	if (!harness_wait(&gt_dmareadwait_free))
		return;
	harness_disk_request(&gt_dmareadwait_disk, false);
	complete(&gt_dmareadwait_filled);
}

const struct gt_case gt_case_dmareadwait = {
	.name = "dmareadwait",
	.group = "controls",
	.side = {{"reader", gt_dmareadwait_reader, 0}, {"device", gt_dmareadwait_device_step, 1}},
	.available = harness_disk_there,
	.setup = gt_dmareadwait_setup,
	.teardown = gt_dmareadwait_teardown,
};

/* dmawrite's twin: the buffer is changed while no request is under way. */
struct gt_dmawritewait {
	u64 record;
};
static struct gt_disk gt_dmawritewait_disk;
static struct gt_dmawritewait *gt_dmawritewait_buffer;
static DECLARE_COMPLETION(gt_dmawritewait_ready);
static DECLARE_COMPLETION(gt_dmawritewait_written);

static int gt_dmawritewait_setup(void)
{
	int rc = harness_disk_open(&gt_dmawritewait_disk);

	if (rc)
		return rc;
	gt_dmawritewait_buffer = page_address(gt_dmawritewait_disk.page);
	reinit_completion(&gt_dmawritewait_ready);
	reinit_completion(&gt_dmawritewait_written);
	complete(&gt_dmawritewait_written);
	return 0;
}

static void gt_dmawritewait_teardown(void)
{
	harness_disk_close(&gt_dmawritewait_disk);
}

static gt_fn void gt_dmawritewait_writer(u64 round)
{
	struct gt_dmawritewait *buffer = gt_dmawritewait_buffer;

	if (!harness_wait(&gt_dmawritewait_written))
		return;
	buffer->record = round;
	complete(&gt_dmawritewait_ready);
}

static void gt_dmawritewait_device_step(u64 round)
{
	if (!harness_wait(&gt_dmawritewait_ready))
		return;
	harness_disk_request(&gt_dmawritewait_disk, true);
	complete(&gt_dmawritewait_written);
}

const struct gt_case gt_case_dmawritewait = {
	.name = "dmawritewait",
	.group = "controls",
	.side = {{"writer", gt_dmawritewait_writer, 0}, {"device", gt_dmawritewait_device_step, 1}},
	.available = harness_disk_there,
	.setup = gt_dmawritewait_setup,
	.teardown = gt_dmawritewait_teardown,
};

/* dmarng's twin. */
struct gt_dmarngwait {
	u64 entropy;
	u8 rest[GT_RNG_BYTES - sizeof(u64)];
};
static struct gt_dmarngwait *gt_dmarngwait_buffer;
static DECLARE_COMPLETION(gt_dmarngwait_filled);
static DECLARE_COMPLETION(gt_dmarngwait_free);

static int gt_dmarngwait_setup(void)
{
	int rc;

	gt_dmarngwait_buffer = kzalloc(sizeof(*gt_dmarngwait_buffer), GFP_KERNEL);
	if (!gt_dmarngwait_buffer)
		return -ENOMEM;
	rc = harness_rng_open();
	if (rc) {
		kfree(gt_dmarngwait_buffer);
		return rc;
	}
	reinit_completion(&gt_dmarngwait_filled);
	reinit_completion(&gt_dmarngwait_free);
	complete(&gt_dmarngwait_free);
	return 0;
}

static void gt_dmarngwait_teardown(void)
{
	harness_rng_close();
	kfree(gt_dmarngwait_buffer);
}

static gt_fn void gt_dmarngwait_reader(u64 round)
{
	struct gt_dmarngwait *buffer = gt_dmarngwait_buffer;

	if (!harness_wait(&gt_dmarngwait_filled))
		return;
	gt_use(buffer->entropy);
	complete(&gt_dmarngwait_free);
}

static void gt_dmarngwait_device_step(u64 round)
{
	if (harness_wait(&gt_dmarngwait_free) && harness_rng_request(gt_dmarngwait_buffer))
		complete(&gt_dmarngwait_filled);
}

const struct gt_case gt_case_dmarngwait = {
	.name = "dmarngwait",
	.group = "controls",
	.side = {{"reader", gt_dmarngwait_reader, 0}, {"device", gt_dmarngwait_device_step, 1}},
	.available = harness_rng_there,
	.setup = gt_dmarngwait_setup,
	.teardown = gt_dmarngwait_teardown,
};

/*
 * Two drivers' requests at once, each with its own buffer, which the driver reads when its request is done. The two CPUs and
 * the device share only the rings, and the virtio protocol orders accesses to these.
 */
static struct gt_disk gt_dmarings_disk[2];

static int gt_dmarings_setup(void)
{
	int rc = harness_disk_open(&gt_dmarings_disk[0]);

	if (rc)
		return rc;
	rc = harness_disk_open(&gt_dmarings_disk[1]);
	if (rc)
		harness_disk_close(&gt_dmarings_disk[0]);
	return rc;
}

static void gt_dmarings_teardown(void)
{
	harness_disk_close(&gt_dmarings_disk[0]);
	harness_disk_close(&gt_dmarings_disk[1]);
}

static gt_fn void gt_dmarings_first(u64 round)
{
	u64 *buffer = page_address(gt_dmarings_disk[0].page);

	harness_disk_request(&gt_dmarings_disk[0], false);
	gt_use(*buffer);
}

static gt_fn void gt_dmarings_second(u64 round)
{
	u64 *buffer = page_address(gt_dmarings_disk[1].page);

	*buffer = round;
	harness_disk_request(&gt_dmarings_disk[1], true);
}

const struct gt_case gt_case_dmarings = {
	.name = "dmarings",
	.group = "controls",
	.side = {{"first", gt_dmarings_first, 0}, {"second", gt_dmarings_second, 1}},
	.available = harness_disk_there,
	.setup = gt_dmarings_setup,
	.teardown = gt_dmarings_teardown,
};

/*
 * A ring that the device works on while the driver reads it: several requests at a time, and a driver that polls. Unlike
 * the driver of the disk, this driver has interrupts on, so the CPU can be held in the middle of its accesses to the ring.
 */
#define GT_DMARNGRING_REQUESTS 4
#define GT_DMARNGRING_POLLS 200

static u8 *gt_dmarngring_buffers;
/* How many buffers the device has. Only the driver's thread uses it. */
static unsigned int gt_dmarngring_lent;
static u64 gt_dmarngring_other_rounds gt_datum; /* only the other thread uses it */

static int gt_dmarngring_setup(void)
{
	int rc;

	gt_dmarngring_buffers = kzalloc(GT_DMARNGRING_REQUESTS * GT_RNG_BYTES, GFP_KERNEL);
	if (!gt_dmarngring_buffers)
		return -ENOMEM;
	gt_dmarngring_lent = 0;
	rc = harness_rng_open();
	if (rc)
		kfree(gt_dmarngring_buffers);
	return rc;
}

static void gt_dmarngring_teardown(void)
{
	harness_rng_close();
	kfree(gt_dmarngring_buffers);
}

static gt_fn void gt_dmarngring_driver(u64 round)
{
	unsigned int polls;

	if (!gt_dmarngring_lent)
		while (gt_dmarngring_lent < GT_DMARNGRING_REQUESTS &&
		       harness_rng_give(gt_dmarngring_buffers + gt_dmarngring_lent * GT_RNG_BYTES))
			gt_dmarngring_lent++;
	for (polls = 0; gt_dmarngring_lent && polls < GT_DMARNGRING_POLLS; polls++)
		gt_dmarngring_lent -= harness_rng_take(false);
	while (gt_dmarngring_lent && harness_rng_take(true))
		gt_dmarngring_lent--;
}

/* Keeps the other CPU awake. */
static gt_fn void gt_dmarngring_other(u64 round)
{
	gt_dmarngring_other_rounds = round;
}

const struct gt_case gt_case_dmarngring = {
	.name = "dmarngring",
	.group = "controls",
	.side = {{"driver", gt_dmarngring_driver, 0}, {"other", gt_dmarngring_other, 1}},
	.available = harness_rng_there,
	.setup = gt_dmarngring_setup,
	.teardown = gt_dmarngring_teardown,
};
