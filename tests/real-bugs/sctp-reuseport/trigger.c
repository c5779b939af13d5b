/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two threads listen with SCTP on the same port, each with a group of sockets that share it, and close them again. */
#include "../trigger.h"

#include <netinet/in.h>

#define PORT 5000
#define SOCKETS 3

static void listen_and_close(void *opaque)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(PORT), .sin_addr = {htonl(INADDR_LOOPBACK)}};
	int s[SOCKETS], one = 1;

	(void)opaque;
	for (int i = 0; i < SOCKETS; i++) {
		s[i] = need(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_SCTP), "open a socket of SCTP");
		need(setsockopt(s[i], SOL_SOCKET, SO_REUSEPORT, &one, sizeof(one)), "share the port");
		need(bind(s[i], (const struct sockaddr *)&address, sizeof(address)), "bind the socket");
		listen(s[i], 5);
	}
	for (int i = 0; i < SOCKETS; i++)
		close(s[i]);
}

int main(void)
{
	listen_and_close(NULL);
	repeat_both(listen_and_close, listen_and_close, NULL);
}
