/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Has KVM deliver message-signalled interrupts from eventfds, and signal an eventfd when the guest writes to a notification
 * register. A GSI is an entry of KVM's interrupt routing table.
 */
#include "hv/vmm/kvm_lines.h"

#include <errno.h>
#include <linux/kvm.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "hv/vmm/layout.h"

void kvm_lines_init(struct kvm_lines *lines, const int *vm_fd)
{
	memset(lines, 0, sizeof(*lines));
	lines->vm_fd = vm_fd;
	pthread_mutex_init(&lines->lock, NULL);
}

void kvm_lines_destroy(struct kvm_lines *lines)
{
	pthread_mutex_destroy(&lines->lock);
}

/* ---- message-signalled interrupts ---- */

#define PIC_PINS 8 /* pins of each 8259 */

static unsigned add_pins(struct kvm_irq_routing_entry *out)
{
	unsigned n = 0;

	for (unsigned gsi = 0; gsi < GSI_COUNT; gsi++) {
		out[n++] = (struct kvm_irq_routing_entry){
			.gsi = gsi, .type = KVM_IRQ_ROUTING_IRQCHIP, .u.irqchip = {KVM_IRQCHIP_IOAPIC, gsi}};
		if (gsi >= 2 * PIC_PINS)
			continue;
		out[n++] = (struct kvm_irq_routing_entry){
			.gsi = gsi,
			.type = KVM_IRQ_ROUTING_IRQCHIP,
			.u.irqchip = {gsi < PIC_PINS ? KVM_IRQCHIP_PIC_MASTER : KVM_IRQCHIP_PIC_SLAVE, gsi % PIC_PINS},
		};
	}
	return n;
}

static unsigned add_messages(const struct kvm_lines *lines, struct kvm_irq_routing_entry *out)
{
	unsigned n = 0;

	for (unsigned i = 0; i < KVM_LINES_MESSAGES; i++) {
		const struct kvm_message *m = &lines->message[i];

		if (m->set)
			out[n++] = (struct kvm_irq_routing_entry){
				.gsi = GSI_COUNT + i,
				.type = KVM_IRQ_ROUTING_MSI,
				.u.msi = {(uint32_t)m->address, (uint32_t)(m->address >> 32), m->data, {0}},
			};
	}
	return n;
}

/*
 * Pass the table of GSIs to KVM. Called with kvm_lines.lock held. Returns false if KVM refused the table; KVM then keeps the
 * previous table.
 */
static bool update(const struct kvm_lines *lines)
{
	bool taken;
	const size_t most = GSI_COUNT + 2 * PIC_PINS + KVM_LINES_MESSAGES;
	struct kvm_irq_routing *table = calloc(1, sizeof(*table) + most * sizeof(table->entries[0]));

	if (!table)
		return false;
	table->nr = add_pins(table->entries);
	table->nr += add_messages(lines, table->entries + table->nr);
	taken = ioctl(*lines->vm_fd, KVM_SET_GSI_ROUTING, table) == 0;
	free(table);
	return taken;
}

static int wire(const struct kvm_lines *lines, unsigned gsi, int fd, uint32_t flags)
{
	struct kvm_irqfd irqfd = {.fd = (uint32_t)fd, .gsi = gsi, .flags = flags};

	return ioctl(*lines->vm_fd, KVM_IRQFD, &irqfd);
}

static int take_gsi(struct kvm_lines *lines, unsigned *gsi)
{
	unsigned i = 0;

	pthread_mutex_lock(&lines->lock);
	while (i < KVM_LINES_MESSAGES && lines->message[i].used)
		i++;
	if (i < KVM_LINES_MESSAGES)
		lines->message[i].used = true;
	pthread_mutex_unlock(&lines->lock);
	*gsi = GSI_COUNT + i;
	return i < KVM_LINES_MESSAGES ? 0 : -1;
}

static void give_gsi(struct kvm_lines *lines, unsigned gsi)
{
	pthread_mutex_lock(&lines->lock);
	lines->message[gsi - GSI_COUNT] = (struct kvm_message){.used = false};
	pthread_mutex_unlock(&lines->lock);
}

static int msi_open(void *ctx, unsigned *gsi, struct err *err)
{
	struct kvm_lines *lines = ctx;
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	if (fd < 0)
		return err_set(err, EXIT_INTERNAL, "eventfd for an interrupt failed: %s", strerror(errno));
	if (take_gsi(lines, gsi) < 0) {
		close(fd);
		return err_set(err, EXIT_INTERNAL, "the devices need more than %d interrupts: give fewer disks or queues",
			       KVM_LINES_MESSAGES);
	}
	if (wire(lines, *gsi, fd, 0) < 0) {
		err_set(err, EXIT_INPUT, "/dev/kvm: KVM_IRQFD failed: %s; see outrider doctor", strerror(errno));
		give_gsi(lines, *gsi);
		close(fd);
		return -1;
	}
	return fd;
}

static void msi_close(void *ctx, unsigned gsi, int fd)
{
	struct kvm_lines *lines = ctx;

	wire(lines, gsi, fd, KVM_IRQFD_FLAG_DEASSIGN);
	close(fd);
	give_gsi(lines, gsi);
}

static void msi_route(void *ctx, unsigned gsi, uint64_t address, uint32_t data)
{
	struct kvm_lines *lines = ctx;
	struct kvm_message *m = &lines->message[gsi - GSI_COUNT];

	pthread_mutex_lock(&lines->lock);
	*m = (struct kvm_message){.used = true, .set = true, .address = address, .data = data};
	/*
	 * The guest chose the message, so KVM may refuse it. Remove a refused message, because KVM would refuse every later
	 * table that contains it, too.
	 */
	if (!update(lines))
		m->set = false;
	pthread_mutex_unlock(&lines->lock);
}

/* ---- notifications ---- */

/*
 * If `on`, make KVM signal the eventfd `fd` at each write of the guest to `gpa`; otherwise stop that. The member `len` of the
 * struct kvm_ioeventfd is 0, so KVM signals at a write of any size, and on some hosts need not decode the guest's instruction
 * (api.rst, KVM_CAP_IOEVENTFD_ANY_LENGTH).
 */
static bool doorbell(void *ctx, uint64_t gpa, int fd, bool on)
{
	const struct kvm_lines *lines = ctx;
	struct kvm_ioeventfd bell = {.addr = gpa, .fd = fd, .flags = on ? 0 : KVM_IOEVENTFD_FLAG_DEASSIGN};

	return ioctl(*lines->vm_fd, KVM_IOEVENTFD, &bell) == 0;
}

struct pci_host kvm_lines_host(struct kvm_lines *lines)
{
	return (struct pci_host){
		.ctx = lines, .msi_open = msi_open, .msi_route = msi_route, .msi_close = msi_close, .doorbell = doorbell};
}
