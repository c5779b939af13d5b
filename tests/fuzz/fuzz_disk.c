/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Images that are given as disks: what format they are, and their sizes. The input is an image. */
#include "hv/vmm/block/disk.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fuzz_file file;
	struct err err = {0};
	const struct vmm_disk config = {.path = fuzz_file(&file, data, size), .read_only = true};
	struct disk *disk = disk_open(&config, &err);

	if (!disk) {
		fuzz_refused(&err);
		return 0;
	}
	fuzz_require(disk_size(disk) == size && size % DISK_SECTOR == 0);
	disk_close(disk);
	return 0;
}
