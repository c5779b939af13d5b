/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two threads send SYNs to the same listening socket, which wants the packets' options: the segments arrive on both CPUs. */
#include "../trigger.h"

#include <netinet/in.h>

#define PORT 5000

static struct sockaddr_in6 address(void)
{
	struct sockaddr_in6 local = {.sin6_family = AF_INET6, .sin6_port = htons(PORT), .sin6_addr = IN6ADDR_LOOPBACK_INIT};

	return local;
}

/* The queue of the listening socket is full soon, so most connections stay at their first segment. */
static void begin_connection(void *opaque)
{
	struct sockaddr_in6 to = address();
	int s = need(socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), "open a socket of TCP");

	(void)opaque;
	connect(s, (const struct sockaddr *)&to, sizeof(to));
	close(s);
}

/* Returns a socket that listens. */
static int open_listener(void)
{
	struct sockaddr_in6 local = address();
	int s = need(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0), "open a socket of TCP"), one = 1;

	need(setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)), "reuse the port");
	need(setsockopt(s, IPPROTO_IPV6, IPV6_RECVPKTINFO, &one, sizeof(one)), "ask for the packets' options");
	need(bind(s, (const struct sockaddr *)&local, sizeof(local)), "bind to ::1");
	need(listen(s, 0), "listen");
	return s;
}

/* The kernel looks at the sum only when the listening socket closes. */
static void begin_many(void *opaque)
{
	int *listener = opaque;

	for (int i = 0; i < 500; i++)
		begin_connection(NULL);
	close(*listener);
	*listener = open_listener();
}

int main(void)
{
	int listener = open_listener();

	repeat_both(begin_many, begin_connection, &listener);
}
