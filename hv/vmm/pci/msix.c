/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * MSI-X of a PCI function: the vector table and the pending bits in a BAR, and the sending of a vector's message through the
 * host's KVM.
 */
#include "hv/vmm/pci/msix.h"

#include <assert.h>
#include <string.h>
#include <unistd.h>

#define CAP_MSIX 0x11
#define CONTROL_ENABLE 0x8000u
#define CONTROL_MASK 0x4000u
#define VECTOR_MASKED 1u

enum { ENTRY_ADDRESS, ENTRY_UPPER, ENTRY_DATA, ENTRY_CONTROL };

/* ---- one vector: called with its lock held ---- */

static bool may_send(const struct pci_msix *m, const struct pci_msix_vector *v)
{
	return m->enabled && !m->masked && !(v->entry[ENTRY_CONTROL] & VECTOR_MASKED);
}

static void route(struct pci_msix *m, struct pci_msix_vector *v)
{
	if (!memcmp(v->routed, v->entry, sizeof(v->routed)))
		return;
	memcpy(v->routed, v->entry, sizeof(v->routed));
	m->host.msi_route(m->host.ctx, v->gsi, (uint64_t)v->routed[ENTRY_UPPER] << 32 | v->routed[ENTRY_ADDRESS],
			  v->routed[ENTRY_DATA]);
}

/*
 * To be called after a change of masks, of the message or of `pending`. If the vector is not masked, pass a changed message to
 * the host, and send a pending message.
 */
static void settle(struct pci_msix *m, struct pci_msix_vector *v)
{
	uint64_t one = 1;

	if (!may_send(m, v))
		return;
	route(m, v);
	if (!v->pending)
		return;
	v->pending = false;
	/* Ignore a failure: the eventfd's counter is full then, so a message is already being sent. */
	if (write(v->fd, &one, sizeof(one)) < 0)
		return;
}

bool pci_msix_send(struct pci_msix *m, unsigned vector)
{
	struct pci_msix_vector *v;

	if (!m->enabled)
		return false;
	if (vector >= m->count)
		return true;
	v = &m->vector[vector];
	pthread_mutex_lock(&v->lock);
	v->pending = true;
	settle(m, v);
	pthread_mutex_unlock(&v->lock);
	return true;
}

/* ---- the function ---- */

void pci_msix_config_written(struct pci_msix *m)
{
	const uint8_t *at = m->fn->config + m->capability + 2;
	unsigned control = at[0] | (unsigned)at[1] << 8;
	bool enabled = control & CONTROL_ENABLE;
	bool masked = control & CONTROL_MASK || !(m->fn->command & PCI_COMMAND_MASTER);

	if (enabled == m->enabled && masked == m->masked)
		return;
	m->enabled = enabled;
	m->masked = masked;
	for (unsigned i = 0; i < m->count; i++) {
		pthread_mutex_lock(&m->vector[i].lock);
		settle(m, &m->vector[i]);
		pthread_mutex_unlock(&m->vector[i].lock);
	}
}

/* ---- the BAR: only accesses to whole dwords or quadwords are defined ---- */

static uint32_t pending_bits(struct pci_msix *m, unsigned first)
{
	uint32_t bits = 0;

	for (unsigned i = first; i < first + 32 && i < m->count; i++) {
		pthread_mutex_lock(&m->vector[i].lock);
		bits |= (uint32_t)m->vector[i].pending << (i - first);
		pthread_mutex_unlock(&m->vector[i].lock);
	}
	return bits;
}

static uint32_t read_dword(struct pci_msix *m, unsigned offset)
{
	struct pci_msix_vector *v = &m->vector[offset / 16 % PCI_MSIX_MAX];
	uint32_t value;

	if (offset >= PCI_MSIX_PBA)
		return pending_bits(m, (offset - PCI_MSIX_PBA) * 8);
	if (offset / 16 >= m->count)
		return 0;
	pthread_mutex_lock(&v->lock);
	value = v->entry[offset / 4 % 4];
	pthread_mutex_unlock(&v->lock);
	return value;
}

