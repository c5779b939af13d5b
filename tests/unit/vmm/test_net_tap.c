/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A tap in a new network namespace: frames in both directions, and which taps are refused with what message. If the test may
 * not make a namespace or a tap, it skips the cases that need one; 47-network makes one in a lab.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <endian.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hv/vmm/net/backend.h"
#include "tests/unit/vmm/net_frames.h"
#include "tests/unit/vmm/net_watch.h"

#define HOST "192.168.77.1"
#define GUEST "192.168.77.2"

/* Have the worker serve the tap once. It waits only for frames to read. */
static void wait_for_frame(void)
{
	assert_int_equal(watched.events, EPOLLIN);
	assert_true(run_worker(PATIENCE_MS));
}

static bool have_tap; /* tap0 exists, is up, and has the address HOST */

/* ---- the host ---- */

static bool make_tap(void)
{
	struct ifreq request = {.ifr_name = "tap0", .ifr_flags = IFF_TAP | IFF_NO_PI};
	struct sockaddr_in address = {.sin_family = AF_INET};
	int tun, s;
	bool made;

	if (unshare(geteuid() == 0 ? CLONE_NEWNET : CLONE_NEWUSER | CLONE_NEWNET) < 0)
		return false;
	tun = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
	if (tun < 0)
		return false;
	made = ioctl(tun, TUNSETIFF, &request) == 0 && ioctl(tun, TUNSETPERSIST, 1) == 0 &&
	       ioctl(tun, TUNSETOWNER, geteuid()) == 0;
	close(tun);
	if (!made)
		return false;
	s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	inet_pton(AF_INET, HOST, &address.sin_addr);
	memcpy(&request.ifr_addr, &address, sizeof(address));
	assert_int_equal(ioctl(s, SIOCSIFADDR, &request), 0);
	inet_pton(AF_INET, "255.255.255.0", &address.sin_addr);
	memcpy(&request.ifr_netmask, &address, sizeof(address));
	assert_int_equal(ioctl(s, SIOCSIFNETMASK, &request), 0);
	request.ifr_mtu = 4000;
	assert_int_equal(ioctl(s, SIOCSIFMTU, &request), 0);
	request.ifr_flags = IFF_UP;
	assert_int_equal(ioctl(s, SIOCSIFFLAGS, &request), 0);
	close(s);
	return true;
}

/* ---- the guest ---- */

struct guest {
	struct net_backend *b;
	bool full;
	unsigned refused, bursts;
	struct virtio_net_hdr_v1 hdr; /* of the last frame that came */
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
	/* The host sends IPv6 of its own accord. */
	if (((const uint8_t *)frame)[12] == 0x86)
		return true;
	g->hdr = *hdr;
	g->len = len;
	memcpy(g->frame, frame, len);
	return true;
}

static void guest_received(void *ctx)
{
	struct guest *g = ctx;

	g->bursts++;
}

static struct guest *new_guest(uint64_t features)
{
	struct guest *g = calloc(1, sizeof(*g));
	struct err err = {0};

	assert_non_null(g);
	g->b = net_tap_new(&(struct vmm_net){.kind = VMM_NET_TAP, .tap = "tap0"}, &err);
	if (!g->b)
		fail_msg("%s", err.text);
	g->b->peer = (struct net_peer){.receive = guest_receive, .received = guest_received, .ctx = g};
	g->b->ops->start(g->b, features);
	return g;
}

static void free_guest(struct guest *g)
{
	g->b->ops->stop(g->b);
	assert_int_equal(watched.fd, -1);
	g->b->ops->free(g->b);
	free(g);
}

static void send_frame(struct guest *g, const struct virtio_net_hdr_v1 *hdr, const uint8_t *frame, size_t len)
{
	struct iovec piece[2] = {{(void *)frame, len / 3}, {(void *)(frame + len / 3), len - len / 3}};

	g->b->ops->send(g->b, hdr, piece, 2);
}

/* Let the worker run until a frame of this Ethernet type has arrived. */
static void await(struct guest *g, unsigned type)
{
	while (!g->len || (unsigned)(g->frame[12] << 8 | g->frame[13]) != type) {
		g->len = 0;
		wait_for_frame();
	}
}

/* Exchange addresses: the host answers an ARP request for HOST, and learns the address of GUEST. `host` gets its MAC address.
 */
