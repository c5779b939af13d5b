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
	r.label.flr_label = htonl((1 + (is_explored() ? 0 : turn++ % LABELS)) << 8);
	r.label.flr_dst.s6_addr[0] = 0xfd;
	if (!is_explored_step && setsockopt(labels, IPPROTO_IPV6, IPV6_FLOWLABEL_MGR, &r, sizeof(r)) < 0 && errno != EPERM &&
	    errno != ENOBUFS)
		die("get a flow label");
	if (is_explored() && !is_explored_step)
		return;
	r.label.flr_action = IPV6_FL_A_PUT;
	setsockopt(labels, IPPROTO_IPV6, IPV6_FLOWLABEL_MGR, &r, sizeof(r.label));
	if (!is_explored())
		spin_us(PAUSE_US);
}

/* Returns the length of the options of the label that is listed last: its line ends with this number, and spaces. */
static int options_length(char *text)
{
	size_t end = strlen(text);
	const char *last;

	while (end && (text[end - 1] == ' ' || text[end - 1] == '\n'))
		text[--end] = '\0';
	last = strrchr(text, ' ');
	return last ? atoi(last + 1) : 0;
}

static void read_list(void *opaque)
{
	char text[300] = "";
	int length;

	(void)opaque;
	if (pread(list, text, sizeof(text) - 1, 0) < 0)
		die("read " LIST);
	length = options_length(text);
	step_status = length != 0 && length != (int)sizeof(((struct request *)0)->hop_by_hop) ? 2 : 0;
}

int main(void)
{
	labels = need(socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0), "make a socket");
	list = need(open(LIST, O_RDONLY | O_CLOEXEC), "open " LIST);
	if (is_explored())
		get_and_put(NULL);
	repeat_both(get_and_put, read_list, NULL);
}
