/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ACPI tables, walked as an operating system walks them: from the RSDP, trusting checksums and lengths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "hv/vmm/acpi.h"
#include "hv/vmm/layout.h"

static uint8_t area[ACPI_MAX];

static uint64_t get(const uint8_t *p, unsigned bytes)
{
	uint64_t value = 0;

	memcpy(&value, p, bytes);
	return value;
}

static unsigned sum(const uint8_t *p, size_t len)
{
	unsigned total = 0;

	while (len--)
		total += *p++;
	return total & 0xff;
}

static const uint8_t *at(uint64_t gpa, size_t used)
{
	assert_in_range(gpa, ACPI_GPA, ACPI_GPA + used - 1);
	return area + (gpa - ACPI_GPA);
}

/* Return a table with a standard header. Checks its signature, that it is inside the area, and that its sum is zero. */
static const uint8_t *table(uint64_t gpa, size_t used, const char *signature)
{
	const uint8_t *t = at(gpa, used);
	uint64_t len = get(t + 4, 4);

	assert_memory_equal(t, signature, 4);
	assert_in_range(len, 36, used - (gpa - ACPI_GPA));
	assert_int_equal(sum(t, len), 0);
	return t;
}

static const uint8_t *xsdt_of(size_t used)
{
	assert_memory_equal(area, "RSD PTR ", 8);
	assert_int_equal(sum(area, 20), 0);
	assert_int_equal(sum(area, 36), 0);
	assert_int_equal(area[15], 2);
	assert_int_equal(get(area + 20, 4), 36);
	return table(get(area + 24, 8), used, "XSDT");
}

static void test_fadt(void **state)
{
	size_t used = acpi_build(area, sizeof(area), ACPI_GPA, 2);
	const uint8_t *fadt = table(get(xsdt_of(used) + 36, 8), used, "FACP");

	(void)state;
	assert_int_equal(get(fadt + 4, 4), 276);
	assert_int_equal(get(fadt + 46, 2), SCI_GSI);
	assert_int_equal(get(fadt + 48, 4), 0); /* no SMI_CMD: ACPI mode from the start */
	assert_int_equal(get(fadt + 56, 4), PM_PORT);
	assert_int_equal(get(fadt + 64, 4), PM_PORT + 4);
	assert_int_equal(get(fadt + 76, 4), PM_PORT + 8);
	assert_int_equal(get(fadt + 112, 4) & 1 << 20, 0);	 /* not hardware-reduced */
	assert_int_equal(get(fadt + 112, 4) & 1 << 10, 1 << 10); /* reset register supported */
	assert_int_equal(fadt[116], 1);				 /* in I/O space */
	assert_int_equal(get(fadt + 120, 8), RESET_PORT);
	assert_int_equal(fadt[128] & 4, 4); /* the value that makes dev/pci.c reset */
	/* 32-bit and 64-bit pointers agree. */
	assert_int_equal(get(fadt + 40, 4), get(fadt + 140, 8));
	table(get(fadt + 140, 8), used, "DSDT");
	assert_memory_equal(at(get(fadt + 36, 4), used), "FACS", 4);
	assert_int_equal(get(fadt + 36, 4) % 64, 0);
}

static void test_mcfg(void **state)
{
	size_t used = acpi_build(area, sizeof(area), ACPI_GPA, 1);
	const uint8_t *mcfg = table(get(xsdt_of(used) + 52, 8), used, "MCFG");

	(void)state;
	assert_int_equal(get(mcfg + 4, 4), 60); /* one range */
	assert_int_equal(get(mcfg + 44, 8), PCI_ECAM_GPA);
	assert_int_equal(get(mcfg + 52, 4), 0); /* segment 0, bus 0 to 0 */
}

/* The AML of Name (\_S5, Package () {5, ...}), by which an operating system finds the value for power-off. */
static void test_dsdt_has_s5(void **state)
{
	static const uint8_t s5[] = {0x08, '_', 'S', '5', '_', 0x12};
	size_t used = acpi_build(area, sizeof(area), ACPI_GPA, 2);
	const uint8_t *fadt = table(get(xsdt_of(used) + 36, 8), used, "FACP");
	const uint8_t *dsdt = table(get(fadt + 140, 8), used, "DSDT");
	const uint8_t *found = memmem(dsdt, get(dsdt + 4, 4), s5, sizeof(s5));

	(void)state;
	assert_non_null(found);
	assert_memory_equal(found + 8, "\x0a\x05\x0a\x05", 4);
}

static void check_madt(unsigned cpus)
{
	size_t used = acpi_build(area, sizeof(area), ACPI_GPA, cpus);
	const uint8_t *madt = table(get(xsdt_of(used) + 44, 8), used, "APIC");
	uint64_t len = get(madt + 4, 4);
	unsigned count[5] = {0};

	assert_int_equal(get(madt + 36, 4), LAPIC_GPA);
	for (uint64_t i = 44; i < len; i += madt[i + 1]) {
		assert_in_range(madt[i], 0, 4);
		assert_in_range(madt[i + 1], 6, 12);
		if (madt[i] == 0) { /* local APIC: enabled, id = index */
			assert_int_equal(madt[i + 3], count[0]);
			assert_int_equal(get(madt + i + 4, 4), 1);
		}
		count[madt[i]]++;
	}
	assert_int_equal(count[0], cpus);
	assert_int_equal(count[1], 1); /* I/O APIC */
	assert_int_equal(count[2], 1); /* the SCI's override */
	assert_int_equal(count[4], 1); /* LINT1 is NMI */
}

static void test_madt(void **state)
{
	(void)state;
	for (unsigned cpus = 1; cpus <= 16; cpus++)
		check_madt(cpus);
}

static void test_too_small(void **state)
{
	size_t used = acpi_build(area, sizeof(area), ACPI_GPA, 16);

	(void)state;
	assert_int_not_equal(used, 0);
	for (size_t cap = 0; cap < used; cap++)
		assert_int_equal(acpi_build(area, cap, ACPI_GPA, 16), 0);
	assert_int_equal(acpi_build(area, used, ACPI_GPA, 16), used);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fadt), cmocka_unit_test(test_mcfg),      cmocka_unit_test(test_dsdt_has_s5),
		cmocka_unit_test(test_madt), cmocka_unit_test(test_too_small),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
