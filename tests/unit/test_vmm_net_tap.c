/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which taps are refused, and with what words. Frames over a real tap are an integration test's (47-network), which may make
 * one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <unistd.h>

#include "hv/sandbox/sandbox.h"
#include "hv/vmm/dev/net_backend.h"

static void refused(const char *name, const char *words)
{
	struct err err = {0};

	assert_null(net_tap_new(&(struct vmm_net){.kind = VMM_NET_TAP, .tap = name}, &err));
	assert_int_equal(err.code, EXIT_INPUT);
	if (!strstr(err.text, words) || strchr(err.text, '\n'))
		fail_msg("said: %s", err.text);
}

static void test_no_such_interface(void **state)
{
	(void)state;
	/* Where the test may not even open /dev/net/tun, that is what it is told. */
	refused("outrider-none", access("/dev/net/tun", R_OK | W_OK) == 0 ? "ip tuntap add dev outrider-none mode tap user "
									  : "cannot open /dev/net/tun");
}

static void test_name_too_long(void **state)
{
	(void)state;
	refused("sixteen-letters!", "at most 15 characters");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_such_interface),
		cmocka_unit_test(test_name_too_long),
	};

	/* Workers are confined here as they are in a run. */
	if (sandbox_prepare(NULL, NULL, NULL) < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
