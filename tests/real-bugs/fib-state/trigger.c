/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPU 0 replaces a route, which gives it a fresh state, and looks it up. CPU 1 looks it up, too. */
#include "../netlink.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#define PAUSE_US 500 /* between CPU 1's lookups, most of which would find a state that is set already */

struct shared {
	int rt;
	int lookups[2];
};

static void look_up(int fd)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(0x0a010203)};

	/* A lookup may find neither the old route nor the new one. */
	if (connect(fd, (const struct sockaddr *)&to, sizeof(to)) < 0 && errno != ENETUNREACH)
		die("look a route up");
}

static void replace(const struct shared *s)
{
	static unsigned int turn;
	struct rtmsg body = {.rtm_family = AF_INET,
			     .rtm_dst_len = 16,
			     .rtm_table = RT_TABLE_MAIN,
			     .rtm_protocol = turn++ % 2 ? RTPROT_STATIC : RTPROT_BOOT,
			     .rtm_scope = RT_SCOPE_LINK,
			     .rtm_type = RTN_UNICAST};
	struct nl_request r;

	nl_begin(&r, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, &body, sizeof(body));
	nl_u32(&r, RTA_DST, htonl(0x0a010000));
	nl_u32(&r, RTA_OIF, if_nametoindex("dummy0"));
	need(nl_talk(s->rt, &r), "replace a route");
}

static void replace_and_look_up(void *opaque)
{
	const struct shared *s = opaque;

	replace(s);
	look_up(s->lookups[0]);
}

static void look_up_only(void *opaque)
{
	look_up(((const struct shared *)opaque)->lookups[1]);
	spin_us(PAUSE_US);
}

int main(void)
{
	struct shared s = {.rt = nl_open(NETLINK_ROUTE)};

	need(nl_link_up(s.rt, "dummy0", true), "bring dummy0 up, which its module has made");
	for (int i = 0; i < 2; i++)
		s.lookups[i] = need(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "make a socket");
	replace(&s);
	repeat_both(replace_and_look_up, look_up_only, &s);
}
