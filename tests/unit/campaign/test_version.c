// SPDX-License-Identifier: GPL-2.0-or-later
/* Versions of kernels: their order, and whether a kernel has a fix that came with some version. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "hv/campaign/store/version.h"

#define DEBIAN_12                                                                                                             \
	"Linux version 6.1.0-56-cloud-amd64 (debian-kernel@lists.debian.org) (gcc-12 (Debian 12.2.0-14+deb12u1) 12.2.0, GNU " \
	"ld "                                                                                                                 \
	"(GNU Binutils for Debian) 2.40) #1 SMP PREEMPT_DYNAMIC Debian 6.1.192-2 (2026-11-12)"
#define BACKPORT                                                                                                     \
	"Linux version 6.12.95+deb12-cloud-amd64 (debian-kernel@lists.debian.org) (x86_64-linux-gnu-gcc-12 (Debian " \
	"12.2.0-14) "                                                                                                \
	"12.2.0, GNU ld (GNU Binutils for Debian) 2.40) #1 SMP PREEMPT_DYNAMIC Debian 6.12.95-1~bpo12+1 (2026-10-30)"
#define MAINLINE "Linux version 6.13.0-rc2-00034-gaabbccddeeff (ada@host) (gcc 14) #12 SMP PREEMPT_DYNAMIC"

static void versions_have_an_order(void **state)
{
	static const char *const rising[] = {
		"5.10.0-32-cloud-amd64",
		"5.10.223",
		"6.1",
		"6.1.0-55-cloud-amd64",
		"v6.1.0-56",
		"6.1.99",
		"6.1.115",
		"6.12-rc1",
		"6.12.0-rc2",
		"6.12.0-rc2-00012-gaabbccd",
		"6.12.0-rc2-00034-gbbccdde",
		"6.12",
		"6.12.0-55.9.1.el10_0.x86_64",
		"6.12.0-55.12.1.el10_0.x86_64",
		"6.12.95+deb12-cloud-amd64",
		"7.0",
	};
	struct version last, now;

	(void)state;
	for (size_t i = 0; i < sizeof(rising) / sizeof(rising[0]); i++) {
		if (!version_read(rising[i], &now))
			fail_msg("%s is not read", rising[i]);
		assert_int_equal(version_compare(&now, &now), 0);
		if (i && (version_compare(&last, &now) >= 0 || version_compare(&now, &last) <= 0))
			fail_msg("%s does not come after %s", rising[i], rising[i - 1]);
		last = now;
	}
	assert_true(version_read("v6.1", &last));
	assert_true(version_read("6.1.0", &now));
	assert_int_equal(version_compare(&last, &now), 0);
}

static void other_words_are_no_versions(void **state)
{
	static const char *const words[] = {"",	       "6",	  "v", "aabbccdd", "6.", ".1", "6.x", "12345678901234567890.1",
					    "6.1-rcx", "20241201"};
	struct version v;

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (version_read(words[i], &v))
			fail_msg("'%s' is read as a version", words[i]);
	}
}

static void a_kernel_has_a_mend_from_its_version_on(void **state)
{
	static const struct {
		const char *banner, *fixed;
		enum version_has has;
	} cases[] = {
		/* of the kernel's own line */
		{DEBIAN_12, "6.1.0-56", VERSION_HAS},
		{DEBIAN_12, "6.1.0-57-cloud-amd64", VERSION_HAS_NOT},
		{DEBIAN_12, "6.1.192", VERSION_HAS},
		{DEBIAN_12, "6.1.115", VERSION_HAS},
		{DEBIAN_12, "6.1.193", VERSION_HAS_NOT},
		{DEBIAN_12, "6.1.193, 6.6.60, 6.12", VERSION_HAS_NOT},
		{BACKPORT, "6.12.95", VERSION_HAS},
		{BACKPORT, "6.12.96", VERSION_HAS_NOT},
		{MAINLINE, "v6.13-rc2", VERSION_HAS},
		{MAINLINE, "6.13.0-rc2-00034-gaabbccddeeff", VERSION_HAS},
		{MAINLINE, "6.13.0-rc2-00035-gbbccddeeff00", VERSION_HAS_NOT},
		{MAINLINE, "6.13", VERSION_HAS_NOT},
		/* of other lines only */
		{BACKPORT, "6.1.193", VERSION_HAS},
		{BACKPORT, "6.1.193, 6.13", VERSION_HAS_NOT},
		{DEBIAN_12, "6.12", VERSION_HAS_NOT},
		{"Linux version 7.1.2 (ada@host)", "6.1.193, 6.12", VERSION_HAS},
		/* without a version */
		{"", "6.12", VERSION_UNKNOWN},
		{"FreeBSD 14", "6.12", VERSION_UNKNOWN},
		{"Linux version mine (ada@host)", "6.12", VERSION_UNKNOWN},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (version_has_mend(cases[i].banner, cases[i].fixed) != cases[i].has)
			fail_msg("%.40s: %s", cases[i].banner, cases[i].fixed);
	}
}

static void the_release_is_a_word_of_the_line(void **state)
{
	char release[VERSION_TEXT_MAX], line[512];

	(void)state;
	assert_true(version_release(DEBIAN_12, release));
	assert_string_equal(release, "6.1.0-56-cloud-amd64");
	assert_false(version_release("Linux version ", release));
	assert_string_equal(release, "");
	snprintf(line, sizeof(line), "Linux version %0200d x", 1);
	assert_false(version_release(line, release));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions_have_an_order),
		cmocka_unit_test(other_words_are_no_versions),
		cmocka_unit_test(a_kernel_has_a_mend_from_its_version_on),
		cmocka_unit_test(the_release_is_a_word_of_the_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
