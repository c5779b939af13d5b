// SPDX-License-Identifier: GPL-2.0-or-later
/* Queries to the host's KVM, which this test answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <linux/kvm.h>
#include <sys/ioctl.h>

#include "hv/vmm/host.h"

#define FAKE_KVM 4711

/* The value of KVM_CAP_SET_GUEST_DEBUG2. */
static int debug_flags;

/* Replaces the C library's function. */
int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	long cap;

	va_start(args, request);
	cap = va_arg(args, long);
	va_end(args);
	assert_int_equal(fd, FAKE_KVM);
	assert_int_equal(request, KVM_CHECK_EXTENSION);
	if (cap == KVM_CAP_SET_GUEST_DEBUG2)
		return debug_flags;
	errno = EINVAL;
	return -1;
}

static void interrupts_are_blocked_where_kvm_says_so(void **state)
{
	(void)state;
	debug_flags = KVM_GUESTDBG_ENABLE | KVM_GUESTDBG_SINGLESTEP | KVM_GUESTDBG_BLOCKIRQ;
	assert_true(host_blocks_interrupts(FAKE_KVM));
	/* A kernel before 5.16 has the capability, and not the flag. */
	debug_flags = KVM_GUESTDBG_ENABLE | KVM_GUESTDBG_SINGLESTEP;
	assert_false(host_blocks_interrupts(FAKE_KVM));
	/* An older kernel has neither. */
	debug_flags = 0;
	assert_false(host_blocks_interrupts(FAKE_KVM));
	debug_flags = -1;
	assert_false(host_blocks_interrupts(FAKE_KVM));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(interrupts_are_blocked_where_kvm_says_so)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
