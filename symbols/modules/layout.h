/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the members of struct module are in this kernel. Private to symbols/modules. */
#ifndef OUTRIDER_SYMBOLS_MODULES_LAYOUT_H
#define OUTRIDER_SYMBOLS_MODULES_LAYOUT_H

#include <stdint.h>

#include "symbols/btf/btf.h"

#define MODULE_STRUCT_MAX 4096u /* bytes; stock kernels have 900 to 1300 */

/* A member that this kernel does not have, or that does not fit into struct module, has size 0. */
struct module_layout {
	uint32_t size; /* of struct module, in bytes; at most MODULE_STRUCT_MAX */
	struct btf_member list, state, name;
	struct btf_member text, text_size, init_text, init_text_size;
	struct btf_member noinstr, noinstr_size, kprobes, kprobes_size;
	struct btf_member build_id, notes_attrs, kallsyms;
};

/*
 * Find the members in the kernel's BTF. Returns 0, or -1 with EXIT_INPUT when struct module is larger than MODULE_STRUCT_MAX,
 * or when one of the members that cannot be done without is missing: list, state, name, text and text_size.
 */
int module_layout_find(const struct btf *btf, struct module_layout *out, struct err *err);

/*
 * The value of a member, which is little-endian and has at most 8 bytes, in a copy of struct module. It is 0 for a member that
 * does not exist.
 */
uint64_t module_field(const uint8_t *module, const struct btf_member *member);

#endif
