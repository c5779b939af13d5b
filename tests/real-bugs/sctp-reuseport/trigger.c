/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two threads listen with SCTP on the same port, each with a group of sockets that share it, and close them again. */
#include "../trigger.h"

#include <netinet/in.h>

#define PORT 5000
#define SOCKETS 3

static int listening = -1; /* the socket that CPU 0 closes under outrider explore */

static int open_member(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(PORT), .sin_addr = {htonl(INADDR_LOOPBACK)}};
	int one = 1, s = need(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_SCTP), "open a socket of SCTP");

	need(setsockopt(s, SOL_SOCKET, SO_REUSEPORT, &one, sizeof(one)), "share the port");
	need(bind(s, (const struct sockaddr *)&address, sizeof(address)), "bind the socket");
	listen(s, 5);
	return s;
}

static void close_member(void *opaque)
{
	(void)opaque;
	close(listening);
}

static void listen_and_close(void *opaque)
{
	int s[SOCKETS], count = times(SOCKETS);

	(void)opaque;
	for (int i = 0; i < count; i++)
		s[i] = open_member();
	for (int i = 0; i < count; i++)
		close(s[i]);
}

int main(void)
{
	listen_and_close(NULL);
	if (is_explored()) {
		listening = open_member();
		repeat_both(close_member, listen_and_close, NULL);
	}
	repeat_both(listen_and_close, listen_and_close, NULL);
}
