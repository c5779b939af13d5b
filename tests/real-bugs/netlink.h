/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Small messages to the kernel by netlink, for the triggers: a request with nested attributes is built in a buffer, sent, and
 * its acknowledgement read (rtnetlink(7)). No message here is longer than the buffer, since the triggers write them by hand.
 */
#ifndef OUTRIDER_TRIGGER_NETLINK_H
#define OUTRIDER_TRIGGER_NETLINK_H

#include "trigger.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>

struct nl_request {
	union {
		struct nlmsghdr header;
		char bytes[4096];
	};
};

static inline int nl_open(int protocol)
{
	struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	int fd = need(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol), "open a netlink socket");

	need(connect(fd, (const struct sockaddr *)&kernel, sizeof(kernel)), "connect a netlink socket");
	return fd;
}

/* Append raw bytes, padded to a multiple of 4. Returns where they are. */
static inline void *nl_put(struct nl_request *r, const void *data, size_t size)
{
	void *place = r->bytes + NLMSG_ALIGN(r->header.nlmsg_len);

	memcpy(place, data, size);
	r->header.nlmsg_len = (unsigned int)(NLMSG_ALIGN(r->header.nlmsg_len) + NLMSG_ALIGN(size));
	return place;
}

/* Begin a request whose body starts with the `size` bytes of `body`. */
static inline void nl_begin(struct nl_request *r, int type, int flags, const void *body, size_t size)
{
	memset(r, 0, sizeof(*r));
	r->header = (struct nlmsghdr){.nlmsg_len = NLMSG_HDRLEN, .nlmsg_type = (unsigned short)type};
	r->header.nlmsg_flags = (unsigned short)(NLM_F_REQUEST | NLM_F_ACK | flags);
	nl_put(r, body, size);
}

/* Append the head of an attribute that has `size` bytes. */
static inline struct nlattr *nl_head(struct nl_request *r, int type, size_t size)
{
	struct nlattr a = {.nla_len = (unsigned short)(NLA_HDRLEN + size), .nla_type = (unsigned short)type};

	return nl_put(r, &a, sizeof(a));
}

static inline void nl_attr(struct nl_request *r, int type, const void *data, size_t size)
{
	nl_head(r, type, size);
	nl_put(r, data, size);
}

/* Begin an attribute that others are nested in, up to nl_end(). */
static inline struct nlattr *nl_nest(struct nl_request *r, int type)
{
	return nl_head(r, type, 0);
}

static inline void nl_end(struct nl_request *r, struct nlattr *nest)
{
	nest->nla_len = (unsigned short)(r->bytes + r->header.nlmsg_len - (char *)nest);
}

static inline void nl_string(struct nl_request *r, int type, const char *text)
{
	nl_attr(r, type, text, strlen(text) + 1);
}

static inline void nl_u32(struct nl_request *r, int type, unsigned int value)
{
	nl_attr(r, type, &value, sizeof(value));
}

/* Send the request and read answers up to its acknowledgement. Returns 0 or a negative errno value, which is also in errno. */
static inline int nl_talk(int fd, struct nl_request *r)
{
	char answer[16384];
	ssize_t n;

	if (send(fd, r, r->header.nlmsg_len, 0) < 0)
		return -errno;
	while ((n = recv(fd, answer, sizeof(answer), 0)) > 0) {
		const struct nlmsghdr *h = (const void *)answer;

		for (size_t left = (size_t)n; left >= sizeof(*h) && h->nlmsg_len >= sizeof(*h) && h->nlmsg_len <= left;
		     left -= NLMSG_ALIGN(h->nlmsg_len) < left ? NLMSG_ALIGN(h->nlmsg_len) : left,
			    h = (const void *)((const char *)h + NLMSG_ALIGN(h->nlmsg_len))) {
			if (h->nlmsg_type == NLMSG_DONE)
				return 0;
			if (h->nlmsg_type != NLMSG_ERROR)
				continue;
			errno = -((const struct nlmsgerr *)NLMSG_DATA(h))->error;
			return -errno;
		}
	}
	return -errno;
}

/* Bring an interface up or down. */
static inline int nl_link_up(int fd, const char *name, bool up)
{
	struct ifinfomsg body = {.ifi_family = AF_UNSPEC, .ifi_index = (int)if_nametoindex(name), .ifi_flags = up ? IFF_UP : 0};
	struct nl_request r;

	body.ifi_change = IFF_UP;
	nl_begin(&r, RTM_NEWLINK, 0, &body, sizeof(body));
	return nl_talk(fd, &r);
}

/* Make an interface of a kind that needs no further attributes, for example "dummy". */
static inline int nl_link_add(int fd, const char *name, const char *kind)
{
	struct ifinfomsg body = {.ifi_family = AF_UNSPEC};
	struct nl_request r;
	struct nlattr *info;

	nl_begin(&r, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &body, sizeof(body));
	nl_string(&r, IFLA_IFNAME, name);
	info = nl_nest(&r, IFLA_LINKINFO);
	nl_string(&r, IFLA_INFO_KIND, kind);
	nl_end(&r, info);
	return nl_talk(fd, &r);
}

#endif