static void say_hello(struct guest *g, uint8_t host[6])
{
	uint8_t request[42] = "\xff\xff\xff\xff\xff\xff......\x08\x06\x00\x01\x08\x00\x06\x04\x00\x01......"
			      "\xc0\xa8\x4d\x02\0\0\0\0\0\0\xc0\xa8\x4d";

	request[41] = 1;
	memcpy(request + 6, g->b->mac, 6);
	memcpy(request + 22, g->b->mac, 6);
	/* The host drops its answers until it has seen that the link is up, so a request is sent again as a driver would. */
	do {
		struct pollfd p = {.fd = watched.fd, .events = POLLIN};

		send_frame(g, &(struct virtio_net_hdr_v1){0}, request, sizeof(request));
		if (poll(&p, 1, 100) > 0)
			wait_for_frame();
	} while (!g->len);
	assert_memory_equal(g->frame, g->b->mac, 6);
	assert_memory_equal(g->frame + 20, "\0\2", 2);		   /* a reply */
	assert_memory_equal(g->frame + 28, "\xc0\xa8\x4d\x01", 4); /* HOST is at */
	memcpy(host, g->frame + 22, 6);
	g->len = 0;
}

static int host_socket(unsigned port)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	struct timeval patience = {.tv_sec = PATIENCE_MS / 1000};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	inet_pton(AF_INET, HOST, &at.sin_addr);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)), 0);
	return fd;
}

static void host_sends(int fd, const void *bytes, size_t len)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(5000)};

	inet_pton(AF_INET, GUEST, &to.sin_addr);
	assert_int_equal(sendto(fd, bytes, len, 0, (struct sockaddr *)&to, sizeof(to)), len);
}

#define CHECKSUMS (NET_BIT(VIRTIO_NET_F_CSUM) | NET_BIT(VIRTIO_NET_F_GUEST_CSUM))

/* A packet whose checksum the host's kernel has to complete arrives. A packet that contradicts its virtio header is dropped. */
static void test_send(void **state)
{
	struct virtio_net_hdr_v1 hdr = {
		.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM, .csum_start = htole16(34), .csum_offset = htole16(6)};
	uint8_t frame[100], host[6], got[16];
	size_t len = frames_udp4(frame, GUEST, HOST, 5000, 6000, 5);
	struct guest *g;
	int fd;

	(void)state;
	if (!have_tap)
		skip();
	g = new_guest(CHECKSUMS);
	fd = host_socket(6000);
	say_hello(g, host);
	memcpy(frame, host, 6);
	memcpy(frame + 6, g->b->mac, 6);
	memcpy(frame + 42, "hello", 5);
	/* The sum of the pseudo header. */
	*(uint16_t *)(frame + 40) = htons(frames_sum(frame + 26, 8, IPPROTO_UDP + 13));
	send_frame(g, &hdr, frame, len);
	assert_int_equal(recv(fd, got, sizeof(got), 0), 5);
	assert_memory_equal(got, "hello", 5);
	assert_int_equal(g->b->dropped, 0);
	hdr.csum_start = htole16(4000);
	send_frame(g, &hdr, frame, len);
	assert_int_equal(g->b->dropped, 1);
	close(fd);
	free_guest(g);
}

/* A guest that accepts partial checksums gets a partial one; another guest gets a complete one. */
static void test_receive(void **state)
{
	uint8_t host[6];

	(void)state;
	if (!have_tap)
		skip();
	for (unsigned left = 0; left < 2; left++) {
		struct guest *g = new_guest(left ? CHECKSUMS : 0);
		int fd = host_socket(6000);

		say_hello(g, host);
		host_sends(fd, "hello", 5);
		await(g, 0x0800);
		assert_int_equal(g->len, 47);
		assert_memory_equal(g->frame + 42, "hello", 5);
		assert_int_equal(g->hdr.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM, left ? VIRTIO_NET_HDR_F_NEEDS_CSUM : 0);
		if (!left)
			assert_int_equal(frames_sum(g->frame + 34, 13, frames_sum(g->frame + 26, 8, IPPROTO_UDP + 13)), 0xffff);
		assert_true(g->bursts > 0);
		close(fd);
		free_guest(g);
	}
}

