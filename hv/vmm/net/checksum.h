/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The Internet checksum (RFC 1071), as IPv4, TCP and UDP use it. */
#ifndef OUTRIDER_VMM_NET_CHECKSUM_H
#define OUTRIDER_VMM_NET_CHECKSUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The sum in one's complement of `len` bytes at `data` taken as 16-bit numbers of network byte order, added to `sum`. An odd
 * last byte counts as if a 0 followed. `sum` is 0 or what an earlier call returned for an even number of bytes.
 */
uint16_t net_sum(const void *data, size_t len, uint16_t sum);

/*
 * Do what VIRTIO_NET_HDR_F_NEEDS_CSUM asks for (virtio 1.2, section 5.1.6.2.1): sum the frame from `start` to its end, and put
 * the complement at start + offset, where the sum of the pseudo header stands already. Returns false, with nothing changed,
 * when the checksum's place is not in the frame.
 */
bool net_complete_checksum(uint8_t *frame, size_t len, size_t start, size_t offset);

#endif
