/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the members of struct module are in this kernel. Private to symbols/. */
#ifndef OUTRIDER_SYMBOLS_MODULES_LAYOUT_H
#define OUTRIDER_SYMBOLS_MODULES_LAYOUT_H

#include <stdint.h>

#include "symbols/btf/btf.h"

#define MODULE_STRUCT_MAX 4096u /* struct module is 900 to 1300 bytes */

/* Byte offset in struct module and size; size 0: this kernel has no such member. */
struct module_layout {
	uint32_t size; /* of struct module */
	struct btf_member list, state, name;
	struct btf_member text, text_size, init_text, init_text_size;
	struct btf_member noinstr, noinstr_size, kprobes, kprobes_size;
	struct btf_member build_id, notes_attrs, kallsyms;
};

/* -1 with err when a member that cannot be done without is missing or out of bounds. */
int module_layout_find(const struct btf *btf, struct module_layout *out, struct err *err);

/* The little-endian value of a member (at most 8 bytes) in a copy of struct module; 0 for one that does not exist. */
uint64_t module_field(const uint8_t *module, const struct btf_member *member);

#endif
