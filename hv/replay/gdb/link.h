/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets from and to gdb, over a connection that is not trusted. Used by one thread. */
#ifndef OUTRIDER_REPLAY_GDB_LINK_H
#define OUTRIDER_REPLAY_GDB_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/rsp/packet.h"

/* Maximum number of bytes in the payload of a reply, including escapes. */
#define LINK_REPLY_MAX 16384u

struct link {
	int fd;
	/* The connection ends when this file descriptor is readable. -1: there is none. */
	int stop_fd;
	/* The client has disconnected, or sent invalid data. Nothing is received or sent any more. */
	bool gone;
	/* Neither side acknowledges packets (QStartNoAckMode). */
	bool no_ack;
	/* Number of times in a row that the client has refused the last packet as damaged. */
	unsigned naks;
	/* Bytes that were received and not handled yet. */
	uint8_t in[2 * RSP_PACKET_MAX];
	size_t in_len;
	/* The payload of the last packet, followed by a NUL. */
	uint8_t payload[RSP_PACKET_MAX + 1];
	size_t payload_len;
	/* The last packet that was sent, framed. */
	uint8_t out[LINK_REPLY_MAX + 4];
	size_t out_len;
};

/* Wait for the next packet. Returns false when the connection has ended. */
bool link_receive(struct link *l);

/* Send a payload of at most LINK_REPLY_MAX bytes, in which the caller has escaped all bytes that need an escape. */
void link_send(struct link *l, const char *payload, size_t len);

/*
 * Returns true if the client has sent the byte 0x03, which asks for the running machine to stop, or if the connection has
 * ended. Does not block. Other packets stay in the buffer.
 */
bool link_interrupted(struct link *l);

#endif
