/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Members of the kernel's structures, and offsets in its per-CPU area: how they are found, and how they are read. */
#ifndef OUTRIDER_GUEST_LINUX_MEMBERS_H
#define OUTRIDER_GUEST_LINUX_MEMBERS_H

#include <stdint.h>

#include "hv/guest/guest.h"
#include "symbols/btf/btf.h"

/*
 * Find the member `path` of the struct `type`. *out has size 0 when the kernel has no such member, when the member is larger
 * than 8 bytes, or when it does not lie within the first `limit` bytes of the struct.
 */
void linux_find_member(const struct guest *g, const char *type, const char *path, uint32_t limit, struct btf_member *out);

/* The member's value in `copy`, a copy of the structure from its start. Of a bit-field, the value of its bits. */
uint64_t linux_member_value(const uint8_t *copy, const struct btf_member *m);

/* The member's value in the guest's structure at `gva`. Returns 0, or -1 when the member is not known or cannot be read. */
int linux_read_member(const struct guest *g, uint64_t gva, const struct btf_member *m, uint64_t *value);

/*
 * The offset of a per-CPU variable in the per-CPU area: that of `symbol`, or since Linux 6.2, for some variables, that of the
 * member `hot_member` of the variable pcpu_hot. LINUX_UNKNOWN: the kernel has neither.
 */
uint64_t linux_percpu_offset(const struct guest *g, const char *symbol, const char *hot_member);

#endif
