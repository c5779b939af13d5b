/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Computes the Internet checksum of IP, TCP and UDP (RFC 1071): the complement of the sum of all 16-bit words, in one's
 * complement.
 */
#include <endian.h>
#include <string.h>

#include "hv/vmm/net/checksum.h"

uint16_t net_sum(const void *data, size_t len, uint16_t sum)
{
	const uint8_t *p = data;
	uint64_t total = htobe16(sum);

	/*
	 * Sum 32-bit halves in the host's byte order: the sum folds to the same 16 bits (RFC 1071, section 2). `total` has room
	 * for 2^32 of them.
	 */
	for (; len >= 8; p += 8, len -= 8) {
		uint64_t word;

		memcpy(&word, p, sizeof(word));
		total += (word & 0xffffffff) + (word >> 32);
	}
	for (; len; p += 2, len -= len > 1 ? 2 : 1) {
		uint16_t word = 0;

		memcpy(&word, p, len > 1 ? 2 : 1);
		total += word;
	}
	while (total >> 16)
		total = (total & 0xffff) + (total >> 16);
	return be16toh((uint16_t)total);
}

bool net_complete_checksum(uint8_t *frame, size_t len, size_t start, size_t offset)
{
	uint16_t sum;

	if (start > len || len - start < 2 || offset > len - start - 2)
		return false;
	sum = (uint16_t)~net_sum(frame + start, len - start, 0);
	/*
	 * Store all ones instead of 0, because 0 means "no checksum" in UDP (RFC 768). For TCP it makes no difference: in one's
	 * complement, all ones is 0, too.
	 */
	sum = htobe16(sum ? sum : 0xffff);
	memcpy(frame + start + offset, &sum, sizeof(sum));
	return true;
}
