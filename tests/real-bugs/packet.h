/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packet sockets (packet(7)) on one interface, for the triggers that send frames or look at them. */
#ifndef OUTRIDER_TRIGGER_PACKET_H
#define OUTRIDER_TRIGGER_PACKET_H

#include "netlink.h"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>

/* A raw packet socket bound to an interface. It gets frames of `protocol` (ETH_P_ALL: of all), with 0 none. */
static inline int packet_open(const char *device, int protocol)
{
	struct sockaddr_ll at = {.sll_family = AF_PACKET, .sll_protocol = htons((unsigned short)protocol)};
	int fd = need(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0), "open a packet socket");

	at.sll_ifindex = (int)if_nametoindex(device);
	need(bind(fd, (const struct sockaddr *)&at, sizeof(at)), "bind a packet socket");
	return fd;
}

/* Send a small frame of an IPv4 packet that belongs to the flow of this number. Returns whether it was taken. */
static inline bool packet_send(int fd, unsigned char flow)
{
	char frame[64] = {[12] = 0x08, [14] = 0x45, [17] = 50, [22] = 64, [23] = 17, [26] = 10, [30] = 10};

	frame[29] = (char)flow; /* the last byte of the source's address */
	return send(fd, frame, sizeof(frame), MSG_DONTWAIT) == (ssize_t)sizeof(frame);
}

#endif
