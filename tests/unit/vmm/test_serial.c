/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The UART as a driver sees it: detection, output, interrupts, input through the FIFO. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "hv/vmm/platform/serial.h"

enum { DATA, IER, IIR_FCR, LCR, MCR, LSR, MSR, SCR };

struct fixture {
	struct serial serial;
	int out[2];
	bool level;
	unsigned edges; /* rising */
};

static void set_line(void *ctx, unsigned gsi, bool level)
{
	struct fixture *f = ctx;

	assert_int_equal(gsi, 4);
	assert_int_not_equal(level, f->level); /* the UART reports changes only */
	f->edges += level;
	f->level = level;
}

static int setup(void **state)
{
	static struct fixture f;
	struct irq_line irq = {.set = set_line, .ctx = &f, .gsi = 4};

	f = (struct fixture){0};
	if (pipe(f.out) < 0)
		return -1;
	serial_init(&f.serial, f.out[1], &irq, NULL);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	serial_destroy(&f->serial);
	close(f->out[0]);
	close(f->out[1]);
	return 0;
}

static uint8_t in(struct fixture *f, unsigned reg)
{
	return (uint8_t)serial_ops.read(&f->serial, reg, 1);
}

static void out(struct fixture *f, unsigned reg, uint8_t value)
{
	serial_ops.write(&f->serial, reg, 1, value);
}

static void feed(struct fixture *f, const char *text, unsigned n)
{
	serial_input(&f->serial, (const uint8_t *)text, n);
}

/* The steps of Linux's autoconfig(), which distinguishes a 16550A from other UARTs. */
static void test_detection(void **state)
{
	struct fixture *f = *state;

	out(f, IER, 0);
	assert_int_equal(in(f, IER), 0);
	out(f, IER, 0x0f);
	assert_int_equal(in(f, IER), 0x0f);
	out(f, IER, 0);
	out(f, MCR, 0x10 | 0x0a);
	assert_int_equal(in(f, MSR) & 0xf0, 0x90);
	out(f, MCR, 0);
	out(f, IIR_FCR, 1);
	assert_int_equal(in(f, IIR_FCR) >> 6, 3);
	out(f, SCR, 0x5a);
	assert_int_equal(in(f, SCR), 0x5a);
	out(f, IIR_FCR, 0);
	assert_int_equal(in(f, IIR_FCR) >> 6, 0);
}

static void test_divisor_latch(void **state)
{
	struct fixture *f = *state;

	out(f, LCR, 0x83);
	out(f, DATA, 1);
	out(f, IER, 2);
	assert_int_equal(in(f, DATA), 1);
	assert_int_equal(in(f, IER), 2);
	out(f, LCR, 0x03);
	assert_int_equal(in(f, IER), 0);
	assert_int_equal(in(f, LSR), 0x60); /* the UART sent no byte */
}

static void test_output(void **state)
{
	struct fixture *f = *state;
	char got[8] = {0};

	for (const char *p = "hello"; *p; p++)
		out(f, DATA, (uint8_t)*p);
	assert_int_equal(read(f->out[0], got, sizeof(got)), 5);
	assert_string_equal(got, "hello");
	assert_int_equal(in(f, LSR) & 0x60, 0x60);
	assert_int_equal(f->edges, 0); /* polled: no interrupt was asked for */
}

static void test_transmit_interrupt(void **state)
{
	struct fixture *f = *state;

	out(f, MCR, 8); /* OUT2 */
	out(f, IER, 2);
	assert_true(f->level);
	assert_int_equal(in(f, IIR_FCR) & 0xf, 2);
	assert_false(f->level); /* reading IIR acknowledges */
	assert_int_equal(in(f, IIR_FCR) & 0xf, 1);
	out(f, DATA, 'x');
	assert_true(f->level);
	out(f, DATA, 'y'); /* every byte sent is an edge for the I/O APIC */
	assert_int_equal(f->edges, 3);
	out(f, IER, 0);
	assert_false(f->level);
	/* Linux expects that the UART raises the interrupt again when the driver enables it again. */
	out(f, IER, 2);
	assert_true(f->level);
}

