/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A virtio device on PCI as its driver sees it: status, features, queues, notifications, interrupts, resets. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "hv/sandbox/sandbox.h"
#include "hv/vmm/layout.h"
#include "tests/unit/vmm/pci_rig.h"

#define QUEUES 2
#define MSIX_BAR 1
#define REGS_BAR 4
#define FEATURE 5 /* a feature that the device offers */
#define VERSION_1 (1ull << 32)
#define ALL_CORE (1ull << 28 | 1ull << 29 | VERSION_1)
#define DATA 0x40000u

enum { COMMAND = 4, BAR0 = 0x10 };
enum { MEMORY = 2, MASTER = 4 };
enum { ACKNOWLEDGE = 1, DRIVER = 2, DRIVER_OK = 4, FEATURES_OK = 8, NEEDS_RESET = 64, FAILED = 128 };
enum {
	CONFIG_VECTOR = 0x10,
	NUM_QUEUES = 0x12,
	STATUS = 0x14,
	GENERATION = 0x15,
	QUEUE_SELECT = 0x16,
	QUEUE_SIZE = 0x18,
	QUEUE_VECTOR = 0x1a,
	QUEUE_ENABLE = 0x1c,
	QUEUE_NOTIFY_OFF = 0x1e,
	QUEUE_DESC = 0x20,
	QUEUE_DRIVER = 0x28,
	QUEUE_DEVICE = 0x30
};

/* The device answers each request with the bytes 1, 2, 3... */
struct device {
	struct worker *worker;
	struct virtio *virtio;
	struct virtq_request request;
	uint64_t activated; /* features of the last activate(); 0: it was reset since */
	unsigned resets;
	uint8_t config[12];
	atomic_bool inside; /* a callback runs */
	atomic_int slow_fd; /* queue_ready waits until this is readable; -1: it does not */
	atomic_uint served;
	bool reset_inside;	/* reset() was called while a callback ran */
	atomic_bool on_vcpu;	/* a function of the device runs on a vCPU's thread */
	atomic_uint vcpus_meet; /* number of times that two vCPUs were in such functions at once */
};

static struct pci_rig rig;
static struct device device;
static uint64_t common, notify, isr, config_gpa; /* GPAs of these registers, by the capabilities */
static uint32_t notify_step;
static unsigned access_cap;

/* ---- the device ---- */

static uint64_t features(void *dev)
{
	(void)dev;
	return 1ull << FEATURE;
}

static void config_read(void *dev, size_t offset, void *buf, size_t len)
{
	struct device *d = dev;

	assert_true(offset + len <= sizeof(d->config));
	memcpy(buf, d->config + offset, len);
}

/* Record that a function that changes the device runs on a vCPU. Such functions must exclude each other. */
static void enter(struct device *d)
{
	d->vcpus_meet += atomic_exchange(&d->on_vcpu, true);
	sched_yield();
}

static void leave(struct device *d)
{
	d->on_vcpu = false;
}

static void config_write(void *dev, size_t offset, const void *buf, size_t len)
{
	struct device *d = dev;

	enter(d);
	assert_true(offset + len <= sizeof(d->config));
	memcpy(d->config + offset, buf, len);
	leave(d);
}

static void activate(void *dev, uint64_t chosen)
{
	struct device *d = dev;

	enter(d);
	d->activated = chosen;
	leave(d);
}

static void reset(void *dev)
{
	struct device *d = dev;

	enter(d);
	d->reset_inside |= d->inside;
	d->activated = 0;
	d->resets++;
	leave(d);
}

static void answer(struct virtq_request *rq)
{
	uint8_t bytes[64];

	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i + 1);
	virtq_begin(rq, DEVICE_RNG_FILL, 0);
	virtq_push(rq, (uint32_t)virtq_write(rq, 0, bytes, sizeof(bytes)));
}

static void queue_ready(void *dev, unsigned queue)
{
	struct device *d = dev;
	struct virtq *q = virtio_queue(d->virtio, queue);
	uint64_t count;

	d->inside = true;
	if (d->slow_fd >= 0)
		assert_int_equal(read(d->slow_fd, &count, sizeof(count)), sizeof(count));
	while (virtq_pop(q, &d->request) > 0) {
		answer(&d->request);
		d->served++;
	}
	virtq_interrupt(q);
	d->inside = false;
}

