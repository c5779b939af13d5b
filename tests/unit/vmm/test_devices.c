/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The small devices of the platform: power, reset, clock, PCI configuration. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "hv/base/clock.h"
#include "hv/vmm/bus/bus.h"
#include "hv/vmm/layout.h"
#include "hv/vmm/pci/pci.h"
#include "hv/vmm/platform/i8042.h"
#include "hv/vmm/platform/pm.h"
#include "hv/vmm/platform/pvpanic.h"
#include "hv/vmm/platform/rtc.h"

#define RUNNING (-1)

struct fixture {
	struct bus bus;
	struct pm pm;
	struct pci pci;
	struct rtc rtc;
	struct i8042 i8042;
	struct pvpanic pvpanic;
	int end; /* enum vm_end, or RUNNING */
	bool level[16];
};

static void set_line(void *ctx, unsigned gsi, bool level)
{
	struct fixture *f = ctx;

	assert_in_range(gsi, 0, 15);
	f->level[gsi] = level;
}

static void end(void *ctx, enum vm_end how, const char *why)
{
	struct fixture *f = ctx;

	assert_non_null(why);
	f->end = (int)how;
}

static void add(struct fixture *f, uint16_t port, uint16_t len, const struct bus_ops *ops, void *dev)
{
	const struct bus_range range = {BUS_PORT, port, len, ops, dev};

	assert_int_equal(bus_add(&f->bus, &range, NULL), 0);
}

static int setup(void **state)
{
	static struct fixture f;
	struct power_line power = {.end = end, .ctx = &f};
	struct irq_line irq = {.set = set_line, .ctx = &f};

	f = (struct fixture){.end = RUNNING, .i8042 = {power}, .pvpanic = {power}};
	irq.gsi = SCI_GSI;
	pm_init(&f.pm, &irq, &power);
	irq.gsi = RTC_GSI;
	rtc_init(&f.rtc, &irq);
	pci_init(&f.pci, &f.bus, &power, &irq, &(struct pci_host){0});
	bus_init(&f.bus);
	add(&f, PM_PORT, PM_LEN, &pm_ops, &f.pm);
	add(&f, PCI_PORT, PCI_LEN, &pci_ops, &f.pci);
	add(&f, RTC_PORT, RTC_LEN, &rtc_ops, &f.rtc);
	add(&f, I8042_DATA_PORT, 1, &i8042_data_ops, &f.i8042);
	add(&f, I8042_COMMAND_PORT, 1, &i8042_command_ops, &f.i8042);
	add(&f, PVPANIC_PORT, 1, &pvpanic_ops, &f.pvpanic);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	pm_destroy(&f->pm);
	rtc_destroy(&f->rtc);
	pci_destroy(&f->pci);
	bus_destroy(&f->bus);
	return 0;
}

static uint32_t in(struct fixture *f, uint16_t port, unsigned size)
{
	uint32_t value = 0;

	bus_access(&f->bus, BUS_PORT, port, false, size, (uint8_t *)&value);
	return value;
}

static void out(struct fixture *f, uint16_t port, unsigned size, uint32_t value)
{
	bus_access(&f->bus, BUS_PORT, port, true, size, (uint8_t *)&value);
}

static void test_nobody_there(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(in(f, 0x2f8, 1), 0xff);
	assert_int_equal(in(f, 0x2f8, 2), 0xffff);
	assert_int_equal(in(f, 0xffff, 4), 0xffffffff); /* past the end of the port space */
	out(f, 0xffff, 4, 0);
	/* For a wide access across a device's edge, the device answers its bytes, and all other bytes are ones. */
	assert_int_equal(in(f, I8042_COMMAND_PORT, 4), 0xffffff00);
}

static void test_power_off(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(in(f, PM_PORT + 4, 2), 1); /* SCI_EN */
	out(f, PM_PORT + 4, 2, 5 << 10);	    /* type without SLP_EN */
	assert_int_equal(f->end, RUNNING);
	out(f, PM_PORT + 4, 2, 3 << 10 | 1 << 13); /* a sleep state that the platform does not have */
	assert_int_equal(f->end, RUNNING);
	out(f, PM_PORT + 4, 2, 5 << 10 | 1 << 13);
	assert_int_equal(f->end, VM_END_POWEROFF);
}

