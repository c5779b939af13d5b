/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Damaged blocks of saved state, and the state that devices save and load. Labs test KVM's state (tests/snapshots). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "hv/base/clock.h"
#include "hv/vmm/pci/silent.h"
#include "tests/unit/vmm/pci_rig.h"
#include "tests/unit/vmm/snapshot_made.h"

/* ---- the form of a block ---- */

static struct vm_state finish(struct block_writer *w)
{
	struct vm_state state;

	assert_int_equal(block_end(w, &state, NULL), 0);
	return state;
}

static struct vm_state good_block(void)
{
	struct block_writer w = {0};

	made_machine(&w);
	made_devices(&w);
	return finish(&w);
}

/* Check that the reader refuses the block with one line that has these words. */
static void assert_refused(const struct vm_state *state, const char *words)
{
	struct vm_state_facts facts;
	struct err err = {0};

	assert_int_equal(vm_state_check(state, &facts, &err), -1);
	assert_int_equal(err.code, EXIT_INPUT);
	assert_null(strchr(err.text, '\n'));
	if (!strstr(err.text, words))
		print_error("wanted: %s\nsaid: %s\n", words, err.text);
	assert_non_null(strstr(err.text, words));
}

static void test_good(void **state)
{
	struct vm_state block = good_block();
	struct vm_state_facts facts;

	(void)state;
	assert_int_equal(vm_state_check(&block, &facts, NULL), 0);
	assert_int_equal(facts.cpus, MADE_CPUS);
	assert_int_equal(facts.memory, 64u << 20);
	assert_true(facts.intel);
	vm_state_free(&block);
	assert_null(block.data);
}

static void test_truncated(void **state)
{
	struct vm_state block = good_block(), part;

	(void)state;
	for (size_t len = 0; len < block.len; len += len < 512 ? 1 : 61) {
		/* Copy the part, so that a sanitizer sees a read past its end. */
		part = (struct vm_state){.data = malloc(len + 1), .len = len};
		assert_non_null(part.data);
		memcpy(part.data, block.data, len);
		assert_refused(&part, "truncated");
		vm_state_free(&part);
	}
	vm_state_free(&block);
}

/* Sizes of the block's own headers. */
enum { HEADER = 24, AT_VERSION = 8, AT_SECTIONS = 12, AT_LEN = 16, SECTION_HEADER = 16 };

static void test_header(void **state)
{
	struct vm_state block = good_block();

	(void)state;
	block.data[0] ^= 1;
	assert_refused(&block, "something else");
	block.data[0] ^= 1;
	block.data[AT_VERSION] = 2;
	assert_refused(&block, "version 2");
	block.data[AT_VERSION] = 1;
	block.data[AT_SECTIONS]--;
	assert_refused(&block, "follows its last section");
	block.data[AT_SECTIONS] += 2;
	assert_refused(&block, "truncated");
	block.data[AT_SECTIONS + 1] = 0xff;
	assert_refused(&block, "too many sections");
	block.data[AT_LEN]--;
	assert_refused(&block, "follows its end");
	vm_state_free(&block);
}

static void test_sections(void **state)
{
	struct vm_state block = good_block();
	uint32_t number = SECTION_END;
	uint64_t length = UINT64_MAX - 3;
	uint8_t *second = block.data + HEADER + SECTION_HEADER + sizeof(struct block_machine);

	(void)state;
	memcpy(second, &number, 4);
	assert_refused(&block, "it has a section of an unknown type");
	number = 0;
	memcpy(second, &number, 4);
	assert_refused(&block, "it has a section of an unknown type");
	number = SECTION_CPUID;
	memcpy(second, &number, 4);
	number = MADE_CPUS;
	memcpy(second + 4, &number, 4);
	assert_refused(&block, "CPUID (2): there is no such part");
	number = 1;
	memcpy(second + 4, &number, 4);
	assert_refused(&block, "CPUID (1): it is there twice");
	number = 0;
	memcpy(second + 4, &number, 4);
	memcpy(second + 8, &length, 8);
	assert_refused(&block, "truncated");
	length = sizeof(struct kvm_cpuid_entry2) - 8;
	memcpy(second + 8, &length, 8);
	assert_refused(&block, "CPUID (0): it has a wrong length");
	vm_state_free(&block);
}

