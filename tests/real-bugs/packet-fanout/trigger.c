/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A few threads, on CPU 0, each close a packet socket of a fanout group while its interface is down. The other side brings the
 * interface up meanwhile, which goes through the same list of sockets, and sends packets to the group. Under outrider explore,
 * one of two sockets is closed, and both sides then send packets.
 */
#include "../packet.h"

#include <stdatomic.h>
#include <time.h>

#define DEVICE "dummy0"
#define SOCKETS 4
#define EXPLORED_SOCKETS 2
#define GROUP 1
/* Steps into which the time of bringing the interface up is divided. Each round closes the sockets after another number of
 * them. */
#define STEPS 17

static int netlink, sender;
static int sockets[SOCKETS];
static atomic_uint asked, closed;
static atomic_ullong close_at; /* when this round's sockets are to be closed, in nanoseconds of the clock */

static unsigned long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (unsigned long long)t.tv_sec * 1000000000 + (unsigned long long)t.tv_nsec;
}

static int open_member(void)
{
	int fd = packet_open(DEVICE, ETH_P_ALL);
	int group = GROUP | PACKET_FANOUT_LB << 16;

	need(setsockopt(fd, SOL_PACKET, PACKET_FANOUT, &group, sizeof(group)), "join a fanout group");
	return fd;
}

/* Close one socket in each round that main() asks for. */
static void *closer(void *opaque)
{
	const int *fd = opaque;

	pin(0);
	for (unsigned int number = 1;; number++) {
		while (atomic_load(&asked) != number || now() < atomic_load(&close_at))
			sched_yield();
		close(*fd);
		atomic_fetch_add(&closed, 1);
	}
	return NULL;
}

static void start_closers(void)
{
	pthread_t thread;

	for (int i = 0; i < SOCKETS; i++) {
		errno = pthread_create(&thread, NULL, closer, &sockets[i]);
		if (errno)
			die("start a thread");
	}
}

/* Send a packet to each member of the group. */
static void send_to_all(void)
{
	for (int i = 0; i < EXPLORED_SOCKETS; i++)
		packet_send(sender, 0);
}

static void close_and_send(void *opaque)
{
	(void)opaque;
	close(sockets[0]);
	send_to_all();
}

static void up_and_send(void *opaque)
{
	(void)opaque;
	need(nl_link_up(netlink, DEVICE, true), "bring " DEVICE " up");
	send_to_all();
}

static void __attribute__((noreturn)) explore(void)
{
	for (int i = 0; i < EXPLORED_SOCKETS; i++)
		sockets[i] = open_member();
	need(nl_link_up(netlink, DEVICE, false), "bring " DEVICE " down");
	repeat_both(close_and_send, up_and_send, NULL);
}

int main(void)
{
	unsigned long long took = 0; /* the last bringing up */

	netlink = nl_open(NETLINK_ROUTE);
	need(nl_link_up(netlink, DEVICE, true), "bring " DEVICE " up");
	sender = packet_open(DEVICE, 0);
	if (is_explored())
		explore();
	pin(1);
	start_closers();
	ready();
	for (unsigned int round = 1;; round++) {
		for (int i = 0; i < SOCKETS; i++)
			sockets[i] = open_member();
		need(nl_link_up(netlink, DEVICE, false), "bring " DEVICE " down");
		atomic_store(&close_at, now() + took * (round % STEPS) / STEPS);
		atomic_store(&asked, round);
		took = now();
		need(nl_link_up(netlink, DEVICE, true), "bring " DEVICE " up");
		took = now() - took;
		do
			packet_send(sender, 0);
		while (atomic_load(&closed) != round * SOCKETS);
	}
}
