/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Computes the Internet checksum (RFC 1071), as IPv4, TCP and UDP use it. */
#ifndef OUTRIDER_VMM_NET_CHECKSUM_H
#define OUTRIDER_VMM_NET_CHECKSUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Returns `sum` plus the `len` bytes at `data`, added in one's complement as 16-bit numbers in network byte order. If `len` is
 * odd, the last byte is followed by a 0. `sum` is 0, or the result of an earlier call for an even number of bytes.
 */
uint16_t net_sum(const void *data, size_t len, uint16_t sum);

/*
 * Complete a checksum, as VIRTIO_NET_HDR_F_NEEDS_CSUM asks for (virtio 1.2, section 5.1.6.2.1): sum the frame from `start` to
 * its end, and store the complement at start + offset, where the driver has stored the sum of the pseudo header. Returns false,
 * with nothing changed, if the checksum's place is not in the frame.
 */
bool net_complete_checksum(uint8_t *frame, size_t len, size_t start, size_t offset);

#endif
