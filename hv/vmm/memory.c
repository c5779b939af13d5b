/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "hv/vmm/memory.h"

#include <errno.h>
#include <linux/kvm.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hv/base/x86.h"
#include "hv/vmm/layout.h"

#define MEMORY_MIN MIB(64)
#define MEMORY_MAX GIB(1024)

enum { E820_RAM = 1, E820_RESERVED = 2 };

int memory_map(struct guest_memory *mem, uint64_t size, struct err *err)
{
	void *host;

	if (size < MEMORY_MIN || size > MEMORY_MAX || size % X86_PAGE_SIZE)
		return err_set(err, EXIT_USAGE, "memory of %llu bytes: give 64M to 1024G, in whole pages",
			       (unsigned long long)size);
	host = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (host == MAP_FAILED)
		return err_set(err, EXIT_INPUT, "cannot reserve %llu MiB of guest memory: %s; give --memory a smaller size",
			       (unsigned long long)(size >> 20), strerror(errno));
	/* Huge pages are faster under nested paging, but round every touched page up to 2 MiB: only where that cannot hurt. */
	if (size / (uint64_t)sysconf(_SC_PAGESIZE) < (uint64_t)sysconf(_SC_PHYS_PAGES) / 2)
		madvise(host, size, MADV_HUGEPAGE);
	mem->host = host;
	mem->low = size < RAM_HOLE_START ? size : RAM_HOLE_START;
	mem->high = size - mem->low;
	return 0;
}

void memory_unmap(struct guest_memory *mem)
{
	if (mem->host)
		munmap(mem->host, mem->low + mem->high);
	mem->host = NULL;
}

static int attach_slot(int vm_fd, unsigned slot, uint64_t gpa, uint64_t size, uint8_t *host, struct err *err)
{
	struct kvm_userspace_memory_region region = {
		.slot = slot,
		.guest_phys_addr = gpa,
		.memory_size = size,
		.userspace_addr = (uintptr_t)host,
	};

	if (ioctl(vm_fd, KVM_SET_USER_MEMORY_REGION, &region) < 0)
		return err_set(err, EXIT_INPUT, "KVM refuses %llu MiB of guest memory at 0x%llx: %s",
			       (unsigned long long)(size >> 20), (unsigned long long)gpa, strerror(errno));
	return 0;
}

int memory_attach(const struct guest_memory *mem, int vm_fd, struct err *err)
{
	if (attach_slot(vm_fd, 0, 0, mem->low, mem->host, err) < 0)
		return -1;
	if (mem->high && attach_slot(vm_fd, 1, RAM_HOLE_END, mem->high, mem->host + mem->low, err) < 0)
		return -1;
	return 0;
}

void *memory_at(const struct guest_memory *mem, uint64_t gpa, size_t len)
{
	if (gpa < mem->low)
		return len <= mem->low - gpa ? mem->host + gpa : NULL;
	if (gpa >= RAM_HOLE_END && gpa - RAM_HOLE_END < mem->high)
		return len <= mem->high - (gpa - RAM_HOLE_END) ? mem->host + mem->low + (gpa - RAM_HOLE_END) : NULL;
	return NULL;
}

unsigned memory_e820(const struct guest_memory *mem, struct boot_e820_entry out[MEMORY_E820_MAX])
{
	unsigned n = 0;

	out[n++] = (struct boot_e820_entry){0, EBDA_GPA, E820_RAM};
	out[n++] = (struct boot_e820_entry){EBDA_GPA, EBDA_END_GPA - EBDA_GPA, E820_RESERVED};
	out[n++] = (struct boot_e820_entry){ACPI_GPA, BIOS_END_GPA - ACPI_GPA, E820_RESERVED};
	out[n++] = (struct boot_e820_entry){BIOS_END_GPA, mem->low - BIOS_END_GPA, E820_RAM};
	out[n++] = (struct boot_e820_entry){KVM_IDENTITY_MAP_GPA, RAM_HOLE_END - KVM_IDENTITY_MAP_GPA, E820_RESERVED};
	if (mem->high)
		out[n++] = (struct boot_e820_entry){RAM_HOLE_END, mem->high, E820_RAM};
	return n;
}
