/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Offsets and sizes of the members of struct module in the guest's kernel. Private to symbols/modules. */
#ifndef OUTRIDER_SYMBOLS_MODULES_LAYOUT_H
#define OUTRIDER_SYMBOLS_MODULES_LAYOUT_H

#include <stdint.h>

#include "symbols/btf/btf.h"

#define MODULE_STRUCT_MAX 4096u /* bytes; stock kernels have 900 to 1300 */

/* A member has size 0 if this kernel lacks it, or if it does not fit into struct module. */
struct module_layout {
	uint32_t size; /* size of struct module in bytes, at most MODULE_STRUCT_MAX */
	struct btf_member list, state, name;
	struct btf_member text, text_size, init_text, init_text_size;
	struct btf_member noinstr, noinstr_size, kprobes, kprobes_size;
	struct btf_member build_id, notes_attrs, kallsyms, core_kallsyms;
};

/*
 * Find the members in the kernel's BTF. Returns 0, or -1 with EXIT_INPUT if struct module is larger than MODULE_STRUCT_MAX, or
 * a required member is missing: list, state, name, text or text_size.
 */
int module_layout_find(const struct btf *btf, struct module_layout *out, struct err *err);

/*
 * Returns the value of a little-endian member of at most 8 bytes, from a copy of struct module. Returns 0 for a missing member.
 */
uint64_t module_field(const uint8_t *module, const struct btf_member *member);

#endif
