/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Saves the state of a virtio device that the guest can see, and loads it into another device with the same identity. */
#include "hv/vmm/virtio/saved.h"

#include <stdio.h>
#include <string.h>

#include "hv/vmm/virtio/internal.h"

#define ISR_MASK 3

/*
 * The saved structs must have no padding. Padding would contain stale memory of this process, and the machine's saved state, of
 * which the structs are a part, may be written to a file.
 */
_Static_assert(sizeof(struct virtio_identity) == 40 && sizeof(struct virtq_state) == 16 &&
		       sizeof(struct virtio_queue_saved) == 56 && sizeof(struct pci_msix_state) == 20 &&
		       sizeof(struct virtio_saved) == 584 + VIRTIO_MAX_QUEUES * 56 + (VIRTIO_MAX_QUEUES + 1) * 20 + 4,
	       "no gaps");

/* ---- saving ---- */

static void save_identity(struct virtio *v, struct virtio_identity *out)
{
	*out = (struct virtio_identity){
		.offered = v->offered,
		.class = v->ops->class,
		.index = v->queue[0].q.by.index,
		.config_size = (uint32_t)v->ops->config_size,
		.type = v->ops->type,
		.queues = (uint16_t)v->queues,
	};
	snprintf(out->name, sizeof(out->name), "%s", v->ops->name);
}

static void save_queue(const struct virtio_queue *queue, struct virtio_queue_saved *out)
{
	*out = (struct virtio_queue_saved){
		.desc = queue->desc,
		.avail = queue->avail,
		.used = queue->used,
		.size = queue->size,
		.vector = queue->vector,
		.enabled = queue->enabled,
	};
	virtq_save(&queue->q, &out->at);
}

static void save_config(struct virtio *v, struct virtio_saved *out)
{
	pthread_mutex_lock(&v->config_lock);
	if (v->ops->config_size)
		v->ops->config_read(v->dev, 0, out->config, v->ops->config_size);
	out->generation = v->generation;
	pthread_mutex_unlock(&v->config_lock);
}

void virtio_save(struct virtio *v, struct virtio_saved *out)
{
	bool intx;

	memset(out, 0, sizeof(*out));
	save_identity(v, &out->identity);
	pci_function_save(v->fn.pci, v->fn.slot, out->pci, &intx);
	out->intx = intx;
	pci_msix_save(&v->msix, out->vector);
	save_config(v, out);
	pthread_mutex_lock(&v->isr_lock);
	out->isr = v->isr;
	pthread_mutex_unlock(&v->isr_lock);
	pthread_mutex_lock(&v->lock);
	out->status = v->status;
	out->broken = v->broken;
	out->accepted = v->accepted;
	out->offered_select = v->offered_select;
	out->accepted_select = v->accepted_select;
	out->queue_select = v->queue_select;
	out->config_vector = v->config_vector;
	for (unsigned i = 0; i < v->queues; i++)
		save_queue(&v->queue[i], &out->queue[i]);
	pthread_mutex_unlock(&v->lock);
}

/* ---- loading ---- */

bool virtio_identity_is_good(const struct virtio_identity *identity)
{
	return identity->name[0] && memchr(identity->name, 0, sizeof(identity->name)) && identity->queues &&
	       identity->queues <= VIRTIO_MAX_QUEUES && identity->config_size <= VIRTIO_MAX_CONFIG;
}

static bool vector_is_good(const struct virtio *v, uint16_t vector)
{
	return vector < v->msix.count || vector == PCI_MSIX_NONE;
}

static bool queue_is_good(const struct virtio *v, const struct virtio_queue_saved *s)
{
	return s->size && s->size <= VIRTQ_MAX_SIZE && !(s->size & (s->size - 1)) && vector_is_good(v, s->vector) &&
	       s->enabled <= 1;
}

static bool state_is_good(const struct virtio *v, const struct virtio_saved *s)
{
	if (s->status & STATUS_NEEDS_RESET || s->broken > 1 || s->isr & ~ISR_MASK || s->intx > 1 ||
	    !vector_is_good(v, s->config_vector))
		return false;
	if (s->status & STATUS_DRIVER_OK && !(s->status & STATUS_FEATURES_OK))
		return false;
	for (unsigned i = 0; i < v->queues; i++)
		if (!queue_is_good(v, &s->queue[i]))
			return false;
	return true;
}

static void load_registers(struct virtio *v, const struct virtio_saved *s)
{
	v->accepted = s->accepted;
	v->offered_select = s->offered_select;
	v->accepted_select = s->accepted_select;
	v->queue_select = s->queue_select;
	v->config_vector = s->config_vector;
	v->generation = s->generation;
	v->isr = s->isr;
	v->status = s->status;
	for (unsigned i = 0; i < v->queues; i++) {
		struct virtio_queue *queue = &v->queue[i];

		queue->desc = s->queue[i].desc;
		queue->avail = s->queue[i].avail;
		queue->used = s->queue[i].used;
		queue->size = s->queue[i].size;
		queue->vector = s->queue[i].vector;
		queue->enabled = s->queue[i].enabled;
	}
}

/* Start the queues at their saved positions. */
static bool resume_queues(struct virtio *v, const struct virtio_saved *s)
{
	virtio_start_queues(v);
	for (unsigned i = 0; i < v->queues; i++)
		if (v->queue[i].enabled && !virtq_resume(&v->queue[i].q, &s->queue[i].at))
			return false;
	return true;
}

bool virtio_load(struct virtio *v, const struct virtio_saved *s)
{
	bool good = state_is_good(v, s);

	if (!good)
		return false;
	pthread_mutex_lock(&v->lock);
	load_registers(v, s);
	v->broken = s->broken;
	v->why_broken = s->broken ? "the device needed a reset already when its state was saved" : NULL;
	if (v->status & STATUS_FEATURES_OK)
		good = virtio_features_are_good(v);
	if (good && v->status & STATUS_DRIVER_OK)
		good = resume_queues(v, s);
	if (good && v->status & STATUS_DRIVER_OK && v->ops->activate)
		v->ops->activate(v->dev, v->accepted);
	if (good)
		virtio_settle(v);
	pthread_mutex_unlock(&v->lock);
	return good && pci_msix_load(&v->msix, s->vector);
}