static struct worker *worker(void *dev, unsigned queue)
{
	struct device *d = dev;

	assert_in_range(queue, 0, QUEUES - 1);
	return d->worker;
}

static const struct virtio_ops ops = {
	.name = "virtio-test",
	.type = 42,
	.class = 0x078000,
	.config_size = sizeof(device.config),
	.features = features,
	.config_read = config_read,
	.config_write = config_write,
	.activate = activate,
	.queue_ready = queue_ready,
	.reset = reset,
	.worker = worker,
};

/* ---- the driver ---- */

static uint64_t rd(uint64_t gpa, unsigned size)
{
	return rig_mmio_read(&rig, gpa, size);
}

static void wr(uint64_t gpa, unsigned size, uint64_t value)
{
	rig_mmio_write(&rig, gpa, size, value);
}

static uint64_t status(void)
{
	return rd(common + STATUS, 1);
}

static void set_status(uint8_t value)
{
	wr(common + STATUS, 1, value);
}

static void find_regions(void)
{
	uint64_t bar = rig_config_read(&rig, 1, BAR0 + 4 * REGS_BAR, 4) & ~15u;
	uint64_t at[6] = {0};

	for (unsigned cap = rig_capability(&rig, 1, 9, 0); cap; cap = rig_capability(&rig, 1, 9, cap)) {
		unsigned type = rig_config_read(&rig, 1, cap + 3, 1);

		assert_in_range(type, 1, 5);
		if (type == 5) {
			access_cap = cap;
			continue;
		}
		assert_int_equal(rig_config_read(&rig, 1, cap + 4, 1), REGS_BAR);
		assert_int_equal(rig_config_read(&rig, 1, cap + 2, 1), type == 2 ? 20 : 16);
		at[type] = bar + rig_config_read(&rig, 1, cap + 8, 4);
		if (type == 2)
			notify_step = rig_config_read(&rig, 1, cap + 16, 4);
	}
	common = at[1];
	notify = at[2];
	isr = at[3];
	config_gpa = at[4];
	assert_true(common && notify && isr && config_gpa && access_cap && notify_step);
}

static void negotiate(uint64_t chosen)
{
	set_status(0);
	set_status(ACKNOWLEDGE);
	set_status(ACKNOWLEDGE | DRIVER);
	for (unsigned i = 0; i < 2; i++) {
		wr(common + 8, 4, i);
		wr(common + 12, 4, (uint32_t)(chosen >> 32 * i));
	}
	set_status(ACKNOWLEDGE | DRIVER | FEATURES_OK);
}

static uint64_t ring(unsigned queue)
{
	return 0x1000 + 0x4000 * queue;
}

static uint64_t avail(unsigned queue)
{
	return ring(queue) + 0x1000;
}

static uint64_t used(unsigned queue)
{
	return ring(queue) + 0x2000;
}

static void put(uint64_t gpa, uint64_t value, unsigned bytes)
{
	memcpy(rig.memory + gpa, &value, bytes);
}

static uint64_t get(uint64_t gpa, unsigned bytes)
{
	uint64_t value = 0;

	memcpy(&value, rig.memory + gpa, bytes);
	return value;
}

static void set_queue(unsigned queue, uint16_t size)
{
	memset(rig.memory + ring(queue), 0, 0x4000);
	wr(common + QUEUE_SELECT, 2, queue);
	wr(common + QUEUE_SIZE, 2, size);
	wr(common + QUEUE_DESC, 4, ring(queue));
	wr(common + QUEUE_DESC + 4, 4, 0);
	wr(common + QUEUE_DRIVER, 8, avail(queue));
	wr(common + QUEUE_DEVICE, 4, used(queue));
	wr(common + QUEUE_DEVICE + 4, 4, 0);
	wr(common + QUEUE_VECTOR, 2, queue + 1);
	assert_int_equal(rd(common + QUEUE_VECTOR, 2), queue + 1);
	wr(common + QUEUE_ENABLE, 2, 1);
	assert_int_equal(rd(common + QUEUE_ENABLE, 2), 1);
}

