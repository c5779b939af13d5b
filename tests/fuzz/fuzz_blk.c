/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests to a disk of 64 KiB. The first byte is the features that the driver takes of the first eight, the second those of
 * the core and the number of queues, the third how the disk is configured.
 */
#include "hv/vmm/block/virtio_blk.h"
#include "tests/fuzz/rig.h"

#define IMAGE_LEN (64u << 10)

static void note(void *ctx, const char *line)
{
	(void)ctx;
	fuzz_require(line[0] && !strchr(line, '\n'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct rig m;
	static struct fuzz_file image;
	static const uint8_t zeroes[IMAGE_LEN];
	const struct vmm_messages notes = {.message = note};
	struct vmm_disk config = {0};
	struct virtio_blk *disk;
	uint64_t features;

	if (size < 3)
		return 0;
	config.path = fuzz_file(&image, zeroes, sizeof(zeroes));
	config.read_only = data[2] & 1;
	config.queues = 1 + data[1] % 4;
	features = (uint64_t)data[1] << 26 | (uint64_t)data[0] << 8 | 0x7f;
	rig_open(&m);
	disk = virtio_blk_new(&m.virtio, &config, 0, 2, &notes, NULL);
	fuzz_require(disk);
	rig_start(&m, features, 16);
	rig_requests(&m, features, 16, data + 3, size - 3);
	virtio_blk_free(disk);
	rig_close(&m);
	/* The image keeps its size, whatever was written. */
	fuzz_require(lseek(image.fd, 0, SEEK_END) == IMAGE_LEN);
	return 0;
}
