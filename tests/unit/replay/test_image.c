// SPDX-License-Identifier: GPL-2.0-or-later
/* A machine that never runs, as a target: reads of memory by physical and by virtual address, and of registers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/replay/image.h"
#include "hv/vmm/layout.h"

#define LOW MIB(1)
#define HIGH MIB(1)
#define PRESENT 1ull
#define TABLES 0x1000ull
#define GVA 0xffffffff81000000ull
#define PAGE 0x8000ull
#define PAGE_HIGH RAM_HOLE_END

struct rig {
	struct ram ram;
	struct x86_regs regs[2];
	struct image image;
};

static void set_word(struct rig *r, uint64_t gpa, uint64_t value)
{
	memcpy(ram_at(&r->ram, gpa, sizeof(value)), &value, sizeof(value));
}

/* Write page tables of four levels. They map two pages that are neighbours in virtual memory only. */
static void map_pages(struct rig *r)
{
	for (unsigned level = 0; level < 3; level++) {
		unsigned shift = 39 - 9 * level;

		set_word(r, TABLES + level * X86_PAGE_SIZE + (GVA >> shift & 511) * 8,
			 (TABLES + (level + 1) * X86_PAGE_SIZE) | PRESENT);
	}
	set_word(r, TABLES + 3 * X86_PAGE_SIZE, PAGE | PRESENT);
	set_word(r, TABLES + 3 * X86_PAGE_SIZE + 8, PAGE_HIGH | PRESENT);
}

static int setup(void **state)
{
	struct rig *r = calloc(1, sizeof(*r));

	r->ram = (struct ram){.host = calloc(1, LOW + HIGH), .low = LOW, .high = HIGH};
	map_pages(r);
	r->regs[0] = (struct x86_regs){.cr3 = TABLES, .rip = GVA};
	r->regs[1] = (struct x86_regs){.cr3 = TABLES, .rip = GVA + 1};
	image_init(&r->image, &r->ram, r->regs, 2);
	*state = r;
	return 0;
}

static int teardown(void **state)
{
	struct rig *r = *state;

	free(r->ram.host);
	free(r);
	return 0;
}

static void memory_is_read_by_gva_across_pages(void **state)
{
	struct rig *r = *state;
	char got[8];

	memcpy(ram_at(&r->ram, PAGE + X86_PAGE_SIZE - 4, 4), "left", 4);
	memcpy(ram_at(&r->ram, PAGE_HIGH, 4), "high", 4);
	assert_int_equal(target_read(&r->image.target, TABLES, 0, GVA + X86_PAGE_SIZE - 4, got, sizeof(got)), 0);
	assert_memory_equal(got, "lefthigh", 8);
}

static void what_is_no_ram_or_is_not_mapped_is_not_read(void **state)
{
	struct rig *r = *state;
	uint64_t word;

	assert_int_equal(target_read_phys(&r->image.target, LOW - 8, &word, sizeof(word)), 0);
	assert_int_equal(target_read_phys(&r->image.target, LOW - 7, &word, sizeof(word)), -1);
	assert_int_equal(target_read_phys(&r->image.target, UINT64_MAX - 3, &word, sizeof(word)), -1);
	assert_int_equal(target_read(&r->image.target, TABLES, 0, GVA + 2 * X86_PAGE_SIZE, &word, sizeof(word)), -1);
	/* The saved CR3 leads to tables outside of RAM. */
	assert_int_equal(target_read(&r->image.target, LOW, 0, GVA, &word, sizeof(word)), -1);
}

static void each_cpu_has_its_registers(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs;

	assert_int_equal(target_stand_still(&r->image.target), 0);
	assert_int_equal(target_peek_regs(&r->image.target, 1, &regs), 0);
	target_go_on(&r->image.target);
	assert_int_equal(regs.rip, GVA + 1);
	assert_int_equal(target_peek_regs(&r->image.target, 2, &regs), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(memory_is_read_by_gva_across_pages, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_no_ram_or_is_not_mapped_is_not_read, setup, teardown),
		cmocka_unit_test_setup_teardown(each_cpu_has_its_registers, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
