/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes a copy of a machine from the machine's saved state: in a process that was forked from the machine's process, or later,
 * from a file. Also pauses the devices of the machine while its state is saved.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hv/base/clock.h"
#include "hv/vmm/block/disk.h"
#include "hv/vmm/host.h"
#include "hv/vmm/snapshot/internal.h"
#include "hv/vmm/snapshot/snapshot.h"

/*
 * Maximum time, in ns, that vm_devices_stand_still() waits for devices to finish the requests that they serve. The limit is as
 * short as 1 s, because all vCPUs of the guest stand still during the wait, and a run that is to end must wait, too.
 */
#define STAND_NS UINT64_C(1000000000)

/* ---- a copy ---- */

static int open_kvm(int given, struct err *err)
{
	int fd;

	if (given < 0)
		return host_open(err);
	fd = fcntl(given, F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? err_set(err, EXIT_INTERNAL, "cannot duplicate a descriptor: %s", strerror(errno)) : fd;
}

static int attach_ram(struct vm *vm, const struct ram *ram, const struct block *block, bool log_dirty, struct err *err)
{
	if (ram->low + ram->high != block->machine.memory)
		return err_set(err, EXIT_INPUT, "the saved machine has %llu bytes of memory, but the copy has %llu",
			       (unsigned long long)block->machine.memory, (unsigned long long)(ram->low + ram->high));
	vm->ram = *ram;
	vm->ram_is_callers = true;
	return ram_attach(&vm->ram, vm->fd, log_dirty, err);
}

static int load_cpus(struct vm *vm, const struct moment *at, const struct block *block, struct err *err)
{
	for (unsigned i = 0; i < vm->cpus; i++)
		if (machine_create_vcpu(vm, i, err) < 0)
			return -1;
	for (unsigned i = 0; i < vm->cpus; i++)
		if (cpu_load(&vm->vcpu[i], block, err) < 0 || cpu_time_load(&vm->vcpu[i], at, block, err) < 0)
			return -1;
	if (clock_load(vm, at, block, err) < 0)
		return -1;
	for (unsigned i = 0; i < vm->cpus; i++)
		if (cpu_load_end(&vm->vcpu[i], block, err) < 0)
			return -1;
	return 0;
}

static int build(struct vm *vm, const struct block *block, const struct ram *ram, const struct vm_copy_config *config,
		 struct err *err)
{
	int kvm_fd = open_kvm(config->kvm_fd, err);
	struct moment at;

	if (kvm_fd < 0 || kick_setup(err) < 0 || machine_open(vm, kvm_fd, err) < 0 ||
	    attach_ram(vm, ram, block, config->log_dirty, err) < 0 || parts_add_pci_devices(vm, block, config->disks, err) < 0)
		return -1;
	at = moment_now();
	if (load_cpus(vm, &at, block, err) < 0 || chips_load(vm, block, err) < 0)
		return -1;
	return parts_load(vm, &at, block, err);
}

struct vm *vm_copy_new(const struct vm_state *state, const struct ram *ram, const struct vm_copy_config *config,
		       struct err *err)
{
	struct block block;
	struct vm *vm;

	if (block_open(state, &block, err) < 0)
		return NULL;
	vm = machine_new(block.machine.cpus, -1, config->console_out, err);
	if (!vm)
		return NULL;
	vm->kicks_by_timers = true;
	if (config->callbacks)
		vm->callbacks = config->callbacks;
	if (machine_add_mark(vm, config->mark, err) == 0 && build(vm, &block, ram, config, err) == 0)
		return vm;
	vm_destroy(vm);
	return NULL;
}

int vm_copy_dirty(struct vm *vm, uint64_t *bitmap, size_t words, struct err *err)
{
	if (words < ram_bitmap_words(&vm->ram))
		return err_set(err, EXIT_INTERNAL, "a bitmap of %zu words is too small for the pages of the machine", words);
	return ram_dirty(&vm->ram, vm->fd, bitmap, err);
}

/* ---- devices, the child of a fork(), RAM ---- */

int vm_devices_stand_still(struct vm *vm, struct err *err)
{
	const char *busy = workers_pause_until(&vm->workers, monotonic_ns() + STAND_NS);

	if (busy)
		return err_set(err, EXIT_INPUT,
			       "cannot copy the machine now: the device thread \"%s\" still waits for the host", busy);
	for (unsigned i = 0; i < VMM_MAX_DISKS; i++)
		if (vm->disk[i])
			disk_copy_begins(virtio_blk_disk(vm->disk[i]));
	return 0;
}

void vm_devices_go_on(struct vm *vm)
{
	workers_resume(&vm->workers);
}

int vm_copy_devices_start(struct vm *vm, struct err *err)
{
	return workers_start(&vm->workers, err);
}

void vm_copy_devices_pause(struct vm *vm)
{
	workers_pause(&vm->workers);
}

void vm_forked(struct vm *vm, struct vm_parent *out)
{
	*out = (struct vm_parent){.ram = vm->ram, .kvm_fd = vm->kvm_fd};
	for (unsigned i = 0; i < vm->cpus; i++) {
		munmap(vm->vcpu[i].run, vm->run_size);
		close(vm->vcpu[i].fd);
	}
	close(vm->fd);
	for (unsigned i = 0; i < VMM_MAX_DISKS; i++) {
		if (!vm->disk[i])
			continue;
		out->disks[i] = virtio_blk_disk(vm->disk[i]);
		out->fd_count += disk_descriptors(out->disks[i], out->fds + out->fd_count);
	}
}

struct ram vm_ram_all(const struct vm *vm)
{
	return vm->ram;
}

struct ram vm_ram_take(struct vm *vm)
{
	vm->ram_is_callers = true;
	return vm->ram;
}
