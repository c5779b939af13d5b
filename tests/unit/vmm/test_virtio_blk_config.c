/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The configuration of a virtio block device, and when its writes must be on the medium. The test is the transport. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/virtio_blk.h>
#include <linux/virtio_ring.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "hv/vmm/block/virtio_blk.h"
#include "hv/vmm/layout.h"

#define BIT(n) (UINT64_C(1) << (n))
#define ALWAYS                                                                                                              \
	(BIT(VIRTIO_BLK_F_SIZE_MAX) | BIT(VIRTIO_BLK_F_SEG_MAX) | BIT(VIRTIO_BLK_F_BLK_SIZE) | BIT(VIRTIO_BLK_F_TOPOLOGY) | \
	 BIT(VIRTIO_BLK_F_MQ))
#define WRITABLE \
	(BIT(VIRTIO_BLK_F_FLUSH) | BIT(VIRTIO_BLK_F_CONFIG_WCE) | BIT(VIRTIO_BLK_F_DISCARD) | BIT(VIRTIO_BLK_F_WRITE_ZEROES))

#define QUEUE 16u
#define DESC 0x1000u
#define AVAIL 0x2000u
#define USED 0x3000u
#define DATA 0x4000u

struct machine {
	char path[64];
	struct ram ram;
	struct dma dma;
	struct workers workers;
	struct virtio_blk *disk;
};

/* The arguments of virtio_add(). */
static struct {
	const struct virtio_ops *ops;
	void *dev;
	unsigned index, queues;
} added;
static struct virtq queue;
static atomic_bool broken;
static unsigned flushes;

struct virtio *virtio_add(const struct virtio_bus *bus, const struct virtio_ops *ops, void *dev, unsigned index,
			  unsigned queues, struct err *err)
{
	(void)bus;
	(void)err;
	added.ops = ops;
	added.dev = dev;
	added.index = index;
	added.queues = queues;
	return (struct virtio *)&queue;
}

void virtio_remove(struct virtio *v)
{
	(void)v;
}

struct virtq *virtio_queue(struct virtio *v, unsigned number)
{
	assert_ptr_equal(v, &queue);
	assert_int_equal(number, 0);
	return &queue;
}

int fdatasync(int fd)
{
	(void)fd;
	flushes++;
	return 0;
}

static void interrupt(void *ctx, unsigned number)
{
	(void)ctx;
	(void)number;
}

static int setup(void **state)
{
	static struct machine m;
	static const struct virtq_wiring wiring = {.interrupt = interrupt, .device_broken = &broken};
	const struct device_request by = {.type = "virtio-blk"};
	struct err err = {0};
	int fd;

	m = (struct machine){.path = "/tmp/outrider-blk-XXXXXX"};
	fd = mkstemp(m.path);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 3 << 20), 0);
	close(fd);
	assert_int_equal(ram_map(&m.ram, MIB(64), &err), 0);
	dma_init(&m.dma, &m.ram);
	workers_init(&m.workers, &m.dma);
	virtq_init(&queue, &m.dma, &by, &wiring);
	flushes = 0;
	*state = &m;
	return 0;
}

static int teardown(void **state)
{
	struct machine *m = *state;

	virtq_stop(&queue);
	virtio_blk_free(m->disk);
	workers_destroy(&m->workers);
	dma_destroy(&m->dma);
	ram_unmap(&m->ram);
	return unlink(m->path);
}

static void plug(struct machine *m, const struct vmm_disk *given, unsigned cpus)
{
	const struct virtio_bus bus = {.dma = &m->dma, .workers = &m->workers};
	const struct vmm_messages nobody = {0};
	struct vmm_disk config = *given;
	struct err err = {0};

	config.path = m->path;
	virtio_blk_free(m->disk);
	m->disk = virtio_blk_new(&bus, &config, 5, cpus, &nobody, &err);
	if (!m->disk)
		fail_msg("%s", err.text);
	assert_int_equal(added.index, 5);
	assert_string_equal(added.ops->name, "virtio-blk");
	assert_int_equal(added.ops->type, 2);
}

static struct virtio_blk_config config(void)
{
	struct virtio_blk_config c;

	assert_int_equal(added.ops->config_size, sizeof(c));
	/* Byte by byte, as a driver may. */
	for (size_t i = 0; i < sizeof(c); i++)
		added.ops->config_read(added.dev, i, (char *)&c + i, 1);
	return c;
}

