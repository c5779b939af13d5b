/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames of a guest to the network process (hv/vmm/net/slirp.c with libslirp itself), and peers that answer. No packet leaves
 * the target: the functions by which libslirp makes connections are replaced, and each socket is an end of a pair whose other
 * end is the peer. Steps: the low three bits of a byte say what, and two more bytes are a length.
 */
#include <endian.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "hv/vmm/net/checksum.h"
#include "hv/vmm/net/slirp.h"
#include "tests/fuzz/fuzz.h"

/*
 * libslirp 4.7 loses a buffer of 1640 bytes for some TCP segments of no connection. The process has a limit on its memory
 * (hv/vmm/net/process.c). Nothing of Outrider calls g_malloc().
 */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:g_malloc";
}

#define PEERS_MAX 64

static struct {
	int peer[PEERS_MAX]; /* the other ends of libslirp's sockets; -1: it has hung up */
	unsigned peers;
	bool full;
} world;

/* ---- in place of the C library's ---- */

int socket(int domain, int type, int protocol)
{
	int ends[2];

	(void)protocol;
	if ((domain != AF_INET && domain != AF_INET6) || world.peers == PEERS_MAX) {
		errno = EMFILE;
		return -1;
	}
	if (socketpair(AF_UNIX, (type & SOCK_STREAM ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
		return -1;
	world.peer[world.peers++] = ends[1];
	return ends[0];
}

int connect(int fd, const struct sockaddr *address, socklen_t len)
{
	(void)fd;
	(void)address;
	(void)len;
	/* Half of them take their time. */
	if (world.peers % 2) {
		errno = EINPROGRESS;
		return -1;
	}
	return 0;
}

int bind(int fd, const struct sockaddr *address, socklen_t len)
{
	(void)fd;
	(void)address;
	(void)len;
	return 0;
}

int listen(int fd, int backlog)
{
	(void)fd;
	(void)backlog;
	return 0;
}

static void fill_address(struct sockaddr *address, socklen_t *len)
{
	const struct sockaddr_in in = {
		.sin_family = AF_INET, .sin_port = htobe16(7777), .sin_addr.s_addr = htobe32(0xc0000201)};

	if (!address || !len)
		return;
	memcpy(address, &in, *len < sizeof(in) ? *len : sizeof(in));
	*len = sizeof(in);
}

int accept(int fd, struct sockaddr *restrict address, socklen_t *restrict len)
{
	(void)fd;
	fill_address(address, len);
	return socket(AF_INET, SOCK_STREAM, 0);
}

int getsockname(int fd, struct sockaddr *restrict address, socklen_t *restrict len)
{
	(void)fd;
	fill_address(address, len);
	return 0;
}

int getpeername(int fd, struct sockaddr *restrict address, socklen_t *restrict len)
{
	(void)fd;
	fill_address(address, len);
	return 0;
}

int setsockopt(int fd, int level, int option, const void *value, socklen_t len)
{
	(void)fd;
	(void)level;
	(void)option;
	(void)value;
	(void)len;
	return 0;
}

ssize_t sendto(int fd, const void *bytes, size_t size, int flags, const struct sockaddr *address, socklen_t len)
{
	(void)address;
	(void)len;
	return send(fd, bytes, size, flags | MSG_NOSIGNAL);
}

ssize_t recvfrom(int fd, void *restrict bytes, size_t size, int flags, struct sockaddr *restrict address,
		 socklen_t *restrict len)
{
	fill_address(address, len);
	return recv(fd, bytes, size, flags);
}

/* ---- the guest ---- */

static bool receive(void *ctx, const struct virtio_net_hdr_v1 *hdr, const void *frame, size_t len)
{
	static uint8_t copy[NET_FRAME_MAX];

	(void)ctx;
	(void)hdr;
	fuzz_require(len >= NET_FRAME_MIN && len <= NET_FRAME_MAX);
	memcpy(copy, frame, len);
	return !world.full;
}

static void ignore(void *ctx)
{
	(void)ctx;
}

static void put16(uint8_t *at, uint16_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

/* Correct the checksums of an IPv4 frame and of its TCP, UDP or ICMP packet: a fuzzer does not find right ones. */
static void complete(uint8_t *frame, size_t len)
{
	size_t header = len > 14 ? (size_t)(frame[14] & 15) * 4 : 0, at;
	uint8_t protocol;

	if (len < 42 || frame[12] != 8 || frame[13] != 0 || header < 20 || len < 14 + header + 20)
		return;
	put16(frame + 16, (uint16_t)(len - 14));
	put16(frame + 24, 0);
	put16(frame + 24, (uint16_t)~net_sum(frame + 14, header, 0));
	protocol = frame[23];
	at = protocol == IPPROTO_TCP ? 16 : protocol == IPPROTO_UDP ? 6 : protocol == IPPROTO_ICMP ? 2 : 0;
	if (!at)
		return;
	if (protocol == IPPROTO_UDP)
		put16(frame + 14 + header + 4, (uint16_t)(len - 14 - header));
	put16(frame + 14 + header + at, 0);
	put16(frame + 14 + header + at,
	      (uint16_t)~net_sum(
		      frame + 14 + header, len - 14 - header,
		      protocol == IPPROTO_ICMP ? 0 : net_sum(frame + 26, 8, (uint16_t)(protocol + (len - 14 - header)))));
}

static void send_frame(struct net_slirp *s, const uint8_t *data, size_t len, bool proper)
{
	/* In a room of its own length, so that a byte beyond its end is noticed. */
	size_t room = len < NET_SLIRP_ROOM ? NET_SLIRP_ROOM : len;
	const struct virtio_net_hdr_v1 hdr = {0};
	uint8_t *frame;

	if (len < NET_FRAME_MIN || len > NET_FRAME_MAX)
		return;
	frame = malloc(room);
	fuzz_require(frame);
	memcpy(frame, data, len);
	if (proper)
		complete(frame, len);
	net_slirp_send(s, &hdr, frame, len);
	net_slirp_sent(s);
	free(frame);
}

static void step(struct net_slirp *s, unsigned what, const uint8_t *data, size_t len)
{
	static uint8_t rest[65536];
	int *peer = world.peers ? &world.peer[len % world.peers] : NULL;

	switch (what) {
	case 0:
	case 1:
		send_frame(s, data, len, what == 0);
		break;
	case 2: /* a peer sends */
		if (peer && *peer >= 0)
			(void)!send(*peer, data, len, MSG_DONTWAIT | MSG_NOSIGNAL);
		break;
	case 3: /* a peer takes what was sent */
		if (peer && *peer >= 0)
			(void)!recv(*peer, rest, sizeof(rest), MSG_DONTWAIT);
		break;
	case 4: /* a peer hangs up */
		if (peer && *peer >= 0) {
			close(*peer);
			*peer = -1;
		}
		break;
	case 5:
		world.full = !world.full;
		break;
	case 6:
		net_slirp_resume(s);
		break;
	default:
		net_slirp_start(s, NET_SLIRP_OFFLOADS);
	}
	if (net_slirp_fd(s) >= 0)
		net_slirp_serve(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct net_peer peer = {.receive = receive, .received = ignore};
	struct net_slirp *s = net_slirp_new(&(struct vmm_net){.kind = VMM_NET_USER}, &peer, NULL);

	fuzz_require(s);
	signal(SIGPIPE, SIG_IGN); /* as in the network process */
	net_slirp_start(s, NET_SLIRP_OFFLOADS);
	for (size_t at = 0; size - at >= 3;) {
		size_t len = (size_t)(data[at + 1] << 8 | data[at + 2]);
		unsigned what = data[at] & 7;

		at += 3;
		len = len < size - at ? len : size - at;
		step(s, what, data + at, len);
		at += what < 3 ? len : 0;
	}
	net_slirp_free(s);
	for (unsigned i = 0; i < world.peers; i++)
		if (world.peer[i] >= 0)
			close(world.peer[i]);
	memset(&world, 0, sizeof(world));
	return 0;
}
