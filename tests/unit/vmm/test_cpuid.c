/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPU topology in CPUID, read as SDM and APM tell software to read it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "hv/vmm/cpuid.h"

#define LEAF(fn, ...)                         \
	{                                     \
		.function = (fn), __VA_ARGS__ \
	}

/* Make the table of a host with many threads. The guest must not see the host's topology. */
static void make(struct cpuid_table *t, bool intel)
{
	const struct kvm_cpuid_entry2 entries[] = {
		LEAF(0, .eax = 0x1f, .ebx = intel ? 0x756e6547 : 0x68747541, .edx = intel ? 0x49656e69 : 0x69746e65,
		     .ecx = intel ? 0x6c65746e : 0x444d4163),
		LEAF(1, .ebx = 0x37400800, .edx = 0x1fabfbff, .ecx = 0x7ffafbbf),
		LEAF(4, .index = 0, .eax = 0x7c004121),
		LEAF(4, .index = 1, .eax = 0x7c0fc163),
		LEAF(4, .index = 2, .eax = 0),
		LEAF(0xb, .index = 0, .eax = 1, .ebx = 2, .ecx = 0x100, .edx = 55),
		LEAF(0xb, .index = 1, .eax = 6, .ebx = 64, .ecx = 0x201, .edx = 55),
		LEAF(0x80000001, .ecx = 0x121),
		LEAF(0x80000008, .eax = 0x302e, .ecx = 0x703f),
		LEAF(0x8000001d, .index = 0, .eax = 0x4163 | 15 << 14),
		LEAF(0x8000001e, .eax = 55, .ebx = 0x11b, .ecx = 0x301),
		LEAF(0x80000026, .index = 0, .eax = 1, .ebx = 2),
	};

	memset(t, 0, sizeof(*t));
	t->nent = sizeof(entries) / sizeof(entries[0]);
	memcpy(t->entries, entries, sizeof(entries));
}

static const struct kvm_cpuid_entry2 *sub(const struct cpuid_table *t, uint32_t leaf, uint32_t index)
{
	for (unsigned i = 0; i < t->nent; i++)
		if (t->entries[i].function == leaf && t->entries[i].index == index)
			return &t->entries[i];
	return NULL;
}

static unsigned bits_for(unsigned cpus)
{
	unsigned bits = 0;

	while (1u << bits < cpus)
		bits++;
	return bits;
}

static void check_extended(const struct cpuid_table *t, uint32_t leaf, unsigned index, unsigned cpus)
{
	const struct kvm_cpuid_entry2 *smt = sub(t, leaf, 0), *core = sub(t, leaf, 1), *end = sub(t, leaf, 2);

	assert_non_null(smt);
	assert_non_null(core);
	assert_non_null(end);
	assert_int_equal(smt->ecx, 0x100);
	assert_int_equal(smt->eax, 0);
	assert_int_equal(smt->ebx, 1);
	assert_int_equal(core->ecx, 0x201);
	assert_int_equal(core->eax, bits_for(cpus));
	assert_int_equal(core->ebx, cpus);
	assert_int_equal(core->edx, index);
	assert_int_equal(end->ecx >> 8, 0);
	assert_int_equal(end->ebx, 0);
	/* One package: every APIC id shifted by the core level's width is 0. */
	assert_int_equal(index >> core->eax, 0);
}

static void test_intel(void **state)
{
	(void)state;
	for (unsigned cpus = 1; cpus <= 16; cpus++) {
		for (unsigned i = 0; i < cpus; i++) {
			uint32_t ids = (1u << bits_for(cpus)) - 1;
			struct cpuid_table t;

			make(&t, true);
			cpuid_for_cpu(&t, i, cpus, true);
			assert_int_equal(sub(&t, 1, 0)->ebx, i << 24 | cpus << 16 | 0x0800);
			assert_int_equal(sub(&t, 1, 0)->ecx >> 24 & 1, 1); /* TSC deadline */
			assert_int_equal(sub(&t, 1, 0)->ecx >> 31, 1);	   /* hypervisor */
			assert_int_equal(sub(&t, 1, 0)->edx >> 28 & 1, cpus > 1);
			assert_int_equal(sub(&t, 4, 0)->eax >> 26, ids); /* cores of the package */
			assert_int_equal(sub(&t, 4, 0)->eax >> 14 & 0xfff, 0);
			assert_int_equal(sub(&t, 4, 1)->eax >> 14 & 0xfff, ids); /* the last level is shared */
			assert_int_equal(sub(&t, 4, 1)->eax & 0x3fff, 0x163);
			assert_int_equal(sub(&t, 4, 2)->eax, 0);
			check_extended(&t, 0xb, i, cpus);
			check_extended(&t, 0x1f, i, cpus);
		}
	}
}

static void test_amd(void **state)
{
	(void)state;
	for (unsigned cpus = 1; cpus <= 16; cpus++) {
		struct cpuid_table t;

		make(&t, false);
		cpuid_for_cpu(&t, cpus - 1, cpus, false);
		assert_int_equal(sub(&t, 1, 0)->ecx >> 24 & 1, 1); /* the host's bit is unchanged */
		assert_int_equal(sub(&t, 0x80000001, 0)->ecx >> 1 & 1, cpus > 1);
		assert_int_equal(sub(&t, 0x80000008, 0)->ecx & 0xff, cpus - 1);
		assert_int_equal(sub(&t, 0x80000008, 0)->ecx >> 12 & 15, bits_for(cpus));
		assert_int_equal(sub(&t, 0x80000008, 0)->eax, 0x302e);
		assert_int_equal(sub(&t, 0x8000001d, 0)->eax >> 14 & 0xfff, (1u << bits_for(cpus)) - 1);
		assert_int_equal(sub(&t, 0x8000001e, 0)->eax, cpus - 1);
		assert_int_equal(sub(&t, 0x8000001e, 0)->ebx, cpus - 1);
		assert_null(sub(&t, 0x80000026, 0));
		check_extended(&t, 0xb, cpus - 1, cpus);
	}
}

static void test_again_for_the_next_cpu(void **state)
{
	struct cpuid_table t;
	unsigned nent;

	(void)state;
	make(&t, true);
	cpuid_for_cpu(&t, 0, 4, false);
	nent = t.nent;
	cpuid_for_cpu(&t, 3, 4, false);
	assert_int_equal(t.nent, nent);
	check_extended(&t, 0xb, 3, 4);
}

static void test_old_cpu_gets_no_new_leaf(void **state)
{
	struct cpuid_table t;

	(void)state;
	make(&t, true);
	t.entries[0].eax = 0xa;
	cpuid_for_cpu(&t, 0, 2, false);
	assert_null(sub(&t, 0xb, 0));
	assert_null(sub(&t, 0x1f, 0));
}

static void test_full_table(void **state)
{
	struct cpuid_table t;

	(void)state;
	make(&t, true);
	for (unsigned i = t.nent; i < CPUID_ENTRIES_MAX; i++)
		t.entries[i] = (struct kvm_cpuid_entry2)LEAF(0x40000000 + i, .eax = 0);
	t.nent = CPUID_ENTRIES_MAX;
	cpuid_for_cpu(&t, 0, 2, false);
	assert_in_range(t.nent, 1, CPUID_ENTRIES_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_intel),
		cmocka_unit_test(test_amd),
		cmocka_unit_test(test_again_for_the_next_cpu),
		cmocka_unit_test(test_old_cpu_gets_no_new_leaf),
		cmocka_unit_test(test_full_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
