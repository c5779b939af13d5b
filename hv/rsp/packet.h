/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Encodes and decodes packets of the GDB remote serial protocol (GDB manual, appendix E.1): `$payload#checksum`, escapes, run
 * lengths, and hexadecimal numbers. Pure functions over buffers. Every length in the input is checked, because the peer is not
 * trusted.
 */
#ifndef OUTRIDER_RSP_PACKET_H
#define OUTRIDER_RSP_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RSP_PACKET_MAX 65536u /* Maximum payload in bytes, both with and without its escapes. */

enum rsp_token {
	RSP_NOTHING, /* More bytes are needed. */
	RSP_ACK,     /* '+': the peer has received the last packet. */
	RSP_NAK,     /* '-': the last packet arrived at the peer damaged. */
	RSP_PACKET,  /* A packet. */
	RSP_DAMAGED, /* A packet with a wrong checksum or encoding. Ask the peer for it again. */
	RSP_HOSTILE, /* A packet longer than RSP_PACKET_MAX. */
};

/*
 * Read the next token (an acknowledgement or a packet) in the `len` bytes. *used becomes the number of bytes of the token, and
 * of the notifications and meaningless bytes before it. The caller must drop these bytes, even after RSP_NOTHING. For
 * RSP_PACKET the decoded payload of *out_len bytes is in `out`, which has room for RSP_PACKET_MAX bytes.
 */
enum rsp_token rsp_scan(const uint8_t *bytes, size_t len, size_t *used, uint8_t *out, size_t *out_len);

/*
 * Frame `payload`, in which no byte may need an escape. Writes len + 4 bytes, and returns this number. Returns 0, and writes
 * nothing, if len + 4 exceeds `size`.
 */
size_t rsp_frame(const char *payload, size_t len, uint8_t *out, size_t size);

/* Escape a byte of binary data (E.1, "Binary Data"). Returns the number of bytes written, 1 or 2. */
unsigned rsp_escape(uint8_t byte, uint8_t out[2]);

/* Read `n` bytes from 2 * n hexadecimal digits. Returns 0, or -1 when there is any other character. */
int rsp_from_hex(const uint8_t *hex, size_t n, uint8_t *out);

/* Write `n` bytes as 2 * n hexadecimal digits, without a NUL. */
void rsp_to_hex(const uint8_t *bytes, size_t n, char *out);

/*
 * Read a hexadecimal number of at most 16 digits at *at, before `end`, and advance *at past it. Returns 0, or -1 if *at has no
 * digit or more than 16 digits.
 */
int rsp_number(const uint8_t **at, const uint8_t *end, uint64_t *out);

#endif