static void enable_msix(bool on)
{
	unsigned cap = rig_capability(&rig, 1, 0x11, 0);
	uint64_t table = rig_config_read(&rig, 1, BAR0 + 4 * MSIX_BAR, 4);

	for (unsigned i = 0; i <= QUEUES; i++)
		wr(table + 16 * i + 12, 4, 0);
	rig_config_write(&rig, 1, cap + 2, 2, on ? 0x8000 : 0);
}

static unsigned gsi(unsigned vector)
{
	return GSI_COUNT + vector;
}

static uint64_t bell(unsigned queue)
{
	return notify + queue * notify_step;
}

/* Bring the device up as a driver does, with small queues 0 and 1, and with MSI-X. */
static void bring_up(void)
{
	rig_config_write(&rig, 1, COMMAND, 2, MEMORY | MASTER);
	enable_msix(true);
	negotiate(ALL_CORE | 1ull << FEATURE);
	wr(common + CONFIG_VECTOR, 2, 0);
	for (unsigned i = 0; i < QUEUES; i++)
		set_queue(i, 8);
	set_status(ACKNOWLEDGE | DRIVER | FEATURES_OK | DRIVER_OK);
}

static void offer_bytes(unsigned queue, uint32_t len)
{
	uint16_t index = (uint16_t)get(avail(queue) + 2, 2);

	put(ring(queue), DATA, 8);
	put(ring(queue) + 8, len, 4);
	put(ring(queue) + 12, 2, 2); /* the device writes */
	put(avail(queue) + 4 + 2 * (index % 8u), 0, 2);
	put(avail(queue) + 4 + 2 * 8, index, 2); /* interrupt at the next one that is used */
	__atomic_store_n((uint16_t *)(rig.memory + avail(queue) + 2), (uint16_t)(index + 1), __ATOMIC_SEQ_CST);
}

static void offer(unsigned queue)
{
	offer_bytes(queue, 64);
}

/* Wait until the device has used `count` requests. The worker is another thread. */
static void wait_used(unsigned queue, uint16_t count)
{
	const struct timespec nap = {.tv_nsec = 1000000};

	for (unsigned i = 0; i < 60000; i++) {
		if ((uint16_t)__atomic_load_n((uint16_t *)(rig.memory + used(queue) + 2), __ATOMIC_ACQUIRE) == count)
			return;
		nanosleep(&nap, NULL);
	}
	fail();
}

static int setup(void **state)
{
	(void)state;
	rig_init(&rig);
	memset(&device, 0, sizeof(device));
	device.slow_fd = -1;
	device.worker = worker_new(&rig.workers, SANDBOX_RNG, "test", NULL);
	assert_non_null(device.worker);
	device.virtio = virtio_add(&rig.virtio, &ops, &device, 4, QUEUES, NULL);
	assert_non_null(device.virtio);
	assert_int_equal(workers_start(&rig.workers, NULL), 0);
	find_regions();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	workers_join(&rig.workers);
	virtio_remove(device.virtio);
	worker_free(device.worker);
	rig_destroy(&rig);
	return 0;
}

/* ---- identity and status ---- */

static void test_identity(void **state)
{
	(void)state;
	assert_int_equal(rig_config_read(&rig, 1, 0, 4), (0x1040u + 42) << 16 | 0x1af4);
	assert_int_equal(rig_config_read(&rig, 1, 8, 4), 0x07800001);
	assert_int_equal(rd(common + NUM_QUEUES, 2), QUEUES);
	assert_string_equal(virtio_name(device.virtio), "virtio-test 4");
	assert_int_equal(status(), 0);
}

