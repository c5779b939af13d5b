/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The setup header of a bzImage: which headers are accepted, which are refused and why, and where kernel and initrd go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "hv/vmm/bzimage.h"
#include "hv/vmm/layout.h"
#include "tests/unit/vmm/sample_bzimage.h"

#define HDR 0x1f1
#define FILE_SIZE (5 * 512 + 0x1000 * 16ull)

static void make(uint8_t head[BZIMAGE_HEAD_MAX])
{
	struct setup_header hdr = sample_setup_header(4, 0x1000);

	memset(head, 0, BZIMAGE_HEAD_MAX);
	memcpy(head + HDR, &hdr, sizeof(hdr));
}

static void refused(const uint8_t *head, size_t len, uint64_t file_size, const char *because)
{
	struct err err = {0};
	struct bzimage image;

	assert_int_equal(bzimage_parse(head, len, file_size, "IMAGE", &image, &err), -1);
	assert_int_equal(err.code, EXIT_INPUT);
	assert_non_null(strstr(err.text, because));
	assert_non_null(strstr(err.text, "IMAGE"));
	assert_null(strchr(err.text, '\n'));
}

static void test_good(void **state)
{
	uint8_t head[BZIMAGE_HEAD_MAX];
	struct err err = {0};
	struct bzimage image;

	(void)state;
	make(head);
	assert_int_equal(bzimage_parse(head, sizeof(head), FILE_SIZE, "IMAGE", &image, &err), 0);
	assert_int_equal(image.payload_offset, 5 * 512);
	assert_int_equal(image.payload_size, 0x10000);
	assert_int_equal(image.hdr.init_size, 0x3000000);
}

static void test_setup_sects_zero_means_four(void **state)
{
	uint8_t head[BZIMAGE_HEAD_MAX];
	struct err err = {0};
	struct bzimage image;

	(void)state;
	make(head);
	head[HDR] = 0;
	assert_int_equal(bzimage_parse(head, sizeof(head), FILE_SIZE, "IMAGE", &image, &err), 0);
	assert_int_equal(image.payload_offset, 5 * 512);
}

/* The parser must not take bytes after the end of an old, short header for fields. */
static void test_short_header(void **state)
{
	uint8_t head[BZIMAGE_HEAD_MAX];

	(void)state;
	make(head);
	head[0x201] = offsetof(struct setup_header, init_size) + HDR - 0x202;
	refused(head, sizeof(head), FILE_SIZE, "corrupt");
}

static void test_refusals(void **state)
{
	static const struct {
		unsigned offset;
		uint8_t value;
		const char *because;
	} cases[] = {
		{0x1fe, 0, "not a bzImage"},
		{0x202, 'h', "not a bzImage"},
		{0x206, 0x0b, "boot protocol 2.11"},
		{0x211, 0, "no 64-bit entry"},
		{0x236, 0, "no 64-bit entry"},
		{0x232, 0x21, "corrupt"},
		{0x1f6, 1, "truncated"},
		{0x263, 0, "code"}, /* init_size becomes 0 */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t head[BZIMAGE_HEAD_MAX];

		make(head);
		head[cases[i].offset] = cases[i].value;
		if (cases[i].offset == 0x263)
			head[0x262] = 0; /* 64 KiB of code, but a size in memory of 0 */
		refused(head, sizeof(head), FILE_SIZE, cases[i].offset == 0x263 ? "corrupt" : cases[i].because);
	}
}

static void test_truncated_anywhere(void **state)
{
	uint8_t head[BZIMAGE_HEAD_MAX];

	(void)state;
	make(head);
	for (uint64_t size = 0x270; size < sizeof(head); size++)
		refused(head, size, size, "truncated");
	for (size_t len = 0; len < 0x260; len++) {
		struct err err = {0};
		struct bzimage image;

		assert_int_equal(bzimage_parse(head, len, len, "IMAGE", &image, &err), -1);
	}
	refused(head, sizeof(head), FILE_SIZE - 1, "truncated");
}

static void test_place(void **state)
{
	struct setup_header hdr = {.pref_address = 0x1000000, .init_size = 0x3000000};

	(void)state;
	assert_int_equal(bzimage_place(&hdr, MIB(512)), 0x1000000);
	assert_int_equal(bzimage_place(&hdr, MIB(64)), 0x1000000);
	assert_int_equal(bzimage_place(&hdr, MIB(64) - 1), 0);
	hdr.pref_address = UINT64_MAX;
	assert_int_equal(bzimage_place(&hdr, GIB(3)), 0);
	hdr.pref_address = 0x1000; /* would overwrite the VMM's boot tables */
	assert_int_equal(bzimage_place(&hdr, GIB(3)), 0);
}

static void test_place_initrd(void **state)
{
	struct setup_header hdr = {.initrd_addr_max = 0x7fffffff};

	(void)state;
	/* The initrd goes as high as the kernel can access, page-aligned, and does not overlap the kernel. */
	assert_int_equal(bzimage_place_initrd(&hdr, 5000, GIB(3), MIB(16), MIB(64)), GIB(2) - 8192);
	assert_int_equal(bzimage_place_initrd(&hdr, MIB(448), MIB(512), MIB(16), MIB(64)), MIB(64));
	/* If the initrd does not fit above the kernel, it goes below, if it fits there. */
	assert_int_equal(bzimage_place_initrd(&hdr, MIB(2), MIB(64), MIB(16), MIB(64)), MIB(14));
	assert_int_equal(bzimage_place_initrd(&hdr, MIB(449), MIB(512), MIB(16), MIB(64)), 0);
	assert_int_equal(bzimage_place_initrd(&hdr, UINT64_MAX, MIB(512), MIB(16), MIB(64)), 0);
	hdr.initrd_addr_max = 0;
	assert_int_equal(bzimage_place_initrd(&hdr, MIB(16), MIB(512), MIB(16), MIB(64)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_setup_sects_zero_means_four),
		cmocka_unit_test(test_short_header),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_truncated_anywhere),
		cmocka_unit_test(test_place),
		cmocka_unit_test(test_place_initrd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
