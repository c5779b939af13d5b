// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Forwards accesses of devices to guest memory from the VMM (hv/vmm/dma.h) to the client of the target, which is the detector.
 */
#include "hv/target/kvm/internal.h"

/* Returns the client to call, or NULL after the machine's end. */
static const struct target_client *client_of(const struct kvm_target *kt)
{
	return atomic_load(&kt->target.over) ? NULL : kt->target.client;
}

static void on_segment(void *ctx, const struct device_access *access)
{
	const struct target_client *client = client_of(ctx);

	if (client)
		client->on_device(client->ctx, access);
}

static void on_ring(void *ctx, const struct device_access *access)
{
	const struct target_client *client = client_of(ctx);

	if (client)
		client->on_ring(client->ctx, access);
}

static uint64_t on_request(void *ctx, const struct device_request *by, const struct device_segment *segments, unsigned count)
{
	const struct target_client *client = client_of(ctx);

	return client && client->on_request ? client->on_request(client->ctx, by, segments, count) : 0;
}

/* Calls the client even after the machine's end, because the client still counts the request as held. */
static uint64_t on_hold_end(void *ctx, bool last)
{
	const struct kvm_target *kt = ctx;

	return kt->target.client->on_request_hold_end(kt->target.client->ctx, last || atomic_load(&kt->target.over));
}

void kvm_devices_observe(struct kvm_target *kt)
{
	kt->observer = (struct device_observer){
		.segment = on_segment, .ring = on_ring, .request = on_request, .hold_end = on_hold_end, .ctx = kt};
	dma_observe(vm_dma(kt->vm), &kt->observer);
}

void kvm_devices_ignore(struct kvm_target *kt)
{
	dma_watch(vm_dma(kt->vm), 0);
	dma_observe(vm_dma(kt->vm), NULL);
}

void kvm_devices_watch(struct target *t, uint64_t filter)
{
	dma_watch(vm_dma(kvm_target(t)->vm), filter);
}

void kvm_devices_in_flight(struct target *t, const struct device_observer *observer)
{
	dma_in_flight(vm_dma(kvm_target(t)->vm), observer);
}

void kvm_devices_want(struct target *t, unsigned nth)
{
	dma_want(vm_dma(kvm_target(t)->vm), nth);
}

void kvm_devices_let_go(struct target *t)
{
	dma_let_go(vm_dma(kvm_target(t)->vm));
}

bool kvm_devices_busy(struct target *t)
{
	return vm_devices_busy(kvm_target(t)->vm);
}
