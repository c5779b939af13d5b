// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A driver for the machine's entropy device (virtio 1.2, section 5.4), with a virtqueue of its own. The stock driver must not
 * have the device.
 *
 * The functions of virtio are in modules of stock kernels, and a guest without virtio devices has none of these. They are
 * therefore looked up when they are needed, so that this module loads without them.
 */
#include <linux/completion.h>
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/version.h>
#include <linux/virtio.h>
#include <linux/virtio_config.h>
#include <linux/virtio_ids.h>

#include "gt.h"

static DECLARE_COMPLETION(harness_rng_filled);
static struct virtqueue *harness_rng_queue;

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
#define HARNESS_REGISTER __register_virtio_driver
#else
#define HARNESS_REGISTER register_virtio_driver
#endif

/* X(member, function) for each function of virtio.ko and virtio_ring.ko. */
#define HARNESS_VIRTIO(X)                              \
	X(register_driver, HARNESS_REGISTER)           \
	X(unregister_driver, unregister_virtio_driver) \
	X(add, virtqueue_add_inbuf)                    \
	X(kick, virtqueue_kick)                        \
	X(get, virtqueue_get_buf)                      \
	X(detach, virtqueue_detach_unused_buf)

#define HARNESS_MEMBER(member, function) typeof(&function) member;
static struct {
	HARNESS_VIRTIO(HARNESS_MEMBER)
} harness_virtio;

static void harness_rng_done(struct virtqueue *queue)
{
	complete(&harness_rng_filled);
}

static int harness_rng_probe(struct virtio_device *device)
{
	struct virtqueue *queue = virtio_find_single_vq(device, harness_rng_done, "harness");

	if (IS_ERR(queue))
		return PTR_ERR(queue);
	virtio_device_ready(device);
	harness_rng_queue = queue;
	return 0;
}

static void harness_rng_remove(struct virtio_device *device)
{
	device->config->reset(device);
	while (harness_virtio.detach(harness_rng_queue))
		;
	device->config->del_vqs(device);
	harness_rng_queue = NULL;
}

static const struct virtio_device_id harness_rng_ids[] = {{VIRTIO_ID_RNG, VIRTIO_DEV_ANY_ID}, {0}};

static struct virtio_driver harness_rng_driver = {
	.driver.name = "outrider_gt",
	.driver.owner = THIS_MODULE,
	.id_table = harness_rng_ids,
	.probe = harness_rng_probe,
	.remove = harness_rng_remove,
};

static void harness_virtio_put(void)
{
#define HARNESS_PUT(member, function) \
	if (harness_virtio.member)    \
		symbol_put(function); \
	harness_virtio.member = NULL;
	HARNESS_VIRTIO(HARNESS_PUT)
}

static bool harness_virtio_get(void)
{
	bool all = true;

#define HARNESS_GET(member, function)                 \
	harness_virtio.member = symbol_get(function); \
	all = all && harness_virtio.member;
	HARNESS_VIRTIO(HARNESS_GET)
	if (!all)
		harness_virtio_put();
	return all;
}

static int harness_rng_register(void)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
	return harness_virtio.register_driver(&harness_rng_driver, THIS_MODULE);
#else
	return harness_virtio.register_driver(&harness_rng_driver);
#endif
}

int harness_rng_open(void)
{
	int rc;

	if (!harness_virtio_get())
		return -ENODEV;
	reinit_completion(&harness_rng_filled);
	rc = harness_rng_register();
	if (rc) {
		harness_virtio_put();
		return rc;
	}
	if (harness_rng_queue)
		return 0;
	harness_rng_close();
	return -ENODEV;
}

void harness_rng_close(void)
{
	harness_virtio.unregister_driver(&harness_rng_driver);
	harness_virtio_put();
}

/* The machine's devices do not change while this module is loaded. The lock of the /proc file keeps a second caller out. */
bool harness_rng_there(void)
{
	static bool asked, there;

	if (!asked) {
		there = harness_rng_open() == 0;
		if (there)
			harness_rng_close();
		asked = true;
	}
	return there;
}

bool harness_rng_give(void *buffer)
{
	struct scatterlist list;

	sg_init_one(&list, buffer, GT_RNG_BYTES);
	if (harness_virtio.add(harness_rng_queue, &list, 1, buffer, GFP_KERNEL))
		return false;
	harness_virtio.kick(harness_rng_queue);
	return true;
}

bool harness_rng_take(bool wait)
{
	unsigned int len;

	while (!harness_virtio.get(harness_rng_queue, &len)) {
		/* A completion may be left of a buffer that was there without waiting. */
		if (!wait || !harness_wait(&harness_rng_filled))
			return false;
	}
	return true;
}

bool harness_rng_request(void *buffer)
{
	return harness_rng_give(buffer) && harness_rng_take(true);
}