/* The timer counts 3,579,545 ticks a second. The test reads the host's clock before and after each reading of the timer. */
static void test_pm_timer(void **state)
{
	const struct timespec nap = {.tv_nsec = 20000000};
	const uint64_t hz = 3579545;
	struct fixture *f = *state;
	uint64_t before_a = monotonic_ns(), after_a, before_b, after_b;
	uint32_t a = in(f, PM_PORT + 8, 4), b;

	after_a = monotonic_ns();
	nanosleep(&nap, NULL);
	before_b = monotonic_ns();
	b = in(f, PM_PORT + 8, 4);
	after_b = monotonic_ns();
	assert_in_range(b - a, (before_b - after_a) * hz / 1000000000 - 1, (after_b - before_a) * hz / 1000000000 + 1);
}

static void test_pm_events_acknowledge(void **state)
{
	struct fixture *f = *state;

	f->pm.status = 0x100;
	out(f, PM_PORT + 2, 2, 0x100);
	assert_true(f->level[SCI_GSI]);
	out(f, PM_PORT, 2, 0x100); /* write one to clear */
	assert_int_equal(in(f, PM_PORT, 2), 0);
	assert_false(f->level[SCI_GSI]);
}

static void test_resets(void **state)
{
	struct fixture *f = *state;

	out(f, I8042_COMMAND_PORT, 1, 0xd1);
	assert_int_equal(f->end, RUNNING);
	out(f, I8042_COMMAND_PORT, 1, 0xfe);
	assert_int_equal(f->end, VM_END_REBOOT);
	f->end = RUNNING;
	out(f, RESET_PORT, 1, 0x02);
	assert_int_equal(f->end, RUNNING);
	out(f, RESET_PORT, 1, 0x06);
	assert_int_equal(f->end, VM_END_REBOOT);
	f->end = RUNNING;
	out(f, PCI_PORT, 4, 0x80000600); /* an address whose second byte looks like a reset */
	assert_int_equal(f->end, RUNNING);
}

static void test_panic_port(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(in(f, PVPANIC_PORT, 1) & 1, 1);
	out(f, PVPANIC_PORT, 1, 2); /* a crash kernel takes over */
	assert_int_equal(f->end, RUNNING);
	out(f, PVPANIC_PORT, 1, 1);
	assert_int_equal(f->end, VM_END_PANIC);
}

static uint32_t config(struct fixture *f, uint32_t address)
{
	out(f, PCI_PORT, 4, 0x80000000 | address);
	return in(f, PCI_PORT + 4, 4);
}

static void test_pci(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(config(f, 0), 0x00081b36);
	assert_int_equal(config(f, 8) >> 16, 0x0600); /* host bridge: pci_sanity_check() looks for it */
	assert_int_equal(in(f, PCI_PORT + 6, 2), 0x0600);
	for (uint32_t reg = 0x0c; reg < 0x100; reg += 4)
		if (reg != 0x2c)
			assert_int_equal(config(f, reg), 0);
	for (uint32_t devfn = 1; devfn < 256; devfn++)
		assert_int_equal(config(f, devfn << 8), 0xffffffff);
	assert_int_equal(config(f, 1 << 16), 0xffffffff);
	out(f, PCI_PORT, 4, 0); /* not enabled */
	assert_int_equal(in(f, PCI_PORT + 4, 4), 0xffffffff);
}

static uint8_t cmos(struct fixture *f, uint8_t index)
{
	out(f, RTC_PORT, 1, index);
	return (uint8_t)in(f, RTC_PORT + 1, 1);
}

static void set_cmos(struct fixture *f, uint8_t index, uint8_t value)
{
	out(f, RTC_PORT, 1, index);
	out(f, RTC_PORT + 1, 1, value);
}

static int bcd(uint8_t value)
{
	return (value >> 4) * 10 + (value & 15);
}

static time_t clock_time(struct fixture *f)
{
	struct tm tm = {
		.tm_sec = bcd(cmos(f, 0)),
		.tm_min = bcd(cmos(f, 2)),
		.tm_hour = bcd(cmos(f, 4)),
		.tm_mday = bcd(cmos(f, 7)),
		.tm_mon = bcd(cmos(f, 8)) - 1,
		.tm_year = bcd(cmos(f, 0x32)) * 100 + bcd(cmos(f, 9)) - 1900,
	};

	return timegm(&tm);
}

