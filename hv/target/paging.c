/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks the guest's page tables from outside (SDM vol. 3, chapter 4). The walk only reads them, so accessed and dirty bits do
 * not change.
 */
#include "hv/target/target.h"

#define PTE_PRESENT (1ull << 0)
#define PTE_WRITABLE (1ull << 1)
#define PTE_ACCESSED (1ull << 5)
#define PTE_DIRTY (1ull << 6)
#define PTE_LARGE (1ull << 7)
#define PTE_ADDR 0x000ffffffffff000ull

static bool canonical(uint64_t gva, unsigned bits)
{
	int64_t sign = (int64_t)(gva << (64 - bits)) >> (64 - bits);

	return (uint64_t)sign == gva;
}

/*
 * Translate `gva`. Fails unless every page-table entry that the walk reads has all bits of `each`, and the last one also all
 * bits of `last`.
 */
static int walk(struct target *t, uint64_t cr3, uint64_t cr4, uint64_t gva, uint64_t each, uint64_t last, uint64_t *gpa)
{
	unsigned levels = cr4 & X86_CR4_LA57 ? 5 : 4;
	uint64_t table = cr3 & PTE_ADDR;

	if (!canonical(gva, 12 + 9 * levels))
		return -1;

	for (unsigned level = levels; level >= 1; level--) {
		unsigned shift = 12 + 9 * (level - 1);
		uint64_t entry;

		if (target_read_phys(t, table + 8 * ((gva >> shift) & 0x1ff), &entry, sizeof(entry)))
			return -1;
		if ((entry & each) != each)
			return -1;
		if (level == 1 || ((level == 2 || level == 3) && (entry & PTE_LARGE))) {
			uint64_t mask = (1ull << shift) - 1;

			if ((entry & last) != last)
				return -1;
			*gpa = (entry & PTE_ADDR & ~mask) | (gva & mask);
			return 0;
		}
		table = entry & PTE_ADDR;
	}
	return -1;
}

int target_translate(struct target *t, uint64_t cr3, uint64_t cr4, uint64_t gva, uint64_t *gpa)
{
	return walk(t, cr3, cr4, gva, PTE_PRESENT, 0, gpa);
}

int target_translate_quietly(struct target *t, const struct x86_regs *regs, uint64_t gva, bool write, uint64_t *gpa)
{
	uint64_t each = PTE_PRESENT | PTE_ACCESSED | (write ? PTE_WRITABLE : 0);

	return walk(t, regs->cr3, regs->cr4, gva, each, write ? PTE_DIRTY : 0, gpa);
}

/* Returns how many of the `len` bytes at `gva` lie in the page of `gva`. */
static size_t in_page(uint64_t gva, size_t len)
{
	size_t left = X86_PAGE_SIZE - (gva & (X86_PAGE_SIZE - 1));

	return len < left ? len : left;
}

int target_read(struct target *t, uint64_t cr3, uint64_t cr4, uint64_t gva, void *buf, size_t len)
{
	for (size_t done = 0, chunk; done < len; done += chunk) {
		uint64_t gpa;

		chunk = in_page(gva + done, len - done);
		if (target_translate(t, cr3, cr4, gva + done, &gpa) || t->ops->read_phys(t, gpa, (char *)buf + done, chunk))
			return -1;
	}
	return 0;
}

int target_write(struct target *t, uint64_t cr3, uint64_t cr4, uint64_t gva, const void *buf, size_t len)
{
	for (size_t done = 0, chunk; done < len; done += chunk) {
		uint64_t gpa;

		chunk = in_page(gva + done, len - done);
		if (target_translate(t, cr3, cr4, gva + done, &gpa) ||
		    t->ops->write_phys(t, gpa, (const char *)buf + done, chunk))
			return -1;
	}
	return 0;
}
