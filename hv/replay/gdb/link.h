/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets from and to gdb, on a connection that nobody trusts. One thread. */
#ifndef OUTRIDER_REPLAY_GDB_LINK_H
#define OUTRIDER_REPLAY_GDB_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/rsp/packet.h"

/* The most bytes in the payload of a reply, with its escapes. */
#define LINK_REPLY_MAX 16384u

struct link {
	int fd;
	/* Readable: the connection is to be given up. -1: there is none. */
	int stop_fd;
	/* The client has gone away, or is of no use. Nothing is received or sent any more. */
	bool gone;
	/* Neither side acknowledges packets. */
	bool no_ack;
	/* How often in a row the client has refused the last packet as damaged. */
	unsigned naks;
	/* Bytes that were received and not looked at yet. */
	uint8_t in[2 * RSP_PACKET_MAX];
	size_t in_len;
	/* The payload of the last packet, with a NUL behind it. */
	uint8_t payload[RSP_PACKET_MAX + 1];
	size_t payload_len;
	/* The last packet that was sent, framed. */
	uint8_t out[LINK_REPLY_MAX + 4];
	size_t out_len;
};

/* Wait for the next packet. Returns whether there is one; if not, the link is gone. */
bool link_receive(struct link *l);

/* Send a payload of at most LINK_REPLY_MAX bytes in which every byte that needs an escape has one. */
void link_send(struct link *l, const char *payload, size_t len);

/*
 * While the machine runs: whether the client wants it to stop, by the byte 0x03, or because the link is gone. Does not wait.
 * Other packets stay where they are.
 */
bool link_interrupted(struct link *l);

#endif
