/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/vmm/device_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <cmocka.h>

#define RING(queue) (0x10000u * ((queue) + 1)) /* GPA of the queue's descriptors; avail and used ring follow */
#define AVAIL 0x4000u
#define USED 0x8000u
#define WATCHES 512

enum { NEXT = 1, WRITE = 2 }; /* flags of a descriptor */

struct virtio {
	struct virtq q[RIG_QUEUES];
	unsigned queues;
	atomic_bool broken;
};

struct worker {
	int epoll;
	struct {
		worker_fn *fn;
		void *ctx;
	} watch[WATCHES]; /* by file descriptor */
};

static struct rig rig;
static struct virtio virtio;
static struct worker worker;
static uint16_t free_descriptor[RIG_QUEUES], added[RIG_QUEUES], taken[RIG_QUEUES];

/* ---- the transport ---- */

static void interrupt(void *ctx, unsigned queue)
{
	(void)ctx;
	(void)queue;
	rig.interrupts++;
}

static void broken(void *ctx, unsigned queue, const char *why)
{
	(void)ctx;
	(void)queue;
	rig.why = why;
	virtio.broken = true;
}

struct virtio *virtio_add(const struct virtio_bus *bus, const struct virtio_ops *ops, void *dev, unsigned index,
			  unsigned queues, struct err *err)
{
	const struct virtq_wiring wiring = {.interrupt = interrupt, .broken = broken, .device_broken = &virtio.broken};
	struct device_request by = {.index = index};

	(void)err;
	assert_in_range(queues, 1, RIG_QUEUES);
	strncpy(by.type, ops->name, sizeof(by.type) - 1);
	rig.ops = ops;
	rig.dev = dev;
	virtio.queues = queues;
	for (by.queue = 0; by.queue < queues; by.queue++)
		virtq_init(&virtio.q[by.queue], bus->dma, &by, &wiring);
	return &virtio;
}

void virtio_remove(struct virtio *v)
{
	for (unsigned i = 0; v && i < v->queues; i++)
		virtq_stop(&v->q[i]);
}

struct virtq *virtio_queue(struct virtio *v, unsigned queue)
{
	return &v->q[queue];
}

/* ---- the worker ---- */

struct worker *worker_new(struct workers *all, enum sandbox_kind kind, const char *name, struct err *err)
{
	(void)all;
	(void)kind;
	(void)name;
	(void)err;
	worker.epoll = epoll_create1(EPOLL_CLOEXEC);
	assert_true(worker.epoll >= 0);
	return &worker;
}

void worker_free(struct worker *w)
{
	if (w)
		close(w->epoll);
}

int worker_watch(struct worker *w, int fd, uint32_t events, worker_fn *fn, void *ctx, struct err *err)
{
	struct epoll_event event = {.events = events, .data.fd = fd};

	(void)err;
	assert_in_range(fd, 0, WATCHES - 1);
	w->watch[fd].fn = fn;
	w->watch[fd].ctx = ctx;
	return epoll_ctl(w->epoll, EPOLL_CTL_ADD, fd, &event);
}

void worker_unwatch(struct worker *w, int fd)
{
	epoll_ctl(w->epoll, EPOLL_CTL_DEL, fd, NULL);
	w->watch[fd].fn = NULL;
}

void rig_work(void)
{
	struct epoll_event event;

	/* Take one event at a time, since a callback may unwatch other descriptors. */
	while (epoll_wait(worker.epoll, &event, 1, 0) == 1)
		if (worker.watch[event.data.fd].fn)
			worker.watch[event.data.fd].fn(worker.watch[event.data.fd].ctx, event.events);
}

/* ---- the driver ---- */

struct desc {
	uint64_t gpa;
	uint32_t len;
	uint16_t flags, next;
};

struct rig *rig_init(void)
{
	memset(&rig, 0, sizeof(rig));
	memset(&virtio, 0, sizeof(virtio));
	memset(&worker, 0, sizeof(worker));
	rig.ram.host = calloc(1, RIG_RAM);
	assert_non_null(rig.ram.host);
	rig.ram.low = RIG_RAM;
	dma_init(&rig.dma, &rig.ram);
	rig.bus = (struct virtio_bus){.dma = &rig.dma, .workers = &rig.workers};
	return &rig;
}

void rig_destroy(void)
{
	dma_destroy(&rig.dma);
	free(rig.ram.host);
}

void *rig_at(uint64_t gpa)
{
	return rig.ram.host + gpa;
}

void rig_activate(void)
{
	for (unsigned i = 0; i < virtio.queues; i++) {
		const struct virtq_place place = {
			.size = RIG_SIZE, .desc = RING(i), .avail = RING(i) + AVAIL, .used = RING(i) + USED};

		memset(rig_at(RING(i)), 0, 0x10000);
		free_descriptor[i] = added[i] = taken[i] = 0;
		assert_int_equal(virtq_start(&virtio.q[i], &place), 0);
	}
	if (rig.ops->activate)
		rig.ops->activate(rig.dev, 0);
	for (unsigned i = 0; i < virtio.queues; i++)
		rig_kick(i);
}

void rig_reset(void)
{
	if (rig.ops->reset)
		rig.ops->reset(rig.dev);
	for (unsigned i = 0; i < virtio.queues; i++)
		virtq_stop(&virtio.q[i]);
	virtio.broken = false;
	rig.why = NULL;
}

uint16_t rig_add(unsigned queue, const struct rig_buffer *buffer, unsigned count)
{
	struct desc *table = rig_at(RING(queue));
	uint16_t *avail = rig_at(RING(queue) + AVAIL), head = free_descriptor[queue];

	for (unsigned i = 0; i < count; i++) {
		uint16_t n = (uint16_t)((head + i) % RIG_SIZE), next = (uint16_t)((n + 1) % RIG_SIZE);

		table[n] = (struct desc){.gpa = buffer[i].gpa, .len = buffer[i].len, .flags = buffer[i].write ? WRITE : 0};
		if (i + 1 < count) {
			table[n].flags |= NEXT;
			table[n].next = next;
		}
	}
	free_descriptor[queue] = (uint16_t)((head + count) % RIG_SIZE);
	avail[2 + added[queue] % RIG_SIZE] = head;
	avail[1] = ++added[queue];
	return head;
}

void rig_kick(unsigned queue)
{
	rig.ops->queue_ready(rig.dev, queue);
}

bool rig_used(unsigned queue, uint16_t *head, uint32_t *len)
{
	const uint32_t *entry = (const uint32_t *)rig_at(RING(queue) + USED) + 1 + 2 * (taken[queue] % RIG_SIZE);

	if (((uint16_t *)rig_at(RING(queue) + USED))[1] == taken[queue])
		return false;
	taken[queue]++;
	*head = (uint16_t)entry[0];
	*len = entry[1];
	return true;
}
