/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPU 0 makes tunnels of L2TP, each from a UDP socket, and CPU 1 makes a session in the tunnel that CPU 0 is making. */
#include "../trigger.h"

#include <netinet/in.h>
#include <stdatomic.h>

#include <linux/if_pppox.h>

/* A deleted tunnel keeps its number for a while, so the numbers go round. */
#define NUMBERS 30000
#define TRIES 20

/* The number of the tunnel that is made under outrider explore: the set-up makes the one before. */
#define EXPLORED_NUMBER 2

static _Atomic int number; /* of the tunnel that is being made; -1: none */

/* Connect a socket of L2TP to the session `session` of a tunnel. Session 0 makes the tunnel from the UDP socket. */
static int attach(int udp, int tunnel, int session)
{
	struct sockaddr_pppol2tp to = {.sa_family = AF_PPPOX, .sa_protocol = PX_PROTO_OL2TP};
	int ppp = need(socket(AF_PPPOX, SOCK_DGRAM | SOCK_CLOEXEC, PX_PROTO_OL2TP), "open a socket of L2TP");
	int result;

	to.pppol2tp.fd = udp;
	to.pppol2tp.s_tunnel = (unsigned short)(1 + tunnel);
	to.pppol2tp.d_tunnel = 1;
	to.pppol2tp.s_session = to.pppol2tp.d_session = (unsigned short)session;
	result = connect(ppp, (const struct sockaddr *)&to, sizeof(to));
	close(ppp);
	return result;
}

static void make_tunnel(void *opaque)
{
	static int last;
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	int udp = need(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "open a socket of UDP");

	(void)opaque;
	need(bind(udp, (const struct sockaddr *)&any, sizeof(any)), "bind the socket of UDP");
	last = (last + 1) % NUMBERS;
	atomic_store(&number, last);
	need(attach(udp, last, 0), "make a tunnel");
	atomic_store(&number, -1);
	/* The tunnel of the set-up stays, so that the tree of tunnels, where a session looks for its tunnel, is not empty. */
	if (!is_explored() || is_explored_step)
		close(udp);
}

static void make_session(void *opaque)
{
	int tunnel = is_explored_step ? EXPLORED_NUMBER : atomic_load(&number);

	(void)opaque;
	for (int i = 0; tunnel >= 0 && i < times(TRIES) && attach(-1, tunnel, 1) < 0; i++)
		;
}

int main(void)
{
	make_tunnel(NULL);
	repeat_both(make_tunnel, make_session, NULL);
}
