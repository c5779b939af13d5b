/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One thread gives a packet socket a receive ring, or takes it away, while its interface is down. The other brings the
 * interface up meanwhile, and sends packets that the socket gets.
 */
#include "../packet.h"

#include <stdatomic.h>

#define DEVICE "dummy0"
#define MOST_DELAY 20000

static int netlink, sender, receiver;
static atomic_uint asked, done; /* changes of the ring */

static void change_ring(void *opaque)
{
	struct tpacket_req ring = {.tp_block_size = 4096, .tp_block_nr = 1, .tp_frame_size = 2048, .tp_frame_nr = 2};
	struct tpacket_req none = {0};
	unsigned int number = atomic_load(&done) + 1;

	(void)opaque;
	while (!is_explored() && atomic_load(&asked) != number)
		;
	need(setsockopt(receiver, SOL_PACKET, PACKET_RX_RING, number % 2 ? &ring : &none, sizeof(ring)),
	     "change a packet socket's ring");
	atomic_store(&done, number);
}

static void up_and_send(void *opaque)
{
	static unsigned int delay;
	unsigned int number = atomic_load(&asked) + 1;

	(void)opaque;
	if (is_explored_step) {
		need(nl_link_up(netlink, DEVICE, true), "bring " DEVICE " up");
		packet_send(sender, 0);
		return;
	}
	need(nl_link_up(netlink, DEVICE, false), "bring " DEVICE " down");
	atomic_store(&asked, number);
	/* The interface has to come up after packet_set_ring() saw that it is down. */
	delay = (delay + MOST_DELAY / 16) % MOST_DELAY;
	for (volatile unsigned int i = 0; i < delay; i++)
		;
	need(nl_link_up(netlink, DEVICE, true), "bring " DEVICE " up");
	do
		packet_send(sender, 0);
	while (atomic_load(&done) != number);
}

int main(void)
{
	netlink = nl_open(NETLINK_ROUTE);
	need(nl_link_up(netlink, DEVICE, true), "bring " DEVICE " up");
	sender = packet_open(DEVICE, 0);
	receiver = packet_open(DEVICE, ETH_P_ALL);
	if (is_explored()) {
		/* The socket has a ring, which CPU 0 takes away. */
		need(nl_link_up(netlink, DEVICE, false), "bring " DEVICE " down");
		change_ring(NULL);
	}
	repeat_both(change_ring, up_and_send, NULL);
}