static void test_features(void **state)
{
	(void)state;
	wr(common, 4, 0);
	assert_int_equal(rd(common + 4, 4), 1u << 28 | 1u << 29 | 1u << FEATURE);
	wr(common, 4, 1);
	assert_int_equal(rd(common + 4, 4), 1);
	wr(common, 4, 2);
	assert_int_equal(rd(common + 4, 4), 0);

	negotiate(1ull << FEATURE); /* without VERSION_1 */
	assert_int_equal(status(), ACKNOWLEDGE | DRIVER);
	negotiate(VERSION_1 | 1ull << 6); /* one that was not offered */
	assert_int_equal(status(), ACKNOWLEDGE | DRIVER);
	negotiate(VERSION_1);
	assert_int_equal(status(), ACKNOWLEDGE | DRIVER | FEATURES_OK);
	/* After FEATURES_OK the driver cannot change the features. */
	wr(common + 8, 4, 0);
	wr(common + 12, 4, 0xffffffff);
	assert_int_equal(rd(common + 12, 4), 0);
	wr(common + 8, 4, 7);
	wr(common + 12, 4, 0xffffffff);
	assert_int_equal(rd(common + 12, 4), 0);
}

static void test_status(void **state)
{
	(void)state;
	rig_config_write(&rig, 1, COMMAND, 2, MEMORY | MASTER);
	set_status(DRIVER_OK); /* before FEATURES_OK */
	assert_int_equal(status(), 0);
	assert_int_equal(device.activated, 0);
	negotiate(VERSION_1);
	set_status(ACKNOWLEDGE); /* the driver cannot clear single bits */
	assert_int_equal(status(), ACKNOWLEDGE | DRIVER | FEATURES_OK);
	set_status(NEEDS_RESET); /* the device's bit */
	assert_int_equal(status(), ACKNOWLEDGE | DRIVER | FEATURES_OK);
	set_status(DRIVER_OK);
	assert_int_equal(status(), ACKNOWLEDGE | DRIVER | FEATURES_OK | DRIVER_OK);
	assert_int_equal(device.activated, VERSION_1);
	set_status(FAILED);
	assert_int_equal(status() & FAILED, FAILED);
	set_status(0);
	assert_int_equal(status(), 0);
	assert_int_equal(device.resets, 1);
	set_status(0); /* a device that is not in use gets no reset() */
	assert_int_equal(device.resets, 1);
}

static void test_queue_registers(void **state)
{
	(void)state;
	negotiate(VERSION_1);
	wr(common + QUEUE_SELECT, 2, 1);
	assert_int_equal(rd(common + QUEUE_SIZE, 2), VIRTQ_MAX_SIZE);
	assert_int_equal(rd(common + QUEUE_NOTIFY_OFF, 2), 1);
	assert_int_equal(rd(common + QUEUE_VECTOR, 2), 0xffff);
	wr(common + QUEUE_SIZE, 2, 3);
	wr(common + QUEUE_SIZE, 2, 0);
	wr(common + QUEUE_SIZE, 2, 2 * VIRTQ_MAX_SIZE);
	assert_int_equal(rd(common + QUEUE_SIZE, 2), VIRTQ_MAX_SIZE);
	wr(common + QUEUE_VECTOR, 2, QUEUES + 1); /* one more than the device has */
	assert_int_equal(rd(common + QUEUE_VECTOR, 2), 0xffff);
	wr(common + QUEUE_DESC, 8, 0x123456789abcdef0);
	assert_int_equal(rd(common + QUEUE_DESC + 4, 4), 0x12345678);
	wr(common + QUEUE_DESC + 2, 2, 0); /* not a valid width for this register */
	assert_int_equal(rd(common + QUEUE_DESC, 8), 0x123456789abcdef0);
	wr(common + QUEUE_DEVICE + 8, 8, UINT64_MAX); /* of a feature that is not offered */
	assert_int_equal(rd(common + QUEUE_ENABLE, 2), 0);
	set_queue(1, 16);
	wr(common + QUEUE_SIZE, 2, 8); /* it is enabled */
	assert_int_equal(rd(common + QUEUE_SIZE, 2), 16);
	wr(common + QUEUE_SELECT, 2, QUEUES); /* no such queue */
	assert_int_equal(rd(common + QUEUE_SIZE, 2), 0);
	wr(common + QUEUE_ENABLE, 2, 1);
	assert_int_equal(rd(common + QUEUE_ENABLE, 2), 0);
	wr(common + QUEUE_SELECT, 2, 0xffff);
	assert_int_equal(rd(common + QUEUE_DESC, 8), 0);
	set_status(0);
	wr(common + QUEUE_SELECT, 2, 1);
	assert_int_equal(rd(common + QUEUE_ENABLE, 2), 0);
	assert_int_equal(rd(common + QUEUE_DESC, 8), 0);
	wr(common + QUEUE_ENABLE, 2, 1); /* before FEATURES_OK */
	assert_int_equal(rd(common + QUEUE_ENABLE, 2), 0);
}

