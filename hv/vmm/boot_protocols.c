/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loads the initrd, for the loaders of all boot protocols. */
#include "hv/vmm/boot_protocols.h"

#include "hv/vmm/bzimage.h"

int boot_initrd(const struct boot_request *req, const struct setup_header *limits, uint64_t start, uint64_t end,
		struct boot_initrd *out, struct err *err)
{
	struct boot_file initrd;
	uint64_t at;
	int rc = -1;

	*out = (struct boot_initrd){0};
	if (!req->initrd)
		return 0;
	if (boot_file_open(&initrd, "initrd", req->initrd, err) < 0)
		return -1;
	at = bzimage_place_initrd(limits, initrd.size, req->ram->low, start, end);
	if (!at) {
		err_set(err, EXIT_INPUT,
			"initrd %s of %llu MiB does not fit into the guest's memory; give --memory a larger size", req->initrd,
			(unsigned long long)(initrd.size >> 20));
		goto out;
	}
	if (boot_file_read(&initrd, 0, ram_at(req->ram, at, initrd.size), initrd.size, err) < 0)
		goto out;
	*out = (struct boot_initrd){at, initrd.size};
	rc = 0;
out:
	boot_file_close(&initrd);
	return rc;
}
