/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * User-mode networking with libslirp itself: the network that the guest sees, connections in both directions, and addresses
 * that the guest cannot reach. The test is the guest and the network process.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hv/sandbox/sandbox.h"
#include "hv/vmm/net/slirp.h"
#include "hv/vmm/net/sockets.h"
#include "tests/unit/vmm/net_frames.h"

/* ---- the guest ---- */

struct guest {
	struct net_slirp *s;
	bool full;		      /* it has no room for a frame */
	unsigned refused;	      /* frames for which it had no room */
	unsigned bursts;	      /* calls of received() */
	unsigned count;		      /* frames that arrived */
	char datagrams[64];	      /* the payloads of UDP packets of one byte */
	struct virtio_net_hdr_v1 hdr; /* of the last frame */
	size_t len;
	uint8_t frame[NET_FRAME_MAX];
};

static bool guest_receive(void *ctx, const struct virtio_net_hdr_v1 *hdr, const void *frame, size_t len)
{
	struct guest *g = ctx;

	assert_in_range(len, NET_FRAME_MIN, NET_FRAME_MAX);
	if (g->full) {
		g->refused++;
		return false;
	}
	g->hdr = *hdr;
	g->len = len;
	memcpy(g->frame, frame, len);
	g->count++;
	/* Use UDP's length: newer versions of libslirp pad a frame to Ethernet's minimum. */
	if (len >= 43 && g->frame[23] == IPPROTO_UDP && g->frame[38] == 0 && g->frame[39] == 9)
		g->datagrams[strlen(g->datagrams)] = (char)g->frame[42];
	return true;
}

static void guest_received(void *ctx)
{
	struct guest *g = ctx;

	g->bursts++;
}

static void send_with(struct guest *g, const struct virtio_net_hdr_v1 *hdr, const uint8_t *frame, size_t len)
{
	static uint8_t copy[NET_FRAME_MAX];

	memcpy(copy, frame, len);
	net_slirp_send(g->s, hdr, copy, len);
	net_slirp_sent(g->s);
}

static void send_plain(struct guest *g, const uint8_t *frame, size_t len)
{
	send_with(g, &(struct virtio_net_hdr_v1){0}, frame, len);
}

#define OFFLOADS                                                                                            \
	(NET_BIT(VIRTIO_NET_F_CSUM) | NET_BIT(VIRTIO_NET_F_GUEST_CSUM) | NET_BIT(VIRTIO_NET_F_GUEST_TSO4) | \
	 NET_BIT(VIRTIO_NET_F_GUEST_TSO6))

static struct guest *guest_with(const struct vmm_net *net, uint64_t features)
{
	struct guest *g = calloc(1, sizeof(*g));
	struct err err = {0};

	assert_non_null(g);
	g->s = net_slirp_new(net, &(struct net_peer){.receive = guest_receive, .received = guest_received, .ctx = g}, &err);
	if (!g->s)
		fail_msg("%s", err.text);
	assert_int_equal(net_slirp_fd(g->s), -1);
	net_slirp_start(g->s, features);
	return g;
}

static struct guest *new_guest(void)
{
	return guest_with(&(struct vmm_net){.kind = VMM_NET_USER}, OFFLOADS);
}

static void free_guest(struct guest *g)
{
	net_slirp_free(g->s);
	free(g);
}

#define PATIENCE_MS 20000 /* many times longer than any wait of these tests */

/* Serve libslirp's sockets once. */
static void serve(struct guest *g)
{
	struct pollfd p = {.fd = net_slirp_fd(g->s), .events = POLLIN};

	assert_int_not_equal(p.fd, -1);
	assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
	net_slirp_serve(g->s);
}

