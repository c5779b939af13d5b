/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A disk read adds the next request to its own queue: each sector of the image has an available ring with one more entry, and
 * the header of a request to read the next sector. Reading the sector writes both to their places in guest memory, so the
 * queue's worker never finds the queue empty. The worker is that of hv/vmm/virtio.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/virtio_blk.h>
#include <linux/virtio_ring.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

#include "hv/vmm/block/request.h"
#include "hv/vmm/layout.h"
#include "hv/vmm/virtio/worker.h"

#define SECTOR 512u
#define SECTORS 65536u /* one for each value of the available index */
#define SIZE 4u	       /* entries of the queue; only one is in use */
#define DESC 0x1000u
#define AVAIL 0x2000u /* as long as a sector; the ring is in the first half, and a request's header in the second */
#define HEADER (AVAIL + SECTOR / 2)
#define USED 0x3000u
#define STATUS 0x4000u
#define SERVED_ENOUGH 1000u /* more than a queue can hold */
#define CAP_S 120	    /* seconds; the test takes milliseconds, so longer means that it hangs */

struct rig {
	char path[64];
	struct ram ram;
	struct dma dma;
	struct workers all;
	struct worker *worker;
	int kick;
	struct virtq q;
	struct blk blk;
	struct blk_queue *queue;
	atomic_bool broken;
	atomic_uint calls;
};

static void interrupt(void *ctx, unsigned queue)
{
	(void)ctx;
	(void)queue;
}

static void broken(void *ctx, unsigned queue, const char *why)
{
	(void)queue;
	print_error("%s\n", why);
	((struct rig *)ctx)->broken = true;
}

static void kick(void *ctx, unsigned queue)
{
	(void)queue;
	eventfd_write(((struct rig *)ctx)->kick, 1);
}

static void serve(void *ctx, uint32_t events)
{
	struct rig *rig = ctx;

	(void)events;
	rig->calls++;
	blk_serve_queue(&rig->blk, &rig->q, rig->queue);
}

static void *at(struct rig *rig, uint64_t gpa, size_t len)
{
	void *host = dma_at(&rig->dma, gpa, len);

	assert_non_null(host);
	return host;
}

static uint16_t used(struct rig *rig)
{
	return __atomic_load_n((uint16_t *)at(rig, USED + 2, 2), __ATOMIC_ACQUIRE);
}

/* Fill the sector that the request before reads to AVAIL: entry `n` is available, and its request reads sector `n`. */
static void fill_sector(uint8_t *sector, unsigned n)
{
	const struct virtio_blk_outhdr header = {.type = VIRTIO_BLK_T_IN, .sector = n % SECTORS};
	uint16_t index = (uint16_t)(n + 1);

	memset(sector, 0, SECTOR);
	memcpy(sector + 2, &index, sizeof(index));
	memcpy(sector + SECTOR / 2, &header, sizeof(header));
}

static void make_image(struct rig *rig)
{
	uint8_t *image = malloc((size_t)SECTORS * SECTOR);
	int fd;

	strcpy(rig->path, "/tmp/outrider-endless-XXXXXX");
	fd = mkstemp(rig->path);
	assert_true(fd >= 0 && image);
	for (unsigned n = 0; n < SECTORS; n++)
		fill_sector(image + (size_t)n * SECTOR, n + 1);
	assert_int_equal(write(fd, image, (size_t)SECTORS * SECTOR), (size_t)SECTORS * SECTOR);
	close(fd);
	free(image);
}

/* Play the driver: it makes one chain, which all requests use, and notifies the device of the first request only. */
static void drive(struct rig *rig)
{
	const struct vring_desc chain[] = {
		{.addr = HEADER, .len = sizeof(struct virtio_blk_outhdr), .flags = VRING_DESC_F_NEXT, .next = 1},
		{.addr = AVAIL, .len = SECTOR, .flags = VRING_DESC_F_NEXT | VRING_DESC_F_WRITE, .next = 2},
	};
	const struct vring_desc status = {.addr = STATUS, .len = 1, .flags = VRING_DESC_F_WRITE};

	memcpy(at(rig, DESC, sizeof(chain)), chain, sizeof(chain));
	memcpy(at(rig, DESC + sizeof(chain), sizeof(status)), &status, sizeof(status));
	fill_sector(at(rig, AVAIL, SECTOR), 0);
	kick(rig, 0);
}

static int setup(void **state)
{
	static struct rig rig;
	const struct virtq_wiring wiring = {.interrupt = interrupt,
					    .broken = broken,
					    .left = kick,
					    .ctx = &rig,
					    .device_broken = &rig.broken,
					    .standing = &rig.all.standing};
	const struct virtq_place place = {.size = SIZE, .desc = DESC, .avail = AVAIL, .used = USED};
	const struct device_request by = {.type = "virtio-blk"};
	struct vmm_disk config = {.path = rig.path};
	struct err err = {0};

	rig = (struct rig){.kick = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
	make_image(&rig);
	rig.blk.disk = disk_open(&config, &err);
	rig.queue = calloc(1, sizeof(*rig.queue));
	assert_true(rig.blk.disk && rig.queue && rig.kick >= 0);
	assert_int_equal(ram_map(&rig.ram, MIB(64), &err), 0);
	dma_init(&rig.dma, &rig.ram);
	workers_init(&rig.all, &rig.dma);
	virtq_init(&rig.q, &rig.dma, &by, &wiring);
	assert_int_equal(virtq_start(&rig.q, &place), 0);
	rig.worker = worker_new(&rig.all, SANDBOX_BLK, "disk", &err);
	assert_non_null(rig.worker);
	assert_int_equal(worker_watch(rig.worker, rig.kick, EPOLLIN | EPOLLET, serve, &rig, &err), 0);
	assert_int_equal(workers_start(&rig.all, &err), 0);
	drive(&rig);
	*state = &rig;
	alarm(CAP_S);
	return 0;
}

static int teardown(void **state)
{
	struct rig *rig = *state;

	workers_join(&rig->all);
	alarm(0);
	worker_free(rig->worker);
	workers_destroy(&rig->all);
	virtq_stop(&rig->q);
	assert_false(dma_busy(&rig->dma));
	dma_destroy(&rig->dma);
	ram_unmap(&rig->ram);
	disk_close(rig->blk.disk);
	free(rig->queue);
	close(rig->kick);
	return unlink(rig->path);
}

/* Wait until the worker has served more requests than a queue can hold since its used index was `from`. */
static uint16_t wait_endless(struct rig *rig, uint16_t from)
{
	while ((uint16_t)(used(rig) - from) < SERVED_ENOUGH) {
		assert_false(rig->broken);
		sched_yield();
	}
	return used(rig);
}

static void test_ends(void **state)
{
	struct rig *rig = *state;

	wait_endless(rig, 0);
	assert_int_equal(rig->calls, 1);
	workers_join(&rig->all);
	assert_false(rig->broken);
}

/* The worker pauses, as when a copy of the machine is made. It serves the queue again afterwards without a notification. */
static void test_pauses(void **state)
{
	struct rig *rig = *state;
	uint16_t stood = wait_endless(rig, 0);

	for (unsigned i = 0; i < 20; i++) {
		workers_pause(&rig->all);
		stood = used(rig);
		for (unsigned j = 0; j < 100; j++)
			sched_yield();
		assert_int_equal(used(rig), stood);
		assert_false(dma_busy(&rig->dma));
		workers_resume(&rig->all);
		stood = wait_endless(rig, stood);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_ends),
		TEST(test_pauses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
