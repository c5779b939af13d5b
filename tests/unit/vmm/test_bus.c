/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bus: which device gets an access, which ranges are refused, and changes while other threads access it. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "hv/vmm/bus/bus.h"

/* A device that answers with its own number in each byte, and remembers the last access. */
struct device {
	uint8_t number;
	unsigned reads, writes, size;
	uint64_t offset, value;
};

static uint64_t device_read(void *dev, uint64_t offset, unsigned size)
{
	struct device *d = dev;

	d->reads++;
	d->offset = offset;
	d->size = size;
	return d->number * 0x0101010101010101ull;
}

static void device_write(void *dev, uint64_t offset, unsigned size, uint64_t value)
{
	struct device *d = dev;

	d->writes++;
	d->offset = offset;
	d->size = size;
	d->value = value;
}

static const struct bus_ops device_ops = {.read = device_read, .write = device_write};

static int setup(void **state)
{
	static struct bus bus;

	bus_init(&bus);
	*state = &bus;
	return 0;
}

static int teardown(void **state)
{
	bus_destroy(*state);
	return 0;
}

static void add(struct bus *bus, enum bus_space space, uint64_t base, uint64_t len, struct device *dev)
{
	const struct bus_range range = {space, base, len, &device_ops, dev};
	struct err err = {0};

	assert_int_equal(bus_add(bus, &range, &err), 0);
	assert_int_equal(err.code, EXIT_OK);
}

/* Check that the bus refuses the range for the reason `why`, and stays unchanged. */
static void refused(struct bus *bus, enum bus_space space, uint64_t base, uint64_t len, const char *why)
{
	struct device dev = {.number = 0x99};
	const struct bus_range range = {space, base, len, &device_ops, &dev};
	unsigned count = bus->count;
	struct err err = {0};

	assert_int_equal(bus_add(bus, &range, &err), -1);
	assert_int_equal(err.code, EXIT_INTERNAL);
	assert_string_equal(err.text, why);
	assert_int_equal(bus->count, count);
	assert_int_equal(bus->changes % 2, 0);
}

static uint64_t read_bus(const struct bus *bus, enum bus_space space, uint64_t address, unsigned size)
{
	uint64_t value = 0;

	bus_access(bus, space, address, false, size, (uint8_t *)&value);
	return value;
}

static void write_bus(const struct bus *bus, enum bus_space space, uint64_t address, unsigned size, uint64_t value)
{
	bus_access(bus, space, address, true, size, (uint8_t *)&value);
}

static uint64_t ones(unsigned size)
{
	return UINT64_MAX >> (64 - 8 * size);
}

static void test_unclaimed(void **state)
{
	struct bus *bus = *state;
	uint64_t value = 0x1122334455667788;

	for (unsigned size = 1; size <= 8; size++) {
		assert_int_equal(read_bus(bus, BUS_MMIO, 0xfebf0000, size), ones(size));
		bus_access(bus, BUS_MMIO, 0xfebf0000, true, size, (uint8_t *)&value);
	}
	for (unsigned size = 1; size <= 4; size *= 2) {
		assert_int_equal(read_bus(bus, BUS_PORT, 0xffff, size), ones(size));
		bus_access(bus, BUS_PORT, 0xffff, true, size, (uint8_t *)&value);
	}
	assert_int_equal(value, 0x1122334455667788); /* a write never touches the data */
}

static void test_sizes(void **state)
{
	struct bus *bus = *state;
	struct device dev = {.number = 0x5a};

	add(bus, BUS_MMIO, 0xc0000000, 0x1000, &dev);
	for (unsigned size = 1; size <= 8; size *= 2) {
		dev.reads = dev.writes = 0;
		assert_int_equal(read_bus(bus, BUS_MMIO, 0xc0001000 - size, size), 0x5a5a5a5a5a5a5a5a & ones(size));
		assert_int_equal(dev.reads, 1);
		assert_int_equal(dev.offset, 0x1000 - size);
		assert_int_equal(dev.size, size);
		write_bus(bus, BUS_MMIO, 0xc0000008, size, 0x1122334455667788);
		assert_int_equal(dev.writes, 1);
		assert_int_equal(dev.offset, 8);
		assert_int_equal(dev.size, size);
		assert_int_equal(dev.value, 0x1122334455667788 & ones(size));
	}
}

