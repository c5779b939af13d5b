/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the machine's devices. The platform devices (serial port, clock, power and reset) are in every machine: this file puts
 * their ranges on the bus, and connects their interrupt and power lines. PCI devices are in a machine if its configuration asks
 * for them. To add a kind of device, write a file in the folder of its kind, a member of struct vm, and the calls in this file
 * that make and free it.
 */
#include <linux/kvm.h>
#include <sys/ioctl.h>

#include "hv/vmm/block/disk.h"
#include "hv/vmm/layout.h"
#include "hv/vmm/machine.h"
#include "hv/vmm/net/backend.h"

static void set_irq(void *ctx, unsigned gsi, bool level)
{
	const struct vm *vm = ctx;
	struct kvm_irq_level irq = {.irq = gsi, .level = level};

	/* Ignore the result: KVM_IRQ_LINE fails only for a line that does not exist, and no device has such a line. */
	ioctl(vm->fd, KVM_IRQ_LINE, &irq);
}

static void end_machine(void *ctx, enum vm_end how, const char *why)
{
	machine_end(ctx, how, "%s", why);
}

int machine_add_devices(struct vm *vm, int console_out, struct err *err)
{
	struct power_line power = {.end = end_machine, .ctx = vm};
	struct irq_line irq = {.set = set_irq, .ctx = vm};
	const struct bus_range ranges[] = {
		{BUS_PORT, SERIAL_PORT, SERIAL_LEN, &serial_ops, &vm->serial},
		{BUS_PORT, PM_PORT, PM_LEN, &pm_ops, &vm->pm},
		{BUS_PORT, PCI_PORT, PCI_LEN, &pci_ops, &vm->pci},
		{BUS_MMIO, PCI_ECAM_GPA, PCI_ECAM_LEN, &pci_ecam_ops, &vm->pci},
		{BUS_PORT, RTC_PORT, RTC_LEN, &rtc_ops, &vm->rtc},
		{BUS_PORT, I8042_DATA_PORT, 1, &i8042_data_ops, &vm->i8042},
		{BUS_PORT, I8042_COMMAND_PORT, 1, &i8042_command_ops, &vm->i8042},
		{BUS_PORT, PVPANIC_PORT, 1, &pvpanic_ops, &vm->pvpanic},
	};

	const struct pci_host pci_host = kvm_lines_host(&vm->lines);

	bus_init(&vm->bus);
	kvm_lines_init(&vm->lines, &vm->fd);
	workers_init(&vm->workers, &vm->dma);
	irq.gsi = SERIAL_GSI;
	serial_init(&vm->serial, console_out, &irq, &vm->ended);
	irq.gsi = RTC_GSI;
	rtc_init(&vm->rtc, &irq);
	irq.gsi = SCI_GSI;
	pm_init(&vm->pm, &irq, &power);
	pci_init(&vm->pci, &vm->bus, &power, &irq, &pci_host);
	vm->i8042.power = power;
	vm->pvpanic.power = power;

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (bus_add(&vm->bus, &ranges[i], err) < 0)
			return -1;
	return 0;
}

int machine_add_mark(struct vm *vm, struct mark *mark, struct err *err)
{
	const struct bus_range range = {BUS_MMIO, MARK_GPA, MARK_LEN, &mark_ops, mark};

	return mark ? bus_add(&vm->bus, &range, err) : 0;
}

int machine_open_network(struct vm *vm, const struct vmm_config *config, struct err *err)
{
	if (!config->net)
		return 0;
	vm->network = config->net->kind == VMM_NET_TAP ? net_tap_new(config->net, err)
						       : net_user_new(config->net, &config->messages, err);
	return vm->network ? 0 : -1;
}

int machine_add_pci_devices(struct vm *vm, const struct vmm_config *config, struct err *err)
{
	vm->virtio = (struct virtio_bus){.pci = &vm->pci, .dma = &vm->dma, .workers = &vm->workers};
	for (unsigned i = 0; i < config->disk_count && i < VMM_MAX_DISKS; i++) {
		vm->disk[i] = virtio_blk_new(&vm->virtio, &config->disks[i], i, config->cpus, &config->messages, err);
		if (!vm->disk[i] || (config->copies && disk_allow_copies(virtio_blk_disk(vm->disk[i]), err) < 0))
			return -1;
	}
	if (config->rng && !(vm->rng = virtio_rng_new(&vm->virtio, 0, err)))
		return -1;
	if (config->vsock_cid && !(vm->vsock = virtio_vsock_new(&vm->virtio, config, 0, err)))
		return -1;
	if (!vm->network)
		return 0;
	vm->net = virtio_net_new(&vm->virtio, vm->network, 0, err);
	vm->network = NULL;
	return vm->net ? 0 : -1;
}

void machine_remove_devices(struct vm *vm)
{
	virtio_rng_free(vm->rng);
	virtio_vsock_free(vm->vsock);
	for (unsigned i = 0; i < VMM_MAX_DISKS; i++)
		virtio_blk_free(vm->disk[i]);
	serial_destroy(&vm->serial);
	rtc_destroy(&vm->rtc);
	pm_destroy(&vm->pm);
	virtio_net_free(vm->net);
	if (vm->network)
		vm->network->ops->free(vm->network);
	for (unsigned i = 0; i < PCI_SLOTS; i++)
		silent_free(vm->silent[i]);
	pci_destroy(&vm->pci);
	workers_destroy(&vm->workers);
	kvm_lines_destroy(&vm->lines);
	bus_destroy(&vm->bus);
}

/*
 * Test workers_woken() before dma_busy(): a worker counts as busy before it stops counting as woken. In the other order, a
 * worker that begins to serve between the two tests would be missed. dma_busy() would have been false before the worker began,
 * workers_woken() would be false afterwards, and the devices would be taken for idle.
 */
bool vm_devices_busy(const struct vm *vm)
{
	return workers_woken(&vm->workers) || dma_busy(&vm->dma);
}