/* Wait for a new frame of the protocol (ARP: 0; otherwise IPv4's number). */
static void await(struct guest *g, unsigned protocol)
{
	unsigned seen = 0;

	for (;;) {
		bool arp = g->len >= 42 && g->frame[12] == 8 && g->frame[13] == 6;
		bool ip = g->len >= 34 && g->frame[12] == 8 && g->frame[13] == 0;

		if (g->count != seen && (protocol ? ip && g->frame[23] == protocol : arp))
			return;
		seen = g->count;
		g->len = 0;
		serve(g);
	}
}

/* Turn the Ethernet addresses into those of a frame from the guest. */
static void from_guest(uint8_t *frame)
{
	memcpy(frame, "\x52\x55\x0a\x00\x02\x02", 6);
	memcpy(frame + 6, "\x02\x6f\x75\x74\x00\x01", 6);
}

/* Tell libslirp, by an ARP request for the gateway, where 10.0.2.15 is. */
static void ask_for_gateway(struct guest *g)
{
	static const uint8_t request[42] = "\xff\xff\xff\xff\xff\xff\x02\x6f\x75\x74\x00\x01\x08\x06\x00\x01\x08\x00\x06\x04"
					   "\x00\x01\x02\x6f\x75\x74\x00\x01"
					   "\x0a\x00\x02\x0f\x00\x00\x00\x00\x00\x00\x0a\x00\x02\x02";

	send_plain(g, request, sizeof(request));
}

static void say_hello(struct guest *g)
{
	g->len = 0;
	ask_for_gateway(g);
	assert_true(g->len >= 42);
	assert_memory_equal(g->frame, "\x02\x6f\x75\x74\x00\x01", 6); /* to us */
	assert_memory_equal(g->frame + 12, "\x08\x06", 2);	      /* ARP */
	assert_memory_equal(g->frame + 20, "\x00\x02", 2);	      /* a reply */
	assert_memory_equal(g->frame + 28, "\x0a\0\x02\x02", 4);      /* the gateway is at */
	assert_memory_equal(g->frame + 22, "\x52\x55\x0a\0\x02\x02", 6);
}

static void test_arp(void **state)
{
	struct guest *g = new_guest();

	(void)state;
	say_hello(g);
	assert_int_equal(g->bursts, 1);
	free_guest(g);
}

/* DHCPDISCOVER, and what the offer says: address, netmask, router, DNS server (RFC 2131, RFC 2132). */
static void test_dhcp(void **state)
{
	struct guest *g = new_guest();
	uint8_t frame[600] = {0}, *bootp = frame + 42, *option;
	size_t len = frames_udp4(frame, "0.0.0.0", "255.255.255.255", 68, 67, 300);
	bool mask = false, router = false, dns = false;

	(void)state;
	from_guest(frame);
	memset(frame, 0xff, 6);
	memcpy(bootp, "\x01\x01\x06\x00\x12\x34\x56\x78", 8);
	memcpy(bootp + 28, frame + 6, 6);
	memcpy(bootp + 236, "\x63\x82\x53\x63\x35\x01\x01\xff", 8);
	send_plain(g, frame, len);
	assert_true(g->len > 42 + 240);
	bootp = g->frame + 42;
	assert_memory_equal(bootp, "\x02\x01\x06\x00\x12\x34\x56\x78", 8);
	assert_memory_equal(bootp + 16, "\x0a\0\x02\x0f", 4);
	for (option = bootp + 240; option < g->frame + g->len && *option != 0xff; option += option[1] + 2) {
		mask |= option[0] == 1 && memcmp(option + 2, "\xff\xff\xff\0", 4) == 0;
		router |= option[0] == 3 && memcmp(option + 2, "\x0a\0\x02\x02", 4) == 0;
		dns |= option[0] == 6 && memcmp(option + 2, "\x0a\0\x02\x03", 4) == 0;
	}
	assert_true(mask && router && dns);
	free_guest(g);
}

