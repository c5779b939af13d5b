/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests to the entropy device. The first byte is the features that the driver takes, and the queue's size. */
#include "hv/vmm/rng/virtio_rng.h"
#include "tests/fuzz/rig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct rig m;
	struct virtio_rng *rng;

	if (!size)
		return 0;
	rig_open(&m);
	rng = virtio_rng_new(&m.virtio, 0, NULL);
	fuzz_require(rng);
	rig_start(&m, (uint64_t)data[0] << 28, (uint16_t)(1u << (1 + (data[0] >> 4) % 8)));
	rig_requests(&m, (uint64_t)data[0] << 28, (uint16_t)(1u << (1 + (data[0] >> 4) % 8)), data + 1, size - 1);
	virtio_rng_free(rng);
	rig_close(&m);
	return 0;
}
