/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Guest RAM: the only accessor for addresses from the guest, and the address map that the guest gets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "hv/vmm/layout.h"
#include "hv/vmm/ram.h"

static void test_sizes(void **state)
{
	static const uint64_t bad[] = {0, MIB(1), MIB(64) - 4096, MIB(64) + 1, GIB(1024) + 4096, UINT64_MAX};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct ram ram = {0};
		struct err err = {0};

		assert_int_equal(ram_map(&ram, bad[i], &err), -1);
		assert_int_equal(err.code, EXIT_USAGE);
		assert_null(ram.host);
	}
}

static void test_accessor(void **state)
{
	struct ram ram;
	struct err err = {0};
	uint8_t *host;

	(void)state;
	assert_int_equal(ram_map(&ram, GIB(5), &err), 0); /* mapped lazily, so the size may exceed the host's memory */
	host = ram.host;
	assert_ptr_equal(ram_at(&ram, 0, 1), host);
	assert_ptr_equal(ram_at(&ram, GIB(3) - 1, 1), host + GIB(3) - 1);
	assert_null(ram_at(&ram, GIB(3) - 1, 2));
	assert_null(ram_at(&ram, GIB(3), 1));
	assert_null(ram_at(&ram, GIB(4) - 1, 1));
	assert_null(ram_at(&ram, GIB(4) - 1, 2));
	assert_ptr_equal(ram_at(&ram, GIB(4), 1), host + GIB(3));
	assert_ptr_equal(ram_at(&ram, GIB(6) - 8, 8), host + GIB(5) - 8);
	assert_null(ram_at(&ram, GIB(6) - 8, 9));
	assert_null(ram_at(&ram, GIB(6), 0));
	assert_null(ram_at(&ram, 0, GIB(5)));
	assert_null(ram_at(&ram, UINT64_MAX, 1));
	assert_null(ram_at(&ram, UINT64_MAX, SIZE_MAX));
	assert_null(ram_at(&ram, 4096, SIZE_MAX));
	assert_null(ram_at(&ram, GIB(4) + 4096, SIZE_MAX));
	ram_unmap(&ram);
	assert_null(ram.host);
}

static void test_small_has_no_high_memory(void **state)
{
	struct ram ram;
	struct err err = {0};

	(void)state;
	assert_int_equal(ram_map(&ram, MIB(64), &err), 0);
	assert_null(ram_at(&ram, GIB(4), 1));
	assert_null(ram_at(&ram, MIB(64), 1));
	assert_non_null(ram_at(&ram, MIB(64) - 1, 1));
	ram_unmap(&ram);
}

/*
 * The entries ascend without overlap. ram_at() accepts each entry of type RAM. Their sum is the requested size without the
 * legacy area.
 */
static void check_map(uint64_t size)
{
	struct boot_e820_entry map[RAM_E820_MAX];
	uint64_t sum = 0, last = 0;
	struct ram ram;
	struct err err = {0};
	bool ecam_reserved = false;
	unsigned n;

	assert_int_equal(ram_map(&ram, size, &err), 0);
	n = ram_e820(&ram, map);
	assert_in_range(n, 1, RAM_E820_MAX);
	for (unsigned i = 0; i < n; i++) {
		assert_true(map[i].addr >= last);
		assert_true(map[i].size > 0);
		last = map[i].addr + map[i].size;
		if (map[i].addr == PCI_ECAM_GPA)
			ecam_reserved = map[i].type == 2 && map[i].size == PCI_ECAM_LEN;
		if (map[i].type != 1)
			continue;
		sum += map[i].size;
		assert_non_null(ram_at(&ram, map[i].addr, map[i].size));
	}
	assert_int_equal(sum, size - (BIOS_END_GPA - EBDA_GPA));
	assert_true(ecam_reserved);
	ram_unmap(&ram);
}

static void test_e820(void **state)
{
	static const uint64_t sizes[] = {MIB(64), MIB(512), GIB(3), GIB(3) + 4096, GIB(5), GIB(64)};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		check_map(sizes[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_accessor),
		cmocka_unit_test(test_small_has_no_high_memory),
		cmocka_unit_test(test_e820),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
