/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets of the GDB remote serial protocol as bytes (GDB manual, appendix E.1): `$payload#checksum`, escapes, run lengths,
 * hexadecimal. Pure functions over buffers. What comes in is the peer's: every length is checked.
 */
#ifndef OUTRIDER_RSP_PACKET_H
#define OUTRIDER_RSP_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RSP_PACKET_MAX 65536u /* of a payload, escaped or not */

enum rsp_token {
	RSP_NOTHING, /* more bytes are needed */
	RSP_ACK,
	RSP_NAK,
	RSP_PACKET,
	RSP_DAMAGED, /* a wrong checksum or encoding: to be asked for again */
	RSP_HOSTILE, /* longer than any packet may be */
};

/*
 * The next token at the start of bytes[0..len). *used: how many bytes it takes, noise and notifications before it included;
 * they are to be dropped, with RSP_NOTHING too. With RSP_PACKET the decoded payload is in out[0..*out_len), RSP_PACKET_MAX
 * bytes.
 */
enum rsp_token rsp_scan(const uint8_t *bytes, size_t len, size_t *used, uint8_t *out, size_t *out_len);

/* Frame `payload` as it is (no byte of it needs an escape). Returns the length, at most len + 4, or 0: more than `size`. */
size_t rsp_frame(const char *payload, size_t len, uint8_t *out, size_t size);

/* Escape a binary byte (E.1, "Binary Data"): 1 or 2 bytes to out. */
unsigned rsp_escape(uint8_t byte, uint8_t out[2]);

/* `n` bytes from 2 * n hexadecimal digits: 0, or -1 when something else is among them. */
int rsp_from_hex(const uint8_t *hex, size_t n, uint8_t *out);
void rsp_to_hex(const uint8_t *bytes, size_t n, char *out); /* 2 * n digits, no NUL */

/* A hexadecimal number of at most 16 digits at *at, up to `end`; moves *at behind it. 0, or -1: no digit, or too many. */
int rsp_number(const uint8_t **at, const uint8_t *end, uint64_t *out);

#endif