static void test_machine(void **state)
{
	static const struct block_machine bad[] = {
		{.cpus = 0, .memory = 4096, .tsc_khz = 1}, {.cpus = VMM_MAX_CPUS + 1, .memory = 4096, .tsc_khz = 1},
		{.cpus = 1, .memory = 4097, .tsc_khz = 1}, {.cpus = 1, .memory = 0, .tsc_khz = 1},
		{.cpus = 1, .memory = 4096, .tsc_khz = 0}, {.cpus = 1, .memory = 4096, .tsc_khz = 1, .intel = 2},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct block_writer w = {0};
		struct vm_state block;

		block_put(&w, SECTION_MACHINE, 0, &bad[i], sizeof(bad[i]));
		block = finish(&w);
		assert_refused(&block, "it is no machine");
		vm_state_free(&block);
	}
}

static void test_missing(void **state)
{
	struct block_writer w = {0};
	struct vm_state block;

	(void)state;
	made_machine(&w);
	block = finish(&w);
	assert_refused(&block, "the serial port (0) is missing");
	vm_state_free(&block);
	made_devices(&w);
	block = finish(&w);
	assert_refused(&block, "does not begin with the section of the machine");
	vm_state_free(&block);
}

/* ---- platform devices ---- */

static void set_line(void *ctx, unsigned gsi, bool level)
{
	(void)ctx;
	(void)gsi;
	(void)level;
	fail(); /* loading must not set the line: the interrupt controller's saved state has its level */
}

static void ignore_line(void *ctx, unsigned gsi, bool level)
{
	(void)ctx;
	(void)gsi;
	(void)level;
}

static const struct irq_line line = {.set = ignore_line}, untouched = {.set = set_line};

static void test_serial(void **state)
{
	struct serial from, to;
	struct serial_state saved, again;

	(void)state;
	serial_init(&from, STDERR_FILENO, &line, NULL);
	serial_init(&to, STDERR_FILENO, &untouched, NULL);
	serial_ops.write(&from, 2, 1, 1);    /* FIFO */
	serial_ops.write(&from, 1, 1, 5);    /* IER */
	serial_ops.write(&from, 4, 1, 0xb);  /* MCR */
	serial_ops.write(&from, 7, 1, 0x5a); /* scratch */
	serial_input(&from, (const uint8_t *)"0123456789abcdefgh", 18);
	for (unsigned i = 0; i < 5; i++)
		serial_ops.read(&from, 0, 1);
	serial_save(&from, &saved);
	assert_true(saved.irq_level);
	assert_int_equal(saved.rx_count, 11);
	assert_true(serial_load(&to, &saved));
	serial_save(&to, &again);
	assert_memory_equal(&saved, &again, sizeof(saved));
	assert_int_equal(serial_ops.read(&to, 7, 1), 0x5a);
	to.irq = line;
	assert_int_equal(serial_ops.read(&to, 5, 1) & 3, 3); /* data, and an overrun */
	for (char c = '5'; c <= '9'; c++)
		assert_int_equal(serial_ops.read(&to, 0, 1), c);
	saved.rx_count = SERIAL_FIFO + 1;
	assert_false(serial_load(&to, &saved));
	saved = again;
	saved.ier = 0x10;
	assert_false(serial_load(&to, &saved));
	saved = again;
	saved.overrun = 1;
	assert_false(serial_load(&to, &saved));
	serial_destroy(&from);
	serial_destroy(&to);
}

