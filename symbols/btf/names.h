/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Types by name. Private to symbols/btf. */
#ifndef OUTRIDER_SYMBOLS_BTF_NAMES_H
#define OUTRIDER_SYMBOLS_BTF_NAMES_H

#include "hv/base/err.h"
#include "symbols/btf/types.h"

/* Build btf->by_name, which btf_free() frees. Returns 0, or -1 with EXIT_INTERNAL in err when memory is out. */
int btf_index_names(struct btf *btf, struct err *err);

/*
 * The id of the struct or union of that name, or of the one that a typedef of that name stands for; 0 when there is none. A
 * struct or union with members is preferred to a declaration without and to a typedef.
 */
uint32_t btf_find_type(const struct btf *btf, const char *name);

#endif