/* libslirp answers an IPv6 router solicitation (RFC 4861) with the prefix fec0::/64. */
static void test_router_solicitation(void **state)
{
	struct guest *g = new_guest();
	uint8_t frame[62] = {0};

	(void)state;
	frames_ip6(frame, "fe80::15", "ff02::2", IPPROTO_ICMPV6, 8);
	from_guest(frame);
	frame[21] = 255; /* the hop limit */
	frame[54] = 133;
	*(uint16_t *)(frame + 56) = htons((uint16_t)~frames_sum(frame + 54, 8, frames_sum(frame + 22, 32, IPPROTO_ICMPV6 + 8)));
	send_plain(g, frame, sizeof(frame));
	while (!(g->len > 54 && g->frame[20] == IPPROTO_ICMPV6 && g->frame[54] == 134))
		serve(g);
	assert_non_null(memmem(g->frame + 54, g->len - 54, "\xfe\xc0\0\0\0\0\0\0", 8));
	free_guest(g);
}

/* ---- connections ---- */

/* Listen at the first address of this host that is not loopback. Returns the socket, or -1 when the host has none. */
static int listen_outside(struct sockaddr_in *at)
{
	socklen_t len = sizeof(*at);
	struct sockaddr_in far = {.sin_family = AF_INET, .sin_port = htons(9)};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	/* Connecting a UDP socket sends no packet, and sets the socket's own address. */
	inet_pton(AF_INET, "198.51.100.1", &far.sin_addr);
	if (connect(fd, (struct sockaddr *)&far, sizeof(far)) < 0) {
		close(fd);
		return -1;
	}
	getsockname(fd, (struct sockaddr *)at, &len);
	close(fd);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	at->sin_port = 0;
	assert_int_equal(bind(fd, (struct sockaddr *)at, sizeof(*at)), 0);
	assert_int_equal(listen(fd, 5), 0);
	getsockname(fd, (struct sockaddr *)at, &len);
	return fd;
}

/* The guest's side of one TCP connection. */
struct tcp {
	char to[INET_ADDRSTRLEN];
	uint16_t port, guest_port; /* the other side's port, and the guest's port */
	uint32_t seq, ack;	   /* the number of the next byte to send, and of the next byte to receive */
};

static size_t tcp_send_with(struct guest *g, struct tcp *c, uint8_t flags, size_t payload, bool partial)
{
	static uint8_t frame[NET_FRAME_MAX];
	struct frames_tcp segment = {.source = "10.0.2.15",
				     .port = c->guest_port,
				     .seq = c->seq,
				     .ack = c->ack,
				     .window = 60000,
				     .flags = flags,
				     .payload = payload};
	struct virtio_net_hdr_v1 hdr = {0};
	size_t len = frames_tcp4(frame, &segment);

	/* Put in the other address and port, and compute the checksums again. */
	from_guest(frame);
	inet_pton(AF_INET, c->to, frame + 30);
	frame[36] = (uint8_t)(c->port >> 8);
	frame[37] = (uint8_t)c->port;
	frame[24] = frame[25] = 0;
	*(uint16_t *)(frame + 24) = htons((uint16_t)~frames_sum(frame + 14, 20, 0));
	frames_put_pseudo_sum(frame, len);
	if (partial)
		hdr = (struct virtio_net_hdr_v1){.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
						 .gso_type = VIRTIO_NET_HDR_GSO_TCPV4,
						 .gso_size = htole16(1460),
						 .hdr_len = htole16(54),
						 .csum_start = htole16(34),
						 .csum_offset = htole16(16)};
	else
		*(uint16_t *)(frame + 50) = htons((uint16_t)~frames_sum(frame + 34, len - 34, 0));
	c->seq += (uint32_t)payload + (flags & FRAMES_SYN ? 1 : 0);
	send_with(g, &hdr, frame, len);
	return len;
}

static void tcp_send(struct guest *g, struct tcp *c, uint8_t flags)
{
	tcp_send_with(g, c, flags, 0, false);
}

static uint32_t get32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return ntohl(value);
}

