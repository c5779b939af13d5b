/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What user-mode networking does to frames: checksums, the guard, and merging. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "hv/vmm/net/checksum.h"
#include "hv/vmm/net/guard.h"
#include "hv/vmm/net/merge.h"
#include "tests/unit/vmm/net_frames.h"

/* ---- checksums ---- */

/* RFC 1071, section 3: the bytes 00 01 f2 03 f4 f5 f6 f7 sum to ddf2. */
static void test_sum(void **state)
{
	const uint8_t bytes[] = {0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};

	(void)state;
	assert_int_equal(net_sum(bytes, 8, 0), 0xddf2);
	assert_int_equal(net_sum(bytes + 4, 4, net_sum(bytes, 4, 0)), 0xddf2);
	assert_int_equal(net_sum(bytes, 0, 0x1234), 0x1234);
	assert_int_equal(net_sum(bytes + 2, 1, 0), 0xf200); /* an odd byte is the high one */
}

/* For any length and alignment, the sum is that of adding 16-bit words one by one. */
static void test_sum_of_any_length(void **state)
{
	uint8_t data[200];

	(void)state;
	for (unsigned i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 151 + 17);
	for (unsigned at = 0; at < 8; at++)
		for (unsigned len = 0; len + at <= sizeof(data); len++)
			assert_int_equal(net_sum(data + at, len, 0x8001), frames_sum(data + at, len, 0x8001));
}

static void test_complete_checksum(void **state)
{
	uint8_t frame[2000], want[2000];
	size_t len = frames_tcp4(frame, &(struct frames_tcp){.seq = 1, .flags = FRAMES_ACK, .payload = 1001});

	(void)state;
	memcpy(want, frame, len);
	/* A driver leaves the sum of the pseudo header in the checksum's place. */
	frames_put_pseudo_sum(frame, len);
	assert_true(net_complete_checksum(frame, len, 34, 16));
	assert_memory_equal(frame, want, len);
}

/* Every place that the guest names is checked before a write to it. */
static void test_checksum_out_of_the_frame(void **state)
{
	uint8_t *frame = malloc(60);

	(void)state;
	assert_non_null(frame);
	memset(frame, 0, 60);
	assert_false(net_complete_checksum(frame, 60, 61, 0));
	assert_false(net_complete_checksum(frame, 60, 65535, 65535));
	assert_false(net_complete_checksum(frame, 60, 59, 0));
	assert_false(net_complete_checksum(frame, 60, 34, 25));
	assert_true(net_complete_checksum(frame, 60, 34, 24));
	assert_true(net_complete_checksum(frame, 60, 58, 0));
	free(frame);
}

/* ---- the guard ---- */

static bool allowed4(const char *to, uint8_t protocol, uint16_t port, uint16_t fragment)
{
	uint8_t frame[100] = {0};

	frames_ip4(frame, "10.0.2.15", to, protocol, 60 - 14);
	frame[20] = (uint8_t)(fragment >> 8);
	frame[21] = (uint8_t)fragment;
	frame[36] = (uint8_t)(port >> 8);
	frame[37] = (uint8_t)port;
	return net_guard_allows(frame, 60);
}

static bool allowed6(const char *to, uint8_t protocol, uint16_t port)
{
	uint8_t frame[100] = {0};

	frames_ip6(frame, "fec0::15", to, protocol, 20);
	frame[56] = (uint8_t)(port >> 8);
	frame[57] = (uint8_t)port;
	return net_guard_allows(frame, 74);
}

static void test_guard_ipv4(void **state)
{
	(void)state;
	assert_true(allowed4("192.0.2.1", IPPROTO_TCP, 80, 0));
	assert_true(allowed4("10.0.2.2", IPPROTO_UDP, 67, 0));
	assert_true(allowed4("255.255.255.255", IPPROTO_UDP, 67, 0));
	assert_false(allowed4("127.0.0.1", IPPROTO_TCP, 80, 0));
	assert_false(allowed4("127.255.255.254", IPPROTO_UDP, 80, 0));
	assert_false(allowed4("127.0.0.53", IPPROTO_UDP, 53, 0));
	assert_false(allowed4("0.0.0.0", IPPROTO_TCP, 80, 0));
	assert_false(allowed4("0.1.2.3", IPPROTO_TCP, 80, 0));
}

