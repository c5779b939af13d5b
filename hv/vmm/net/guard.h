/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which frames of the guest user-mode networking may look at. libslirp connects the guest to whatever address its packet names,
 * and libslirp 4.7's own switch (disable_host_loopback) covers only the addresses of its own network. A hostile guest also
 * writes 127.0.0.1, 0.0.0.0 (which Linux takes for loopback) or an IPv4 address mapped into IPv6 on a packet, and libslirp maps
 * every port of the DNS server's address to the host's name server, which is often 127.0.0.53.
 */
#ifndef OUTRIDER_VMM_NET_GUARD_H
#define OUTRIDER_VMM_NET_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The network that the guest sees. */
#define NET_USER_NETWORK 0x0a000200u /* 10.0.2.0 */
#define NET_USER_MASK 0xffffff00u
#define NET_USER_GATEWAY 0x0a000202u
#define NET_USER_DNS 0x0a000203u
#define NET_USER_GUEST 0x0a00020fu
#define NET_USER_NETWORK6 "fec0::"
#define NET_USER_PREFIX6 64
#define NET_USER_GATEWAY6 "fec0::2"
#define NET_USER_DNS6 "fec0::3"

/*
 * Whether a frame of `len` bytes may go to libslirp. ARP passes. An IPv4 or IPv6 packet passes unless it is truncated; it is a
 * fragment of an IPv4 packet, or its reserved bit is set; its destination is a loopback, "this network" or IPv4-mapped address;
 * or its destination is the DNS server, and it is neither ICMP nor TCP or UDP to port 53.
 */
bool net_guard_allows(const uint8_t *frame, size_t len);

/*
 * Whether libslirp may make a socket for a frame that net_guard_allows(): for the SYN of a TCP connection, a UDP packet that is
 * not for the DHCP server, or a ping.
 */
bool net_guard_opens(const uint8_t *frame, size_t len);

#endif
