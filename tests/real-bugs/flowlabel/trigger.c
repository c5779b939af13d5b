/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPU 0 gets an exclusive flow label with a hop-by-hop header, and puts it back. CPU 1 reads the list of labels from its
 * beginning. A label is listed for some seconds longer. All are in one bucket of the kernel's hash, whose newest comes first.
 */
#include "../trigger.h"

#include <linux/in6.h>
#include <netinet/in.h>

#define LABELS 0x7ff  /* of 19 bits, and the lowest 8 choose the bucket */
#define PAUSE_US 8000 /* so that a label has expired before it is used again */
#define LIST "/proc/net/ip6_flowlabel"

struct request {
	struct in6_flowlabel_req label;
	/* What follows is aligned as a struct cmsghdr is. */
	struct cmsghdr header __attribute__((aligned(8)));
	unsigned char hop_by_hop[8];
};

static int labels, list;

static void get_and_put(void *opaque)
{
	static unsigned int turn;
	struct request r = {.label = {.flr_action = IPV6_FL_A_GET,
				      .flr_share = IPV6_FL_S_EXCL,
				      .flr_flags = IPV6_FL_F_CREATE,
				      .flr_expires = 15, /* above the linger time: to put the label back then leaves it alone */
				      .flr_linger = 6},
			    .header = {.cmsg_len = CMSG_LEN(8), .cmsg_level = IPPROTO_IPV6, .cmsg_type = IPV6_HOPOPTS},
			    .hop_by_hop = {0, 0, 1, 4}};

	(void)opaque;
	r.label.flr_label = htonl((1 + turn++ % LABELS) << 8);
	r.label.flr_dst.s6_addr[0] = 0xfd;
	if (setsockopt(labels, IPPROTO_IPV6, IPV6_FLOWLABEL_MGR, &r, sizeof(r)) < 0 && errno != EPERM && errno != ENOBUFS)
		die("get a flow label");
	r.label.flr_action = IPV6_FL_A_PUT;
	setsockopt(labels, IPPROTO_IPV6, IPV6_FLOWLABEL_MGR, &r, sizeof(r.label));
	spin_us(PAUSE_US);
}

static void read_list(void *opaque)
{
	char text[300];

	(void)opaque;
	if (pread(list, text, sizeof(text), 0) < 0)
		die("read " LIST);
}

int main(void)
{
	labels = need(socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0), "make a socket");
	list = need(open(LIST, O_RDONLY | O_CLOEXEC), "open " LIST);
	repeat_both(get_and_put, read_list, NULL);
}
