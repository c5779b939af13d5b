/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Getting a kernel into guest memory, by whichever protocol its file speaks, and the state the first CPU enters it in.
 */
#ifndef OUTRIDER_VMM_BOOT_H
#define OUTRIDER_VMM_BOOT_H

#include <stdint.h>

#include "hv/base/err.h"
#include "hv/vmm/bzimage.h"
#include "hv/vmm/input.h"
#include "hv/vmm/memory.h"
#include "hv/vmm/vmm.h"

#define BOOT_CODE64_SEL 0x10 /* boot.rst, "64-bit boot protocol": __BOOT_CS and __BOOT_DS */
#define BOOT_DATA_SEL 0x18
#define BOOT_CODE32_SEL 0x20

enum boot_mode {
	BOOT_LINUX64, /* long mode, identity-mapped low 4 GiB, RSI = boot_params */
	BOOT_PVH32,   /* protected mode, paging off, EBX = hvm_start_info (Xen docs/misc/pvh) */
};

struct boot_entry {
	enum boot_mode mode;
	uint64_t rip;
	uint64_t params;
};

/* What a loader is given. */
struct boot_request {
	struct guest_memory *mem;
	struct input kernel;
	const char *initrd; /* path, or NULL */
	char *cmdline;	    /* complete */
	uint64_t rsdp;
};

/*
 * Load kernel and initrd of `config` and write what the first CPU needs (GDT, page tables, parameters). EXIT_INPUT on any file
 * that cannot be used.
 */
int boot_load(struct guest_memory *mem, const struct vmm_config *config, uint64_t rsdp, struct boot_entry *out,
	      struct err *err);

/* Where an initrd was put; size 0: there is none. */
struct boot_initrd {
	uint64_t at, size;
};

/*
 * Read the initrd, if there is one, to where a kernel with these limits can reach it and its own [start, end) does not.
 * EXIT_INPUT when it cannot be read or does not fit.
 */
int boot_initrd(const struct boot_request *req, const struct setup_header *limits, uint64_t start, uint64_t end,
		struct boot_initrd *out, struct err *err);

/* The two protocols; `head` is the first bytes of the kernel file. */
int boot_bzimage(const struct boot_request *req, const uint8_t *head, size_t len, struct boot_entry *out, struct err *err);
int boot_pvh(const struct boot_request *req, struct boot_entry *out, struct err *err);

#endif