/* ---- notifications and interrupts ---- */

static void test_served(void **state)
{
	(void)state;
	bring_up();
	assert_int_equal(device.activated, ALL_CORE | 1ull << FEATURE);
	for (unsigned i = 0; i < 100; i++) {
		unsigned queue = i % QUEUES;

		offer(queue);
		assert_true(rig_ring_bell(&rig, bell(queue)));
		rig_wait_sent(&rig, gsi(queue + 1));
		assert_int_equal(get(used(queue) + 2, 2), i / QUEUES + 1);
		assert_int_equal(rig.memory[DATA + 63], 64);
		rig.memory[DATA + 63] = 0;
	}
	assert_int_equal(device.served, 100);
	assert_int_equal(rd(isr, 1), 0); /* not used with MSI-X */
}

/* If KVM cannot take the notifications, they are accesses to the BAR. */
static void test_served_without_bells(void **state)
{
	(void)state;
	rig.no_bells = true;
	bring_up();
	offer(1);
	assert_false(rig_ring_bell(&rig, bell(1)));
	wr(bell(1), 2, 1);
	rig_wait_sent(&rig, gsi(2));
	wr(bell(QUEUES), 2, QUEUES); /* no such queue */
}

/* The device serves requests from before DRIVER_OK after DRIVER_OK. */
static void test_early_kick(void **state)
{
	(void)state;
	rig_config_write(&rig, 1, COMMAND, 2, MEMORY | MASTER);
	enable_msix(true);
	negotiate(ALL_CORE);
	set_queue(0, 8);
	offer(0);
	wr(bell(0), 2, 0);
	set_status(DRIVER_OK);
	rig_wait_sent(&rig, gsi(1));
}

static void test_intx(void **state)
{
	(void)state;
	bring_up();
	enable_msix(false);
	offer(0);
	assert_true(rig_ring_bell(&rig, bell(0)));
	wait_used(0, 1);
	for (unsigned i = 0; i < 60000 && !rig.level[PCI_GSI_FIRST]; i++)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	assert_true(rig.level[PCI_GSI_FIRST]);
	assert_int_equal(rd(isr, 1), 1);
	assert_false(rig.level[PCI_GSI_FIRST]);
	assert_int_equal(rd(isr, 1), 0);
	virtio_config_begin(device.virtio);
	virtio_config_end(device.virtio);
	assert_true(rig.level[PCI_GSI_FIRST]);
	enable_msix(true); /* INTA# is not used with MSI-X */
	assert_false(rig.level[PCI_GSI_FIRST]);
	set_status(0);
	assert_int_equal(rd(isr, 1), 0);
}

/* A device that is not bus master accesses no memory. It goes on when it is bus master again. */
static void test_bus_master(void **state)
{
	(void)state;
	bring_up();
	rig_config_write(&rig, 1, COMMAND, 2, MEMORY);
	offer(0);
	assert_false(rig_ring_bell(&rig, bell(0)));
	wr(bell(0), 2, 0);
	assert_int_equal(virtq_pop(virtio_queue(device.virtio, 0), &device.request), 0);
	assert_int_equal(get(used(0) + 2, 2), 0);
	rig_config_write(&rig, 1, COMMAND, 2, MEMORY | MASTER);
	rig_wait_sent(&rig, gsi(1));
	assert_int_equal(get(used(0) + 2, 2), 1);
}