/* KVM splits an access at a page's end, so sizes of 3, 5, 6 and 7 bytes come too. */
static void test_odd_sizes(void **state)
{
	struct bus *bus = *state;
	struct device dev = {.number = 0x5a};

	add(bus, BUS_MMIO, 0xc0000000, 0x1000, &dev);
	for (unsigned size = 3; size <= 7; size += size == 3 ? 2 : 1) {
		dev.reads = dev.writes = 0;
		assert_int_equal(read_bus(bus, BUS_MMIO, 0xc0000010, size), 0x5a5a5a5a5a5a5a5a & ones(size));
		assert_int_equal(dev.reads, size);
		write_bus(bus, BUS_MMIO, 0xc0000010, size, 0x1122334455667788);
		assert_int_equal(dev.writes, size);
		assert_int_equal(dev.size, 1);
		assert_int_equal(dev.offset, 0x10 + size - 1);
		assert_int_equal(dev.value, 0x1122334455667788 >> 8 * (size - 1) & 0xff);
	}
}

/* For an access across the edges of ranges, each byte goes to the device of its range. */
static void test_across_edges(void **state)
{
	struct bus *bus = *state;
	struct device a = {.number = 0xaa}, b = {.number = 0xbb};

	add(bus, BUS_MMIO, 0x1000, 4, &a);
	add(bus, BUS_MMIO, 0x1004, 2, &b);
	assert_int_equal(read_bus(bus, BUS_MMIO, 0x0ffe, 4), 0xaaaaffff);
	assert_int_equal(read_bus(bus, BUS_MMIO, 0x1000, 8), 0xffffbbbbaaaaaaaa);
	assert_int_equal(read_bus(bus, BUS_MMIO, 0x0ffc, 8), 0xaaaaaaaaffffffff);
	write_bus(bus, BUS_MMIO, 0x1003, 4, 0x44332211);
	assert_int_equal(a.value, 0x11);
	assert_int_equal(b.value, 0x33);
	assert_int_equal(b.offset, 1);
}

static void test_spaces_are_apart(void **state)
{
	struct bus *bus = *state;
	struct device port = {.number = 1}, mmio = {.number = 2};

	add(bus, BUS_MMIO, 0x3f8, 8, &mmio);
	assert_int_equal(read_bus(bus, BUS_PORT, 0x3f8, 1), 0xff);
	add(bus, BUS_PORT, 0x3f8, 8, &port);
	assert_int_equal(read_bus(bus, BUS_PORT, 0x3f8, 1), 1);
	assert_int_equal(read_bus(bus, BUS_MMIO, 0x3f8, 1), 2);
	assert_true(bus_remove(bus, BUS_MMIO, 0x3f8));
	assert_int_equal(read_bus(bus, BUS_PORT, 0x3f8, 1), 1);
	assert_int_equal(read_bus(bus, BUS_MMIO, 0x3f8, 1), 0xff);
}

static void test_refused(void **state)
{
	struct bus *bus = *state;
	struct device dev = {.number = 1};

	add(bus, BUS_PORT, 0x3f8, 8, &dev);
	add(bus, BUS_MMIO, 0xc0000000, 0x1000, &dev);
	refused(bus, BUS_PORT, 0x500, 0, "port range of 0 bytes at 0x500 is empty");
	refused(bus, BUS_PORT, 0xffff, 2, "port range of 2 bytes at 0xffff reaches beyond its address space");
	refused(bus, BUS_PORT, 0x10000, 1, "port range of 1 bytes at 0x10000 reaches beyond its address space");
	refused(bus, BUS_MMIO, UINT64_MAX, 2, "MMIO range of 2 bytes at 0xffffffffffffffff reaches beyond its address space");
	refused(bus, BUS_PORT, 0x3f8, 8, "port range of 8 bytes at 0x3f8 overlaps the 8 bytes at 0x3f8");
	refused(bus, BUS_PORT, 0x3f1, 8, "port range of 8 bytes at 0x3f1 overlaps the 8 bytes at 0x3f8");
	refused(bus, BUS_PORT, 0x3ff, 8, "port range of 8 bytes at 0x3ff overlaps the 8 bytes at 0x3f8");
	refused(bus, BUS_PORT, 0, 0x10000, "port range of 65536 bytes at 0x0 overlaps the 8 bytes at 0x3f8");
	refused(bus, BUS_MMIO, 0xc0000ffc, 4, "MMIO range of 4 bytes at 0xc0000ffc overlaps the 4096 bytes at 0xc0000000");
	/* Ranges right beside others, and ranges that end at the last address of a space. */
	add(bus, BUS_PORT, 0x3f0, 8, &dev);
	add(bus, BUS_PORT, 0x400, 1, &dev);
	add(bus, BUS_PORT, 0xffff, 1, &dev);
	add(bus, BUS_MMIO, UINT64_MAX, 1, &dev);
	assert_int_equal(read_bus(bus, BUS_MMIO, UINT64_MAX, 1), 1);
	assert_int_equal(read_bus(bus, BUS_PORT, 0xffff, 2), 0xff01);
}