/* libslirp 4.7.0 reassembles fragments wrongly: a guest's fragments can overwrite memory of this process. */
static void test_guard_fragments(void **state)
{
	static const char *const to[] = {"192.0.2.1", "10.0.2.3"};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		assert_true(allowed4(to[i], IPPROTO_UDP, 53, 0x4000));	/* "don't fragment" */
		assert_false(allowed4(to[i], IPPROTO_UDP, 53, 0x2000)); /* the first fragment */
		assert_false(allowed4(to[i], IPPROTO_UDP, 53, 0x2001)); /* one in the middle */
		assert_false(allowed4(to[i], IPPROTO_UDP, 53, 0x0001)); /* the last one */
		assert_false(allowed4(to[i], IPPROTO_UDP, 53, 0x1000));
		assert_false(allowed4(to[i], IPPROTO_ICMP, 0, 0x0001));
		assert_false(
			allowed4(to[i], IPPROTO_UDP, 53, 0x8000)); /* the reserved bit, which ip_input() takes for a fragment */
	}
}

/* The host's name server is often a service at the host's loopback address, which has other ports as well. */
static void test_guard_name_server(void **state)
{
	(void)state;
	assert_true(allowed4("10.0.2.3", IPPROTO_UDP, 53, 0));
	assert_true(allowed4("10.0.2.3", IPPROTO_TCP, 53, 0));
	assert_true(allowed4("10.0.2.3", IPPROTO_UDP, 53, 0x4000)); /* "don't fragment" */
	assert_true(allowed4("10.0.2.3", IPPROTO_ICMP, 0, 0));
	assert_false(allowed4("10.0.2.3", IPPROTO_TCP, 22, 0));
	assert_false(allowed4("10.0.2.3", IPPROTO_UDP, 5353, 0));
	assert_false(allowed4("10.0.2.3", IPPROTO_SCTP, 53, 0));
	assert_true(allowed6("fec0::3", IPPROTO_UDP, 53));
	assert_true(allowed6("fec0::3", IPPROTO_ICMPV6, 0));
	assert_false(allowed6("fec0::3", IPPROTO_TCP, 22));
	assert_false(allowed6("fec0::3", IPPROTO_HOPOPTS, 53));
}

static void test_guard_ipv6(void **state)
{
	(void)state;
	assert_true(allowed6("2001:db8::1", IPPROTO_TCP, 80));
	assert_true(allowed6("ff02::2", IPPROTO_ICMPV6, 0));
	assert_false(allowed6("::1", IPPROTO_TCP, 80));
	assert_false(allowed6("::", IPPROTO_TCP, 80));
	assert_false(allowed6("::127.0.0.1", IPPROTO_TCP, 80));
	assert_false(allowed6("::ffff:127.0.0.1", IPPROTO_TCP, 80));
	assert_false(allowed6("::ffff:192.0.2.1", IPPROTO_TCP, 80));
}

/* IP options move the port to another offset, and a header that is cut short has no port. */
static void test_guard_headers(void **state)
{
	uint8_t frame[100] = {0};

	(void)state;
	frames_ip4(frame, "10.0.2.15", "10.0.2.3", IPPROTO_UDP, 60 - 14);
	frame[14] = 0x46;
	frame[37] = 53; /* the place of the port without options */
	assert_false(net_guard_allows(frame, 60));
	frame[41] = 53;
	assert_true(net_guard_allows(frame, 60));
	assert_false(net_guard_allows(frame, 41)); /* the port is cut off */
	frame[14] = 0x4f;			   /* the header is longer than the frame */
	assert_false(net_guard_allows(frame, 60));
	frame[14] = 0x44; /* the header is shorter than any */
	assert_false(net_guard_allows(frame, 60));
	frame[14] = 0x65; /* IPv6 in an IPv4 frame */
	assert_false(net_guard_allows(frame, 60));
	frame[14] = 0x45;
	for (size_t len = 0; len < 34; len++)
		assert_false(net_guard_allows(frame, len));
	frames_ip6(frame, "fec0::15", "2001:db8::1", IPPROTO_TCP, 20);
	for (size_t len = 0; len < 54; len++)
		assert_false(net_guard_allows(frame, len));
}

