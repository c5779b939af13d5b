/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets of the GDB remote serial protocol as bytes (GDB manual, appendix E.1): `$payload#checksum`, escapes, run lengths, and
 * hexadecimal numbers. These are pure functions over buffers. Input comes from the peer, so every length in it is checked.
 */
#ifndef OUTRIDER_RSP_PACKET_H
#define OUTRIDER_RSP_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RSP_PACKET_MAX 65536u /* The most bytes in a payload, with its escapes and without. */

enum rsp_token {
	RSP_NOTHING, /* More bytes are needed. */
	RSP_ACK,     /* '+': the peer has received the last packet. */
	RSP_NAK,     /* '-': the last packet has reached the peer damaged. */
	RSP_PACKET,  /* A packet. */
	RSP_DAMAGED, /* A packet with a wrong checksum or encoding. The peer is to be asked for it again. */
	RSP_HOSTILE, /* A packet that is longer than any may be. */
};

/*
 * Read the next token at the start of the `len` bytes. `used` is set to how many bytes it takes, with the noise and the
 * notifications before it. Those bytes are to be dropped, also when the function returns RSP_NOTHING. For RSP_PACKET the
 * decoded payload is in `out`, which has room for RSP_PACKET_MAX bytes, and `out_len` is its length.
 */
enum rsp_token rsp_scan(const uint8_t *bytes, size_t len, size_t *used, uint8_t *out, size_t *out_len);

/*
 * Frame `payload` as it is: no byte of it may need an escape. Returns how many bytes were written, which is len + 4, or 0 when
 * that is more than `size`.
 */
size_t rsp_frame(const char *payload, size_t len, uint8_t *out, size_t size);

/* Escape a byte of binary data (E.1, "Binary Data"). Returns how many bytes were written, 1 or 2. */
unsigned rsp_escape(uint8_t byte, uint8_t out[2]);

/* Read `n` bytes from 2 * n hexadecimal digits. Returns 0, or -1 when something else is among them. */
int rsp_from_hex(const uint8_t *hex, size_t n, uint8_t *out);

/* Write `n` bytes as 2 * n hexadecimal digits, without a NUL. */
void rsp_to_hex(const uint8_t *bytes, size_t n, char *out);

/*
 * Read a hexadecimal number of at most 16 digits at *at, which lies before `end`, and move *at behind it. Returns 0, or -1 when
 * there is no digit or there are too many.
 */
int rsp_number(const uint8_t **at, const uint8_t *end, uint64_t *out);

#endif
