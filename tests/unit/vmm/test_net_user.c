/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The run's side of user-mode networking, and a network process that a guest has taken over: the test is that process. Whatever
 * it sends, the run gives the guest only what a network can send, or takes the network away.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <endian.h>
#include <signal.h>
#include <string.h>

#include "hv/vmm/net/backend.h"
#include "tests/unit/vmm/net_fake_helper.h"
#include "tests/unit/vmm/net_watch.h"

static struct {
	unsigned frames, lines;
	struct virtio_net_hdr_v1 hdr;
	size_t len;
	char line[512];
} guest;

static bool guest_receive(void *ctx, const struct virtio_net_hdr_v1 *hdr, const void *frame, size_t len)
{
	(void)ctx;
	(void)frame;
	guest.frames++;
	guest.hdr = *hdr;
	guest.len = len;
	return true;
}

static void ignore(void *ctx)
{
	(void)ctx;
}

static void take_line(void *ctx, const char *line)
{
	(void)ctx;
	guest.lines++;
	snprintf(guest.line, sizeof(guest.line), "%s", line);
}

static struct net_backend *start_with(uint64_t features)
{
	static const struct vmm_messages notes = {take_line, NULL};
	struct net_backend *b = net_user_new(&(struct vmm_net){.kind = VMM_NET_USER}, &notes, NULL);
	struct net_start start;

	assert_non_null(b);
	memset(&guest, 0, sizeof(guest));
	b->peer = (struct net_peer){.receive = guest_receive, .received = ignore, .sendable = ignore};
	b->ops->start(b, features);
	assert_int_equal(read(process_end, &start, sizeof(start)), sizeof(start));
	assert_int_equal(start.header.kind, NET_MESSAGE_START);
	assert_int_equal(start.header.generation, 1);
	assert_int_equal(start.features, features);
	return b;
}

static void end(struct net_backend *b)
{
	b->ops->stop(b);
	b->ops->free(b);
}

static union {
	struct net_header header;
	uint8_t bytes[NET_MESSAGE_MAX + 100];
} message;

/* Send a message of `len` bytes with this header. Returns whether the guest still has a network. */
static bool survives(uint64_t features, const struct net_header *header, size_t len)
{
	struct net_backend *b = start_with(features);
	bool survived;

	message.header = *header;
	assert_int_equal(write(process_end, &message, len), len);
	assert_true(run_worker(PATIENCE_MS));
	survived = watched.fd >= 0;
	assert_int_equal(guest.lines, !survived);
	assert_true(survived || !guest.frames);
	assert_true(survived || strstr(guest.line, "sent an invalid message"));
	end(b);
	return survived;
}

#define FRAME_OF(bytes) (sizeof(struct net_header) + (bytes))

static void test_lengths(void **state)
{
	const struct net_header header = {.kind = NET_MESSAGE_FRAME, .generation = 1};

	(void)state;
	assert_true(survives(0, &header, FRAME_OF(NET_FRAME_MIN)));
	assert_int_equal(guest.frames, 1);
	assert_int_equal(guest.len, NET_FRAME_MIN);
	assert_true(survives(0, &header, FRAME_OF(NET_FRAME_MAX)));
	assert_int_equal(guest.len, NET_FRAME_MAX);
	assert_false(survives(0, &header, 1));
	assert_false(survives(0, &header, FRAME_OF(0)));
	assert_false(survives(0, &header, FRAME_OF(NET_FRAME_MIN - 1)));
	assert_false(survives(0, &header, FRAME_OF(NET_FRAME_MAX + 1)));
	assert_false(survives(0, &header, FRAME_OF(NET_FRAME_MAX + 50)));
}

static void test_kinds(void **state)
{
	(void)state;
	assert_false(survives(0, &(struct net_header){.kind = NET_MESSAGE_START, .generation = 1}, FRAME_OF(100)));
	assert_false(survives(0, &(struct net_header){.kind = 77, .generation = 1}, FRAME_OF(100)));
	/* A frame for the previous driver is late, and no error. */
	assert_true(survives(0, &(struct net_header){.kind = NET_MESSAGE_FRAME}, FRAME_OF(100)));
	assert_int_equal(guest.frames, 0);
}

static bool survives_offload(uint64_t features, struct virtio_net_hdr_v1 offload)
{
	const struct net_header header = {.kind = NET_MESSAGE_FRAME, .generation = 1, .offload = offload};

	return survives(features, &header, FRAME_OF(1000));
}

/* A driver gets nothing that it did not negotiate, and no length beyond the frame. */
static void test_offloads(void **state)
{
	const uint64_t sums = NET_BIT(VIRTIO_NET_F_GUEST_CSUM), segments = sums | NET_BIT(VIRTIO_NET_F_GUEST_TSO4);
	struct virtio_net_hdr_v1 hdr = {.flags = VIRTIO_NET_HDR_F_DATA_VALID};

	(void)state;
	assert_true(survives_offload(sums, hdr));
	assert_false(survives_offload(0, hdr));
	hdr.flags = 0xf0;
	assert_false(survives_offload(segments, hdr));
	hdr = (struct virtio_net_hdr_v1){.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
					 .gso_type = VIRTIO_NET_HDR_GSO_TCPV4,
					 .gso_size = htole16(100),
					 .hdr_len = htole16(54),
					 .csum_start = htole16(34),
					 .csum_offset = htole16(16)};
	assert_true(survives_offload(segments, hdr));
	assert_false(survives_offload(sums, hdr));
	hdr.gso_type = VIRTIO_NET_HDR_GSO_TCPV6;
	assert_false(survives_offload(segments, hdr));
	hdr.gso_type = VIRTIO_NET_HDR_GSO_UDP;
	assert_false(survives_offload(segments, hdr));
	hdr.gso_type = VIRTIO_NET_HDR_GSO_TCPV4;
	hdr.gso_size = 0;
	assert_false(survives_offload(segments, hdr));
	hdr.gso_size = htole16(100);
	hdr.hdr_len = htole16(1000);
	assert_false(survives_offload(segments, hdr));
	hdr.hdr_len = htole16(54);
	hdr.csum_start = htole16(1000);
	assert_false(survives_offload(segments, hdr));
}

static void test_end(void **state)
{
	struct net_backend *b = start_with(0);

	(void)state;
	close(process_end);
	process_end = -1;
	assert_true(run_worker(PATIENCE_MS));
	assert_int_equal(watched.fd, -1);
	assert_string_equal(guest.line, "the guest has lost its network: its network process has ended");
	end(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_offloads),
		cmocka_unit_test(test_end),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