static void test_guard_other_protocols(void **state)
{
	uint8_t frame[60] = {0};

	(void)state;
	frame[12] = 0x08;
	frame[13] = 0x06;
	assert_true(net_guard_allows(frame, 60));
	assert_true(net_guard_allows(frame, 42));
	assert_false(net_guard_allows(frame, 41));
	frame[12] = 0x88; /* NC-SI, which libslirp answers, too */
	frame[13] = 0xf8;
	assert_false(net_guard_allows(frame, 60));
	frame[12] = 0x81; /* a VLAN tag */
	frame[13] = 0x00;
	assert_false(net_guard_allows(frame, 60));
}

static bool opens4(uint8_t protocol, uint16_t port, uint8_t tcp_flags, uint16_t fragment)
{
	uint8_t frame[60] = {0};

	frames_ip4(frame, "10.0.2.15", "192.0.2.1", protocol, 60 - 14);
	frame[20] = (uint8_t)(fragment >> 8);
	frame[21] = (uint8_t)fragment;
	frame[36] = (uint8_t)(port >> 8);
	frame[37] = (uint8_t)port;
	frame[47] = tcp_flags;
	return net_guard_opens(frame, 60);
}

static bool opens6(uint8_t protocol, uint8_t first)
{
	uint8_t frame[74] = {0};

	frames_ip6(frame, "fec0::15", "2001:db8::1", protocol, 20);
	frame[54] = first;
	return net_guard_opens(frame, 74);
}

static void test_guard_new_sockets(void **state)
{
	uint8_t arp[60] = {[12] = 8, [13] = 6};

	(void)state;
	assert_true(opens4(IPPROTO_TCP, 80, FRAMES_SYN, 0));
	assert_true(opens4(IPPROTO_TCP, 80, FRAMES_SYN | FRAMES_PSH, 0));
	assert_false(opens4(IPPROTO_TCP, 80, FRAMES_SYN | FRAMES_ACK, 0));
	assert_false(opens4(IPPROTO_TCP, 80, FRAMES_ACK | FRAMES_PSH, 0));
	assert_true(opens4(IPPROTO_UDP, 53, 0, 0));
	assert_false(opens4(IPPROTO_UDP, 67, 0, 0));
	assert_true(opens4(IPPROTO_ICMP, 0, 0, 0));
	assert_true(opens6(IPPROTO_UDP, 0));
	assert_true(opens6(IPPROTO_ICMPV6, 128));
	assert_false(opens6(IPPROTO_ICMPV6, 135)); /* who has this address? */
	assert_false(net_guard_opens(arp, sizeof(arp)));
}

/* ---- merging ---- */

static struct net_merge *new_merge(void)
{
	struct net_merge *m = calloc(1, sizeof(*m));

	assert_non_null(m);
	m->ipv4 = true;
	m->ipv6 = true;
	return m;
}

static bool add(struct net_merge *m, const struct frames_tcp *segment)
{
	uint8_t frame[2000];
	size_t len = segment->ipv6 ? frames_tcp6(frame, segment) : frames_tcp4(frame, segment);

	return net_merge_add(m, frame, len);
}