/* The notifications move with the BAR. */
static void test_bar_moves(void **state)
{
	uint64_t old = bell(0);

	(void)state;
	bring_up();
	rig_config_write(&rig, 1, BAR0 + 4 * REGS_BAR, 4, 0xd8000000);
	assert_false(rig_ring_bell(&rig, old));
	find_regions();
	assert_int_equal(common, 0xd8000000);
	offer(0);
	assert_true(rig_ring_bell(&rig, bell(0)));
	rig_wait_sent(&rig, gsi(1));
	rig_config_write(&rig, 1, COMMAND, 2, MASTER); /* not decoded */
	assert_false(rig_ring_bell(&rig, bell(0)));
	rig_config_write(&rig, 1, COMMAND, 2, MASTER | MEMORY);
	assert_true(rig_ring_bell(&rig, bell(0)));
}

/* ---- the device's configuration ---- */

static void test_config(void **state)
{
	uint64_t before;

	(void)state;
	for (unsigned i = 0; i < sizeof(device.config); i++)
		device.config[i] = (uint8_t)(i + 1);
	assert_int_equal(rd(config_gpa, 8), 0x0807060504030201);
	assert_int_equal(rd(config_gpa + 11, 1), 12);
	assert_int_equal(rd(config_gpa + 10, 4), 0); /* it ends at 12 */
	wr(config_gpa + 4, 2, 0xbeef);
	assert_int_equal(rd(config_gpa + 4, 4), 0x0807beef);
	wr(config_gpa + 11, 2, 0xffff);
	assert_int_equal(rd(config_gpa + 11, 1), 12);

	bring_up();
	before = rd(common + GENERATION, 1);
	virtio_config_begin(device.virtio);
	device.config[0] = 99;
	virtio_config_end(device.virtio);
	assert_int_equal(rd(common + GENERATION, 1), (uint8_t)(before + 1));
	assert_int_equal(rig_sent(&rig, gsi(0)), 1);
	assert_int_equal(rd(config_gpa, 1), 99);
	set_status(0);
	virtio_config_begin(device.virtio);
	virtio_config_end(device.virtio);
	assert_int_equal(rig_sent(&rig, gsi(0)), 0); /* the driver is not ready, so no interrupt is sent */
}

static void access_bar(unsigned bar, uint32_t offset, uint32_t len)
{
	rig_config_write(&rig, 1, access_cap + 4, 1, bar);
	rig_config_write(&rig, 1, access_cap + 8, 4, offset);
	rig_config_write(&rig, 1, access_cap + 12, 4, len);
}

/* Access the registers through configuration space. */
static void test_config_access(void **state)
{
	static const struct {
		unsigned bar;
		uint32_t offset, len;
	} bad[] = {{REGS_BAR, 0, 0},
		   {REGS_BAR, 0, 3},
		   {REGS_BAR, 1, 2},
		   {REGS_BAR, 0x4000, 4},
		   {REGS_BAR, 0xfffffffc, 4},
		   {REGS_BAR, 0, 0x10000},
		   {REGS_BAR, 0, 0xffffffff},
		   {0, 0, 4},
		   {5, 0, 4},
		   {6, 0, 4},
		   {255, 0, 4}};

	(void)state;
	access_bar(REGS_BAR, STATUS, 1);
	rig_config_write(&rig, 1, access_cap + 16, 1, ACKNOWLEDGE);
	assert_int_equal(status(), ACKNOWLEDGE);
	assert_int_equal(rig_config_read(&rig, 1, access_cap + 16, 1), ACKNOWLEDGE);
	access_bar(REGS_BAR, NUM_QUEUES, 2);
	assert_int_equal(rig_config_read(&rig, 1, access_cap + 16, 4), QUEUES);
	access_bar(MSIX_BAR, 0, 4);
	rig_config_write(&rig, 1, access_cap + 16, 4, 0xfee00000);
	assert_int_equal(rd(rig_config_read(&rig, 1, BAR0 + 4 * MSIX_BAR, 4), 4), 0xfee00000);
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		access_bar(bad[i].bar, bad[i].offset, bad[i].len);
		rig_config_read(&rig, 1, access_cap + 16, 4);
		rig_config_write(&rig, 1, access_cap + 16, 4, 0);
	}
	/* Reset and notify the device this way. */
	bring_up();
	offer(0);
	access_bar(REGS_BAR, (uint32_t)(notify - common), 2);
	rig_config_write(&rig, 1, access_cap + 16, 2, 0);
	rig_wait_sent(&rig, gsi(1));
	access_bar(REGS_BAR, STATUS, 1);
	rig_config_write(&rig, 1, access_cap + 16, 1, 0);
	assert_int_equal(device.resets, 1);
}

