/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Both CPUs change which sources of a multicast group they want on dummy0, each of a group of its own. A change starts MLD's
 * timer, which fires on the CPU that made the change. The pauses let it: each change puts it off by two jiffies.
 */
#include "../netlink.h"

#include <netinet/in.h>

#define REPORTS "/proc/sys/net/ipv6/conf/dummy0/mldv2_unsolicited_report_interval"

static const int pauses_us[] = {3000, 15000, 9000, 25000, 6000};

struct member {
	int fd;
	unsigned int turn;
	struct group_source_req source;
};

/* The last byte of a source's address tells it from others. */
static void set_source(struct member *m, unsigned char last)
{
	struct sockaddr_in6 source = {.sin6_family = AF_INET6, .sin6_addr.s6_addr = {0xfd, [15] = last}};

	memcpy(&m->source.gsr_source, &source, sizeof(source));
}

static struct member join(unsigned char number)
{
	struct member m = {.fd = need(socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0), "make a socket")};
	struct sockaddr_in6 group = {.sin6_family = AF_INET6, .sin6_addr.s6_addr = {0xff, 0x05, [15] = number}};

	m.source.gsr_interface = if_nametoindex("dummy0");
	memcpy(&m.source.gsr_group, &group, sizeof(group));
	set_source(&m, 1);
	need(setsockopt(m.fd, IPPROTO_IPV6, MCAST_JOIN_SOURCE_GROUP, &m.source, sizeof(m.source)), "join a group");
	set_source(&m, 2);
	return m;
}

static void change(struct member *m)
{
	int what = m->turn++ % 2 ? MCAST_LEAVE_SOURCE_GROUP : MCAST_JOIN_SOURCE_GROUP;

	need(setsockopt(m->fd, IPPROTO_IPV6, what, &m->source, sizeof(m->source)), "change a group's sources");
	spin_us(pauses_us[m->turn % (sizeof(pauses_us) / sizeof(pauses_us[0]))]);
}

static void first(void *opaque)
{
	change(opaque);
}

static void second(void *opaque)
{
	change((struct member *)opaque + 1);
}

int main(void)
{
	int rt = nl_open(NETLINK_ROUTE);
	struct member members[2];

	need(nl_link_up(rt, "dummy0", true), "bring dummy0 up, which its module has made");
	if (!write_text(REPORTS, "1"))
		die("set " REPORTS);
	members[0] = join(1);
	members[1] = join(2);
	repeat_both(first, second, members);
}