/* Merged segments with a completed checksum are the frame of one large segment. */
static void takes_as_one(bool ipv6)
{
	static uint8_t want[NET_FRAME_MAX];
	struct net_merge *m = new_merge();
	struct virtio_net_hdr_v1 hdr;
	struct frames_tcp whole = {.ipv6 = ipv6, .seq = 0xfffffa00, .flags = FRAMES_ACK | FRAMES_PSH, .payload = 2 * 1400 + 77};
	size_t len, headers = ipv6 ? 74 : 54;

	assert_true(add(m, &(struct frames_tcp){.ipv6 = ipv6, .seq = whole.seq, .flags = FRAMES_ACK, .payload = 1400}));
	assert_true(add(m, &(struct frames_tcp){
				   .ipv6 = ipv6, .seq = whole.seq + 1400, .flags = FRAMES_ACK, .payload = 1400, .from = 1400}));
	assert_true(add(
		m,
		&(struct frames_tcp){
			.ipv6 = ipv6, .seq = whole.seq + 2800, .flags = FRAMES_ACK | FRAMES_PSH, .payload = 77, .from = 2800}));
	len = net_merge_take(m, &hdr);
	assert_int_equal(len, headers + 2877);
	assert_int_equal(hdr.flags, VIRTIO_NET_HDR_F_NEEDS_CSUM);
	assert_int_equal(hdr.gso_type, ipv6 ? VIRTIO_NET_HDR_GSO_TCPV6 : VIRTIO_NET_HDR_GSO_TCPV4);
	assert_int_equal(le16toh(hdr.gso_size), 1400);
	assert_int_equal(le16toh(hdr.hdr_len), headers);
	assert_true(net_complete_checksum(m->frame, len, le16toh(hdr.csum_start), le16toh(hdr.csum_offset)));
	assert_int_equal(ipv6 ? frames_tcp6(want, &whole) : frames_tcp4(want, &whole), len);
	assert_memory_equal(m->frame, want, len);
	assert_int_equal(net_merge_take(m, &hdr), 0);
	free(m);
}

static void test_merge_ipv4(void **state)
{
	(void)state;
	takes_as_one(false);
}

static void test_merge_ipv6(void **state)
{
	(void)state;
	takes_as_one(true);
}

/* A segment alone comes out as it went in. */
static void test_merge_of_one(void **state)
{
	struct net_merge *m = new_merge();
	struct virtio_net_hdr_v1 hdr;
	struct frames_tcp one = {.seq = 7, .flags = FRAMES_ACK, .payload = 100};
	uint8_t want[2000];
	size_t len = frames_tcp4(want, &one);

	(void)state;
	assert_true(add(m, &one));
	assert_int_equal(net_merge_take(m, &hdr), len);
	assert_memory_equal(m->frame, want, len);
	assert_int_equal(hdr.flags, VIRTIO_NET_HDR_F_DATA_VALID);
	assert_int_equal(hdr.gso_type, VIRTIO_NET_HDR_GSO_NONE);
	free(m);
}

/* Segments that cannot be merged with the held segment, each for one reason. */
static void test_merge_refuses(void **state)
{
	const struct frames_tcp other[] = {
		{.seq = 1100, .flags = FRAMES_ACK, .payload = 100},			 /* a gap */
		{.seq = 1000, .flags = FRAMES_ACK, .payload = 100},			 /* the same once more */
		{.seq = 1050, .flags = FRAMES_ACK, .payload = 51},			 /* larger than the first */
		{.seq = 1050, .flags = FRAMES_ACK, .payload = 0},			 /* no data */
		{.seq = 1050, .flags = FRAMES_ACK | 1, .payload = 50},			 /* FIN */
		{.seq = 1050, .flags = FRAMES_ACK | 4, .payload = 50},			 /* RST */
		{.seq = 1050, .flags = FRAMES_ACK | 0x20, .payload = 50},		 /* URG */
		{.seq = 1050, .flags = FRAMES_ACK, .payload = 50, .ack = 9},		 /* acknowledges more */
		{.seq = 1050, .flags = FRAMES_ACK, .payload = 50, .window = 9},		 /* another window */
		{.seq = 1050, .flags = FRAMES_ACK, .payload = 50, .port = 81},		 /* another connection */
		{.seq = 1050, .flags = FRAMES_ACK, .payload = 50, .source = "10.0.2.9"}, /* another host */
		{.seq = 1050, .flags = FRAMES_ACK, .payload = 50, .ipv6 = true},	 /* another protocol */
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		struct net_merge *m = new_merge();
		struct virtio_net_hdr_v1 hdr;

		assert_true(add(m, &(struct frames_tcp){.seq = 1000, .flags = FRAMES_ACK, .payload = 50}));
		assert_false(add(m, &other[i]));
		assert_int_equal(net_merge_take(m, &hdr), 54 + 50);
		free(m);
	}
}

