/* SPDX-License-Identifier: GPL-2.0-or-later */
/* PCI: configuration space, BARs that the guest sizes and moves, MSI-X and INTA#. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "hv/vmm/layout.h"
#include "hv/vmm/pci/msix.h"
#include "tests/unit/vmm/pci_rig.h"

#define NARROW 0 /* a 32-bit BAR of 4 KiB */
#define WIDE 2	 /* a 64-bit BAR of 64 KiB */
#define MSIX_BAR 1
#define NARROW_LEN 0x1000u
#define WIDE_LEN 0x10000u
#define VECTORS 40

enum { COMMAND = 4, STATUS = 6, BAR0 = 0x10, BAR1 = 0x14, BAR2 = 0x18, BAR3 = 0x1c, BAR4 = 0x20 };
enum { MEMORY = 2, MASTER = 4, NO_INTX = 0x400 };

struct card {
	struct pci_function fn;
	struct pci_msix msix;
	uint64_t at[PCI_BARS]; /* where the last bar_moved() said that each BAR is */
	unsigned moves;
	uint64_t last_write;
};

static struct pci_rig rig;
static struct card card[PCI_SLOTS];

static uint64_t regs_read(void *dev, uint64_t offset, unsigned size)
{
	(void)dev;
	(void)size;
	return 0x1000 + offset;
}

static void regs_write(void *dev, uint64_t offset, unsigned size, uint64_t value)
{
	struct card *c = dev;

	(void)offset;
	(void)size;
	c->last_write = value;
}

static const struct bus_ops regs = {regs_read, regs_write};

static void config_written(void *ctx, unsigned offset, unsigned len)
{
	struct card *c = ctx;

	(void)offset;
	(void)len;
	if (c->msix.count)
		pci_msix_config_written(&c->msix);
}

static void bar_moved(void *ctx, unsigned bar, uint64_t gpa)
{
	struct card *c = ctx;

	c->at[bar] = gpa;
	c->moves++;
}

static const struct pci_ops card_ops = {.config_written = config_written, .bar_moved = bar_moved};

static int plug(struct card *c, unsigned vectors, struct err *err)
{
	const struct pci_id id = {0x1af4, 0x10ff, 0x1234, 0x5678, 0xff0102, 7, true};

	memset(c, 0, sizeof(*c));
	pci_function_init(&c->fn, &id, &card_ops, c);
	pci_function_bar(&c->fn, NARROW, NARROW_LEN, false, &regs, c);
	pci_function_bar(&c->fn, WIDE, WIDE_LEN, true, &regs, c);
	if (vectors)
		assert_int_equal(pci_msix_init(&c->msix, &c->fn, MSIX_BAR, vectors, &rig.pci.host, err), 0);
	return pci_plug(&rig.pci, &c->fn, err);
}