/* The test reads the registers one by one, and tries again when a second passed in between. */
static void assert_clock(struct fixture *f, int64_t offset)
{
	time_t before, got, after;

	do {
		before = time(NULL);
		got = clock_time(f);
		after = time(NULL);
	} while (before != after);
	assert_int_equal(got, before + offset);
}

static void test_clock(void **state)
{
	struct fixture *f = *state;

	assert_clock(f, 0);
	assert_int_equal(cmos(f, 0x0a) & 0x80, 0); /* no update in progress */
	assert_int_equal(cmos(f, 0x0d), 0x80);
	/* Stop, set 2000-02-29 12:34:56, go. */
	set_cmos(f, 0x0b, 0x82);
	set_cmos(f, 0x32, 0x20);
	set_cmos(f, 9, 0x00);
	set_cmos(f, 8, 0x02);
	set_cmos(f, 7, 0x29);
	set_cmos(f, 4, 0x12);
	set_cmos(f, 2, 0x34);
	set_cmos(f, 0, 0x56);
	assert_int_equal(cmos(f, 0), 0x56);
	set_cmos(f, 0x0b, 0x02);
	assert_in_range(clock_time(f), 951827696, 951827698);
	/* 12-hour mode says PM. */
	set_cmos(f, 0x0b, 0x00);
	assert_int_equal(cmos(f, 4), 0x12 | 0x80);
}

static void test_alarm(void **state)
{
	struct fixture *f = *state;
	time_t host = 1700000000; /* 22:13:20 UTC */

	set_cmos(f, 5, 0xff); /* any hour */
	set_cmos(f, 3, 0x13);
	set_cmos(f, 1, 0x21);
	set_cmos(f, 0x0b, 0x22);
	rtc_tick(&f->rtc, host);
	assert_false(f->level[RTC_GSI]);
	rtc_tick(&f->rtc, host + 1);
	assert_true(f->level[RTC_GSI]);
	assert_int_equal(cmos(f, 0x0c) & 0xa0, 0xa0);
	assert_false(f->level[RTC_GSI]); /* reading acknowledges */
	assert_int_equal(cmos(f, 0x0c), 0);
	set_cmos(f, 0x0b, 0x12); /* every second */
	rtc_tick(&f->rtc, host + 2);
	assert_true(f->level[RTC_GSI]);
	set_cmos(f, 0x0b, 0x02);
	assert_false(f->level[RTC_GSI]);
}

/* A guest writes any value to any port. No device crashes, and the machine ends only by enum vm_end. */
static void test_any_sequence(void **state)
{
	struct fixture *f = *state;
	uint32_t seed = 7;

	for (unsigned i = 0; i < 300000; i++) {
		const struct bus_slot *slot;
		uint16_t port;

		seed = seed * 1664525 + 1013904223;
		slot = &f->bus.slot[(seed >> 24) % f->bus.count];
		port = (uint16_t)(slot->base - 2 + (seed >> 16 & 0xff) % (slot->len + 4u));
		if (seed & 1 << 12)
			out(f, port, 1u << (seed >> 13 & 7) % 3, seed * 2654435761u);
		else
			in(f, port, 1u << (seed >> 13 & 7) % 3);
		if ((seed >> 4 & 0xff) == 0)
			rtc_tick(&f->rtc, (time_t)seed * 4096);
	}
	assert_int_not_equal(f->end, RUNNING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nobody_there, setup, teardown),
		cmocka_unit_test_setup_teardown(test_power_off, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pm_timer, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pm_events_acknowledge, setup, teardown),
		cmocka_unit_test_setup_teardown(test_resets, setup, teardown),
		cmocka_unit_test_setup_teardown(test_panic_port, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pci, setup, teardown),
		cmocka_unit_test_setup_teardown(test_clock, setup, teardown),
		cmocka_unit_test_setup_teardown(test_alarm, setup, teardown),
		cmocka_unit_test_setup_teardown(test_any_sequence, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
