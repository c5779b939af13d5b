/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looks up the types of a parsed BTF blob by their names. Private to symbols/btf. */
#ifndef OUTRIDER_SYMBOLS_BTF_NAMES_H
#define OUTRIDER_SYMBOLS_BTF_NAMES_H

#include "hv/base/err.h"
#include "symbols/btf/types.h"

/* Build btf->by_name, which btf_free() frees. Returns 0, or -1 with EXIT_INTERNAL if memory runs out. */
int btf_index_names(struct btf *btf, struct err *err);

/*
 * Returns the id of the struct or union called `name`, or of the type that a typedef called `name` stands for, or 0. A struct
 * or union with members has precedence over a forward declaration and over a typedef.
 */
uint32_t btf_find_type(const struct btf *btf, const char *name);

#endif
