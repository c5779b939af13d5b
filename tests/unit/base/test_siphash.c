// SPDX-License-Identifier: GPL-2.0-or-later
/* The hash is SipHash-2-4, by the test vectors of its authors, and its key matters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hv/base/siphash.h"

/* The paper's key: the bytes 00 to 0f. */
static const struct siphash_key published = {{UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)}};

static void published_vectors(void **state)
{
	uint8_t input[16];

	(void)state;
	for (unsigned i = 0; i < sizeof(input); i++)
		input[i] = (uint8_t)i;
	assert_int_equal(siphash(&published, input, 0), UINT64_C(0x726fdb47dd0e0e31));
	assert_int_equal(siphash(&published, input, 1), UINT64_C(0x74f839c593dc67fd));
	assert_int_equal(siphash(&published, input, 8), UINT64_C(0x93f5f5799a932462));
	assert_int_equal(siphash(&published, input, 15), UINT64_C(0xa129ca6149be45e5));
}

static void another_key_is_another_hash(void **state)
{
	struct siphash_key other = published;

	(void)state;
	other.k[1]++;
	assert_int_not_equal(siphash(&published, "site", 4), siphash(&other, "site", 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_vectors),
		cmocka_unit_test(another_key_is_another_hash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
