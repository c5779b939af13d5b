/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/target/fake_target.h"

#define GVA 0xffff888012345000ull
#define DATA 0x200000ull

struct paging {
	struct fake_target *ft;
	uint64_t cr3;
};

static int setup(void **state)
{
	static struct paging p;

	p.ft = fake_target_new(1, 4);
	if (!p.ft)
		return -1;
	p.cr3 = fake_page(p.ft);
	*state = &p;
	return 0;
}

static int teardown(void **state)
{
	struct paging *p = *state;

	fake_target_free(p->ft);
	return 0;
}

static void expect(struct paging *p, uint64_t cr4, uint64_t gva, uint64_t gpa)
{
	uint64_t out = ~0ull;

	assert_int_equal(target_translate(&p->ft->target, p->cr3, cr4, gva, &out), 0);
	assert_int_equal(out, gpa);
}

static void expect_none(struct paging *p, uint64_t cr4, uint64_t gva)
{
	uint64_t out;

	assert_int_equal(target_translate(&p->ft->target, p->cr3, cr4, gva, &out), -1);
}

static void test_small_page(void **state)
{
	struct paging *p = *state;

	fake_map(p->ft, p->cr3, 4, GVA, DATA, X86_PAGE_SIZE, 12);
	expect(p, 0, GVA, DATA);
	expect(p, 0, GVA + 0xfff, DATA + 0xfff);
	expect_none(p, 0, GVA + 0x1000);
	expect_none(p, 0, GVA - 1);
}

static void test_large_pages(void **state)
{
	struct paging *p = *state;
	const uint64_t two_mib = 0xffffffff81000000ull, one_gib = 0xffff888040000000ull;

	fake_map(p->ft, p->cr3, 4, two_mib, 0x600000, 1 << 21, 21);
	expect(p, 0, two_mib + 0x1fffff, 0x7fffff);
	expect(p, 0, two_mib + 0x12345, 0x612345);
	expect_none(p, 0, two_mib + 0x200000);

	/* An address beyond RAM can be translated but not read. */
	fake_map(p->ft, p->cr3, 4, one_gib, 0x140000000, 1 << 30, 30);
	expect(p, 0, one_gib + 0x3fffffff, 0x17fffffff);
	expect_none(p, 0, one_gib + 0x40000000);
}

/* Bit 12 of an entry for a large page is its PAT bit, and bits 52 to 63 are not part of the address (SDM vol. 3, tables 4-16
 * to 4-19). */
static void test_flags_are_not_address(void **state)
{
	struct paging *p = *state;
	const uint64_t at = 0xffffffff82000000ull;
	uint64_t entry = 0x600000 | 1 | 1ull << 7 | 1ull << 12 | 0xfffull << 52, place, pd;

	fake_map(p->ft, p->cr3, 4, at, 0, 1 << 21, 21);
	/* The page directory is the last table that was allocated. */
	pd = p->ft->tables_end - X86_PAGE_SIZE;
	place = pd + 8 * (at >> 21 & 0x1ff);
	fake_write(p->ft, place, &entry, sizeof(entry));
	expect(p, 0, at + 0x123, 0x600123);
}

/* The low bits of CR3 are a PCID or cache flags. Its bit 63 means that a load flushes no TLB entries. */
static void test_cr3_flags(void **state)
{
	struct paging *p = *state;
	uint64_t out;

	fake_map(p->ft, p->cr3, 4, GVA, DATA, X86_PAGE_SIZE, 12);
	assert_int_equal(target_translate(&p->ft->target, p->cr3 | 0xfff | 1ull << 63, 0, GVA, &out), 0);
	assert_int_equal(out, DATA);
}

static void test_five_levels(void **state)
{
	struct paging *p = *state;
	const uint64_t high = 0xff11000012345000ull;

	fake_map(p->ft, p->cr3, 5, high, DATA, X86_PAGE_SIZE, 12);
	expect(p, X86_CR4_LA57, high + 5, DATA + 5);
	expect_none(p, 0, high); /* not canonical with four levels */
}

static void test_non_canonical(void **state)
{
	struct paging *p = *state;

	/* Without their top bits, these addresses would have the table indices of GVA. */
	fake_map(p->ft, p->cr3, 4, GVA, DATA, X86_PAGE_SIZE, 12);
	expect_none(p, 0, GVA & 0x0000ffffffffffffull);
	expect_none(p, 0, GVA ^ 1ull << 63);
	expect_none(p, 0, 0x0000800000000000ull);
	expect_none(p, X86_CR4_LA57, 0x0100000000000000ull);
}

