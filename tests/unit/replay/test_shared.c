// SPDX-License-Identifier: GPL-2.0-or-later
/* The state that a vCPU shares with KVM, on a vCPU that this test plays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <linux/kvm.h>
#include <string.h>
#include <sys/ioctl.h>

#include "hv/replay/shared.h"
#include "hv/vmm/one_msr.h"

#define FAKE_VCPU 4711
#define ISR 0x100u
#define IRR 0x200u
#define STEAL_TIME 0x4b564d03u
#define CLOCK 0x4b564d01u

static struct {
	struct kvm_lapic_state apic;
	struct kvm_vcpu_events events;
	uint64_t steal, clock;
	bool fails;
} vcpu;

static int get_msr(struct one_msr *m)
{
	m->entry.data = m->entry.index == STEAL_TIME ? vcpu.steal : m->entry.index == CLOCK ? vcpu.clock : 0;
	return 1;
}

/* Replaces the C library's function. */
int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	assert_int_equal(fd, FAKE_VCPU);
	if (vcpu.fails) {
		errno = EIO;
		return -1;
	}
	if (request == KVM_GET_LAPIC)
		memcpy(arg, &vcpu.apic, sizeof(vcpu.apic));
	else if (request == KVM_SET_LAPIC)
		memcpy(&vcpu.apic, arg, sizeof(vcpu.apic));
	else if (request == KVM_GET_VCPU_EVENTS)
		memcpy(arg, &vcpu.events, sizeof(vcpu.events));
	else if (request == KVM_SET_VCPU_EVENTS)
		memcpy(&vcpu.events, arg, sizeof(vcpu.events));
	else if (request == KVM_GET_MSRS)
		return get_msr(arg);
	else
		fail();
	return 0;
}

static int fresh(void **state)
{
	(void)state;
	memset(&vcpu, 0, sizeof(vcpu));
	return 0;
}

static void set_bit(unsigned reg, uint8_t vector)
{
	char *at = vcpu.apic.regs + reg + vector / 32 * 16;
	uint32_t word;

	memcpy(&word, at, sizeof(word));
	word |= 1u << vector % 32;
	memcpy(at, &word, sizeof(word));
}

static bool has_bit(unsigned reg, uint8_t vector)
{
	uint32_t word;

	memcpy(&word, vcpu.apic.regs + reg + vector / 32 * 16, sizeof(word));
	return word >> vector % 32 & 1;
}

static void highest_vector_waits(void **state)
{
	(void)state;
	assert_int_equal(shared_waiting_interrupt(FAKE_VCPU), -1);
	set_bit(ISR, 0xf0); /* the vCPU has taken it already */
	assert_int_equal(shared_waiting_interrupt(FAKE_VCPU), -1);
	for (unsigned vector = 16; vector < 256; vector++) {
		set_bit(IRR, (uint8_t)vector);
		assert_int_equal(shared_waiting_interrupt(FAKE_VCPU), (int)vector);
	}
	vcpu.fails = true;
	assert_int_equal(shared_waiting_interrupt(FAKE_VCPU), -1);
}

static void interrupt_on_its_way_is_given_back(void **state)
{
	struct err err = {0};

	(void)state;
	set_bit(ISR, 0xec);
	set_bit(ISR, 0x30);
	vcpu.events.interrupt.injected = 1;
	vcpu.events.interrupt.nr = 0xec;
	assert_int_equal(shared_give_back_interrupt(FAKE_VCPU, &err), 0);
	assert_false(has_bit(ISR, 0xec));
	assert_true(has_bit(IRR, 0xec));
	assert_true(has_bit(ISR, 0x30));
	assert_int_equal(vcpu.events.interrupt.injected, 0);
	assert_int_equal(shared_waiting_interrupt(FAKE_VCPU), 0xec);
	/* No interrupt is left to give back. */
	assert_int_equal(shared_give_back_interrupt(FAKE_VCPU, &err), 0);
	assert_true(has_bit(IRR, 0xec));
}

static void interrupt_of_somebody_else_is_an_error(void **state)
{
	struct err err = {0};

	(void)state;
	vcpu.events.interrupt.injected = 1;
	vcpu.events.interrupt.nr = 0x20; /* an interrupt of the 8259, which the local APIC does not have */
	assert_int_equal(shared_give_back_interrupt(FAKE_VCPU, &err), -1);
	assert_non_null(strstr(err.text, "not the local APIC's"));
	assert_int_equal(vcpu.events.interrupt.injected, 1);
	/* An interrupt of an INT instruction belongs to the guest. */
	vcpu.events.interrupt.soft = 1;
	assert_int_equal(shared_give_back_interrupt(FAKE_VCPU, &err), 0);
	assert_int_equal(vcpu.events.interrupt.injected, 1);
	vcpu.fails = true;
	err = (struct err){0};
	assert_int_equal(shared_give_back_interrupt(FAKE_VCPU, &err), -1);
	assert_non_null(strstr(err.text, "KVM_GET_VCPU_EVENTS"));
}

static void areas_that_are_turned_on_are_known(void **state)
{
	struct compare_range areas[SHARED_MAX];

	(void)state;
	vcpu.steal = 0x12340000; /* The area is off: bit 0 is not set. */
	assert_int_equal(shared_areas(FAKE_VCPU, areas), 0);
	vcpu.steal |= 1;
	vcpu.clock = 0x5678001;
	assert_int_equal(shared_areas(FAKE_VCPU, areas), 2);
	assert_int_equal(areas[0].gpa, 0x5678000);
	assert_int_equal(areas[0].len, 32);
	assert_int_equal(areas[1].gpa, 0x12340000);
	assert_int_equal(areas[1].len, 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(highest_vector_waits, fresh),
		cmocka_unit_test_setup(interrupt_on_its_way_is_given_back, fresh),
		cmocka_unit_test_setup(interrupt_of_somebody_else_is_an_error, fresh),
		cmocka_unit_test_setup(areas_that_are_turned_on_are_known, fresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
