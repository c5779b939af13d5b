/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets: the scanner reads back what was framed, reports damaged and endless packets, and reads and writes nothing out of
 * bounds for any input.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/base/rng.h"
#include "hv/rsp/packet.h"

static uint8_t out[RSP_PACKET_MAX];

static enum rsp_token scan(const char *text, size_t *used, size_t *len)
{
	return rsp_scan((const uint8_t *)text, strlen(text), used, out, len);
}

static void test_frame(void **state)
{
	uint8_t framed[16];
	size_t used, len;

	(void)state;
	assert_int_equal(rsp_frame("qC", 2, framed, sizeof(framed)), 6);
	assert_memory_equal(framed, "$qC#b4", 6);
	assert_int_equal(rsp_scan(framed, 6, &used, out, &len), RSP_PACKET);
	assert_int_equal(used, 6);
	assert_int_equal(len, 2);
	assert_memory_equal(out, "qC", 2);
	assert_int_equal(rsp_frame("0123456789abc", 13, framed, sizeof(framed)), 0);
	assert_int_equal(rsp_frame("", 0, framed, 3), 0);
}

static void test_tokens(void **state)
{
	size_t used, len;

	(void)state;
	assert_int_equal(scan("", &used, &len), RSP_NOTHING);
	assert_int_equal(scan("noise+", &used, &len), RSP_ACK);
	assert_int_equal(used, 6);
	assert_int_equal(scan("-", &used, &len), RSP_NAK);
	assert_int_equal(scan("noise", &used, &len), RSP_NOTHING);
	assert_int_equal(used, 5);
	/* While a packet is not complete, no byte of it is dropped. */
	assert_int_equal(scan("x$OK#9", &used, &len), RSP_NOTHING);
	assert_int_equal(used, 1);
	assert_int_equal(scan("$OK#9b", &used, &len), RSP_DAMAGED);
	assert_int_equal(used, 6);
	assert_int_equal(scan("$OK#zz", &used, &len), RSP_DAMAGED);
	/* The scanner skips a notification, even a damaged one. */
	assert_int_equal(scan("%Stop:T05#00$OK#9a", &used, &len), RSP_PACKET);
	assert_int_equal(used, 18);
	assert_int_equal(len, 2);
}

static void test_encoding(void **state)
{
	uint8_t escaped[2];
	size_t used, len;

	(void)state;
	assert_int_equal(scan("$0* #7a", &used, &len), RSP_PACKET); /* GDB's own example: 0000 */
	assert_int_equal(len, 4);
	assert_memory_equal(out, "0000", 4);
	assert_int_equal(scan("$a}\x03z#5b", &used, &len), RSP_PACKET);
	assert_memory_equal(out, "a#z", 3);
	/* A run without a byte, a run without a count, a count that is not valid, and an escape without a byte. */
	assert_int_equal(scan("$* #4a", &used, &len), RSP_DAMAGED);
	assert_int_equal(scan("$0*#5a", &used, &len), RSP_DAMAGED);
	assert_int_equal(scan("$0*\x1d#77", &used, &len), RSP_DAMAGED);
	assert_int_equal(scan("$a}#de", &used, &len), RSP_DAMAGED);

	assert_int_equal(rsp_escape('#', escaped), 2);
	assert_memory_equal(escaped, "}\x03", 2);
	assert_int_equal(rsp_escape('*', escaped), 2);
	assert_int_equal(rsp_escape('a', escaped), 1);
}

static void test_endless(void **state)
{
	size_t size = RSP_PACKET_MAX + 100, used, len;
	uint8_t *bytes = malloc(size);

	(void)state;
	assert_non_null(bytes);
	memset(bytes, 'a', size);
	bytes[0] = '$';
	assert_int_equal(rsp_scan(bytes, size, &used, out, &len), RSP_HOSTILE);
	bytes[size - 3] = '#';
	assert_int_equal(rsp_scan(bytes, size, &used, out, &len), RSP_HOSTILE);
	free(bytes);
}

/* By run-length encoding, a short packet can stand for a payload that is longer than the limit. */
static void test_bomb(void **state)
{
	size_t pairs = 3000, used, len;
	uint8_t *bytes = malloc(2 * pairs + 8), sum = 0;

	(void)state;
	assert_non_null(bytes);
	bytes[0] = '$';
	bytes[1] = 'a';
	for (size_t i = 0; i < pairs; i++) {
		bytes[2 + 2 * i] = '*';
		bytes[3 + 2 * i] = '~';
	}
	for (size_t i = 1; i < 2 + 2 * pairs; i++)
		sum += bytes[i];
	bytes[2 + 2 * pairs] = '#';
	rsp_to_hex(&sum, 1, (char *)bytes + 3 + 2 * pairs);
	assert_int_equal(rsp_scan(bytes, 5 + 2 * pairs, &used, out, &len), RSP_DAMAGED);
	free(bytes);
}

static void test_numbers(void **state)
{
	const char *text = "1fG,0123456789abcdef0";
	const uint8_t *at = (const uint8_t *)text, *end = at + strlen(text);
	uint8_t bytes[2];
	uint64_t n;

	(void)state;
	assert_int_equal(rsp_number(&at, end, &n), 0);
	assert_int_equal(n, 0x1f);
	assert_int_equal(*at, 'G');
	assert_int_equal(rsp_number(&at, end, &n), -1);
	at += 2;
	assert_int_equal(rsp_number(&at, end, &n), -1);
	assert_int_equal(rsp_from_hex((const uint8_t *)"aF0", 1, bytes), 0);
	assert_int_equal(bytes[0], 0xaf);
	assert_int_equal(rsp_from_hex((const uint8_t *)"x0", 1, bytes), -1);
}

/* On every prefix of any input the scanner makes progress or asks for more. A sanitizer checks that it never reads beyond. */
static void test_fuzz(void **state)
{
	static const char alphabet[] = "$#+-%}*0123456789abcdefTSO;:~ \x03";
	struct rng rng = {.state = 4};

	(void)state;
	for (unsigned round = 0; round < 20000; round++) {
		size_t len = rng_below(&rng, 64) + 1, at = 0;
		uint8_t *bytes = malloc(len);

		assert_non_null(bytes);
		for (size_t i = 0; i < len; i++)
			bytes[i] = rng_below(&rng, 8) ? (uint8_t)alphabet[rng_below(&rng, sizeof(alphabet) - 1)]
						      : (uint8_t)rng_next(&rng);
		while (at < len) {
			size_t used, n = 0;
			enum rsp_token token = rsp_scan(bytes + at, len - at, &used, out, &n);

			assert_true(used <= len - at && n <= RSP_PACKET_MAX);
			at += used;
			if (token == RSP_NOTHING || token == RSP_HOSTILE)
				break;
			assert_true(used > 0);
		}
		free(bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frame),	cmocka_unit_test(test_tokens), cmocka_unit_test(test_encoding),
		cmocka_unit_test(test_endless), cmocka_unit_test(test_bomb),   cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_fuzz),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