static void tcp_connect(struct guest *g, struct tcp *c, const char *to, uint16_t port)
{
	*c = (struct tcp){.port = port, .guest_port = 40000, .seq = 1000};
	strcpy(c->to, to);
	tcp_send(g, c, FRAMES_SYN);
	await(g, IPPROTO_TCP);
	assert_int_equal(g->frame[47], FRAMES_SYN | FRAMES_ACK);
	c->ack = get32(g->frame + 38) + 1;
	tcp_send(g, c, FRAMES_ACK);
}

/* 60 KiB in one frame, whose checksum the guest leaves to the card, arrive unchanged. */
static void send_large_segment(struct guest *g, int listener, const struct sockaddr_in *at)
{
	static uint8_t got[60000];
	struct tcp c;
	char to[INET_ADDRSTRLEN];
	size_t n = 0;
	int fd;

	inet_ntop(AF_INET, &at->sin_addr, to, sizeof(to));
	tcp_connect(g, &c, to, ntohs(at->sin_port));
	fd = accept(listener, NULL, NULL);
	assert_true(fd >= 0);
	assert_int_equal(tcp_send_with(g, &c, FRAMES_ACK | FRAMES_PSH, sizeof(got), true), 54 + sizeof(got));
	while (n < sizeof(got)) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		ssize_t more;

		/* The worker sends the bytes that did not fit into the socket at once. */
		if (poll(&p, 1, 0) == 0)
			serve(g);
		more = recv(fd, got + n, sizeof(got) - n, MSG_DONTWAIT);
		n += more > 0 ? (size_t)more : 0;
	}
	for (size_t i = 0; i < sizeof(got); i++)
		assert_int_equal(got[i], i * 31 % 251);
	close(fd);
}

static void test_large_segment_out(void **state)
{
	struct guest *g = new_guest();
	struct sockaddr_in at;
	int listener = listen_outside(&at);

	(void)state;
	if (listener < 0)
		skip(); /* this host has no network; the integration test makes one */
	say_hello(g);
	send_large_segment(g, listener, &at);
	close(listener);
	free_guest(g);
}

static unsigned free_port(int type)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET, type, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	getsockname(fd, (struct sockaddr *)&at, &len);
	close(fd);
	return ntohs(at.sin_port);
}

static int connect_local(int type, unsigned port)
{
	struct sockaddr_in at = {
		.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, type, 0);

	assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

/* Answer the SYN of a connection that comes in by a forwarded port. */
static void tcp_accept(struct guest *g, struct tcp *c, unsigned guest_port)
{
	do {
		g->len = 0;
		await(g, IPPROTO_TCP);
	} while (g->frame[47] != FRAMES_SYN);
	assert_int_equal(g->frame[36] << 8 | g->frame[37], guest_port);
	*c = (struct tcp){.guest_port = (uint16_t)guest_port, .seq = 5000};
	c->port = (uint16_t)(g->frame[34] << 8 | g->frame[35]);
	inet_ntop(AF_INET, g->frame + 26, c->to, sizeof(c->to));
	c->ack = get32(g->frame + 38) + 1;
	tcp_send(g, c, FRAMES_SYN | FRAMES_ACK);
}

/* The host connects to a forwarded port. Its bytes arrive in merged frames, complete and in order. */
static void forward_tcp(struct guest *g, unsigned port)
{
	static uint8_t data[50000];
	struct tcp c;
	unsigned large = 0;
	int fd = connect_local(SOCK_STREAM, port);

	tcp_accept(g, &c, 22);
	assert_string_equal(c.to, "10.0.2.2"); /* the host looks like the gateway */
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 31 % 251);
	assert_int_equal(write(fd, data, sizeof(data)), sizeof(data));
	for (size_t got = 0; got < sizeof(data);) {
		size_t len;

		await(g, IPPROTO_TCP);
		/* Use IP's length: newer versions of libslirp pad a frame. */
		len = (size_t)(g->frame[16] << 8 | g->frame[17]) - 40;
		assert_in_range(len, 0, g->len - 54);
		if (len && get32(g->frame + 38) == c.ack) {
			assert_memory_equal(g->frame + 54, data + got, len);
			large += g->hdr.gso_type == VIRTIO_NET_HDR_GSO_TCPV4;
			got += len;
			c.ack += (uint32_t)len;
			g->len = 0;
			tcp_send(g, &c, FRAMES_ACK);
		} else {
			g->len = 0;
		}
	}
	assert_true(large > 0);
	close(fd);
}

