/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides which Ethernet frames of the guest libslirp gets. libslirp gets no packet to a loopback address, because libslirp
 * would connect the guest to a service of the host. It gets no IPv4 fragment, because of a bug in libslirp 4.7.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <net/ethernet.h>
#include <netinet/icmp6.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/tcp.h>
#include <string.h>

#include "hv/vmm/net/guard.h"

#define DNS_PORT 53
#define DHCP_PORT 67
#define TCP_FLAGS 13 /* offset of the flags in a TCP header */
#define ARP_LEN 28   /* bytes of an ARP request or reply for IPv4 addresses */

/* Returns true if a TCP or UDP packet is to `port`. The headers of both begin with the source port and the destination port. */
static bool to_port(const uint8_t *payload, size_t len, unsigned port)
{
	return len >= 4 && (unsigned)(payload[2] << 8 | payload[3]) == port;
}

static bool allows_ipv4(const uint8_t *packet, size_t len)
{
	struct ip ip;
	uint32_t to;
	size_t header;

	if (len < sizeof(ip))
		return false;
	memcpy(&ip, packet, sizeof(ip));
	to = be32toh(ip.ip_dst.s_addr);
	header = (size_t)ip.ip_hl * 4;
	if (ip.ip_v != 4 || header < sizeof(ip) || header > len)
		return false;
	if (to >> 24 == 127 || to >> 24 == 0)
		return false;
	/*
	 * Refuse fragments, and packets with the reserved bit. ip_input() of libslirp 4.7.0 passes them to ip_reass(), which
	 * uses bytes of the packet as a pointer and writes through it (fixed in 4.8.0 by commit 26be815b).
	 */
	if (be16toh(ip.ip_off) & (uint16_t)~IP_DF)
		return false;
	if (to != NET_USER_DNS || ip.ip_p == IPPROTO_ICMP)
		return true;
	return (ip.ip_p == IPPROTO_TCP || ip.ip_p == IPPROTO_UDP) && to_port(packet + header, len - header, DNS_PORT);
}

static bool allows_ipv6(const uint8_t *packet, size_t len)
{
	static const uint8_t zeros[10];
	struct in6_addr dns;
	struct ip6_hdr ip;
	const uint8_t *to = ip.ip6_dst.s6_addr;

	if (len < sizeof(ip))
		return false;
	memcpy(&ip, packet, sizeof(ip));
	if (ip.ip6_vfc >> 4 != 6)
		return false;
	/*
	 * Refuse ::/96, which contains the unspecified and the loopback address, and the IPv4-mapped addresses ::ffff:0:0/96.
	 */
	if (memcmp(to, zeros, sizeof(zeros)) == 0 && ((to[10] == 0 && to[11] == 0) || (to[10] == 0xff && to[11] == 0xff)))
		return false;
	inet_pton(AF_INET6, NET_USER_DNS6, &dns);
	if (memcmp(to, &dns, sizeof(dns)) != 0 || ip.ip6_nxt == IPPROTO_ICMPV6)
		return true;
	return (ip.ip6_nxt == IPPROTO_TCP || ip.ip6_nxt == IPPROTO_UDP) &&
	       to_port(packet + sizeof(ip), len - sizeof(ip), DNS_PORT);
}

bool net_guard_allows(const uint8_t *frame, size_t len)
{
	if (len < ETHER_HDR_LEN)
		return false;
	switch (frame[12] << 8 | frame[13]) {
	case ETHERTYPE_ARP:
		return len >= ETHER_HDR_LEN + ARP_LEN;
	case ETHERTYPE_IP:
		return allows_ipv4(frame + ETHER_HDR_LEN, len - ETHER_HDR_LEN);
	case ETHERTYPE_IPV6:
		return allows_ipv6(frame + ETHER_HDR_LEN, len - ETHER_HDR_LEN);
	default:
		return false;
	}
}

/*
 * Returns what net_guard_opens() returns for a packet with this `payload` after the IP header. libslirp makes a socket for a
 * TCP segment only if the segment is a plain SYN.
 */
static bool payload_opens(uint8_t protocol, const uint8_t *payload, size_t len)
{
	switch (protocol) {
	case IPPROTO_TCP:
		return len > TCP_FLAGS && (payload[TCP_FLAGS] & (TH_SYN | TH_ACK | TH_FIN | TH_RST | TH_URG)) == TH_SYN;
	case IPPROTO_UDP:
		return !to_port(payload, len, DHCP_PORT);
	case IPPROTO_ICMPV6:
		return len && payload[0] == ICMP6_ECHO_REQUEST;
	default:
		return true;
	}
}

bool net_guard_opens(const uint8_t *frame, size_t len)
{
	const uint8_t *packet = frame + ETHER_HDR_LEN;
	struct ip6_hdr ip6;
	struct ip ip;
	size_t header;

	len -= ETHER_HDR_LEN;
	switch (frame[12] << 8 | frame[13]) {
	case ETHERTYPE_IP:
		memcpy(&ip, packet, sizeof(ip));
		header = (size_t)ip.ip_hl * 4;
		return payload_opens(ip.ip_p, packet + header, len - header);
	case ETHERTYPE_IPV6:
		memcpy(&ip6, packet, sizeof(ip6));
		return payload_opens(ip6.ip6_nxt, packet + sizeof(ip6), len - sizeof(ip6));
	default:
		return false;
	}
}
