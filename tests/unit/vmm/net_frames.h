/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ethernet frames for the tests of the network card. Their code is simple and shares nothing with the code under test. */
#ifndef OUTRIDER_TESTS_NET_FRAMES_H
#define OUTRIDER_TESTS_NET_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FRAMES_SYN 0x02
#define FRAMES_PSH 0x08
#define FRAMES_ACK 0x10

/* The fields of a TCP segment that tests vary. */
struct frames_tcp {
	bool ipv6;
	const char *source; /* address; NULL: 192.0.2.1 or 2001:db8::1 */
	uint16_t port;	    /* source port; 0: 80 */
	uint32_t seq, ack;
	uint16_t window;
	uint8_t flags;
	size_t payload; /* bytes; byte N of the connection is N * 31 modulo 251 */
	size_t from;	/* number of the first byte in the connection */
};

/* Return the sum of the Internet checksum, computed word by word. */
uint16_t frames_sum(const uint8_t *data, size_t len, uint16_t sum);

/* Write the Ethernet and the IP header of a packet. `ip_len` includes the IP header, `payload` does not. */
void frames_ip4(uint8_t *frame, const char *from, const char *to, uint8_t protocol, size_t ip_len);
void frames_ip6(uint8_t *frame, const char *from, const char *to, uint8_t protocol, size_t payload);

/* Write a UDP packet to port `to_port` with the payload at frame + 42. Returns the frame's length. */
size_t frames_udp4(uint8_t *frame, const char *from, const char *to, uint16_t from_port, uint16_t to_port, size_t payload);

/* Write a whole segment with its checksums. Returns the frame's length. */
size_t frames_tcp4(uint8_t *frame, const struct frames_tcp *t);
size_t frames_tcp6(uint8_t *frame, const struct frames_tcp *t);

/* Put the sum of the pseudo header in place of the checksum of a segment from frames_tcp4(), as a driver leaves it. */
void frames_put_pseudo_sum(uint8_t *frame, size_t len);

#endif