/* ---- a driver that breaks the rules ---- */

static void test_needs_reset(void **state)
{
	(void)state;
	bring_up();
	assert_null(virtio_broken(device.virtio));
	offer_bytes(0, 0);
	assert_true(rig_ring_bell(&rig, bell(0)));
	rig_wait_sent(&rig, gsi(0)); /* the vector of the configuration */
	assert_int_equal(status() & NEEDS_RESET, NEEDS_RESET);
	assert_string_equal(virtio_broken(device.virtio), "a descriptor has length 0");
	/* The device serves no queue after that. */
	workers_pause(&rig.workers);
	offer(1);
	assert_int_equal(virtq_pop(virtio_queue(device.virtio, 1), &device.request), -1);
	workers_resume(&rig.workers);
	bring_up();
	assert_int_equal(status() & NEEDS_RESET, 0);
	assert_null(virtio_broken(device.virtio));
	offer(0);
	assert_true(rig_ring_bell(&rig, bell(0)));
	rig_wait_sent(&rig, gsi(1));
}

static void test_queue_not_in_memory(void **state)
{
	(void)state;
	rig_config_write(&rig, 1, COMMAND, 2, MEMORY | MASTER);
	enable_msix(true);
	negotiate(ALL_CORE);
	wr(common + CONFIG_VECTOR, 2, 0);
	wr(common + QUEUE_SELECT, 2, 0);
	wr(common + QUEUE_DESC, 8, 0xfffffffffffff000);
	wr(common + QUEUE_ENABLE, 2, 1);
	set_status(DRIVER_OK);
	assert_int_equal(status() & NEEDS_RESET, NEEDS_RESET);
	assert_int_equal(rig_sent(&rig, gsi(0)), 1);
	set_status(0);
	assert_int_equal(status(), 0);
}

/* ---- resets ---- */

static void *reset_on_a_vcpu(void *arg)
{
	atomic_bool *done = arg;

	set_status(0);
	*done = true;
	return NULL;
}

/* A reset waits for the callback that the worker is in. */
static void test_reset_waits(void **state)
{
	int slow = eventfd(0, EFD_CLOEXEC);
	atomic_bool done = false;
	uint64_t one = 1;
	pthread_t vcpu;

	(void)state;
	bring_up();
	/* When the worker has served a request on each queue, its first pass over the queues is over. */
	for (unsigned i = 0; i < QUEUES; i++) {
		offer(i);
		assert_true(rig_ring_bell(&rig, bell(i)));
		rig_wait_sent(&rig, gsi(i + 1));
	}
	device.slow_fd = slow;
	offer(0);
	assert_true(rig_ring_bell(&rig, bell(0)));
	while (!device.inside)
		sched_yield();
	assert_true(dma_busy(&rig.dma));
	assert_int_equal(pthread_create(&vcpu, NULL, reset_on_a_vcpu, &done), 0);
	/* The vCPU holds the queues before it waits, so the callback finds no request when it goes on. */
	while (!virtio_queue(device.virtio, 0)->held)
		sched_yield();
	assert_false(done);
	assert_int_equal(device.resets, 0);
	device.slow_fd = -1;
	assert_int_equal(write(slow, &one, sizeof(one)), sizeof(one));
	pthread_join(vcpu, NULL);
	assert_int_equal(device.resets, 1);
	assert_false(device.reset_inside);
	assert_int_equal(get(used(0) + 2, 2), 1);
	assert_false(dma_busy(&rig.dma));
	close(slow);
}

static void *pause_all(void *arg)
{
	(void)arg;
	workers_pause(&rig.workers);
	return NULL;
}

