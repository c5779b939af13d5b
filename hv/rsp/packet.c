/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Encodes and decodes packets of the GDB remote serial protocol (GDB manual, E.1): `$payload#checksum`, with escapes and
 * run-length encoding (a byte, `*`, and a character that encodes how often the byte is repeated).
 */
#include "hv/rsp/packet.h"

#include <string.h>

#define ESCAPE '}'
#define ESCAPE_XOR 0x20
#define RUN '*'
/* In run-length encoding, n further repetitions of a byte are sent as `*` and the character n + RUN_BASE. */
#define RUN_BASE 29

static const char digits[] = "0123456789abcdef";

static int hex_digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

int rsp_from_hex(const uint8_t *hex, size_t n, uint8_t *out)
{
	for (size_t i = 0; i < n; i++) {
		int high = hex_digit(hex[2 * i]), low = hex_digit(hex[2 * i + 1]);

		if (high < 0 || low < 0)
			return -1;
		out[i] = (uint8_t)(high << 4 | low);
	}
	return 0;
}

void rsp_to_hex(const uint8_t *bytes, size_t n, char *out)
{
	for (size_t i = 0; i < n; i++) {
		out[2 * i] = digits[bytes[i] >> 4];
		out[2 * i + 1] = digits[bytes[i] & 15];
	}
}

int rsp_number(const uint8_t **at, const uint8_t *end, uint64_t *out)
{
	const uint8_t *start = *at;
	uint64_t value = 0;

	while (*at < end && hex_digit(**at) >= 0) {
		if (*at - start == 16)
			return -1;
		value = value << 4 | (unsigned)hex_digit(**at);
		++*at;
	}
	*out = value;
	return *at == start ? -1 : 0;
}

unsigned rsp_escape(uint8_t byte, uint8_t out[2])
{
	if (byte == '$' || byte == '#' || byte == ESCAPE || byte == RUN) {
		out[0] = ESCAPE;
		out[1] = byte ^ ESCAPE_XOR;
		return 2;
	}
	out[0] = byte;
	return 1;
}

/* Repeat the last decoded byte. `count` is the character after the `*`: the number of repetitions plus RUN_BASE. */
static int expand_run(uint8_t count, uint8_t *out, size_t *len)
{
	unsigned times = count - RUN_BASE;

	if (count <= RUN_BASE || count > 126 || *len == 0 || times > RSP_PACKET_MAX - *len)
		return -1;
	memset(out + *len, out[*len - 1], times);
	*len += times;
	return 0;
}

static int decode(const uint8_t *in, size_t n, uint8_t *out, size_t *len)
{
	*len = 0;
	for (size_t i = 0; i < n; i++) {
		if (in[i] == RUN) {
			if (++i == n || expand_run(in[i], out, len))
				return -1;
			continue;
		}
		if (*len == RSP_PACKET_MAX || (in[i] == ESCAPE && i + 1 == n))
			return -1;
		out[(*len)++] = in[i] == ESCAPE ? in[++i] ^ ESCAPE_XOR : in[i];
	}
	return 0;
}

static bool sum_is_right(const uint8_t *payload, size_t n, const uint8_t *hex)
{
	uint8_t sum = 0, want;

	for (size_t i = 0; i < n; i++)
		sum += payload[i];
	return rsp_from_hex(hex, 1, &want) == 0 && want == sum;
}

/* Scan the packet (`$`) or notification (`%`) that begins at bytes[*used]. */
static enum rsp_token scan_packet(const uint8_t *bytes, size_t len, size_t *used, uint8_t *out, size_t *out_len)
{
	const uint8_t *start = bytes + *used + 1, *hash = memchr(start, '#', len - *used - 1);
	size_t n;

	if (!hash)
		return len - *used > RSP_PACKET_MAX ? RSP_HOSTILE : RSP_NOTHING;
	if ((size_t)(bytes + len - hash) < 3)
		return RSP_NOTHING;
	n = (size_t)(hash - start);
	if (n > RSP_PACKET_MAX)
		return RSP_HOSTILE;
	*used += n + 4;
	return sum_is_right(start, n, hash + 1) && decode(start, n, out, out_len) == 0 ? RSP_PACKET : RSP_DAMAGED;
}

enum rsp_token rsp_scan(const uint8_t *bytes, size_t len, size_t *used, uint8_t *out, size_t *out_len)
{
	enum rsp_token token;
	bool notification;

	*used = 0;
	while (*used < len) {
		switch (bytes[*used]) {
		case '+':
			++*used;
			return RSP_ACK;
		case '-':
			++*used;
			return RSP_NAK;
		case '$':
		case '%':
			notification = bytes[*used] == '%';
			token = scan_packet(bytes, len, used, out, out_len);
			if (token == RSP_NOTHING || token == RSP_HOSTILE || !notification)
				return token;
			break; /* The client did not request notifications, so it drops them. */
		default:
			++*used;
		}
	}
	return RSP_NOTHING;
}

size_t rsp_frame(const char *payload, size_t len, uint8_t *out, size_t size)
{
	uint8_t sum = 0;

	if (size < 4 || len > size - 4)
		return 0;
	out[0] = '$';
	for (size_t i = 0; i < len; i++) {
		out[1 + i] = (uint8_t)payload[i];
		sum += (uint8_t)payload[i];
	}
	out[len + 1] = '#';
	rsp_to_hex(&sum, 1, (char *)out + len + 2);
	return len + 4;
}