/* While the guest has no room, the backend keeps the frame and does not read the tap. Later all frames arrive in order. */
static void test_back_pressure(void **state)
{
	struct guest *g;
	uint8_t host[6];
	int fd;

	(void)state;
	if (!have_tap)
		skip();
	g = new_guest(0);
	fd = host_socket(6000);
	say_hello(g, host);
	g->full = true;
	for (char letter = 'a'; letter <= 'c'; letter++)
		host_sends(fd, &letter, 1);
	while (!g->refused)
		wait_for_frame();
	assert_int_equal(watched.fd, -1);
	g->b->ops->resume(g->b);
	assert_int_equal(g->refused, 2);
	assert_int_equal(watched.fd, -1);
	g->full = false;
	g->b->ops->resume(g->b);
	assert_int_not_equal(watched.fd, -1);
	/* Several frames may come in one burst, and the test sees only the last of them. */
	while (!(g->len == 43 && g->frame[42] == 'c'))
		wait_for_frame();
	close(fd);
	free_guest(g);
}

static void test_what_the_card_is_told(void **state)
{
	struct guest *g;

	(void)state;
	if (!have_tap)
		skip();
	g = new_guest(0);
	assert_int_equal(g->b->mtu, 4000);
	assert_int_equal(g->b->mac[0] & 3, 2); /* locally administered, and no group's */
	assert_true(g->b->offloads & NET_BIT(VIRTIO_NET_F_GUEST_TSO4));
	free_guest(g);
}

/* ---- what is refused ---- */

static void refused(const char *name, const char *words)
{
	struct err err = {0};

	assert_null(net_tap_new(&(struct vmm_net){.kind = VMM_NET_TAP, .tap = name}, &err));
	assert_int_equal(err.code, EXIT_INPUT);
	if (!strstr(err.text, words) || strchr(err.text, '\n'))
		fail_msg("said: %s", err.text);
}

static void test_no_such_interface(void **state)
{
	(void)state;
	/* If the test may not open /dev/net/tun, the message says that. */
	refused("outrider-none", access("/dev/net/tun", R_OK | W_OK) == 0 ? "ip tuntap add dev outrider-none mode tap user "
									  : "cannot open /dev/net/tun");
	assert_int_equal(if_nametoindex("outrider-none"), 0); /* the refused call made no interface */
}

static void test_name_too_long(void **state)
{
	(void)state;
	refused("sixteen-letters!", "at most 15 characters");
}

static void test_busy(void **state)
{
	struct guest *g;

	(void)state;
	if (!have_tap)
		skip();
	g = new_guest(0);
	refused("tap0", "another program uses the interface");
	free_guest(g);
}

static void test_no_tap(void **state)
{
	(void)state;
	if (!have_tap)
		skip();
	refused("lo", "no tap with a single queue");
}

static void test_of_another_user(void **state)
{
	int status;
	pid_t child;

	(void)state;
	if (!have_tap || geteuid() != 0 || access("/dev/net/tun", R_OK | W_OK) != 0)
		skip();
	child = fork();
	if (child == 0) {
		int tun = open("/dev/net/tun", O_RDWR); /* opened before the test drops root: perhaps only root may */
		struct err err = {0};
		struct ifreq request = {.ifr_name = "tap0", .ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR};

		if (tun < 0 || setgroups(0, NULL) < 0 || setgid(1234) < 0 || setuid(1234) < 0)
			_exit(1);
		if (ioctl(tun, TUNSETIFF, &request) == 0)
			_exit(2);
		if (access("/dev/net/tun", R_OK | W_OK) != 0)
			_exit(0);
		if (net_tap_new(&(struct vmm_net){.kind = VMM_NET_TAP, .tap = "tap0"}, &err))
			_exit(3);
		_exit(strstr(err.text, "another user's; make one as root:  ip tuntap add dev NAME mode tap user 1234") ? 0 : 4);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_such_interface),
		cmocka_unit_test(test_name_too_long),
		cmocka_unit_test(test_send),
		cmocka_unit_test(test_receive),
		cmocka_unit_test(test_back_pressure),
		cmocka_unit_test(test_what_the_card_is_told),
		cmocka_unit_test(test_busy),
		cmocka_unit_test(test_no_tap),
		cmocka_unit_test(test_of_another_user),
	};

	have_tap = make_tap();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
