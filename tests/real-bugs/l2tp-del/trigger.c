/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two threads make a tunnel of L2TP from a UDP socket, and close the socket, which makes a worker delete the tunnel. */
#include "../trigger.h"

#include <netinet/in.h>

#include <linux/if_pppox.h>

static void make_and_close(void *opaque)
{
	static _Thread_local unsigned short id;
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	struct sockaddr_pppol2tp tunnel = {.sa_family = AF_PPPOX, .sa_protocol = PX_PROTO_OL2TP};
	int udp = need(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "open a socket of UDP");
	int ppp = need(socket(AF_PPPOX, SOCK_DGRAM | SOCK_CLOEXEC, PX_PROTO_OL2TP), "open a socket of L2TP");

	(void)opaque;
	need(bind(udp, (const struct sockaddr *)&any, sizeof(any)), "bind the socket of UDP");
	/* The tunnels of one thread have odd numbers, those of the other even ones. A deleted one keeps its number for a while.
	 */
	id += 2;
	tunnel.pppol2tp.fd = udp;
	tunnel.pppol2tp.s_tunnel = (unsigned short)(id + 2 + sched_getcpu());
	tunnel.pppol2tp.d_tunnel = 1;
	need(connect(ppp, (const struct sockaddr *)&tunnel, sizeof(tunnel)), "make a tunnel");
	close(ppp);
	close(udp);
}

int main(void)
{
	pin(0);
	make_and_close(NULL);
	repeat_both(make_and_close, make_and_close, NULL);
}