static void test_rtc(void **state)
{
	struct rtc from, to;
	struct rtc_state saved, again;

	(void)state;
	rtc_init(&from, &line);
	rtc_init(&to, &untouched);
	rtc_ops.write(&from, 0, 2, 0x5a00 | 0x40); /* CMOS memory */
	rtc_ops.write(&from, 0, 2, 0x1200 | 0xb);  /* register B: interrupts at each update */
	rtc_tick(&from, time(NULL));
	rtc_save(&from, &saved);
	assert_true(saved.irq_level);
	assert_true(rtc_load(&to, &saved));
	rtc_save(&to, &again);
	assert_memory_equal(&saved, &again, sizeof(saved));
	assert_int_equal(again.ram[0x40], 0x5a);
	saved.index = 128;
	assert_false(rtc_load(&to, &saved));
	saved = again;
	saved.offset = INT64_MAX;
	assert_false(rtc_load(&to, &saved));
	rtc_destroy(&from);
	rtc_destroy(&to);
}

/* The timer continues from its saved value, for any time since then. */
static void test_pm(void **state)
{
	const struct power_line power = {0};
	const uint64_t now = monotonic_ns(), long_ago = 1000;
	struct pm_state saved, again;
	struct pm from, to;

	(void)state;
	pm_init(&from, &line, &power);
	pm_init(&to, &untouched, &power);
	pm_ops.write(&from, 2, 2, 0x100);
	pm_save(&from, long_ago, &saved);
	assert_int_equal(saved.enable, 0x100);
	assert_true(pm_load(&to, now, &saved));
	pm_save(&to, now, &again);
	assert_memory_equal(&saved, &again, sizeof(saved));
	pm_save(&to, now + 1000000000u, &again);
	assert_in_range(again.timer - saved.timer, 3579544, 3579546);
	saved.control = 0;
	assert_false(pm_load(&to, now, &saved));
	saved.control = 1;
	saved.status = 0x0800;
	assert_false(pm_load(&to, now, &saved));
	pm_destroy(&from);
	pm_destroy(&to);
}

/* ---- PCI devices ---- */

/* Plug the PCI device in, and load its state. Returns whether that succeeded. */
static bool load_card(struct pci_rig *rig, const struct virtio_saved *saved, struct silent **card)
{
	assert_true(virtio_identity_is_good(&saved->identity));
	*card = silent_new(&rig->virtio, saved, NULL);
	assert_non_null(*card);
	pci_function_load(&rig->pci, MADE_CARD, saved->pci, saved->intx);
	return virtio_load(virtio_in_slot(&rig->pci, MADE_CARD), saved);
}

static void test_card(void **state)
{
	struct virtio_saved made, saved, again;
	struct pci_rig first, second;
	struct silent *card, *copy;

	(void)state;
	made_card(&made);
	rig_init(&first);
	rig_init(&second);
	assert_true(load_card(&first, &made, &card));
	assert_ptr_equal(virtio_in_slot(&first.pci, 0), NULL);
	virtio_save(virtio_in_slot(&first.pci, MADE_CARD), &saved);
	assert_memory_equal(&saved.queue[0], &made.queue[0], sizeof(made.queue[0]));
	assert_memory_equal(saved.config, made.config, sizeof(made.config));
	assert_memory_equal(saved.vector, made.vector, sizeof(made.vector));
	assert_int_equal(saved.status, made.status);
	assert_true(load_card(&second, &saved, &copy));
	virtio_save(virtio_in_slot(&second.pci, MADE_CARD), &again);
	assert_memory_equal(&saved, &again, sizeof(saved));
	silent_free(card);
	silent_free(copy);
	rig_destroy(&first);
	rig_destroy(&second);
}