static void test_what_it_says(void **state)
{
	struct machine *m = *state;
	struct virtio_blk_config c;

	plug(m, &(struct vmm_disk){0}, 2);
	assert_int_equal(added.ops->features(added.dev), ALWAYS | WRITABLE);
	c = config();
	assert_int_equal(c.capacity, (3 << 20) / 512);
	assert_int_equal(c.size_max, 1 << 20);
	assert_int_equal(c.seg_max, VIRTQ_MAX_SIZE - 2);
	assert_int_equal(c.blk_size, 512);
	assert_int_equal(c.physical_block_exp, 3);
	assert_int_equal(c.wce, 1);
	assert_int_equal(c.num_queues, 2);
	assert_true(c.max_discard_sectors && c.max_discard_seg && c.discard_sector_alignment == 8);
	assert_true(c.max_write_zeroes_sectors && c.max_write_zeroes_seg && c.write_zeroes_may_unmap == 1);

	plug(m, &(struct vmm_disk){.read_only = true}, 2);
	assert_int_equal(added.ops->features(added.dev), ALWAYS | BIT(VIRTIO_BLK_F_RO));
	plug(m, &(struct vmm_disk){.overlay = true}, 2);
	assert_int_equal(added.ops->features(added.dev), ALWAYS | WRITABLE);
}

static void test_queues(void **state)
{
	static const struct {
		unsigned asked, cpus, queues;
	} cases[] = {{0, 1, 1}, {0, 3, 3}, {0, 16, 4}, {1, 16, 1}, {16, 1, 16}};
	struct machine *m = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		plug(m, &(struct vmm_disk){.queues = cases[i].asked}, cases[i].cpus);
		assert_int_equal(added.queues, cases[i].queues);
		assert_int_equal(config().num_queues, cases[i].queues);
		for (unsigned q = 0; q < added.queues; q++)
			for (unsigned other = 0; other < q; other++)
				assert_ptr_not_equal(added.ops->worker(added.dev, q), added.ops->worker(added.dev, other));
	}
}

/* Return the number of flushes that a write of a sector causes. */
static unsigned flushes_of_write(struct machine *m)
{
	const struct virtq_place place = {.size = QUEUE, .desc = DESC, .avail = AVAIL, .used = USED};
	struct virtio_blk_outhdr *header = dma_at(&m->dma, DATA, sizeof(*header));
	struct vring_desc *desc = dma_at(&m->dma, DESC, QUEUE * sizeof(*desc));
	struct vring_avail *avail = dma_at(&m->dma, AVAIL, 4 + 2 * QUEUE);
	uint8_t *status = dma_at(&m->dma, DATA + 0x1000, 1);
	unsigned before = flushes;

	assert_int_equal(virtq_start(&queue, &place), 0);
	*header = (struct virtio_blk_outhdr){.type = VIRTIO_BLK_T_OUT};
	desc[0] = (struct vring_desc){DATA, 16 + 512, VRING_DESC_F_NEXT, 1};
	desc[1] = (struct vring_desc){DATA + 0x1000, 1, VRING_DESC_F_WRITE, 0};
	avail->ring[0] = 0;
	avail->idx = 1;
	*status = 0xee;
	added.ops->queue_ready(added.dev, 0);
	assert_int_equal(*status, VIRTIO_BLK_S_OK);
	virtq_stop(&queue);
	return flushes - before;
}

/* virtio 1.2, 5.2.6.2: a driver without flushes relies on data being on the medium when its write is done. */
static void test_write_through(void **state)
{
	static const uint8_t through = 0, back = 1, across[4] = {0, 0, 0, 0};
	const size_t wce = offsetof(struct virtio_blk_config, wce);
	struct machine *m = *state;

	plug(m, &(struct vmm_disk){0}, 1);
	added.ops->activate(added.dev, BIT(VIRTIO_BLK_F_FLUSH) | BIT(32));
	assert_int_equal(flushes_of_write(m), 0);
	added.ops->reset(added.dev);
	added.ops->activate(added.dev, BIT(32));
	assert_int_equal(flushes_of_write(m), 1);
	added.ops->reset(added.dev);

	/* The driver turns write-through on and off. */
	added.ops->activate(added.dev, BIT(VIRTIO_BLK_F_FLUSH) | BIT(VIRTIO_BLK_F_CONFIG_WCE) | BIT(32));
	assert_int_equal(flushes_of_write(m), 0);
	added.ops->config_write(added.dev, wce, &through, 1);
	assert_int_equal(config().wce, 0);
	assert_int_equal(flushes_of_write(m), 1);
	added.ops->config_write(added.dev, wce, &back, 1);
	assert_int_equal(flushes_of_write(m), 0);
	/* Other bytes are not writable. A write over several fields changes only this field. */
	added.ops->config_write(added.dev, wce - 1, &through, 1);
	added.ops->config_write(added.dev, wce + 1, &through, 1);
	added.ops->config_write(added.dev, 0, across, 4);
	assert_int_equal(config().wce, 1);
	assert_int_equal(config().capacity, (3 << 20) / 512);
	added.ops->config_write(added.dev, wce - 2, across, 4);
	assert_int_equal(config().wce, 0);
	assert_int_equal(flushes_of_write(m), 1);
	added.ops->reset(added.dev);
	assert_int_equal(config().wce, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_what_it_says, setup, teardown),
		cmocka_unit_test_setup_teardown(test_queues, setup, teardown),
		cmocka_unit_test_setup_teardown(test_write_through, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