static void test_full(void **state)
{
	struct bus *bus = *state;
	struct device dev = {.number = 7};

	/* Add the ranges out of order. 37 has no factor in common with their number, so each place is used once. */
	_Static_assert(BUS_MAX_RANGES % 37, "each place is taken once");
	for (unsigned i = 0; i < BUS_MAX_RANGES; i++)
		add(bus, BUS_MMIO, 0xc0000000 + 0x1000ull * (i * 37 % BUS_MAX_RANGES), 0x800, &dev);
	refused(bus, BUS_MMIO, 0xb0000000, 0x1000, "MMIO range of 4096 bytes at 0xb0000000 is one too many for the bus");
	for (unsigned i = 0; i < BUS_MAX_RANGES; i++) {
		assert_int_equal(read_bus(bus, BUS_MMIO, 0xc0000000 + 0x1000ull * i + 0x7f8, 8), 0x0707070707070707);
		assert_int_equal(read_bus(bus, BUS_MMIO, 0xc0000000 + 0x1000ull * i + 0x800, 8), UINT64_MAX);
	}
	for (unsigned i = 0; i < BUS_MAX_RANGES; i++) {
		uint64_t base = 0xc0000000 + 0x1000ull * (i * 11 % BUS_MAX_RANGES);

		assert_true(bus_remove(bus, BUS_MMIO, base));
		assert_int_equal(read_bus(bus, BUS_MMIO, base, 1), 0xff);
		assert_false(bus_remove(bus, BUS_MMIO, base));
	}
	assert_int_equal(bus->count, 0);
}

static void test_remove(void **state)
{
	struct bus *bus = *state;
	struct device dev = {.number = 3};

	assert_false(bus_remove(bus, BUS_PORT, 0));
	add(bus, BUS_MMIO, 0xc0000000, 0x1000, &dev);
	assert_false(bus_remove(bus, BUS_MMIO, 0xc0000001));
	assert_false(bus_remove(bus, BUS_MMIO, 0xbfffffff));
	assert_false(bus_remove(bus, BUS_PORT, 0xc0000000));
	assert_int_equal(read_bus(bus, BUS_MMIO, 0xc0000800, 2), 0x0303);
	assert_true(bus_remove(bus, BUS_MMIO, 0xc0000000));
	assert_int_equal(read_bus(bus, BUS_MMIO, 0xc0000800, 2), 0xffff);
	add(bus, BUS_MMIO, 0xc0000800, 0x1000, &dev);
	assert_int_equal(read_bus(bus, BUS_MMIO, 0xc0000800, 2), 0x0303);
}

/* A device whose base address register is in its own range, so that a write moves the range. */
struct moving {
	struct bus *bus;
	uint64_t base;
};

static void moving_write(void *dev, uint64_t offset, unsigned size, uint64_t value);

static uint64_t moving_read(void *dev, uint64_t offset, unsigned size)
{
	const struct moving *m = dev;

	(void)offset;
	(void)size;
	return m->base;
}

static const struct bus_ops moving_ops = {.read = moving_read, .write = moving_write};

static void moving_write(void *dev, uint64_t offset, unsigned size, uint64_t value)
{
	struct moving *m = dev;
	const struct bus_range range = {BUS_MMIO, value, 0x1000, &moving_ops, m};

	(void)offset;
	(void)size;
	assert_true(bus_remove(m->bus, BUS_MMIO, m->base));
	m->base = value;
	assert_int_equal(bus_add(m->bus, &range, NULL), 0);
}

static void test_moved_by_its_own_write(void **state)
{
	struct moving m = {.bus = *state, .base = 0xc0000000};
	const struct bus_range range = {BUS_MMIO, m.base, 0x1000, &moving_ops, &m};

	assert_int_equal(bus_add(m.bus, &range, NULL), 0);
	write_bus(m.bus, BUS_MMIO, 0xc0000000, 8, 0xd0000000);
	assert_int_equal(read_bus(m.bus, BUS_MMIO, 0xc0000000, 8), UINT64_MAX);
	assert_int_equal(read_bus(m.bus, BUS_MMIO, 0xd0000000, 8), 0xd0000000);
}

/* ---- threads ---- */

#define THREADS 3
#define PLACES 8
#define CHANGES 100000
#define FIXED 64 /* ranges above the places; each change shifts them in the table */

