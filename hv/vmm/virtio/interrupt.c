/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Raises a virtio device's interrupts: by MSI-X or, while MSI-X is off, by INTA# with the ISR status (virtio 1.2, 4.1.4.5 and
 * 4.1.5.3).
 */
#include "hv/vmm/virtio/internal.h"

enum { ISR_QUEUE = 1, ISR_CONFIG = 2 };

/* Raise INTA# if the ISR status is not 0 and MSI-X is off; otherwise lower INTA#. Called with virtio.isr_lock held. */
static void drive(struct virtio *v)
{
	pci_intx(&v->fn, v->isr && !v->msix.enabled);
}

static void interrupt(struct virtio *v, uint16_t vector, uint8_t isr)
{
	if (pci_msix_send(&v->msix, vector))
		return;
	pthread_mutex_lock(&v->isr_lock);
	v->isr |= isr;
	drive(v);
	pthread_mutex_unlock(&v->isr_lock);
}

void virtio_interrupt_queue(void *ctx, unsigned queue)
{
	struct virtio *v = ctx;

	interrupt(v, v->queue[queue].vector, ISR_QUEUE);
}

void virtio_interrupt_config(struct virtio *v)
{
	/* The device must not interrupt the driver before DRIVER_OK (virtio 1.2, 3.1.1). */
	if (v->status & STATUS_DRIVER_OK)
		interrupt(v, v->config_vector, ISR_CONFIG);
}

uint8_t virtio_isr(struct virtio *v)
{
	uint8_t isr;

	pthread_mutex_lock(&v->isr_lock);
	isr = v->isr;
	v->isr = 0;
	drive(v);
	pthread_mutex_unlock(&v->isr_lock);
	return isr;
}

void virtio_intx_changed(struct virtio *v)
{
	pthread_mutex_lock(&v->isr_lock);
	drive(v);
	pthread_mutex_unlock(&v->isr_lock);
}