/* After a short segment or one with PSH, no segment is merged: the guest could not split the frame into the old segments. */
static void test_merge_ends(void **state)
{
	struct net_merge *m = new_merge();

	(void)state;
	assert_true(add(m, &(struct frames_tcp){.seq = 0, .flags = FRAMES_ACK, .payload = 50}));
	assert_true(add(m, &(struct frames_tcp){.seq = 50, .flags = FRAMES_ACK, .payload = 49}));
	assert_false(add(m, &(struct frames_tcp){.seq = 99, .flags = FRAMES_ACK, .payload = 49}));
	m->len = 0;
	assert_true(add(m, &(struct frames_tcp){.seq = 0, .flags = FRAMES_ACK | FRAMES_PSH, .payload = 50}));
	assert_false(add(m, &(struct frames_tcp){.seq = 50, .flags = FRAMES_ACK, .payload = 50}));
	free(m);
}

/* A merged packet's length still fits into its header. */
static void test_merge_largest(void **state)
{
	struct net_merge *m = new_merge();
	struct virtio_net_hdr_v1 hdr;
	uint32_t seq = 0;
	size_t len;

	(void)state;
	while (add(m, &(struct frames_tcp){.seq = seq, .flags = FRAMES_ACK, .payload = 1460}))
		seq += 1460;
	assert_int_equal(seq, 44 * 1460);
	len = net_merge_take(m, &hdr);
	assert_int_equal(len, 54 + seq);
	assert_int_equal(m->frame[16] << 8 | m->frame[17], len - 14);
	free(m);
}

/* Frames are not merged if the driver did not negotiate that, if they are no TCP segments, or if their lengths are wrong. */
static void test_merge_not_asked(void **state)
{
	struct net_merge *m = new_merge();
	struct frames_tcp segment = {.flags = FRAMES_ACK, .payload = 100};
	uint8_t frame[2000];
	size_t len;

	(void)state;
	m->ipv4 = false;
	assert_false(add(m, &segment));
	m->ipv4 = true;
	len = frames_tcp4(frame, &segment);
	for (size_t cut = 0; cut < len; cut++)
		assert_false(net_merge_add(m, frame, cut));
	assert_false(net_merge_add(m, frame, len + 1));
	frame[20] = 0x20; /* a fragment */
	assert_false(net_merge_add(m, frame, len));
	m->ipv6 = false;
	segment.ipv6 = true;
	assert_false(add(m, &segment));
	free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sum),
		cmocka_unit_test(test_sum_of_any_length),
		cmocka_unit_test(test_complete_checksum),
		cmocka_unit_test(test_checksum_out_of_the_frame),
		cmocka_unit_test(test_guard_ipv4),
		cmocka_unit_test(test_guard_fragments),
		cmocka_unit_test(test_guard_name_server),
		cmocka_unit_test(test_guard_ipv6),
		cmocka_unit_test(test_guard_headers),
		cmocka_unit_test(test_guard_other_protocols),
		cmocka_unit_test(test_guard_new_sockets),
		cmocka_unit_test(test_merge_ipv4),
		cmocka_unit_test(test_merge_ipv6),
		cmocka_unit_test(test_merge_of_one),
		cmocka_unit_test(test_merge_refuses),
		cmocka_unit_test(test_merge_ends),
		cmocka_unit_test(test_merge_largest),
		cmocka_unit_test(test_merge_not_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
