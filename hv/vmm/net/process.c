// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The network process: a helper process in which libslirp (slirp.h) makes the guest's connections. Frames are exchanged with
 * the run, the process of the guest, as messages on a socket (wire.h).
 */
#include "hv/vmm/net/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "hv/sandbox/sandbox.h"
#include "hv/vmm/net/slirp.h"
#include "hv/vmm/net/wire.h"

/*
 * Limit of the process's memory in bytes: twice the size of the buffers of all connections (NET_SOCKETS_DESCRIPTORS, 256 KiB
 * each in libslirp). libslirp ends the process if an allocation fails.
 */
#define MEMORY_MAX (512u << 20)

#define BURST 64 /* messages to read from the run before libslirp's sockets are served */

struct process {
	int socket;
	uint32_t generation;
	struct net_slirp *slirp;
	bool full; /* the socket to the run is full */
	union {
		struct net_header header;
		struct net_start start;
		/* one byte more than the longest message, so that a longer message is detected */
		uint8_t bytes[NET_MESSAGE_MAX + 1];
	} message;
};

/* ---- to the run: struct net_peer ---- */

static bool send_frame(void *ctx, const struct virtio_net_hdr_v1 *hdr, const void *frame, size_t len)
{
	struct process *p = ctx;
	struct net_header header = {.kind = NET_MESSAGE_FRAME, .generation = p->generation, .offload = *hdr};
	const struct iovec parts[] = {{&header, sizeof(header)}, {(void *)frame, len}};

	if (!p->full && writev(p->socket, parts, 2) >= 0)
		return true;
	p->full = p->full || errno == EAGAIN;
	/*
	 * Drop the frame on an error other than a full socket, because trying again would not help. Either the run has ended,
	 * which the next read detects, or the frame is too long for the socket and can never be sent.
	 */
	return !p->full;
}

static void sent(void *ctx)
{
	(void)ctx;
}

/* ---- from the run ---- */

/* Handle a message of `len` bytes. Returns false if it is malformed. */
static bool take(struct process *p, size_t len)
{
	const struct net_header *header = &p->message.header;
	size_t frame = len - sizeof(*header);

	if (len == sizeof(p->message.start) && header->kind == NET_MESSAGE_START) {
		p->generation = header->generation;
		net_slirp_start(p->slirp, p->message.start.features);
		return true;
	}
	if (len < sizeof(*header) + NET_FRAME_MIN || len > NET_MESSAGE_MAX || header->kind != NET_MESSAGE_FRAME)
		return false;
	if (header->generation == p->generation)
		net_slirp_send(p->slirp, &header->offload, p->message.bytes + sizeof(*header), frame);
	return true;
}

/* Read and handle up to BURST messages. Returns false if the run has ended or sent a malformed message. */
static bool take_burst(struct process *p)
{
	bool goes_on = true;

	for (unsigned i = 0; i < BURST && goes_on; i++) {
		ssize_t n = read(p->socket, &p->message, sizeof(p->message));

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			break;
		goes_on = n > 0 && take(p, (size_t)n);
	}
	net_slirp_sent(p->slirp);
	return goes_on;
}

/* ---- the process ---- */

static int prepare(struct process *p, const struct vmm_net *net, pid_t parent, struct err *err)
{
	/* libslirp reads the host's name server from this file again and again. */
	static const char *const reads[] = {"/etc/resolv.conf"};
	const struct net_peer peer = {.receive = send_frame, .received = sent, .ctx = p};

	/* Open the forwarded ports before the confinement, which drops the privileges that ports below 1024 need. */
	p->slirp = net_slirp_new(net, &peer, err);
	if (!p->slirp || sandbox_network_process(parent, reads, 1, MEMORY_MAX, err) < 0)
		return -1;
	if (fcntl(p->socket, F_SETFL, O_NONBLOCK) < 0)
		return err_set(err, EXIT_INTERNAL, "user-mode networking: fcntl: %s", strerror(errno));
	return 0;
}

static bool answer(int socket, const struct err *err)
{
	struct net_ready ready = {.code = (int32_t)err->code};

	memcpy(ready.text, err->text, sizeof(ready.text));
	return write(socket, &ready, sizeof(ready)) == sizeof(ready);
}

void net_process_serve(void *ctx, pid_t parent, int socket)
{
	static struct process p;
	struct err err = {0};
	bool goes_on;

	p.socket = socket;
	goes_on = prepare(&p, ctx, parent, &err) == 0;
	goes_on = answer(socket, &err) && goes_on;
	while (goes_on) {
		struct pollfd ready[] = {{.fd = socket, .events = (short)(p.full ? POLLIN | POLLOUT : POLLIN)},
					 {.fd = net_slirp_fd(p.slirp), .events = POLLIN}};

		if (poll(ready, 2, -1) < 0)
			continue;
		if (ready[0].revents & POLLOUT) {
			p.full = false;
			net_slirp_resume(p.slirp);
		}
		if (ready[0].revents & ~POLLOUT)
			goes_on = take_burst(&p);
		if (ready[1].revents)
			net_slirp_serve(p.slirp);
	}
	net_slirp_free(p.slirp);
}
