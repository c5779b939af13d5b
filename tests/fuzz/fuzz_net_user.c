/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages of a network process that a guest has taken over, to the run (hv/vmm/net/user.c). The first byte is the features
 * that the driver takes. Then come steps: the low three bits of a byte say what, and two more bytes are a length.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "hv/vmm/net/backend.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/vmm/net_fake_helper.h"
#include "tests/unit/vmm/net_watch.h"

static struct {
	uint64_t features;
	bool full;
	unsigned lines;
} guest;

static bool receive(void *ctx, const struct virtio_net_hdr_v1 *hdr, const void *frame, size_t len)
{
	static uint8_t copy[NET_FRAME_MAX];

	(void)ctx;
	fuzz_require(len >= NET_FRAME_MIN && len <= NET_FRAME_MAX && !guest.lines);
	fuzz_require(!hdr->flags || guest.features & NET_BIT(VIRTIO_NET_F_GUEST_CSUM));
	fuzz_require(hdr->gso_type == VIRTIO_NET_HDR_GSO_NONE ||
		     guest.features & (NET_BIT(VIRTIO_NET_F_GUEST_TSO4) | NET_BIT(VIRTIO_NET_F_GUEST_TSO6)));
	memcpy(copy, frame, len);
	return !guest.full;
}

static void ignore(void *ctx)
{
	(void)ctx;
}

static void take_line(void *ctx, const char *line)
{
	(void)ctx;
	fuzz_require(strlen(line) > 0 && !guest.lines);
	guest.lines++;
}

/* A frame of the guest. A process that does not read makes it wait. */
static void send_frame(struct net_backend *b, const uint8_t *data, size_t len)
{
	struct iovec piece = {(void *)data, len};

	if (len >= NET_FRAME_MIN && len <= NET_FRAME_MAX)
		b->ops->send(b, &(struct virtio_net_hdr_v1){0}, &piece, 1);
}

static void drain(void)
{
	static uint8_t message[NET_MESSAGE_MAX];

	while (process_end >= 0 && recv(process_end, message, sizeof(message), MSG_DONTWAIT) > 0)
		;
}

/* Send a message of the process whose kind and generation are right in most cases. */
static void say(const uint8_t *data, size_t len, bool proper)
{
	static union {
		struct net_header header;
		uint8_t bytes[NET_MESSAGE_MAX + 64];
	} message;

	if (process_end < 0 || len > sizeof(message.bytes))
		return;
	memcpy(message.bytes, data, len);
	if (proper) {
		message.header.kind = NET_MESSAGE_FRAME;
		message.header.generation = 1;
	}
	(void)!send(process_end, message.bytes, len, MSG_DONTWAIT);
}

static void step(struct net_backend *b, unsigned what, const uint8_t *data, size_t len)
{
	switch (what) {
	case 0:
	case 1:
		say(data, len, what == 0);
		break;
	case 2:
		send_frame(b, data, len);
		break;
	case 3:
		guest.full = !guest.full;
		break;
	case 4:
		b->ops->resume(b);
		break;
	case 5:
		drain();
		break;
	case 6:
		b->ops->stop(b);
		b->ops->start(b, guest.features);
		break;
	default:
		if (process_end >= 0 && len == 77) {
			close(process_end);
			process_end = -1;
		}
	}
	while (run_worker(0))
		;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct vmm_messages notes = {take_line, NULL};
	struct net_backend *b;

	if (!size)
		return 0;
	signal(SIGPIPE, SIG_IGN);
	memset(&guest, 0, sizeof(guest));
	guest.features = data[0] << 1;
	watched.fd = -1;
	b = net_user_new(&(struct vmm_net){.kind = VMM_NET_USER}, &notes, NULL);
	fuzz_require(b);
	b->peer = (struct net_peer){.receive = receive, .received = ignore, .sendable = ignore};
	b->ops->start(b, guest.features);
	drain();
	for (size_t at = 1; size - at >= 3;) {
		size_t len = (size_t)(data[at + 1] << 8 | data[at + 2]);
		unsigned what = data[at] & 7;

		at += 3;
		len = len < size - at ? len : size - at;
		step(b, what, data + at, len);
		at += what < 3 ? len : 0;
	}
	b->ops->stop(b);
	b->ops->free(b);
	return 0;
}
