/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Builds a machine from its configuration, in the order in which its parts depend on each other, and frees it. */
#include <errno.h>
#include <linux/kvm.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "hv/vmm/acpi.h"
#include "hv/vmm/boot.h"
#include "hv/vmm/descriptors.h"
#include "hv/vmm/host.h"
#include "hv/vmm/layout.h"
#include "hv/vmm/machine.h"

struct vm *machine_new(unsigned cpus, int console_in, int console_out, struct err *err)
{
	struct vm *vm = calloc(1, sizeof(*vm));

	if (!vm) {
		err_set(err, EXIT_INTERNAL, "out of memory for the machine");
		return NULL;
	}
	vm->kvm_fd = vm->fd = vm->wake_fd = -1;
	for (unsigned i = 0; i < VMM_MAX_CPUS; i++)
		vm->vcpu[i] = (struct vcpu){.vm = vm, .index = i, .fd = -1};
	vm->cpus = cpus;
	vm->console_in = console_in;
	vm->callbacks = &machine_no_callbacks;
	pthread_mutex_init(&vm->end_lock, NULL);
	dma_init(&vm->dma, &vm->ram);
	strcpy(vm->detail, "stopped on request");
	if (machine_add_devices(vm, console_out, err) < 0) {
		vm_destroy(vm);
		return NULL;
	}
	return vm;
}

int machine_open(struct vm *vm, int kvm_fd, struct err *err)
{
	vm->kvm_fd = kvm_fd;
	vm->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (vm->wake_fd < 0)
		return err_set(err, EXIT_INTERNAL, "eventfd failed: %s", strerror(errno));
	vm->fd = host_create_vm(vm->kvm_fd, err);
	return vm->fd < 0 ? -1 : 0;
}

static int open_host(struct vm *vm, const struct vmm_config *config, struct err *err)
{
	int kvm_fd = host_open(err);

	if (kvm_fd < 0 || machine_open(vm, kvm_fd, err) < 0 || ram_map(&vm->ram, config->memory, err) < 0)
		return -1;
	return ram_attach(&vm->ram, vm->fd, false, err);
}

static int fill_ram(struct vm *vm, const struct vmm_config *config, struct boot_entry *entry, struct err *err)
{
	if (!acpi_build(ram_at(&vm->ram, ACPI_GPA, ACPI_MAX), ACPI_MAX, ACPI_GPA, vm->cpus))
		return err_set(err, EXIT_INTERNAL, "the ACPI tables do not fit their area");
	return boot_load(&vm->ram, config, ACPI_GPA, entry, err);
}

struct vm *vm_create(const struct vmm_config *config, struct err *err)
{
	struct boot_entry entry;
	struct vm *vm;

	if (config->cpus < 1 || config->cpus > VMM_MAX_CPUS) {
		err_set(err, EXIT_USAGE, "%u CPUs: give 1 to %d", config->cpus, VMM_MAX_CPUS);
		return NULL;
	}
	if (descriptors_allow(config, err) < 0)
		return NULL;
	vm = machine_new(config->cpus, config->console_in, config->console_out, err);
	if (!vm)
		return NULL;
	/* Open the network before the machine has RAM, because the network process must not inherit guest memory. */
	if (machine_add_mark(vm, config->mark, err) < 0 || kick_setup(err) < 0 || machine_open_network(vm, config, err) < 0 ||
	    open_host(vm, config, err) < 0 || machine_add_pci_devices(vm, config, err) < 0 ||
	    fill_ram(vm, config, &entry, err) < 0 || machine_create_vcpus(vm, &entry, err) < 0) {
		vm_destroy(vm);
		return NULL;
	}
	return vm;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

void vm_destroy(struct vm *vm)
{
	if (!vm || vm_left(vm))
		return;
	machine_destroy_vcpus(vm);
	machine_remove_devices(vm);
	close_fd(vm->fd);
	close_fd(vm->kvm_fd);
	close_fd(vm->wake_fd);
	dma_destroy(&vm->dma);
	if (!vm->ram_is_callers)
		ram_unmap(&vm->ram);
	pthread_mutex_destroy(&vm->end_lock);
	free(vm);
}

unsigned vm_cpu_count(const struct vm *vm)
{
	return vm->cpus;
}

struct vcpu *vm_vcpu(struct vm *vm, unsigned index)
{
	return index < vm->cpus ? &vm->vcpu[index] : NULL;
}

void *vm_ram(struct vm *vm, uint64_t gpa, size_t len)
{
	return ram_at(&vm->ram, gpa, len);
}

struct dma *vm_dma(struct vm *vm)
{
	return &vm->dma;
}

const char *vm_end_detail(const struct vm *vm)
{
	return vm->detail;
}
