/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides which frames of the guest libslirp gets. libslirp connects the guest to any address that a packet names, and libslirp
 * 4.7's own switch (disable_host_loopback) covers only the addresses of its own network. A hostile guest can also send packets
 * to 127.0.0.1, to 0.0.0.0 (which Linux treats as loopback) or to an IPv4-mapped IPv6 address. And libslirp maps every port of
 * the DNS server's address to the host's name server, which is often 127.0.0.53.
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
 * Returns true if libslirp may get the frame of `len` bytes: ARP, IPv4 or IPv6. Refused are: truncated packets; IPv4 fragments,
 * and IPv4 packets with the reserved bit; packets to a loopback, "this network" or IPv4-mapped address; and packets to the DNS
 * server, except ICMP, and TCP and UDP to port 53.
 */
bool net_guard_allows(const uint8_t *frame, size_t len);

/*
 * Returns true if libslirp might make a socket for this frame, which net_guard_allows() has allowed. libslirp makes a socket
 * for the SYN of a TCP connection, for a UDP packet that is not for the DHCP server, and for a ping.
 */
bool net_guard_opens(const uint8_t *frame, size_t len);

#endif