static void test_input(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(serial_room(&f->serial), 0);
	out(f, IIR_FCR, 0x81); /* FIFO, trigger at 8 */
	out(f, MCR, 0x0b);
	assert_int_equal(serial_room(&f->serial), 0);
	out(f, IER, 1);
	assert_int_equal(serial_room(&f->serial), 16);
	feed(f, "abc", 3);
	assert_true(f->level);
	assert_int_equal(in(f, IIR_FCR) & 0xf, 0xc); /* below the trigger: timeout */
	feed(f, "defgh", 5);
	assert_int_equal(in(f, IIR_FCR) & 0xf, 4);
	for (const char *p = "abcdefgh"; *p; p++) {
		assert_int_equal(in(f, LSR) & 1, 1);
		assert_int_equal(in(f, DATA), *p);
	}
	assert_int_equal(in(f, LSR) & 1, 0);
	assert_false(f->level);
	assert_int_equal(in(f, DATA), 0); /* empty */
}

static void test_overrun(void **state)
{
	struct fixture *f = *state;

	out(f, IIR_FCR, 1);
	out(f, MCR, 0x0b);
	out(f, IER, 5);
	feed(f, "0123456789abcdefX", 17);
	assert_int_equal(in(f, IIR_FCR) & 0xf, 6);
	assert_int_equal(in(f, LSR) & 3, 3);
	assert_int_equal(in(f, LSR) & 3, 1); /* reading clears it */
	assert_int_equal(serial_room(&f->serial), 0);
	for (const char *p = "0123456789abcdef"; *p; p++)
		assert_int_equal(in(f, DATA), *p);
	out(f, IIR_FCR, 3);
	assert_int_equal(in(f, LSR) & 1, 0);
}

static void test_loopback(void **state)
{
	struct fixture *f = *state;

	out(f, IIR_FCR, 1);
	out(f, MCR, 0x1b);
	out(f, IER, 1);
	out(f, DATA, 'L');
	assert_false(f->level); /* OUT2 does not reach the line in loopback */
	assert_int_equal(in(f, DATA), 'L');
	assert_int_equal(serial_room(&f->serial), 0);
}

/* Accesses of every width with any bytes, in any order: the UART does not crash, and reports its line consistently. */
static void test_any_sequence(void **state)
{
	struct fixture *f = *state;
	uint32_t seed = 1;

	close(f->out[0]); /* the output has no reader, which must not matter */
	f->out[0] = -1;
	close(f->out[1]);
	f->out[1] = f->serial.out_fd = -1;
	for (unsigned i = 0; i < 200000; i++) {
		unsigned size, offset;

		seed = seed * 1664525 + 1013904223;
		size = 1u << (seed >> 28) % 3;
		offset = (seed >> 20 & 7) / size * size;
		if (seed & 1 << 19)
			serial_ops.write(&f->serial, offset, size, seed * 2654435761u);
		else
			serial_ops.read(&f->serial, offset, size);
		if ((seed >> 8 & 0xff) == 0)
			feed(f, "0123456789abcdef", seed & 15);
		assert_in_range(f->serial.rx_count, 0, SERIAL_FIFO);
	}
	assert_true(f->edges > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_detection, setup, teardown),
		cmocka_unit_test_setup_teardown(test_divisor_latch, setup, teardown),
		cmocka_unit_test_setup_teardown(test_output, setup, teardown),
		cmocka_unit_test_setup_teardown(test_transmit_interrupt, setup, teardown),
		cmocka_unit_test_setup_teardown(test_input, setup, teardown),
		cmocka_unit_test_setup_teardown(test_overrun, setup, teardown),
		cmocka_unit_test_setup_teardown(test_loopback, setup, teardown),
		cmocka_unit_test_setup_teardown(test_any_sequence, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
