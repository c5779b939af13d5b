/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One thread deletes and makes a class of a QFQ scheduler. The other sends packets through another class of the same aggregate.
 */
#include "../netlink.h"

#include <linux/if_packet.h>
#include <linux/pkt_sched.h>
#include <net/ethernet.h>

#define DEVICE "dummy0"
#define ROOT TC_H_MAKE(1 << 16, 0)
#define CLASS(n) TC_H_MAKE(1 << 16, n)

static int netlink, packets;

static int class(int type, int flags, unsigned int n)
{
	struct tcmsg body = {.tcm_ifindex = (int)if_nametoindex(DEVICE), .tcm_parent = ROOT, .tcm_handle = CLASS(n)};
	struct nl_request r;
	struct nlattr *options;

	nl_begin(&r, type, flags, &body, sizeof(body));
	nl_string(&r, TCA_KIND, "qfq");
	options = nl_nest(&r, TCA_OPTIONS);
	/* Classes of one weight are in one aggregate. */
	nl_u32(&r, TCA_QFQ_WEIGHT, 10);
	nl_u32(&r, TCA_QFQ_LMAX, 2048);
	nl_end(&r, options);
	return nl_talk(netlink, &r);
}

static void change(void *opaque)
{
	(void)opaque;
	class(RTM_DELTCLASS, 0, 2);
	class(RTM_NEWTCLASS, NLM_F_CREATE | NLM_F_EXCL, 2);
}

static void transmit(void *opaque)
{
	static const char frame[64] = {[12] = 0x08};

	(void)opaque;
	send(packets, frame, sizeof(frame), 0);
}

static void add_scheduler(void)
{
	struct tcmsg body = {.tcm_ifindex = (int)if_nametoindex(DEVICE), .tcm_parent = TC_H_ROOT, .tcm_handle = ROOT};
	struct nl_request r;

	nl_begin(&r, RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE, &body, sizeof(body));
	nl_string(&r, TCA_KIND, "qfq");
	need(nl_talk(netlink, &r), "add a qfq scheduler");
}

static void open_sender(unsigned int priority)
{
	struct sockaddr_ll at = {.sll_family = AF_PACKET, .sll_ifindex = (int)if_nametoindex(DEVICE)};

	packets = need(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0), "open a packet socket");
	need(bind(packets, (const struct sockaddr *)&at, sizeof(at)), "bind a packet socket to " DEVICE);
	need(setsockopt(packets, SOL_SOCKET, SO_PRIORITY, &priority, sizeof(priority)), "set a socket's priority");
}

int main(void)
{
	netlink = nl_open(NETLINK_ROUTE);
	need(nl_link_up(netlink, DEVICE, true), "bring " DEVICE " up");
	add_scheduler();
	need(class(RTM_NEWTCLASS, NLM_F_CREATE | NLM_F_EXCL, 1), "add a class");
	need(class(RTM_NEWTCLASS, NLM_F_CREATE | NLM_F_EXCL, 2), "add a class");
	open_sender(CLASS(1));
	repeat_both(change, transmit, NULL);
}