static int setup(void **state)
{
	(void)state;
	rig_init(&rig);
	memset(card, 0, sizeof(card));
	assert_int_equal(plug(&card[1], VECTORS, NULL), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (unsigned i = 0; i < PCI_SLOTS; i++)
		pci_msix_destroy(&card[i].msix);
	rig_destroy(&rig);
	return 0;
}

static uint32_t config(unsigned offset, unsigned size)
{
	return rig_config_read(&rig, 1, offset, size);
}

static void set_config(unsigned offset, unsigned size, uint32_t value)
{
	rig_config_write(&rig, 1, offset, size, value);
}

/* ---- configuration space ---- */

static void test_identity(void **state)
{
	(void)state;
	assert_int_equal(config(0, 4), 0x10ff1af4);
	assert_int_equal(config(8, 4), 0xff010207);
	assert_int_equal(config(0x2c, 4), 0x56781234);
	assert_int_equal(config(0x0e, 1), 0); /* type 0, one function */
	assert_int_equal(config(0x3d, 1), 1); /* INTA# */
	assert_int_equal(config(STATUS, 2) & 0x10, 0x10);
	assert_true(rig_capability(&rig, 1, 0x11, 0) >= 0x40);
	assert_int_equal(rig_capability(&rig, 1, 5, 0), 0);
}

static void test_nobody_there(void **state)
{
	uint32_t elsewhere[] = {1u << 31 | 2 << 11, 1u << 31 | 1 << 11 | 1 << 8, 1u << 31 | 1 << 16 | 1 << 11, 1 << 11};

	(void)state;
	for (unsigned i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++) {
		uint32_t value = 0;

		bus_access(&rig.bus, BUS_PORT, PCI_PORT, true, 4, (uint8_t *)&elsewhere[i]);
		bus_access(&rig.bus, BUS_PORT, PCI_PORT + 4, false, 4, (uint8_t *)&value);
		assert_int_equal(value, 0xffffffff);
		bus_access(&rig.bus, BUS_PORT, PCI_PORT + 4, true, 4, (uint8_t *)&value);
	}
}

/* Bytes, words and dwords show the same registers, and a byte write changes one byte. */
static void test_widths(void **state)
{
	(void)state;
	for (unsigned i = 0; i < PCI_CONFIG_LEN; i += 4) {
		uint32_t dword = config(i, 4);

		assert_int_equal(config(i, 2) | config(i + 2, 2) << 16, dword);
		for (unsigned byte = 0; byte < 4; byte++)
			assert_int_equal(config(i + byte, 1), dword >> 8 * byte & 0xff);
	}
	set_config(BAR0, 4, 0xc1234000);
	set_config(BAR0 + 3, 1, 0xc5);
	assert_int_equal(config(BAR0, 4), 0xc5234000);
	set_config(BAR0 + 1, 2, 0x5678); /* across the word's edge; the low half's bits are fixed */
	assert_int_equal(config(BAR0, 4), 0xc5567000);
}

/* ECAM shows the same registers. Reads after them return 0, and reads of other functions and slots return ones. */
static void test_in_memory(void **state)
{
	const uint64_t fn = PCI_ECAM_GPA + (1 << 15);

	(void)state;
	for (unsigned i = 0; i < PCI_CONFIG_LEN; i++) {
		assert_int_equal(rig_mmio_read(&rig, fn + i, 1), config(i, 1));
		if (i % 4 == 0)
			assert_int_equal(rig_mmio_read(&rig, fn + i, 4), config(i, 4));
	}
	rig_mmio_write(&rig, fn + BAR0, 4, 0xd0000000);
	assert_int_equal(card[1].at[NARROW], 0xd0000000);
	rig_mmio_write(&rig, fn + COMMAND, 2, 0);
	assert_int_equal(card[1].at[NARROW], 0);
	assert_int_equal(rig_mmio_read(&rig, fn + 256, 4), 0); /* no extended capability */
	rig_mmio_write(&rig, fn + 256, 4, 0xffffffff);
	assert_int_equal(rig_mmio_read(&rig, fn + 4092, 4), 0);
	assert_int_equal(rig_mmio_read(&rig, fn + 2, 4), 0xffffffff); /* not aligned */
	rig_mmio_write(&rig, fn + BAR0 + 2, 4, 0);
	assert_int_equal(config(BAR0, 4), 0xd0000000);
	assert_int_equal(rig_mmio_read(&rig, fn + 4096, 4), 0xffffffff);		/* function 1 */
	assert_int_equal(rig_mmio_read(&rig, PCI_ECAM_GPA + (2 << 15), 4), 0xffffffff); /* slot 2 */
	assert_int_equal(rig_mmio_read(&rig, PCI_ECAM_GPA + PCI_ECAM_LEN - 4, 4), 0xffffffff);
}

/* No write of the guest changes identity, capabilities and fixed bits. */
static void test_read_only(void **state)
{
	uint8_t before[PCI_CONFIG_LEN];

	(void)state;
	for (unsigned i = 0; i < PCI_CONFIG_LEN; i++)
		before[i] = (uint8_t)config(i, 1);
	for (unsigned size = 1; size <= 4; size *= 2)
		for (unsigned pattern = 0; pattern < 3; pattern++)
			for (unsigned i = 0; i < PCI_CONFIG_LEN; i += size)
				set_config(i, size, pattern == 0 ? 0xffffffff : pattern == 1 ? 0 : 0xa5a5a5a5);
	for (unsigned i = 0; i < PCI_CONFIG_LEN; i++)
		assert_int_equal((config(i, 1) ^ before[i]) & (uint8_t)~card[1].fn.writable[i], 0);
	assert_int_equal(rig_config_read(&rig, 0, 0, 4), 0x00081b36);
}

/* ---- BARs ---- */

static void test_sizing(void **state)
{
	(void)state;
	set_config(COMMAND, 2, 0);
	set_config(BAR0, 4, 0xffffffff);
	assert_int_equal(config(BAR0, 4), 0xfffff000);
	set_config(BAR2, 4, 0xffffffff);
	set_config(BAR3, 4, 0xffffffff);
	assert_int_equal(config(BAR2, 4), 0xffff0004);
	assert_int_equal(config(BAR3, 4), 0xffffffff);
	set_config(BAR4, 4, 0xffffffff);
	assert_int_equal(config(BAR4, 4), 0);
	assert_int_equal(card[1].at[NARROW], 0);
}

static void expect_at(uint64_t gpa)
{
	assert_int_equal(rig_mmio_read(&rig, gpa + 8, 4), 0x1008);
	assert_int_equal(rig_mmio_read(&rig, gpa + NARROW_LEN - 1, 1), 0xff);
}

static void expect_nobody(uint64_t gpa)
{
	assert_int_equal(rig_mmio_read(&rig, gpa + 8, 4), 0xffffffff);
}

static void test_placed_and_moved(void **state)
{
	uint64_t first = config(BAR0, 4);

	(void)state;
	assert_in_range(first, PCI_WINDOW_GPA, PCI_WINDOW_END_GPA - 1);
	assert_int_equal(config(COMMAND, 2), MEMORY);
	assert_int_equal(card[1].at[NARROW], first);
	expect_at(first);
	rig_mmio_write(&rig, first, 4, 77);
	assert_int_equal(card[1].last_write, 77);

	set_config(COMMAND, 2, 0);
	expect_nobody(first);
	assert_int_equal(card[1].at[NARROW], 0);
	set_config(BAR0, 4, 0xd0000000);
	expect_nobody(0xd0000000);
	set_config(COMMAND, 2, MEMORY);
	expect_at(0xd0000000);
	expect_nobody(first);

	/* Move the BAR while it is decoded. */
	set_config(BAR0, 4, 0xd0001000);
	expect_at(0xd0001000);
	expect_nobody(0xd0000000);
	assert_int_equal(card[1].at[NARROW], 0xd0001000);
}

static void test_outside_window(void **state)
{
	static const uint32_t outside[] = {0, 0x1000, PCI_WINDOW_GPA - NARROW_LEN, PCI_WINDOW_END_GPA, LAPIC_GPA, 0xfffff000};

	(void)state;
	for (unsigned i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
		set_config(BAR0, 4, outside[i]);
		assert_int_equal(config(BAR0, 4), outside[i]);
		assert_int_equal(card[1].at[NARROW], 0);
		assert_int_not_equal(rig_mmio_read(&rig, outside[i] + 8, 4), 0x1008);
	}
	set_config(BAR0, 4, PCI_WINDOW_END_GPA - NARROW_LEN);
	expect_at(PCI_WINDOW_END_GPA - NARROW_LEN);
	/* The upper half of a 64-bit BAR counts. */
	set_config(BAR3, 4, 1);
	assert_int_equal(card[1].at[WIDE], 0);
	set_config(BAR3, 4, 0);
	assert_int_equal(card[1].at[WIDE], config(BAR2, 4) & ~15u);
}

/* If two BARs have one address, the first BAR stays there, and the second appears when the address becomes free. */
static void test_overlap(void **state)
{
	uint64_t wide = config(BAR2, 4) & ~15u;

	(void)state;
	set_config(BAR0, 4, (uint32_t)wide + 0x2000);
	assert_int_equal(card[1].at[NARROW], 0);
	assert_int_equal(card[1].at[WIDE], wide);
	set_config(BAR2, 4, (uint32_t)wide + 0x100000);
	assert_int_equal(card[1].at[WIDE], wide + 0x100000);
	set_config(COMMAND, 2, MEMORY);
	assert_int_equal(card[1].at[NARROW], wide + 0x2000);
}

/* 31 devices fit. Each BAR is aligned and in the window. No two BARs overlap, because the bus would refuse that. */
static void test_full_bus(void **state)
{
	struct err err = {0};
	struct card one_more;

	(void)state;
	for (unsigned i = 2; i < PCI_SLOTS; i++) {
		assert_int_equal(plug(&card[i], 2, NULL), 0);
		assert_int_equal(card[i].fn.slot, i);
		for (unsigned bar = 0; bar < 3; bar++) {
			assert_in_range(card[i].at[bar], PCI_WINDOW_GPA, PCI_WINDOW_END_GPA - 1);
			assert_int_equal(card[i].at[bar] % card[i].fn.bar[bar].len, 0);
		}
	}
	assert_int_equal(plug(&one_more, 0, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
}

/* ---- MSI-X ---- */

static unsigned msix_control(void)
{
	return rig_capability(&rig, 1, 0x11, 0) + 2;
}

static uint64_t entry(unsigned vector, unsigned word)
{
	return card[1].at[MSIX_BAR] + 16 * vector + 4 * word;
}

static unsigned gsi(unsigned vector)
{
	return card[1].msix.vector[vector].gsi;
}

static uint64_t pending(unsigned first)
{
	return rig_mmio_read(&rig, card[1].at[MSIX_BAR] + PCI_MSIX_PBA + first / 8, 8);
}

static void set_vector(unsigned vector, uint64_t address, uint32_t data, uint32_t control)
{
	rig_mmio_write(&rig, entry(vector, 0), 4, (uint32_t)address);
	rig_mmio_write(&rig, entry(vector, 1), 4, address >> 32);
	rig_mmio_write(&rig, entry(vector, 2), 4, data);
	rig_mmio_write(&rig, entry(vector, 3), 4, control);
}

static void enable_msix(void)
{
	set_config(COMMAND, 2, MEMORY | MASTER);
	set_config(msix_control(), 2, 0x8000);
}

static void test_msix_capability(void **state)
{
	unsigned at = rig_capability(&rig, 1, 0x11, 0);

	(void)state;
	assert_int_equal(config(at + 2, 2), VECTORS - 1);
	assert_int_equal(config(at + 4, 4), MSIX_BAR);
	assert_int_equal(config(at + 8, 4), PCI_MSIX_PBA | MSIX_BAR);
	/* Every vector starts masked. */
	for (unsigned i = 0; i < VECTORS; i++)
		assert_int_equal(rig_mmio_read(&rig, entry(i, 3), 4), 1);
	set_config(at + 2, 2, 0xffff);
	assert_int_equal(config(at + 2, 2), 0xc000 | (VECTORS - 1));
}

static void test_msix_sends(void **state)
{
	(void)state;
	assert_false(pci_msix_send(&card[1].msix, 3));
	enable_msix();
	set_vector(3, 0xfee01004, 0x4021, 0);
	assert_int_equal(rig.message[gsi(3) - GSI_COUNT].address, 0xfee01004);
	assert_int_equal(rig.message[gsi(3) - GSI_COUNT].data, 0x4021);
	assert_int_equal(rig_sent(&rig, gsi(3)), 0);
	assert_true(pci_msix_send(&card[1].msix, 3));
	assert_int_equal(rig_sent(&rig, gsi(3)), 1);
	assert_int_equal(pending(0), 0);
	/* For a vector that does not exist, the device sends no message, and does not use INTA# either. */
	assert_true(pci_msix_send(&card[1].msix, VECTORS));
	assert_true(pci_msix_send(&card[1].msix, PCI_MSIX_NONE));
}

/* A masked vector keeps one pending message, for any number of interrupts, and sends it when the guest unmasks the vector. */
static void test_vector_mask(void **state)
{
	(void)state;
	enable_msix();
	set_vector(35, 0xfee00000, 0x30, 1);
	assert_true(pci_msix_send(&card[1].msix, 35));
	assert_true(pci_msix_send(&card[1].msix, 35));
	assert_int_equal(rig_sent(&rig, gsi(35)), 0);
	assert_int_equal(pending(0), 1ull << 35);
	rig_mmio_write(&rig, entry(35, 2), 4, 0x31);
	rig_mmio_write(&rig, entry(35, 3), 4, 0);
	assert_int_equal(rig_sent(&rig, gsi(35)), 1);
	assert_int_equal(rig.message[gsi(35) - GSI_COUNT].data, 0x31);
	assert_int_equal(rig.message[gsi(35) - GSI_COUNT].routed, 1);
	assert_int_equal(pending(0), 0);
}

static void test_function_mask(void **state)
{
	(void)state;
	enable_msix();
	set_vector(0, 0xfee00000, 0x30, 0);
	set_vector(1, 0xfee00000, 0x31, 1);
	set_config(msix_control(), 2, 0xc000);
	assert_true(pci_msix_send(&card[1].msix, 0));
	assert_true(pci_msix_send(&card[1].msix, 1));
	assert_int_equal(pending(0), 3);
	assert_int_equal(rig_sent(&rig, gsi(0)), 0);
	set_config(msix_control(), 2, 0x8000);
	assert_int_equal(rig_sent(&rig, gsi(0)), 1);
	assert_int_equal(rig_sent(&rig, gsi(1)), 0); /* the vector's own mask still applies */
	assert_int_equal(pending(0), 2);
}

/* A message is a write to memory, and only a bus master may write to memory. */
static void test_bus_master(void **state)
{
	(void)state;
	enable_msix();
	set_vector(0, 0xfee00000, 0x30, 0);
	set_config(COMMAND, 2, MEMORY);
	assert_true(pci_msix_send(&card[1].msix, 0));
	assert_int_equal(rig_sent(&rig, gsi(0)), 0);
	set_config(COMMAND, 2, MEMORY | MASTER);
	assert_int_equal(rig_sent(&rig, gsi(0)), 1);
}

static void test_table_accesses(void **state)
{
	(void)state;
	rig_mmio_write(&rig, entry(5, 0), 8, 0x1122334455667788);
	assert_int_equal(rig_mmio_read(&rig, entry(5, 0), 8), 0x1122334455667788);
	assert_int_equal(rig_mmio_read(&rig, entry(5, 1), 4), 0x11223344);
	rig_mmio_write(&rig, entry(5, 2), 2, 0xffff); /* not defined, and has no effect */
	assert_int_equal(rig_mmio_read(&rig, entry(5, 2), 4), 0);
	rig_mmio_write(&rig, entry(5, 3), 4, 0xfffffffe);
	assert_int_equal(rig_mmio_read(&rig, entry(5, 3), 4), 0);
	/* Beyond the vectors, and the pending bits. */
	rig_mmio_write(&rig, entry(VECTORS, 0), 4, 0xffffffff);
	assert_int_equal(rig_mmio_read(&rig, entry(VECTORS, 0), 4), 0);
	for (unsigned offset = 0; offset < PCI_MSIX_BAR; offset += 8)
		rig_mmio_write(&rig, card[1].at[MSIX_BAR] + offset, 8, UINT64_MAX);
	assert_int_equal(pending(0), 0);
	assert_int_equal(rig_mmio_read(&rig, card[1].at[MSIX_BAR] + PCI_MSIX_BAR - 8, 8), 0);
}

/* ---- INTA# ---- */

static void test_intx(void **state)
{
	(void)state;
	pci_intx(&card[1].fn, true);
	assert_true(rig.level[PCI_GSI_FIRST]);
	assert_int_equal(config(STATUS, 2) & 8, 8);
	assert_int_equal(config(COMMAND, 4) >> 16 & 8, 8);
	set_config(COMMAND, 2, MEMORY | NO_INTX);
	assert_false(rig.level[PCI_GSI_FIRST]);
	assert_int_equal(config(STATUS, 1) & 8, 8);
	set_config(COMMAND, 2, MEMORY);
	assert_true(rig.level[PCI_GSI_FIRST]);
	pci_intx(&card[1].fn, false);
	assert_false(rig.level[PCI_GSI_FIRST]);
	assert_int_equal(config(STATUS, 2) & 8, 0);
}

static void test_shared_intx(void **state)
{
	(void)state;
	for (unsigned i = 2; i < 12; i++)
		assert_int_equal(plug(&card[i], 0, NULL), 0);
	pci_intx(&card[3].fn, true); /* slots 3 and 11 */
	pci_intx(&card[11].fn, true);
	assert_true(rig.level[PCI_GSI_FIRST + 2]);
	pci_intx(&card[3].fn, false);
	assert_true(rig.level[PCI_GSI_FIRST + 2]);
	pci_intx(&card[11].fn, false);
	assert_false(rig.level[PCI_GSI_FIRST + 2]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_identity),	TEST(test_nobody_there),  TEST(test_widths),	       TEST(test_in_memory),
		TEST(test_read_only),	TEST(test_sizing),	  TEST(test_placed_and_moved), TEST(test_outside_window),
		TEST(test_overlap),	TEST(test_full_bus),	  TEST(test_msix_capability),  TEST(test_msix_sends),
		TEST(test_vector_mask), TEST(test_function_mask), TEST(test_bus_master),       TEST(test_table_accesses),
		TEST(test_intx),	TEST(test_shared_intx),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
