// SPDX-License-Identifier: GPL-2.0-or-later
/* What is asked of the host's KVM, of which this test answers the questions. */
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

/* What KVM_CAP_SET_GUEST_DEBUG2 is. */
static int debug_flags;

/* In place of the C library's. */
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
	/* A kernel before 5.16 knows the capability, and not the flag. */
	debug_flags = KVM_GUESTDBG_ENABLE | KVM_GUESTDBG_SINGLESTEP;
	assert_false(host_blocks_interrupts(FAKE_KVM));
	/* An older one knows neither. */
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
