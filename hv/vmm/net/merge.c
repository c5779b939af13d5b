/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Merges consecutive TCP segments for the guest into one frame. The held frame is the merged frame that may still grow; a
 * segment that continues the same connection is added to the held frame.
 */
#include <endian.h>
#include <net/ethernet.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/tcp.h>
#include <string.h>

#include "hv/vmm/net/checksum.h"
#include "hv/vmm/net/merge.h"

#define ETH NET_ETH_LEN
#define IP_MAX 65535 /* bytes of the largest IP packet */

/* The layout of a TCP segment that can be merged. Its headers have no options: libslirp sends no options with data. */
struct segment {
	bool ipv6;
	size_t tcp;	/* offset of the TCP header in the frame */
	size_t headers; /* bytes before the payload */
	size_t payload; /* bytes */
	struct tcphdr head;
};

static size_t tcp_offset(bool ipv6)
{
	return ETH + (ipv6 ? sizeof(struct ip6_hdr) : sizeof(struct ip));
}

/* Returns true if the IP header says that the packet fills the frame, is no fragment, and contains TCP. */
static bool is_plain_ip(const uint8_t *frame, size_t len, bool ipv6)
{
	struct ip ip;
	struct ip6_hdr ip6;

	if (ipv6) {
		memcpy(&ip6, frame + ETH, sizeof(ip6));
		return ip6.ip6_nxt == IPPROTO_TCP && be16toh(ip6.ip6_plen) == len - ETH - sizeof(ip6);
	}
	memcpy(&ip, frame + ETH, sizeof(ip));
	return ip.ip_hl == 5 && ip.ip_p == IPPROTO_TCP && be16toh(ip.ip_len) == len - ETH &&
	       (be16toh(ip.ip_off) & (IP_MF | IP_OFFMASK)) == 0;
}

/*
 * Parse a frame as a TCP segment with data. Returns false if the frame is something else, or if the segment has a flag other
 * than ACK and PSH.
 */
static bool parse(const struct net_merge *m, const uint8_t *frame, size_t len, struct segment *s)
{
	unsigned type;

	if (len < ETH)
		return false;
	type = (unsigned)(frame[12] << 8 | frame[13]);
	if (!(type == ETHERTYPE_IP && m->ipv4) && !(type == ETHERTYPE_IPV6 && m->ipv6))
		return false;
	s->ipv6 = type == ETHERTYPE_IPV6;
	s->tcp = tcp_offset(s->ipv6);
	s->headers = s->tcp + sizeof(s->head);
	if (len <= s->headers || !is_plain_ip(frame, len, s->ipv6))
		return false;
	memcpy(&s->head, frame + s->tcp, sizeof(s->head));
	s->payload = len - s->headers;
	return s->head.th_off == 5 && (s->head.th_flags & ~TH_PUSH) == TH_ACK;
}

/*
 * Returns true if all headers of the two frames are equal, except the fields that differ between segments of one merged frame:
 * lengths, id, sequence number, flags and checksums.
 */
static bool same_connection(const uint8_t *a, const uint8_t *b, const struct segment *s)
{
	const struct tcphdr *head = &s->head;
	struct tcphdr held;

	if (memcmp(a, b, ETH) != 0)
		return false;
	if (s->ipv6) {
		if (memcmp(a + ETH, b + ETH, 4) != 0 || memcmp(a + ETH + 6, b + ETH + 6, 34) != 0)
			return false;
	} else if (memcmp(a + ETH, b + ETH, 2) != 0 || memcmp(a + ETH + 6, b + ETH + 6, 4) != 0 ||
		   memcmp(a + ETH + 12, b + ETH + 12, 8) != 0) {
		return false;
	}
	memcpy(&held, a + s->tcp, sizeof(held));
	return held.th_sport == head->th_sport && held.th_dport == head->th_dport && held.th_ack == head->th_ack &&
	       held.th_win == head->th_win;
}

