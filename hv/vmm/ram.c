/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guest RAM: maps it into this process, gives it to KVM as memory slots, and translates guest-physical addresses (GPA) to host
 * addresses.
 */
#include "hv/vmm/ram.h"

#include <errno.h>
#include <linux/kvm.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hv/base/x86.h"
#include "hv/vmm/layout.h"

#define RAM_MIN MIB(64)
#define RAM_MAX GIB(1024)

enum { E820_RAM = 1, E820_RESERVED = 2 };

int ram_map(struct ram *ram, uint64_t size, struct err *err)
{
	void *host;

	if (size < RAM_MIN || size > RAM_MAX || size % X86_PAGE_SIZE)
		return err_set(err, EXIT_USAGE, "guest memory of %llu bytes is not possible: give whole pages, 64M to 1024G",
			       (unsigned long long)size);
	host = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (host == MAP_FAILED)
		return err_set(err, EXIT_INPUT, "cannot reserve %llu MiB of guest memory: %s; give --memory a smaller size",
			       (unsigned long long)(size >> 20), strerror(errno));
	/*
	 * Huge pages are faster under nested paging, but each page that the guest touches then takes 2 MiB of the host. Use
	 * them only if the guest's memory is smaller than half of the host's, so that the host has room for the waste.
	 */
	if (size / (uint64_t)sysconf(_SC_PAGESIZE) < (uint64_t)sysconf(_SC_PHYS_PAGES) / 2)
		madvise(host, size, MADV_HUGEPAGE);
	ram->host = host;
	ram->low = size < RAM_HOLE_START ? size : RAM_HOLE_START;
	ram->high = size - ram->low;
	return 0;
}

void ram_unmap(struct ram *ram)
{
	if (ram->host)
		munmap(ram->host, ram->low + ram->high);
	ram->host = NULL;
}

enum { SLOT_LOW, SLOT_HIGH };

static int attach_slot(int vm_fd, unsigned slot, uint32_t flags, uint64_t gpa, uint64_t size, uint8_t *host, struct err *err)
{
	struct kvm_userspace_memory_region region = {
		.slot = slot,
		.flags = flags,
		.guest_phys_addr = gpa,
		.memory_size = size,
		.userspace_addr = (uintptr_t)host,
	};

	if (ioctl(vm_fd, KVM_SET_USER_MEMORY_REGION, &region) < 0)
		return err_set(err, EXIT_INPUT, "KVM refuses %llu MiB of guest memory at 0x%llx: %s",
			       (unsigned long long)(size >> 20), (unsigned long long)gpa, strerror(errno));
	return 0;
}

int ram_attach(const struct ram *ram, int vm_fd, bool log_dirty, struct err *err)
{
	uint32_t flags = log_dirty ? KVM_MEM_LOG_DIRTY_PAGES : 0;

	if (attach_slot(vm_fd, SLOT_LOW, flags, 0, ram->low, ram->host, err) < 0)
		return -1;
	if (ram->high && attach_slot(vm_fd, SLOT_HIGH, flags, RAM_HOLE_END, ram->high, ram->host + ram->low, err) < 0)
		return -1;
	return 0;
}

#define PAGES_PER_WORD 64u

size_t ram_bitmap_words(const struct ram *ram)
{
	uint64_t pages = (ram->low + ram->high) / X86_PAGE_SIZE;

	return (size_t)((pages + PAGES_PER_WORD - 1) / PAGES_PER_WORD);
}

_Static_assert(RAM_HOLE_START % (PAGES_PER_WORD * X86_PAGE_SIZE) == 0,
	       "the bitmap of the second memory slot begins with a whole word");

static int slot_dirty(int vm_fd, unsigned slot, uint64_t *bitmap, struct err *err)
{
	struct kvm_dirty_log log = {.slot = slot, .dirty_bitmap = bitmap};

	if (ioctl(vm_fd, KVM_GET_DIRTY_LOG, &log) < 0)
		return err_set(err, EXIT_INTERNAL, "KVM_GET_DIRTY_LOG failed: %s", strerror(errno));
	return 0;
}

int ram_dirty(const struct ram *ram, int vm_fd, uint64_t *bitmap, struct err *err)
{
	if (slot_dirty(vm_fd, SLOT_LOW, bitmap, err) < 0)
		return -1;
	return ram->high ? slot_dirty(vm_fd, SLOT_HIGH, bitmap + ram->low / X86_PAGE_SIZE / PAGES_PER_WORD, err) : 0;
}

void *ram_at(const struct ram *ram, uint64_t gpa, size_t len)
{
	if (gpa < ram->low)
		return len <= ram->low - gpa ? ram->host + gpa : NULL;
	if (gpa >= RAM_HOLE_END && gpa - RAM_HOLE_END < ram->high)
		return len <= ram->high - (gpa - RAM_HOLE_END) ? ram->host + ram->low + (gpa - RAM_HOLE_END) : NULL;
	return NULL;
}

uint64_t ram_gpa(const struct ram *ram, uint64_t offset)
{
	return offset < ram->low ? offset : RAM_HOLE_END + (offset - ram->low);
}

unsigned ram_e820(const struct ram *ram, struct boot_e820_entry out[RAM_E820_MAX])
{
	unsigned n = 0;

	out[n++] = (struct boot_e820_entry){0, EBDA_GPA, E820_RAM};
	out[n++] = (struct boot_e820_entry){EBDA_GPA, EBDA_END_GPA - EBDA_GPA, E820_RESERVED};
	out[n++] = (struct boot_e820_entry){ACPI_GPA, BIOS_END_GPA - ACPI_GPA, E820_RESERVED};
	out[n++] = (struct boot_e820_entry){BIOS_END_GPA, ram->low - BIOS_END_GPA, E820_RAM};
	out[n++] = (struct boot_e820_entry){PCI_ECAM_GPA, PCI_ECAM_LEN, E820_RESERVED};
	out[n++] = (struct boot_e820_entry){KVM_IDENTITY_MAP_GPA, RAM_HOLE_END - KVM_IDENTITY_MAP_GPA, E820_RESERVED};
	if (ram->high)
		out[n++] = (struct boot_e820_entry){RAM_HOLE_END, ram->high, E820_RAM};
	return n;
}