static void test_forward_tcp(void **state)
{
	unsigned port = free_port(SOCK_STREAM);
	struct vmm_forward f = {.address.s_addr = htonl(INADDR_LOOPBACK), .port = (uint16_t)port, .guest_port = 22};
	struct guest *g = guest_with(&(struct vmm_net){.forwards = &f, .count = 1}, OFFLOADS);

	(void)state;
	say_hello(g);
	forward_tcp(g, port);
	free_guest(g);
}

/* libslirp's timers run without frames: libslirp repeats a SYN that the guest does not answer. */
static void test_timers(void **state)
{
	unsigned port = free_port(SOCK_STREAM);
	struct vmm_forward f = {.address.s_addr = htonl(INADDR_LOOPBACK), .port = (uint16_t)port, .guest_port = 22};
	struct guest *g = guest_with(&(struct vmm_net){.forwards = &f, .count = 1}, OFFLOADS);
	int fd;

	(void)state;
	say_hello(g);
	fd = connect_local(SOCK_STREAM, port);
	for (unsigned i = 0; i < 2; i++) {
		g->len = 0;
		await(g, IPPROTO_TCP);
		assert_int_equal(g->frame[47], FRAMES_SYN);
	}
	close(fd);
	free_guest(g);
}

static void forward_udp(struct guest *g, unsigned port)
{
	int fd = connect_local(SOCK_DGRAM, port);

	assert_int_equal(write(fd, "hello", 5), 5);
	await(g, IPPROTO_UDP);
	assert_int_equal(g->frame[36] << 8 | g->frame[37], 514);
	assert_memory_equal(g->frame + 42, "hello", 5);
	assert_int_equal(g->hdr.flags, VIRTIO_NET_HDR_F_DATA_VALID);
	close(fd);
}

static void test_forward_udp(void **state)
{
	unsigned port = free_port(SOCK_DGRAM);
	struct vmm_forward f = {
		.udp = true, .address.s_addr = htonl(INADDR_LOOPBACK), .port = (uint16_t)port, .guest_port = 514};
	struct guest *g = guest_with(&(struct vmm_net){.forwards = &f, .count = 1}, OFFLOADS);

	(void)state;
	say_hello(g);
	forward_udp(g, port);
	free_guest(g);
}

/* While the guest has no room, its backend keeps the received frame, reads no more from the host, and goes on later. */
static void test_back_pressure(void **state)
{
	unsigned port = free_port(SOCK_DGRAM);
	struct vmm_forward f = {
		.udp = true, .address.s_addr = htonl(INADDR_LOOPBACK), .port = (uint16_t)port, .guest_port = 514};
	struct guest *g = guest_with(&(struct vmm_net){.forwards = &f, .count = 1}, 0);
	int fd;

	(void)state;
	say_hello(g);
	fd = connect_local(SOCK_DGRAM, port);
	g->full = true;
	for (char letter = 'a'; letter <= 'z'; letter++)
		assert_int_equal(write(fd, &letter, 1), 1);
	while (!g->refused)
		serve(g);
	assert_int_equal(net_slirp_fd(g->s), -1); /* the host waits */
	assert_int_equal(g->refused, 1);
	net_slirp_resume(g->s); /* the guest has no room yet */
	assert_int_equal(g->refused, 2);
	assert_int_equal(net_slirp_fd(g->s), -1);
	g->full = false;
	net_slirp_resume(g->s);
	while (strlen(g->datagrams) < 26)
		serve(g);
	assert_string_equal(g->datagrams, "abcdefghijklmnopqrstuvwxyz");
	close(fd);
	free_guest(g);
}

