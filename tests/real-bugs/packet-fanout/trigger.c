/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One thread takes an interface down and up. The other opens packet sockets there, which join a fanout group, and closes them.
 */
#include "../netlink.h"

#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <netinet/in.h>

#define DEVICE "dummy0"

static int netlink, index_of_device;

static int join(void)
{
	struct sockaddr_ll at = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = index_of_device};
	int fd = need(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0), "open a packet socket");
	int group = 1 | PACKET_FANOUT_HASH << 16;

	if (bind(fd, (const struct sockaddr *)&at, sizeof(at)) == 0)
		setsockopt(fd, SOL_PACKET, PACKET_FANOUT, &group, sizeof(group));
	return fd;
}

static void down_and_up(void *opaque)
{
	(void)opaque;
	nl_link_up(netlink, DEVICE, false);
	nl_link_up(netlink, DEVICE, true);
}

static void join_and_close(void *opaque)
{
	(void)opaque;
	close(join());
}

int main(void)
{
	netlink = nl_open(NETLINK_ROUTE);
	index_of_device = (int)if_nametoindex(DEVICE);
	need(nl_link_up(netlink, DEVICE, true), "bring " DEVICE " up");
	/* A member that stays keeps the group. */
	join();
	repeat_both(down_and_up, join_and_close, NULL);
}