/* A silent PCI device serves no request: a request stays in its queue, and the driver can still reset the device. */
static void test_silent(void **state)
{
	struct virtio_saved made;
	struct silent *card;
	struct pci_rig rig;
	uint64_t regs;

	(void)state;
	made_card(&made);
	rig_init(&rig);
	assert_true(load_card(&rig, &made, &card));
	assert_int_equal(workers_start(&rig.workers, NULL), 0);
	regs = pci_function_bar_gpa(rig.pci.slot[MADE_CARD], 4);
	assert_int_equal(regs, PCI_WINDOW_GPA);
	rig.memory[MADE_RINGS + 0x2002] = 18; /* one more request is available */
	assert_true(rig_ring_bell(&rig, regs + 0x3000));
	assert_int_equal(rig_mmio_read(&rig, regs + 0x2000, 8), 0x2e7075206564616dull);
	assert_int_equal(rig_mmio_read(&rig, regs + 0x14, 1), 0xf);
	rig_mmio_write(&rig, regs + 0x14, 1, 0);
	assert_int_equal(rig_mmio_read(&rig, regs + 0x14, 1), 0);
	workers_join(&rig.workers);
	assert_int_equal(rig.memory[MADE_RINGS + 0x4002], 0); /* no request was used */
	silent_free(card);
	rig_destroy(&rig);
}

static void assert_card_refused(const struct virtio_saved *bad)
{
	struct silent *card;
	struct pci_rig rig;

	rig_init(&rig);
	assert_false(load_card(&rig, bad, &card));
	silent_free(card);
	rig_destroy(&rig);
}

static void test_hostile_card(void **state)
{
	struct virtio_saved bad;

	(void)state;
#define BAD(change)                        \
	do {                               \
		made_card(&bad);           \
		change;                    \
		assert_card_refused(&bad); \
	} while (0)
	BAD(bad.status = 0x40);
	BAD(bad.status = 4);
	BAD(bad.accepted = ~0ull);
	BAD(bad.accepted = 0);
	BAD(bad.broken = 2);
	BAD(bad.isr = 4);
	BAD(bad.intx = 2);
	BAD(bad.config_vector = 2);
	BAD(bad.queue[0].size = 3);
	BAD(bad.queue[0].size = 512);
	BAD(bad.queue[0].vector = 2);
	BAD(bad.queue[0].enabled = 2);
	BAD(bad.queue[0].at.wanted = 0x10001);
	BAD(bad.queue[0].at.kicks_off = 2);
	BAD(bad.vector[0].pending = 2);
	BAD(bad.vector[0].entry[3] = 2);
#undef BAD
	made_card(&bad);
	bad.identity.queues = VIRTIO_MAX_QUEUES + 1;
	assert_false(virtio_identity_is_good(&bad.identity));
	made_card(&bad);
	memset(bad.identity.name, 'x', sizeof(bad.identity.name));
	assert_false(virtio_identity_is_good(&bad.identity));
	made_card(&bad);
	bad.identity.config_size = VIRTIO_MAX_CONFIG + 1;
	assert_false(virtio_identity_is_good(&bad.identity));
}

/* A saved ring outside guest memory breaks the device, as it does when a driver sets such a ring. */
static void test_ring_nowhere(void **state)
{
	struct virtio_saved bad, saved;
	struct silent *card;
	struct pci_rig rig;

	(void)state;
	made_card(&bad);
	bad.queue[0].desc = 1ull << 40;
	rig_init(&rig);
	assert_true(load_card(&rig, &bad, &card));
	virtio_save(virtio_in_slot(&rig.pci, MADE_CARD), &saved);
	assert_int_equal(saved.broken, 1);
	silent_free(card);
	rig_destroy(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),	     cmocka_unit_test(test_truncated), cmocka_unit_test(test_header),
		cmocka_unit_test(test_sections),     cmocka_unit_test(test_machine),   cmocka_unit_test(test_missing),
		cmocka_unit_test(test_serial),	     cmocka_unit_test(test_rtc),       cmocka_unit_test(test_pm),
		cmocka_unit_test(test_card),	     cmocka_unit_test(test_silent),    cmocka_unit_test(test_hostile_card),
		cmocka_unit_test(test_ring_nowhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
