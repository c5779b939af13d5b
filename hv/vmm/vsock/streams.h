/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stream connections between programs in the guest and programs of the host. The functions take packets from the guest and make
 * packets for the guest; virtio_vsock.c moves them through the queues.
 *
 * Programs of the host use Unix sockets, with Firecracker's protocol. To connect to port P of the guest, a program connects to
 * the device's socket PATH and writes "CONNECT P\n". When the guest has accepted, the program reads "OK H\n", where H is the
 * host's port of the connection; then both sides exchange data. If the guest does not accept, the device closes the socket. To
 * accept connections to port P of the host, a program listens on the socket PATH_P.
 *
 * Flow control (virtio 1.2, section 5.10.6.3): for each connection, the device holds at most VSOCK_BUFFER bytes for which the
 * socket of the host's program has no room, and sends the guest no more bytes than the guest's announced buffer space. A guest
 * that exceeds its credit loses the connection.
 *
 * The guest is not trusted. The device replies to packets that are not allowed with VSOCK_OP_RST. The number of connections and
 * the number of waiting replies are limited.
 *
 * Threads: all functions are called on the worker's thread, or while that worker is paused or not running.
 */
#ifndef OUTRIDER_VMM_VSOCK_STREAMS_H
#define OUTRIDER_VMM_VSOCK_STREAMS_H

#include <stdbool.h>
#include <stddef.h>

#include "hv/base/err.h"
#include "hv/vmm/virtio/worker.h"
#include "hv/vmm/vsock/packet.h"

#define VSOCK_BUFFER 65536u /* bytes */
#define VSOCK_CONNECTIONS 128

struct vsock_streams;

/* Called on the worker's thread when a new packet for the guest may be available. */
struct vsock_wake {
	void (*ready)(void *ctx);
	void *ctx;
};

/*
 * Listen on the Unix socket `path`, to which only the calling user can connect. Replaces a socket left over from a machine that
 * has died. `worker` must outlive the streams. Returns NULL with `err` set on failure: EXIT_INPUT if the path is too long, in
 * use, or cannot be created.
 */
struct vsock_streams *vsock_streams_new(struct worker *worker, uint32_t guest_cid, const char *path,
					const struct vsock_wake *wake, struct err *err);

/* Close all connections, and remove the socket. NULL is allowed. */
void vsock_streams_free(struct vsock_streams *s);

/* Close all connections, without sending the guest an RST. */
void vsock_streams_reset(struct vsock_streams *s);

/* Returns true if the device cannot take a packet from the guest now, because too many replies wait for the guest. */
bool vsock_streams_full(const struct vsock_streams *s);

/*
 * Handle a packet from the guest. `len` is the number of bytes at `payload`, which is less than header->len if the packet was
 * truncated.
 */
void vsock_streams_take(struct vsock_streams *s, const struct vsock_header *header, const void *payload, size_t len);

/* Returns true if vsock_streams_give() may return a packet. */
bool vsock_streams_due(const struct vsock_streams *s);

/*
 * Make the next packet for the guest, with at most `room` bytes of payload. Returns false if there is no packet to send. The
 * connections take turns.
 */
bool vsock_streams_give(struct vsock_streams *s, struct vsock_header *header, void *payload, size_t room);

#endif
