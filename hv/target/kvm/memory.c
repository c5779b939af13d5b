/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Guest-physical memory, and the INT3s in the guest's text. */
#include <string.h>

#include "hv/target/kvm/internal.h"

/* ---- guest-physical memory ---- */

int kvm_read_phys(struct target *t, uint64_t gpa, void *buf, size_t len)
{
	const void *ram = vm_ram(kvm_target(t)->vm, gpa, len);

	if (!ram)
		return -1;
	/* What the guest may write with one store is read with one load, so that no value is read half old and half new. */
	if (len == 8 && !(gpa & 7)) {
		uint64_t value = __atomic_load_n((const uint64_t *)ram, __ATOMIC_RELAXED);

		memcpy(buf, &value, sizeof(value));
	} else if (len == 4 && !(gpa & 3)) {
		uint32_t value = __atomic_load_n((const uint32_t *)ram, __ATOMIC_RELAXED);

		memcpy(buf, &value, sizeof(value));
	} else {
		memcpy(buf, ram, len);
	}
	return 0;
}

int kvm_write_phys(struct target *t, uint64_t gpa, const void *buf, size_t len)
{
	void *ram = vm_ram(kvm_target(t)->vm, gpa, len);

	if (!ram)
		return -1;
	memcpy(ram, buf, len);
	return 0;
}

/*
 * Replace the byte `expect` at `gpa` by `value`. This is one atomic operation, because the guest patches its text too. Returns
 * 0; 1 when another byte stands there, which is left; -1 when `gpa` is not RAM.
 */
static int swap_byte(struct target *t, uint64_t gpa, uint8_t expect, uint8_t value)
{
	uint8_t *ram = vm_ram(kvm_target(t)->vm, gpa, 1);

	if (!ram)
		return -1;
	return __atomic_compare_exchange_n(ram, &expect, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) ? 0 : 1;
}

/* ---- breakpoints: INT3s in the guest's text ---- */

int kvm_plant(struct target *t, uint64_t gva, uint64_t gpa, uint8_t first)
{
	(void)gva;
	return swap_byte(t, gpa, first, X86_INT3);
}

void kvm_unplant(struct target *t, uint64_t gva, uint64_t gpa, uint8_t first, bool intact)
{
	(void)gva;
	if (intact)
		swap_byte(t, gpa, X86_INT3, first);
}

/*
 * An emulated CPU, as in the labs, can keep an INT3 that it has decoded for good when it misses that the INT3 was taken out. A
 * write to the byte makes it decode the instruction again.
 */
void kvm_refetch(struct target *t, uint64_t gpa, uint8_t byte)
{
	swap_byte(t, gpa, byte, byte);
}