/* If a guest sends and never receives, the backend drops answers beyond 1 MiB, so that they do not fill the host's memory. */
static void test_waiting_is_bounded(void **state)
{
	struct guest *g = new_guest();
	uint8_t frame[1514] = {0};

	(void)state;
	say_hello(g);
	g->full = true;
	frames_ip4(frame, "10.0.2.15", "10.0.2.2", IPPROTO_ICMP, 1500);
	from_guest(frame);
	frame[34] = 8; /* echo request; libslirp's answer has as many bytes */
	*(uint16_t *)(frame + 36) = htons((uint16_t)~frames_sum(frame + 34, 1480, 0));
	for (unsigned i = 0; i < 5000; i++)
		send_plain(g, frame, sizeof(frame));
	assert_int_equal(g->refused, 1);
	g->full = false;
	g->count = 0;
	net_slirp_resume(g->s);
	assert_in_range(g->count, 100, (1 << 20) / 1514);
	free_guest(g);
}

/* ---- the reassembly of libslirp 4.7.0 ---- */

/*
 * Send the frame by which a guest could write into this process without the guard: the last fragment of a packet, without any
 * other fragment. ip_reass() takes eight bytes of its payload for a pointer. The write may not end the process at once, so this
 * runs in a child, and no byte of the frame may reach libslirp.
 */
static void send_last_fragments(struct guest *g)
{
	uint8_t frame[60] = {0};

	frames_ip4(frame, "10.0.2.15", "192.0.2.1", IPPROTO_UDP, 46);
	from_guest(frame);
	frame[21] = 1; /* an offset of 8 bytes, and MF is clear */
	memset(frame + 34, 0x41, 26);
	*(uint16_t *)(frame + 24) = 0;
	*(uint16_t *)(frame + 24) = htons((uint16_t)~frames_sum(frame + 14, 20, 0));
	for (unsigned i = 0; i < 4; i++)
		send_plain(g, frame, sizeof(frame));
}

