/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Implements a virtio device's status register, by which the driver starts, stops and resets the device (virtio 1.2, 2.1 and
 * 3.1).
 */
#include <sys/epoll.h>
#include <unistd.h>

#include "hv/vmm/virtio/internal.h"

#define FEATURE_INDIRECT (1ull << 28)
#define FEATURE_EVENT_INDEX (1ull << 29)
#define FEATURE_VERSION_1 (1ull << 32)

void virtio_break_device(void *ctx, unsigned queue, const char *why)
{
	struct virtio *v = ctx;

	(void)queue;
	if (atomic_exchange(&v->broken, true))
		return;
	v->why_broken = why;
	virtio_interrupt_config(v);
}

void virtio_kick(struct virtio_queue *queue)
{
	uint64_t one = 1;

	/* Ignore a failure: the eventfd's counter is full then, and the worker is already woken. */
	if (write(queue->kick_fd, &one, sizeof(one)) < 0)
		return;
}

/*
 * Notify the worker again, because it has consumed the notification that woke it. The new notification stays in the eventfd
 * until the worker continues.
 */
void virtio_queue_left(void *ctx, unsigned queue)
{
	struct virtio *v = ctx;

	virtio_kick(&v->queue[queue]);
}

/* ---- notifications ---- */

static void on_kick(void *ctx, uint32_t events)
{
	struct virtio_queue *queue = ctx;

	(void)events;
	queue->v->ops->queue_ready(queue->v->dev, queue->q.by.queue);
}

/*
 * Set up or remove the ioeventfd that catches writes to the queue's notification register. The ioeventfd exists while the
 * device runs and its registers are decoded.
 */
static void settle_bell(struct virtio_queue *queue)
{
	struct virtio *v = queue->v;
	const struct pci_host *host = &v->msix.host;
	uint64_t bell = v->regs_gpa + VIRTIO_NOTIFY + queue->q.by.queue * (uint64_t)VIRTIO_NOTIFY_STEP;

	if (!v->running || !v->regs_gpa || !queue->enabled)
		bell = 0;
	if (bell == queue->bell)
		return;
	if (queue->bell)
		host->doorbell(host->ctx, queue->bell, queue->kick_fd, false);
	/* If KVM refuses, writes to the register still cause exits, which regs.c handles. */
	queue->bell = bell && host->doorbell(host->ctx, bell, queue->kick_fd, true) ? bell : 0;
}

static void watch_queue(struct virtio_queue *queue)
{
	/* Have the worker look for requests that the driver has added already. */
	virtio_kick(queue);
	if (worker_watch(queue->worker, queue->kick_fd, EPOLLIN | EPOLLET, on_kick, queue, NULL) < 0)
		virtio_break_device(queue->v, queue->q.by.queue, "the host is out of memory");
}

static void unwatch_queue(struct virtio_queue *queue)
{
	worker_unwatch(queue->worker, queue->kick_fd);
	/*
	 * Wait until no callback runs: the worker may be running the callback of another file descriptor of the device, such as
	 * a tap's.
	 */
	worker_pause(queue->worker);
	worker_resume(queue->worker);
}

void virtio_settle(struct virtio *v)
{
	bool running = v->status & STATUS_DRIVER_OK && v->fn.command & PCI_COMMAND_MASTER;
	bool changed = running != v->running;

	v->running = running;
	/* Hold all queues before waiting for any worker, because the worker may be serving another queue of the device. */
	for (unsigned i = 0; i < v->queues; i++)
		virtq_hold(&v->queue[i].q, !running);
	for (unsigned i = 0; i < v->queues; i++) {
		if (changed && v->queue[i].enabled)
			(running ? watch_queue : unwatch_queue)(&v->queue[i]);
		settle_bell(&v->queue[i]);
	}
}

/* ---- DRIVER_OK and reset ---- */

static void pause_workers(struct virtio *v)
{
	for (unsigned i = 0; i < v->queues; i++)
		worker_pause(v->queue[i].worker);
}

static void resume_workers(struct virtio *v)
{
	for (unsigned i = 0; i < v->queues; i++)
		worker_resume(v->queue[i].worker);
}

static void start_queue(struct virtio *v, struct virtio_queue *queue)
{
	const struct virtq_place place = {
		.size = queue->size,
		.desc = queue->desc,
		.avail = queue->avail,
		.used = queue->used,
		.event_index = v->accepted & FEATURE_EVENT_INDEX,
		.indirect = v->accepted & FEATURE_INDIRECT,
	};

	if (virtq_start(&queue->q, &place) < 0)
		virtio_break_device(v, queue->q.by.queue, "the driver has put a queue outside guest RAM, or misaligned it");
}

void virtio_start_queues(struct virtio *v)
{
	for (unsigned i = 0; i < v->queues; i++)
		if (v->queue[i].enabled)
			start_queue(v, &v->queue[i]);
}

static void start(struct virtio *v)
{
	pause_workers(v);
	virtio_start_queues(v);
	if (v->ops->activate) {
		pthread_mutex_lock(&v->config_lock);
		v->ops->activate(v->dev, v->accepted);
		pthread_mutex_unlock(&v->config_lock);
	}
	resume_workers(v);
	virtio_settle(v);
}

static void clear_queue(struct virtio_queue *queue)
{
	virtq_stop(&queue->q);
	queue->size = VIRTQ_MAX_SIZE;
	queue->desc = queue->avail = queue->used = 0;
	queue->enabled = false;
	queue->vector = PCI_MSIX_NONE;
}

static void reset(struct virtio *v)
{
	bool active = v->status & STATUS_DRIVER_OK;

	v->status = 0;
	virtio_settle(v);
	pause_workers(v);
	if (active && v->ops->reset) {
		pthread_mutex_lock(&v->config_lock);
		v->ops->reset(v->dev);
		pthread_mutex_unlock(&v->config_lock);
	}
	for (unsigned i = 0; i < v->queues; i++)
		clear_queue(&v->queue[i]);
	v->why_broken = NULL;
	v->broken = false;
	resume_workers(v);
	v->accepted = 0;
	v->offered_select = v->accepted_select = 0;
	v->queue_select = 0;
	v->config_vector = PCI_MSIX_NONE;
	virtio_isr(v);
}

/* ---- the status register ---- */

bool virtio_features_are_good(const struct virtio *v)
{
	return !(v->accepted & ~v->offered) && v->accepted & FEATURE_VERSION_1;
}

void virtio_set_status(struct virtio *v, uint8_t status)
{
	uint8_t added = status & ~v->status & ~STATUS_NEEDS_RESET;

	if (!status) {
		reset(v);
		return;
	}
	/*
	 * Leave FEATURES_OK clear if the device does not accept the features that the driver chose. The driver reads the
	 * register back.
	 */
	if (added & STATUS_FEATURES_OK && !virtio_features_are_good(v))
		added &= (uint8_t)~STATUS_FEATURES_OK;
	if (!((v->status | added) & STATUS_FEATURES_OK))
		added &= (uint8_t)~STATUS_DRIVER_OK;
	/* Writes only set bits: a driver clears bits by a reset. */
	v->status |= added;
	if (added & STATUS_DRIVER_OK)
		start(v);
}
