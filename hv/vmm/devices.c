/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The machine's devices on their ports, wired to the in-kernel interrupt controllers and to the end of the machine. */
#include <linux/kvm.h>
#include <sys/ioctl.h>

#include "hv/vmm/layout.h"
#include "hv/vmm/machine.h"

static void set_irq(void *ctx, unsigned gsi, bool level)
{
	const struct vm *vm = ctx;
	struct kvm_irq_level irq = {.irq = gsi, .level = level};

	/* It can fail only for a line that does not exist. */
	ioctl(vm->fd, KVM_IRQ_LINE, &irq);
}

static void end(void *ctx, enum vm_end how, const char *why)
{
	machine_end(ctx, how, "%s", why);
}

void machine_add_devices(struct vm *vm, int console_out)
{
	struct power_line power = {.end = end, .ctx = vm};
	struct irq_line irq = {.set = set_irq, .ctx = vm};

	irq.gsi = SERIAL_GSI;
	serial_init(&vm->serial, console_out, &irq, &vm->ended);
	irq.gsi = RTC_GSI;
	rtc_init(&vm->rtc, &irq);
	irq.gsi = SCI_GSI;
	pm_init(&vm->pm, &irq, &power);
	pci_init(&vm->pci, &power);
	vm->i8042.power = power;
	vm->pvpanic.power = power;

	bus_add(&vm->bus, SERIAL_PORT, 8, &serial_ops, &vm->serial);
	bus_add(&vm->bus, PM_PORT, PM_LEN, &pm_ops, &vm->pm);
	bus_add(&vm->bus, PCI_PORT, PCI_LEN, &pci_ops, &vm->pci);
	bus_add(&vm->bus, RTC_PORT, 2, &rtc_ops, &vm->rtc);
	bus_add(&vm->bus, I8042_DATA_PORT, 1, &i8042_data_ops, &vm->i8042);
	bus_add(&vm->bus, I8042_COMMAND_PORT, 1, &i8042_command_ops, &vm->i8042);
	bus_add(&vm->bus, PVPANIC_PORT, 1, &pvpanic_ops, &vm->pvpanic);
}

void machine_remove_devices(struct vm *vm)
{
	serial_destroy(&vm->serial);
	rtc_destroy(&vm->rtc);
	pm_destroy(&vm->pm);
	pci_destroy(&vm->pci);
}
