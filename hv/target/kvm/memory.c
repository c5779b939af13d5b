/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads and writes guest-physical memory, and plants INT3s in the guest's text. */
#include <string.h>

#include "hv/target/kvm/internal.h"

/* ---- guest-physical memory ---- */

/*
 * Read with one load what the guest can write with one store, and write with one store what the guest can read with one load.
 * So neither side sees a value that is half old and half new.
 */
#define LOAD(type)                                                                 \
	do {                                                                       \
		type value = __atomic_load_n((const type *)ram, __ATOMIC_RELAXED); \
		memcpy(buf, &value, sizeof(value));                                \
	} while (0)
#define STORE(type)                                                     \
	do {                                                            \
		type value;                                             \
		memcpy(&value, buf, sizeof(value));                     \
		__atomic_store_n((type *)ram, value, __ATOMIC_RELAXED); \
	} while (0)

/* Returns `len` if a single load or store can make this access, otherwise 0. */
static size_t whole(uint64_t gpa, size_t len)
{
	return (len == 1 || len == 2 || len == 4 || len == 8) && gpa % len == 0 ? len : 0;
}

int kvm_read_phys(struct target *t, uint64_t gpa, void *buf, size_t len)
{
	const void *ram = vm_ram(kvm_target(t)->vm, gpa, len);

	if (!ram)
		return -1;
	switch (whole(gpa, len)) {
	case 8:
		LOAD(uint64_t);
		break;
	case 4:
		LOAD(uint32_t);
		break;
	case 2:
		LOAD(uint16_t);
		break;
	case 1:
		LOAD(uint8_t);
		break;
	default:
		memcpy(buf, ram, len);
	}
	return 0;
}

int kvm_write_phys(struct target *t, uint64_t gpa, const void *buf, size_t len)
{
	void *ram = vm_ram(kvm_target(t)->vm, gpa, len);

	if (!ram)
		return -1;
	switch (whole(gpa, len)) {
	case 8:
		STORE(uint64_t);
		break;
	case 4:
		STORE(uint32_t);
		break;
	case 2:
		STORE(uint16_t);
		break;
	case 1:
		STORE(uint8_t);
		break;
	default:
		memcpy(ram, buf, len);
	}
	return 0;
}

/*
 * Replace the byte `expect` at `gpa` by `value`, atomically, because the guest patches its text too. Returns 0, 1 if memory has
 * another byte, which stays unchanged, or -1 if `gpa` is not RAM.
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
 * Write the byte again. An emulated CPU, as in the labs, may have cached the decoded INT3 and miss its removal; a write to the
 * byte makes the CPU decode the instruction again.
 */
void kvm_refetch(struct target *t, uint64_t gpa, uint8_t byte)
{
	swap_byte(t, gpa, byte, byte);
}