/*
 * Returns true if the segment continues the held frame, is not longer than a segment in that frame, and the merged frame fits
 * into one IP packet.
 */
static bool follows(const struct net_merge *m, const uint8_t *frame, const struct segment *s)
{
	struct tcphdr first;

	if (m->closed || s->headers != m->headers || s->payload > m->segment_len || m->len - ETH + s->payload > IP_MAX)
		return false;
	if (!same_connection(m->frame, frame, s))
		return false;
	memcpy(&first, m->frame + s->tcp, sizeof(first));
	return be32toh(s->head.th_seq) == (uint32_t)(be32toh(first.th_seq) + (m->len - m->headers));
}

bool net_merge_add(struct net_merge *m, const uint8_t *frame, size_t len)
{
	struct segment s;

	if (!parse(m, frame, len, &s))
		return false;
	if (!m->len) {
		memcpy(m->frame, frame, len);
		m->len = len;
		m->headers = s.headers;
		m->segment_len = (uint16_t)s.payload;
		m->segments = 1;
	} else {
		if (!follows(m, frame, &s))
			return false;
		memcpy(m->frame + m->len, frame + s.headers, s.payload);
		m->len += s.payload;
		m->segments++;
		m->frame[s.tcp + offsetof(struct tcphdr, th_flags)] |= s.head.th_flags;
	}
	m->closed = s.payload < m->segment_len || (s.head.th_flags & TH_PUSH);
	return true;
}

static void put16(uint8_t *at, uint16_t value)
{
	value = htobe16(value);
	memcpy(at, &value, sizeof(value));
}

/*
 * Write the merged packet's length into its IP header, and for IPv4 also the header's checksum. Returns the sum of the pseudo
 * header, which a driver expects in the checksum field of the TCP header.
 */
static uint16_t finish_ip(struct net_merge *m, bool ipv6, size_t tcp)
{
	uint16_t tcp_len = (uint16_t)(m->len - tcp);
	uint8_t pseudo[4] = {0, IPPROTO_TCP, (uint8_t)(tcp_len >> 8), (uint8_t)tcp_len};
	uint8_t *ip = m->frame + ETH;

	if (ipv6) {
		put16(ip + offsetof(struct ip6_hdr, ip6_plen), tcp_len);
		return net_sum(pseudo, sizeof(pseudo), net_sum(ip + offsetof(struct ip6_hdr, ip6_src), 32, 0));
	}
	put16(ip + offsetof(struct ip, ip_len), (uint16_t)(m->len - ETH));
	put16(ip + offsetof(struct ip, ip_sum), 0);
	put16(ip + offsetof(struct ip, ip_sum), (uint16_t)~net_sum(ip, sizeof(struct ip), 0));
	return net_sum(pseudo, sizeof(pseudo), net_sum(ip + offsetof(struct ip, ip_src), 8, 0));
}

size_t net_merge_take(struct net_merge *m, struct virtio_net_hdr_v1 *hdr)
{
	size_t len = m->len;
	size_t tcp = m->headers - sizeof(struct tcphdr);
	bool ipv6 = tcp == tcp_offset(true);

	*hdr = (struct virtio_net_hdr_v1){.flags = VIRTIO_NET_HDR_F_DATA_VALID};
	if (len && m->segments > 1) {
		put16(m->frame + tcp + offsetof(struct tcphdr, th_sum), finish_ip(m, ipv6, tcp));
		hdr->flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
		hdr->csum_start = htole16((uint16_t)tcp);
		hdr->csum_offset = htole16(offsetof(struct tcphdr, th_sum));
		hdr->gso_type = ipv6 ? VIRTIO_NET_HDR_GSO_TCPV6 : VIRTIO_NET_HDR_GSO_TCPV4;
		hdr->gso_size = htole16(m->segment_len);
		hdr->hdr_len = htole16((uint16_t)m->headers);
	}
	m->len = 0;
	return len;
}