/* Return the number of the place, which follows from its device's address. */
static uint64_t place_read(void *dev, uint64_t offset, unsigned size)
{
	(void)offset;
	(void)size;
	return *(const uint64_t *)dev;
}

static void place_write(void *dev, uint64_t offset, unsigned size, uint64_t value)
{
	(void)dev;
	(void)offset;
	(void)size;
	(void)value;
}

static const struct bus_ops place_ops = {.read = place_read, .write = place_write};

struct threads {
	struct bus *bus;
	uint64_t number[PLACES + FIXED];
	atomic_bool stop;
	atomic_uint claimed, unclaimed, wrong;
};

static uint64_t place_base(unsigned i)
{
	return 0xc0000000ull + 0x10000ull * i;
}

/* A place answers with its own number or, while its range is removed, with ones. The fixed ranges always answer. */
static void *access_places(void *arg)
{
	struct threads *t = arg;
	unsigned i = 0, fixed = PLACES;

	while (!atomic_load(&t->stop)) {
		uint64_t got = read_bus(t->bus, BUS_MMIO, place_base(i) + 8, 8);

		if (got == UINT64_MAX)
			atomic_fetch_add(&t->unclaimed, 1);
		else if (got == t->number[i])
			atomic_fetch_add(&t->claimed, 1);
		else
			atomic_fetch_add(&t->wrong, 1);
		if (read_bus(t->bus, BUS_MMIO, place_base(fixed), 8) != t->number[fixed])
			atomic_fetch_add(&t->wrong, 1);
		i = (i + 1) % PLACES;
		fixed = PLACES + (fixed + 1) % FIXED;
	}
	return NULL;
}

static bool enough(struct threads *t)
{
	return atomic_load(&t->claimed) >= 1000 && atomic_load(&t->unclaimed) >= 1000;
}

static void test_changes_while_accessed(void **state)
{
	struct threads t = {.bus = *state};
	pthread_t thread[THREADS];

	for (unsigned i = 0; i < PLACES + FIXED; i++)
		t.number[i] = 0x1111 * (i + 1ull);
	for (unsigned i = PLACES; i < PLACES + FIXED; i++) {
		const struct bus_range fixed = {BUS_MMIO, place_base(i), 0x1000, &place_ops, &t.number[i]};

		assert_int_equal(bus_add(t.bus, &fixed, NULL), 0);
	}
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, access_places, &t), 0);
	/* Run until the readers have seen every answer often. How long that takes depends on the scheduler. */
	for (unsigned n = 0; n < CHANGES || !enough(&t); n++) {
		unsigned i = n * 5 % PLACES;
		const struct bus_range range = {BUS_MMIO, place_base(i), 0x1000, &place_ops, &t.number[i]};

		if (!bus_remove(t.bus, BUS_MMIO, place_base(i)))
			assert_int_equal(bus_add(t.bus, &range, NULL), 0);
	}
	atomic_store(&t.stop, true);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(t.wrong, 0);
}

/* Several threads change the bus at once, and no change is lost. */
static void *change_one_place(void *arg)
{
	struct threads *t = arg;
	unsigned i = atomic_fetch_add(&t->claimed, 1);
	const struct bus_range range = {BUS_MMIO, place_base(i), 0x1000, &place_ops, &t->number[i]};

	for (unsigned n = 0; n < CHANGES / 50; n++) {
		if (bus_add(t->bus, &range, NULL) < 0 || read_bus(t->bus, BUS_MMIO, range.base, 8) != t->number[i] ||
		    !bus_remove(t->bus, BUS_MMIO, range.base) || read_bus(t->bus, BUS_MMIO, range.base, 8) != UINT64_MAX)
			atomic_fetch_add(&t->wrong, 1);
	}
	return NULL;
}

static void test_changes_by_several(void **state)
{
	struct threads t = {.bus = *state};
	pthread_t thread[PLACES];

	for (unsigned i = 0; i < PLACES; i++)
		t.number[i] = 0x1111 * (i + 1ull);
	for (unsigned i = 0; i < PLACES; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, change_one_place, &t), 0);
	for (unsigned i = 0; i < PLACES; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(t.wrong, 0);
	assert_int_equal(t.bus->count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_unclaimed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sizes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_odd_sizes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_across_edges, setup, teardown),
		cmocka_unit_test_setup_teardown(test_spaces_are_apart, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full, setup, teardown),
		cmocka_unit_test_setup_teardown(test_remove, setup, teardown),
		cmocka_unit_test_setup_teardown(test_moved_by_its_own_write, setup, teardown),
		cmocka_unit_test_setup_teardown(test_changes_while_accessed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_changes_by_several, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