static void write_dword(struct pci_msix *m, unsigned offset, uint32_t value)
{
	struct pci_msix_vector *v = &m->vector[offset / 16 % PCI_MSIX_MAX];
	unsigned word = offset / 4 % 4;

	if (offset / 16 >= m->count)
		return;
	pthread_mutex_lock(&v->lock);
	v->entry[word] = word == ENTRY_CONTROL ? value & VECTOR_MASKED : word == ENTRY_ADDRESS ? value & ~3u : value;
	/*
	 * A correct driver masks the vector while it changes the message. Otherwise each part of the message takes effect when
	 * it is written, and a message of old and new parts can be sent.
	 */
	settle(m, v);
	pthread_mutex_unlock(&v->lock);
}

static uint64_t msix_read(void *dev, uint64_t offset, unsigned size)
{
	struct pci_msix *m = dev;
	uint64_t value;

	if (size < 4 || offset % size)
		return 0;
	value = read_dword(m, (unsigned)offset);
	if (size == 8)
		value |= (uint64_t)read_dword(m, (unsigned)offset + 4) << 32;
	return value;
}

static void msix_write(void *dev, uint64_t offset, unsigned size, uint64_t value)
{
	struct pci_msix *m = dev;

	if (size < 4 || offset % size)
		return;
	write_dword(m, (unsigned)offset, (uint32_t)value);
	if (size == 8)
		write_dword(m, (unsigned)offset + 4, (uint32_t)(value >> 32));
}

static const struct bus_ops bar_ops = {.read = msix_read, .write = msix_write};

_Static_assert(PCI_MSIX_MAX * 16 <= PCI_MSIX_PBA && PCI_MSIX_PBA + PCI_MSIX_MAX / 8 <= PCI_MSIX_BAR, "MSI-X table and PBA");

/* ---- snapshots ---- */

void pci_msix_save(struct pci_msix *m, struct pci_msix_state *out)
{
	for (unsigned i = 0; i < m->count; i++) {
		struct pci_msix_vector *v = &m->vector[i];

		pthread_mutex_lock(&v->lock);
		memcpy(out[i].entry, v->entry, sizeof(out[i].entry));
		out[i].pending = v->pending;
		pthread_mutex_unlock(&v->lock);
	}
}

static bool vector_is_good(const struct pci_msix_state *state)
{
	return !(state->entry[ENTRY_ADDRESS] & 3) && !(state->entry[ENTRY_CONTROL] & ~VECTOR_MASKED) && state->pending <= 1;
}

bool pci_msix_load(struct pci_msix *m, const struct pci_msix_state *state)
{
	for (unsigned i = 0; i < m->count; i++)
		if (!vector_is_good(&state[i]))
			return false;
	for (unsigned i = 0; i < m->count; i++) {
		struct pci_msix_vector *v = &m->vector[i];

		memcpy(v->entry, state[i].entry, sizeof(v->entry));
		v->pending = state[i].pending;
	}
	pci_msix_config_written(m);
	return true;
}

/* ---- creation and removal ---- */

int pci_msix_init(struct pci_msix *m, struct pci_function *fn, unsigned bar, unsigned count, const struct pci_host *host,
		  struct err *err)
{
	uint8_t body[10] = {0};

	assert(count && count <= PCI_MSIX_MAX);
	memset(m, 0, sizeof(*m));
	m->fn = fn;
	m->host = *host;
	m->masked = true; /* the function is not bus master yet */
	body[0] = (uint8_t)(count - 1);
	body[2] = (uint8_t)bar; /* the table is at offset 0 */
	body[6] = (uint8_t)(PCI_MSIX_PBA & 0xff) | (uint8_t)bar;
	body[7] = PCI_MSIX_PBA >> 8;
	m->capability = pci_function_capability(fn, CAP_MSIX, body, sizeof(body));
	fn->writable[m->capability + 3] = (CONTROL_ENABLE | CONTROL_MASK) >> 8;
	pci_function_bar(fn, bar, PCI_MSIX_BAR, false, &bar_ops, m);
	for (; m->count < count; m->count++) {
		struct pci_msix_vector *v = &m->vector[m->count];

		v->fd = host->msi_open(host->ctx, &v->gsi, err);
		if (v->fd < 0)
			return -1;
		pthread_mutex_init(&v->lock, NULL);
		v->entry[ENTRY_CONTROL] = VECTOR_MASKED;
	}
	return 0;
}

void pci_msix_destroy(struct pci_msix *m)
{
	for (unsigned i = 0; i < m->count; i++) {
		m->host.msi_close(m->host.ctx, m->vector[i].gsi, m->vector[i].fd);
		pthread_mutex_destroy(&m->vector[i].lock);
	}
	m->count = 0;
}