/* A pause waits for the current request of a callback. The callback serves the next requests after the pause. */
static void test_pause_between_requests(void **state)
{
	int slow = eventfd(0, EFD_CLOEXEC);
	uint64_t one = 1;
	pthread_t thread;

	(void)state;
	bring_up();
	for (unsigned i = 0; i < QUEUES; i++) {
		offer(i);
		assert_true(rig_ring_bell(&rig, bell(i)));
		rig_wait_sent(&rig, gsi(i + 1));
	}
	device.slow_fd = slow;
	offer(0);
	assert_true(rig_ring_bell(&rig, bell(0)));
	while (!device.inside)
		sched_yield();
	assert_int_equal(pthread_create(&thread, NULL, pause_all, NULL), 0);
	while (!rig.workers.standing)
		sched_yield();
	device.slow_fd = -1;
	assert_int_equal(write(slow, &one, sizeof(one)), sizeof(one));
	pthread_join(thread, NULL);
	assert_int_equal(get(used(0) + 2, 2), 1);
	workers_resume(&rig.workers);
	wait_used(0, 2);
	close(slow);
}

static void *ring_always(void *arg)
{
	atomic_bool *stop = arg;

	while (!*stop) {
		for (unsigned i = 0; i < QUEUES; i++)
			wr(bell(i), 2, i);
	}
	return NULL;
}

/* One vCPU brings the device up and resets it again and again, while another vCPU keeps notifying it. */
static void test_resets_under_load(void **state)
{
	atomic_bool stop = false;
	pthread_t vcpu;

	(void)state;
	assert_int_equal(pthread_create(&vcpu, NULL, ring_always, &stop), 0);
	for (unsigned i = 0; i < 200; i++) {
		bring_up();
		offer(i % QUEUES);
		if (i % 3)
			wait_used(i % QUEUES, 1);
		set_status(0);
		assert_int_equal(device.resets, i + 1);
	}
	stop = true;
	pthread_join(vcpu, NULL);
	assert_false(device.reset_inside);
}

static void *configure_always(void *arg)
{
	while (!*(atomic_bool *)arg)
		wr(config_gpa, 1, 1);
	return NULL;
}

/* One vCPU writes the device's configuration while another starts and resets it. The device's functions never run at once. */
static void test_vcpus_take_turns(void **state)
{
	atomic_bool stop = false;
	pthread_t vcpu;

	(void)state;
	assert_int_equal(pthread_create(&vcpu, NULL, configure_always, &stop), 0);
	for (unsigned i = 0; i < 500; i++)
		bring_up();
	stop = true;
	pthread_join(vcpu, NULL);
	assert_int_equal(device.vcpus_meet, 0);
}

/* The device survives any write to any register, and works after a reset. */
static void test_any_sequence(void **state)
{
	uint64_t random = 88172645463325252ull;

	(void)state;
	rig_config_write(&rig, 1, COMMAND, 2, MEMORY | MASTER);
	for (unsigned i = 0; i < 100000; i++) {
		unsigned size, offset;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		size = 1u << (random >> 8 & 3);
		offset = (unsigned)(random >> 16 & 0x3f) & ~(size - 1);
		if (random & 0x80)
			wr((random & 0x40 ? common : random & 0x20 ? config_gpa : isr) + offset, size, random >> 32 & 0xff);
		else
			rd((random & 0x40 ? common : notify) + offset, size);
	}
	bring_up();
	offer(0);
	assert_true(rig_ring_bell(&rig, bell(0)));
	rig_wait_sent(&rig, gsi(1));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_identity),
		TEST(test_features),
		TEST(test_status),
		TEST(test_queue_registers),
		TEST(test_served),
		TEST(test_served_without_bells),
		TEST(test_early_kick),
		TEST(test_intx),
		TEST(test_bus_master),
		TEST(test_bar_moves),
		TEST(test_config),
		TEST(test_config_access),
		TEST(test_needs_reset),
		TEST(test_queue_not_in_memory),
		TEST(test_reset_waits),
		TEST(test_pause_between_requests),
		TEST(test_resets_under_load),
		TEST(test_vcpus_take_turns),
		TEST(test_any_sequence),
	};

	/* Confine workers as in a run. */
	if (sandbox_prepare(NULL, NULL, NULL) < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
