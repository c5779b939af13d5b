/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <linux/kvm.h>
#include <string.h>
#include <sys/ioctl.h>

#include "hv/vmm/snapshot/internal.h"

int chips_save(struct vm *vm, struct block_writer *w, struct err *err)
{
	struct kvm_pit_state2 pit;

	for (uint32_t i = 0; i < BLOCK_IRQCHIPS; i++) {
		struct kvm_irqchip chip = {.chip_id = i};

		if (ioctl(vm->fd, KVM_GET_IRQCHIP, &chip) < 0)
			return err_set(err, EXIT_INTERNAL, "KVM_GET_IRQCHIP %u failed: %s", i, strerror(errno));
		block_put(w, SECTION_IRQCHIP, i, &chip, sizeof(chip));
	}
	memset(&pit, 0, sizeof(pit));
	if (ioctl(vm->fd, KVM_GET_PIT2, &pit) < 0)
		return err_set(err, EXIT_INTERNAL, "KVM_GET_PIT2 failed: %s", strerror(errno));
	block_put(w, SECTION_PIT, 0, &pit, sizeof(pit));
	return 0;
}

int chips_load(struct vm *vm, const struct block *block, struct err *err)
{
	struct kvm_pit_state2 pit;

	for (uint32_t i = 0; i < BLOCK_IRQCHIPS; i++) {
		struct kvm_irqchip chip;

		block_get(block, SECTION_IRQCHIP, i, &chip, sizeof(chip));
		chip.chip_id = i;
		if (ioctl(vm->fd, KVM_SET_IRQCHIP, &chip) < 0)
			return err_set(err, EXIT_INPUT, "KVM refuses the state of interrupt controller %u: %s", i,
				       strerror(errno));
	}
	block_get(block, SECTION_PIT, 0, &pit, sizeof(pit));
	if (ioctl(vm->fd, KVM_SET_PIT2, &pit) < 0)
		return err_set(err, EXIT_INPUT, "KVM refuses the state of the timer: %s", strerror(errno));
	return 0;
}
