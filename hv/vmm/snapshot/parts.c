/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Saves and loads the state of the devices of a machine. Each platform device (serial port, clock, power) that has state has a
 * line in `parts`; the PCI devices are found on the PCI bus.
 */
#include <linux/virtio_ids.h>

#include "hv/vmm/block/disk.h"
#include "hv/vmm/snapshot/internal.h"
#include "hv/vmm/virtio/saved.h"

/* Room for the state of any platform device. */
union part_state {
	struct serial_state serial;
	struct rtc_state rtc;
	struct pm_state pm;
	struct pci_state pci;
};

static void save_serial(struct vm *vm, const struct moment *at, union part_state *out)
{
	(void)at;
	serial_save(&vm->serial, &out->serial);
}

static bool load_serial(struct vm *vm, const struct moment *at, const union part_state *state)
{
	(void)at;
	return serial_load(&vm->serial, &state->serial);
}

static void save_rtc(struct vm *vm, const struct moment *at, union part_state *out)
{
	(void)at;
	rtc_save(&vm->rtc, &out->rtc);
}

static bool load_rtc(struct vm *vm, const struct moment *at, const union part_state *state)
{
	(void)at;
	return rtc_load(&vm->rtc, &state->rtc);
}

static void save_pm(struct vm *vm, const struct moment *at, union part_state *out)
{
	pm_save(&vm->pm, at->mono_ns, &out->pm);
}

static bool load_pm(struct vm *vm, const struct moment *at, const union part_state *state)
{
	return pm_load(&vm->pm, at->mono_ns, &state->pm);
}

static void save_pci(struct vm *vm, const struct moment *at, union part_state *out)
{
	(void)at;
	pci_save(&vm->pci, &out->pci);
}

static bool load_pci(struct vm *vm, const struct moment *at, const union part_state *state)
{
	(void)at;
	pci_load(&vm->pci, &state->pci);
	return true;
}

/* The platform devices with state, and the PCI bus. The i8042 and the pvpanic device have no state. */
static const struct {
	enum section type;
	size_t len;
	const char *what;
	void (*save)(struct vm *vm, const struct moment *at, union part_state *out);
	bool (*load)(struct vm *vm, const struct moment *at, const union part_state *state);
} parts[] = {
	{SECTION_SERIAL, sizeof(struct serial_state), "serial port", save_serial, load_serial},
	{SECTION_RTC, sizeof(struct rtc_state), "clock", save_rtc, load_rtc},
	{SECTION_PM, sizeof(struct pm_state), "power management", save_pm, load_pm},
	{SECTION_PCI, sizeof(struct pci_state), "PCI bus", save_pci, load_pci},
};

_Static_assert(sizeof(struct serial_state) == 27 && sizeof(struct rtc_state) == 144 && sizeof(struct pm_state) == 12 &&
		       sizeof(struct pci_state) == 8,
	       "no padding, which would contain stale memory of this process");

#define PARTS (sizeof(parts) / sizeof(parts[0]))

void parts_save(struct vm *vm, const struct moment *at, struct block_writer *w)
{
	for (size_t i = 0; i < PARTS; i++) {
		union part_state state = {0};

		parts[i].save(vm, at, &state);
		block_put(w, parts[i].type, 0, &state, parts[i].len);
	}
	for (unsigned slot = 0; slot < PCI_SLOTS; slot++) {
		struct virtio *device = virtio_in_slot(&vm->pci, slot);
		struct virtio_saved *out = device ? block_add(w, SECTION_PCI_DEVICE, slot, sizeof(*out)) : NULL;

		if (out)
			virtio_save(device, out);
	}
}

static int bad_device(unsigned slot, struct err *err)
{
	return err_set(err, EXIT_INPUT, "the state of the machine is not usable: its PCI device in slot %u is not valid", slot);
}

/* Returns true if the saved device is a disk, and `disks` has the disk from which a copy of this disk can be made. */
static bool has_disk(const struct virtio_saved *saved, struct disk *const *disks)
{
	const struct virtio_identity *device = &saved->identity;

	return disks && device->type == VIRTIO_ID_BLOCK && device->index < VMM_MAX_DISKS && device->queues <= VMM_MAX_CPUS &&
	       disks[device->index];
}

