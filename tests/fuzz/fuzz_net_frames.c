/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames of a guest and frames for it: the guard of user-mode networking, checksums that the guest asks for, and merging. The
 * input is a header of 4 bytes (where the checksum begins and where it goes), then frames, each after its length of 2 bytes.
 */
#include "hv/vmm/net/checksum.h"
#include "hv/vmm/net/guard.h"
#include "hv/vmm/net/merge.h"
#include "tests/fuzz/fuzz.h"

/* A merged frame is no larger than any other, and its headers say how long it is. */
static void take(struct net_merge *m)
{
	struct virtio_net_hdr_v1 hdr;
	size_t segments = m->segments, len = net_merge_take(m, &hdr);

	fuzz_require(len <= NET_FRAME_MAX);
	if (!len || segments < 2)
		return;
	fuzz_require(hdr.gso_type != VIRTIO_NET_HDR_GSO_NONE && hdr.hdr_len < len && hdr.gso_size <= len - hdr.hdr_len);
	fuzz_require(net_complete_checksum(m->frame, len, hdr.csum_start, hdr.csum_offset));
	fuzz_require(hdr.gso_type != VIRTIO_NET_HDR_GSO_TCPV4 ||
		     (size_t)(m->frame[16] << 8 | m->frame[17]) == len - NET_ETH_LEN);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct net_merge m;
	size_t start, offset;

	if (size < 4)
		return 0;
	start = (size_t)(data[0] << 8 | data[1]);
	offset = (size_t)(data[2] << 8 | data[3]);
	m = (struct net_merge){.ipv4 = true, .ipv6 = true};
	for (size_t at = 4; size - at >= 2;) {
		size_t len = (size_t)(data[at] << 8 | data[at + 1]);

		at += 2;
		if (len > size - at)
			len = size - at;
		/* In a room of its own length, so that a byte beyond its end is noticed. */
		uint8_t *exact = malloc(len);

		memcpy(exact, data + at, len);
		net_guard_allows(exact, len);
		if (!net_merge_add(&m, exact, len)) {
			take(&m);
			net_merge_add(&m, exact, len);
		}
		net_complete_checksum(exact, len, start, offset);
		free(exact);
		at += len;
	}
	take(&m);
	return 0;
}