static void test_not_present(void **state)
{
	struct paging *p = *state;

	expect_none(p, 0, GVA);
	fake_map(p->ft, p->cr3, 4, GVA, DATA, X86_PAGE_SIZE, 12);
	fake_unmap(p->ft, p->cr3, 4, GVA);
	expect_none(p, 0, GVA);
}

/* The guest chooses the addresses of its tables. A table outside RAM is an error, and no crash. */
static void test_tables_outside_ram(void **state)
{
	struct paging *p = *state;
	uint64_t entry = 0x000ffffffffff000ull | 1, out;

	fake_write(p->ft, p->cr3 + 8 * (GVA >> 39 & 0x1ff), &entry, sizeof(entry));
	expect_none(p, 0, GVA);
	assert_int_equal(target_translate(&p->ft->target, FAKE_RAM, 0, GVA, &out), -1);
	assert_int_equal(target_translate(&p->ft->target, ~0ull, 0, GVA, &out), -1);
}

static void test_read_across_pages(void **state)
{
	struct paging *p = *state;
	uint8_t out[2 * X86_PAGE_SIZE];

	/* Three pages are neighbours in virtual memory and in the opposite order in physical memory. */
	for (unsigned i = 0; i < 3; i++) {
		uint8_t fill[X86_PAGE_SIZE];
		uint64_t gpa = DATA + (2 - i) * X86_PAGE_SIZE;

		memset(fill, 'a' + (int)i, sizeof(fill));
		fake_write(p->ft, gpa, fill, sizeof(fill));
		fake_map(p->ft, p->cr3, 4, GVA + i * X86_PAGE_SIZE, gpa, X86_PAGE_SIZE, 12);
	}
	assert_int_equal(target_read(&p->ft->target, p->cr3, 0, GVA + 4094, out, 2 + X86_PAGE_SIZE + 3), 0);
	assert_memory_equal(out, "aab", 3);
	assert_memory_equal(out + 2 + X86_PAGE_SIZE - 1, "bccc", 4);
	assert_int_equal(target_read(&p->ft->target, p->cr3, 0, GVA, out, 0), 0);
}

static void test_read_fails_whole(void **state)
{
	struct paging *p = *state;
	uint8_t out[16];

	fake_map(p->ft, p->cr3, 4, GVA, DATA, X86_PAGE_SIZE, 12);
	assert_int_equal(target_read(&p->ft->target, p->cr3, 0, GVA + 4088, out, 8), 0);
	assert_int_equal(target_read(&p->ft->target, p->cr3, 0, GVA + 4088, out, 9), -1);
	/* This page is mapped to an address outside RAM. */
	fake_map(p->ft, p->cr3, 4, GVA, FAKE_RAM, X86_PAGE_SIZE, 12);
	assert_int_equal(target_read(&p->ft->target, p->cr3, 0, GVA, out, 1), -1);
}

static void test_write_across_pages(void **state)
{
	struct paging *p = *state;
	const uint64_t value = 0x1122334455667788ull;

	fake_map(p->ft, p->cr3, 4, GVA, DATA, X86_PAGE_SIZE, 12);
	fake_map(p->ft, p->cr3, 4, GVA + X86_PAGE_SIZE, DATA + 0x5000, X86_PAGE_SIZE, 12);
	assert_int_equal(target_write(&p->ft->target, p->cr3, 0, GVA + 4093, &value, sizeof(value)), 0);
	assert_int_equal(fake_byte(p->ft, DATA + 4093), 0x88);
	assert_int_equal(fake_byte(p->ft, DATA + 4095), 0x66);
	assert_int_equal(fake_byte(p->ft, DATA + 0x5000), 0x55);
	assert_int_equal(fake_byte(p->ft, DATA + 0x5004), 0x11);
	assert_int_equal(fake_byte(p->ft, DATA + 0x5005), 0);
	assert_int_equal(target_write(&p->ft->target, p->cr3, 0, GVA + 2 * X86_PAGE_SIZE - 1, &value, 2), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_small_page, setup, teardown),
		cmocka_unit_test_setup_teardown(test_large_pages, setup, teardown),
		cmocka_unit_test_setup_teardown(test_flags_are_not_address, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cr3_flags, setup, teardown),
		cmocka_unit_test_setup_teardown(test_five_levels, setup, teardown),
		cmocka_unit_test_setup_teardown(test_non_canonical, setup, teardown),
		cmocka_unit_test_setup_teardown(test_not_present, setup, teardown),
		cmocka_unit_test_setup_teardown(test_tables_outside_ram, setup, teardown),
		cmocka_unit_test_setup_teardown(test_read_across_pages, setup, teardown),
		cmocka_unit_test_setup_teardown(test_read_fails_whole, setup, teardown),
		cmocka_unit_test_setup_teardown(test_write_across_pages, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
