/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stream connections between programs in the guest and programs of the host, without the queues: packets of the guest go in,
 * packets for the guest come out.
 *
 * Programs of the host use Unix sockets, as Firecracker has it. To call port P of the guest, a program connects to the device's
 * socket PATH and writes "CONNECT P\n"; once the guest has accepted, it reads "OK H\n", where H is the host's port of the
 * connection. Then both sides talk. When the guest does not accept, the socket is closed. To be called on port P of the host, a
 * program listens on the socket PATH_P.
 *
 * Flow control (virtio 1.2, section 5.10.6.3): at most VSOCK_BUFFER bytes of each connection are held for a program of the host
 * that does not read, and no byte is sent to the guest beyond the room that the guest has announced. A guest that does not
 * keep to that loses the connection.
 *
 * The guest is not trusted. What it must not send is answered with VSOCK_OP_RST. The number of connections and the number of
 * answers that wait are bounded.
 *
 * Threads: all functions are called on the thread of the worker, or while that worker is paused or does not run.
 */
#ifndef OUTRIDER_VMM_DEV_VSOCK_STREAMS_H
#define OUTRIDER_VMM_DEV_VSOCK_STREAMS_H

#include <stdbool.h>
#include <stddef.h>

#include "hv/base/err.h"
#include "hv/vmm/dev/vsock_packet.h"
#include "hv/vmm/virtio/worker.h"

#define VSOCK_BUFFER 65536u /* bytes */
#define VSOCK_CONNECTIONS 128

struct vsock_streams;

/* Called on the worker's thread when there may be a packet for the guest that was not there before. */
struct vsock_wake {
	void (*ready)(void *ctx);
	void *ctx;
};

/*
 * Listen on the Unix socket `path`, which only the calling user can connect to. The socket of a machine that has died is
 * replaced. `worker` must outlive the streams. Returns NULL with `err` set: EXIT_INPUT when the path is too long, is in use or
 * cannot be made.
 */
struct vsock_streams *vsock_streams_new(struct worker *worker, uint32_t guest_cid, const char *path,
					const struct vsock_wake *wake, struct err *err);

/* Close all connections, and remove the socket. NULL is allowed. */
void vsock_streams_free(struct vsock_streams *s);

/* Close all connections, without telling the guest. */
void vsock_streams_reset(struct vsock_streams *s);

/* Whether so many answers wait for the guest that no packet of the guest can be taken now. */
bool vsock_streams_full(const struct vsock_streams *s);

/* Take a packet of the guest with `len` bytes of payload, which are fewer than header->len where the packet was too short. */
void vsock_streams_take(struct vsock_streams *s, const struct vsock_header *header, const void *payload, size_t len);

/* Whether vsock_streams_give() may have a packet. */
bool vsock_streams_due(const struct vsock_streams *s);

/*
 * Make the next packet for the guest, with at most `room` bytes of payload. Returns false when there is none. The connections
 * take turns.
 */
bool vsock_streams_give(struct vsock_streams *s, struct vsock_header *header, void *payload, size_t room);

#endif
