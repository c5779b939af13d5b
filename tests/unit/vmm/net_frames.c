/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/vmm/net_frames.h"

#include <arpa/inet.h>
#include <string.h>

static void put16(uint8_t *at, unsigned value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static void put32(uint8_t *at, uint32_t value)
{
	put16(at, value >> 16);
	put16(at + 2, value & 0xffff);
}

uint16_t frames_sum(const uint8_t *data, size_t len, uint16_t sum)
{
	for (size_t i = 0; i < len; i += 2) {
		uint32_t more = (uint32_t)sum + (unsigned)(data[i] << 8 | (i + 1 < len ? data[i + 1] : 0));

		sum = (uint16_t)((more & 0xffff) + (more >> 16));
	}
	return sum;
}

void frames_ip4(uint8_t *frame, const char *from, const char *to, uint8_t protocol, size_t ip_len)
{
	memcpy(frame, "\x02\x6f\x75\x74\x00\x01\x52\x55\x0a\x00\x02\x02\x08\x00", 14);
	memcpy(frame + 14, "\x45\x00\x00\x00\x00\x00\x00\x00\x40", 9);
	put16(frame + 16, (unsigned)ip_len);
	frame[23] = protocol;
	put16(frame + 24, 0);
	inet_pton(AF_INET, from, frame + 26);
	inet_pton(AF_INET, to, frame + 30);
	put16(frame + 24, (uint16_t)~frames_sum(frame + 14, 20, 0));
}

void frames_ip6(uint8_t *frame, const char *from, const char *to, uint8_t protocol, size_t payload)
{
	memcpy(frame, "\x02\x6f\x75\x74\x00\x01\x52\x55\x0a\x00\x02\x02\x86\xdd", 14);
	memcpy(frame + 14, "\x60\x00\x00\x00", 4);
	put16(frame + 18, (unsigned)payload);
	frame[20] = protocol;
	frame[21] = 64;
	inet_pton(AF_INET6, from, frame + 22);
	inet_pton(AF_INET6, to, frame + 38);
}

size_t frames_udp4(uint8_t *frame, const char *from, const char *to, uint16_t from_port, uint16_t to_port, size_t payload)
{
	frames_ip4(frame, from, to, IPPROTO_UDP, 28 + payload);
	put16(frame + 34, from_port);
	put16(frame + 36, to_port);
	put16(frame + 38, (unsigned)(8 + payload));
	put16(frame + 40, 0); /* no checksum */
	return 42 + payload;
}

/* Return the sum of the pseudo header: addresses, protocol, and length of the segment. */
static uint16_t pseudo_sum(const uint8_t *addresses, size_t len, size_t tcp_len)
{
	uint8_t rest[4] = {0, IPPROTO_TCP};

	put16(rest + 2, (unsigned)tcp_len);
	return frames_sum(rest, 4, frames_sum(addresses, len, 0));
}

static size_t put_segment(uint8_t *frame, size_t at, const struct frames_tcp *t, uint16_t pseudo)
{
	uint8_t *tcp = frame + at;

	memset(tcp, 0, 20);
	put16(tcp, t->port ? t->port : 80);
	put16(tcp + 2, 40000);
	put32(tcp + 4, t->seq);
	put32(tcp + 8, t->ack);
	tcp[12] = 5 << 4;
	tcp[13] = t->flags;
	put16(tcp + 14, t->window);
	for (size_t i = 0; i < t->payload; i++)
		tcp[20 + i] = (uint8_t)((t->from + i) * 31 % 251);
	put16(tcp + 16, (uint16_t)~frames_sum(tcp, 20 + t->payload, pseudo));
	return at + 20 + t->payload;
}

size_t frames_tcp4(uint8_t *frame, const struct frames_tcp *t)
{
	frames_ip4(frame, t->source ? t->source : "192.0.2.1", "10.0.2.15", IPPROTO_TCP, 40 + t->payload);
	return put_segment(frame, 34, t, pseudo_sum(frame + 26, 8, 20 + t->payload));
}

size_t frames_tcp6(uint8_t *frame, const struct frames_tcp *t)
{
	frames_ip6(frame, t->source ? t->source : "2001:db8::1", "fec0::15", IPPROTO_TCP, 20 + t->payload);
	return put_segment(frame, 54, t, pseudo_sum(frame + 22, 32, 20 + t->payload));
}

void frames_put_pseudo_sum(uint8_t *frame, size_t len)
{
	put16(frame + 50, pseudo_sum(frame + 26, 8, len - 34));
}