/*
 * Returns true if the saved device is an entropy device. A copy gets a working entropy device instead of a silent one: the
 * device reaches nothing outside of the copy. A silent device would never complete a pending request, and then the guest could
 * not unload the driver.
 */
static bool is_entropy(const struct virtio_saved *saved)
{
	const struct virtio_identity *device = &saved->identity;

	return device->type == VIRTIO_ID_RNG && device->queues == 1 && !device->config_size;
}

static int add_device(struct vm *vm, unsigned slot, const struct virtio_saved *saved, struct disk *const *disks,
		      struct err *err)
{
	unsigned index = saved->identity.index;
	struct disk *disk;

	if (is_entropy(saved) && !vm->rng) {
		vm->rng = virtio_rng_new(&vm->virtio, index, err);
		return vm->rng ? 0 : -1;
	}
	if (!has_disk(saved, disks) || vm->disk[index]) {
		vm->silent[slot] = silent_new(&vm->virtio, saved, err);
		return vm->silent[slot] ? 0 : -1;
	}
	disk = disk_copy(disks[index], err);
	if (disk)
		vm->disk[index] = virtio_blk_copy(&vm->virtio, disk, saved, err);
	return vm->disk[index] ? 0 : -1;
}

/* virtio_add() fills slots in order, so a block with a gap between its slots is invalid. */
int parts_add_pci_devices(struct vm *vm, const struct block *block, struct disk *const *disks, struct err *err)
{
	bool gap = false;

	vm->virtio = (struct virtio_bus){.pci = &vm->pci, .dma = &vm->dma, .workers = &vm->workers};
	for (unsigned slot = 0; slot < PCI_SLOTS; slot++) {
		struct virtio_saved saved;

		if (!block_find(block, SECTION_PCI_DEVICE, slot)) {
			gap = slot > 0;
			continue;
		}
		block_get(block, SECTION_PCI_DEVICE, slot, &saved, sizeof(saved));
		if (!slot || gap || !virtio_identity_is_good(&saved.identity))
			return bad_device(slot, err);
		if (add_device(vm, slot, &saved, disks, err) < 0)
			return -1;
	}
	return 0;
}

static int load_device(struct vm *vm, unsigned slot, const struct block *block, struct err *err)
{
	struct virtio_saved saved;

	block_get(block, SECTION_PCI_DEVICE, slot, &saved, sizeof(saved));
	return virtio_load(virtio_in_slot(&vm->pci, slot), &saved) ? 0 : bad_device(slot, err);
}

static void load_config(struct vm *vm, unsigned slot, const struct block *block)
{
	struct virtio_saved saved;

	block_get(block, SECTION_PCI_DEVICE, slot, &saved, sizeof(saved));
	pci_function_load(&vm->pci, slot, saved.pci, saved.intx);
}

int parts_load(struct vm *vm, const struct moment *at, const struct block *block, struct err *err)
{
	for (size_t i = 0; i < PARTS; i++) {
		union part_state state = {0};

		block_get(block, parts[i].type, 0, &state, parts[i].len);
		if (!parts[i].load(vm, at, &state))
			return err_set(err, EXIT_INPUT, "the state of the machine is not usable: its %s is not valid",
				       parts[i].what);
	}
	/*
	 * Load each function twice: at the first time, the bus may refuse a BAR, because another function's BAR is still at the
	 * address of this BAR.
	 */
	for (unsigned i = 0; i < 2 * PCI_SLOTS; i++)
		if (virtio_in_slot(&vm->pci, i % PCI_SLOTS))
			load_config(vm, i % PCI_SLOTS, block);
	for (unsigned slot = 0; slot < PCI_SLOTS; slot++)
		if (virtio_in_slot(&vm->pci, slot) && load_device(vm, slot, block, err) < 0)
			return -1;
	return 0;
}
