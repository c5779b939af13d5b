/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One thread binds a listening socket of SCTP to a second address and takes it away, and the other dumps such sockets by
 * netlink. */
#include "../netlink.h"

#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>

#define BINDX_ADD 100 /* SCTP_SOCKOPT_BINDX_ADD and _REM of linux/sctp.h */
#define BINDX_REM 101
#define STATE_LISTEN 10 /* TCP_LISTEN, which SCTP uses as well */

struct sockets {
	int sctp, netlink;
};

static struct sockaddr_in address(unsigned int host)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(5000), .sin_addr = {htonl(INADDR_LOOPBACK + host)}};

	return a;
}

static void bind_more(void *opaque)
{
	const struct sockets *s = opaque;
	struct sockaddr_in second = address(1);

	need(setsockopt(s->sctp, IPPROTO_SCTP, BINDX_ADD, &second, sizeof(second)), "bind to a second address");
	need(setsockopt(s->sctp, IPPROTO_SCTP, BINDX_REM, &second, sizeof(second)), "give the second address back");
}

static void dump(void *opaque)
{
	const struct sockets *s = opaque;
	struct inet_diag_req_v2 all = {
		.sdiag_family = AF_INET, .sdiag_protocol = IPPROTO_SCTP, .idiag_states = 1 << STATE_LISTEN};
	struct nl_request request;

	nl_begin(&request, SOCK_DIAG_BY_FAMILY, NLM_F_DUMP, &all, sizeof(all));
	need(nl_talk(s->netlink, &request), "dump the sockets of SCTP");
}

int main(void)
{
	struct sockaddr_in first = address(0);
	struct sockets s = {need(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_SCTP), "open a socket of SCTP"),
			    nl_open(NETLINK_SOCK_DIAG)};

	need(bind(s.sctp, (const struct sockaddr *)&first, sizeof(first)), "bind to the first address");
	need(listen(s.sctp, 5), "listen");
	bind_more(&s);
	dump(&s);
	repeat_both(bind_more, dump, &s);
}
