/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The header of a packet of the virtio socket device, as in guest memory (virtio 1.2, section 5.10.6). */
#ifndef OUTRIDER_VMM_VSOCK_PACKET_H
#define OUTRIDER_VMM_VSOCK_PACKET_H

#include <stdint.h>

#define VSOCK_HOST_CID 2 /* the host's context id (virtio 1.2, 5.10.4) */

enum vsock_type { VSOCK_STREAM = 1 };

enum vsock_op {
	VSOCK_OP_INVALID,
	VSOCK_OP_REQUEST,
	VSOCK_OP_RESPONSE,
	VSOCK_OP_RST,
	VSOCK_OP_SHUTDOWN,
	VSOCK_OP_RW,
	VSOCK_OP_CREDIT_UPDATE,
	VSOCK_OP_CREDIT_REQUEST,
};

/* Flags of VSOCK_OP_SHUTDOWN: the sender of the packet will receive no more data, or send no more data. */
enum vsock_shutdown { VSOCK_NO_RECEIVE = 1, VSOCK_NO_SEND = 2, VSOCK_NEITHER = 3 };

/* All fields are little-endian, as x86 is. `len` bytes of payload follow. */
struct vsock_header {
	uint64_t src_cid, dst_cid;
	uint32_t src_port, dst_port;
	uint32_t len;	    /* bytes of payload */
	uint16_t type;	    /* enum vsock_type */
	uint16_t op;	    /* enum vsock_op */
	uint32_t flags;	    /* of VSOCK_OP_SHUTDOWN */
	uint32_t buf_alloc; /* the sender's total buffer space for this connection, in bytes */
	uint32_t fwd_cnt;   /* bytes of this connection that the sender has removed from its buffer so far; wraps */
} __attribute__((packed));

_Static_assert(sizeof(struct vsock_header) == 44, "virtio 1.2, section 5.10.6");

#endif