static void test_last_fragment(void **state)
{
	struct guest *g = new_guest();
	int status;
	pid_t child;

	(void)state;
	say_hello(g);
	child = fork();
	if (child == 0) {
		send_last_fragments(g);
		_exit(net_slirp_dropped(g->s) == 4 ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	free_guest(g);
}

/* ---- what the guest cannot reach ---- */

/* A service listens at the host's loopback address. The test tries every way by which a guest could reach it. */
static void test_host_loopback(void **state)
{
	static const char *const way[] = {"10.0.2.2", "10.0.2.3", "10.0.2.99", "127.0.0.1", "127.1.2.3", "0.0.0.0"};
	struct guest *g = new_guest();
	struct sockaddr_in at = {.sin_family = AF_INET};
	socklen_t len = sizeof(at);
	struct pollfd p = {.fd = socket(AF_INET, SOCK_STREAM, 0), .events = POLLIN};

	(void)state;
	/* Listen at all addresses of the host, so that no way fails for another reason. */
	assert_int_equal(bind(p.fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(p.fd, 5), 0);
	getsockname(p.fd, (struct sockaddr *)&at, &len);
	say_hello(g);
	for (unsigned i = 0; i < sizeof(way) / sizeof(way[0]); i++) {
		struct tcp c = {.port = ntohs(at.sin_port), .guest_port = (uint16_t)(41000 + i)};

		strcpy(c.to, way[i]);
		g->len = 0;
		tcp_send(g, &c, FRAMES_SYN);
		/* libslirp connects before slirp_input() returns. */
		if (poll(&p, 1, 0) != 0)
			fail_msg("the guest reached the host's loopback by %s", way[i]);
		assert_false(g->len > 54 && g->frame[23] == IPPROTO_TCP && g->frame[47] == (FRAMES_SYN | FRAMES_ACK));
	}
	close(p.fd);
	free_guest(g);
}

/* Frames of each length that have no valid packet. */
static void test_nonsense(void **state)
{
	static const uint8_t types[][2] = {{8, 0}, {8, 6}, {0x86, 0xdd}, {0x88, 0xf8}, {0, 0}};
	struct guest *g = new_guest();
	uint8_t frame[200];

	(void)state;
	for (unsigned i = 0; i < 5; i++)
		for (size_t len = NET_FRAME_MIN; len < sizeof(frame); len++)
			for (unsigned fill = 0; fill < 256; fill += 17) {
				memset(frame, (int)fill, sizeof(frame));
				memcpy(frame + 12, types[i], 2);
				frame[14] = i == 2 ? 0x60 : 0x45;
				send_with(g, &(struct virtio_net_hdr_v1){.flags = (uint8_t)fill, .csum_start = (uint16_t)len},
					  frame, len);
			}
	say_hello(g);
	free_guest(g);
}

/* ---- ports ---- */

static void port_in_use(bool udp)
{
	int type = udp ? SOCK_DGRAM : SOCK_STREAM;
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(at);
	struct vmm_forward f = {.udp = udp, .address.s_addr = htonl(INADDR_LOOPBACK), .guest_port = 22};
	int fd = socket(AF_INET, type, 0);
	struct err err = {0};
	char want[64];

	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	if (!udp)
		assert_int_equal(listen(fd, 1), 0);
	getsockname(fd, (struct sockaddr *)&at, &len);
	f.port = ntohs(at.sin_port);
	assert_null(net_slirp_new(&(struct vmm_net){.forwards = &f, .count = 1}, &(struct net_peer){0}, &err));
	assert_int_equal(err.code, EXIT_INPUT);
	snprintf(want, sizeof(want), "%s port %u of 127.0.0.1: Address already in use", udp ? "UDP" : "TCP", f.port);
	assert_non_null(strstr(err.text, want));
	close(fd);
}

static void test_port_in_use(void **state)
{
	(void)state;
	port_in_use(false);
	port_in_use(true);
}

/* This host does not have the address: 192.0.2.0/24 is for documentation (RFC 5737). */
static void test_address_of_nobody(void **state)
{
	struct vmm_forward f = {.port = 8080, .guest_port = 80};
	struct err err = {0};

	(void)state;
	inet_pton(AF_INET, "192.0.2.77", &f.address);
	assert_null(net_slirp_new(&(struct vmm_net){.forwards = &f, .count = 1}, &(struct net_peer){0}, &err));
	assert_int_equal(err.code, EXIT_INPUT);
	assert_non_null(strstr(err.text, "192.0.2.77"));
}

/* After a reset of the card the network works as before. */
static void test_start_again(void **state)
{
	struct guest *g = new_guest();

	(void)state;
	say_hello(g);
	g->full = true;
	ask_for_gateway(g);
	assert_int_equal(net_slirp_fd(g->s), -1);
	g->full = false;
	g->count = 0;
	net_slirp_start(g->s, OFFLOADS);
	say_hello(g);
	assert_int_equal(g->count, 1);
	free_guest(g);
}

/*
 * Send a query to the DNS server's address. The test checks only that libslirp reads /etc/resolv.conf. Whether that file names
 * a server that answers depends on the host.
 */
static void ask_name_server(struct guest *g)
{
	uint8_t frame[100];
	size_t len = frames_udp4(frame, "10.0.2.15", "10.0.2.3", 40000, 53, 17);

	from_guest(frame);
	memcpy(frame + 42, "\0\1\1\0\0\1\0\0\0\0\0\0\0\0\2\0\1", 17); /* who serves the root? */
	send_plain(g, frame, len);
	assert_int_equal(net_slirp_dropped(g->s), 0);
}

static void test_name_server(void **state)
{
	struct guest *g = new_guest();

	(void)state;
	say_hello(g);
	ask_name_server(g);
	free_guest(g);
}

/* The network process needs only the system calls that its filter allows. */
static void test_confined(void **state)
{
	unsigned tcp = free_port(SOCK_STREAM), udp = free_port(SOCK_DGRAM);
	struct vmm_forward f[] = {
		{.address.s_addr = htonl(INADDR_LOOPBACK), .port = (uint16_t)tcp, .guest_port = 22},
		{.udp = true, .address.s_addr = htonl(INADDR_LOOPBACK), .port = (uint16_t)udp, .guest_port = 514}};
	struct guest *g = guest_with(&(struct vmm_net){.forwards = f, .count = 2}, OFFLOADS);
	struct sockaddr_in at;
	static const char *const reads[] = {"/etc/resolv.conf"};
	int listener = listen_outside(&at), status;
	pid_t child, parent = getpid();

	(void)state;
	child = fork();
	if (child == 0) {
		if (sandbox_network_process(parent, reads, 1, (size_t)512 << 20, NULL) < 0)
			_exit(1);
		say_hello(g);
		if (listener >= 0)
			send_large_segment(g, listener, &at);
		forward_tcp(g, tcp);
		forward_udp(g, udp);
		ask_name_server(g);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	if (listener >= 0)
		close(listener);
	free_guest(g);
}

/* ---- descriptors ---- */

static unsigned free_descriptors(void)
{
	int fd[64];
	unsigned n = 0;

	while (n < 64 && (fd[n] = dup(STDERR_FILENO)) >= 0)
		n++;
	for (unsigned i = 0; i < n; i++)
		close(fd[i]);
	return n;
}

/* If a guest sends from thousands of ports, the process still has descriptors for files, and the guest's network still works.
 */
static void test_descriptors_are_spared(void **state)
{
	/* Send to this host's address, so that no packet leaves the host. On a host without a network, use a documentation
	 * address (RFC 5737), to which sending fails. */
	char to[INET_ADDRSTRLEN] = "192.0.2.1";
	struct sockaddr_in at;
	struct rlimit old, few;
	struct guest *g;
	uint8_t frame[600] = {0};
	int listener = listen_outside(&at);
	size_t len;

	(void)state;
	if (listener >= 0)
		inet_ntop(AF_INET, &at.sin_addr, to, sizeof(to));
	close(listener);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	few = old;
	few.rlim_cur = 256;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	g = new_guest();
	say_hello(g);
	for (unsigned port = 2000; port < 4000; port++) {
		len = frames_udp4(frame, "10.0.2.15", to, (uint16_t)port, 9, 1);
		from_guest(frame);
		send_plain(g, frame, len);
	}
	assert_in_range(free_descriptors(), NET_SOCKETS_SPARED / 2, 64);
	assert_in_range(net_slirp_dropped(g->s), 1000, 2000);
	say_hello(g);
	free_guest(g);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arp),
		cmocka_unit_test(test_dhcp),
		cmocka_unit_test(test_router_solicitation),
		cmocka_unit_test(test_large_segment_out),
		cmocka_unit_test(test_forward_tcp),
		cmocka_unit_test(test_timers),
		cmocka_unit_test(test_forward_udp),
		cmocka_unit_test(test_back_pressure),
		cmocka_unit_test(test_waiting_is_bounded),
		cmocka_unit_test(test_last_fragment),
		cmocka_unit_test(test_host_loopback),
		cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_port_in_use),
		cmocka_unit_test(test_address_of_nobody),
		cmocka_unit_test(test_start_again),
		cmocka_unit_test(test_name_server),
		cmocka_unit_test(test_descriptors_are_spared),
	};
	const struct CMUnitTest confined[] = {cmocka_unit_test(test_confined)};
	int failed;

	/* Confine workers as in a run. */
	if (sandbox_prepare(NULL, NULL, NULL) < 0)
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	/* A build with a sanitizer confines no thread. test_sandbox checks that every other build can. */
	if (sandbox_available(NULL, 0))
		failed += cmocka_run_group_tests(confined, NULL, NULL);
	return failed;
}
