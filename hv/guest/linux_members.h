/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds and reads members of the kernel's structures, and offsets of per-CPU variables. */
#ifndef OUTRIDER_GUEST_LINUX_MEMBERS_H
#define OUTRIDER_GUEST_LINUX_MEMBERS_H

#include <stdint.h>

#include "hv/guest/guest.h"
#include "symbols/btf/btf.h"

/*
 * Find the member `path` of struct `type`. *out has size 0 if the kernel has no such member, it is larger than 8 bytes, or it
 * is not within the first `limit` bytes of the struct.
 */
void linux_find_member(const struct guest *g, const char *type, const char *path, uint32_t limit, struct btf_member *out);

/* Returns the member's value in `copy`, a copy of the structure from its start. For a bit-field, the value of its bits. */
uint64_t linux_member_value(const uint8_t *copy, const struct btf_member *m);

/* Read the member of the guest's structure at `gva`. Returns 0, or -1 if the member is unknown or unreadable. */
int linux_read_member(const struct guest *g, uint64_t gva, const struct btf_member *m, uint64_t *value);

/*
 * Returns the offset of a per-CPU variable in the per-CPU area: that of `symbol`, or of member `hot_member` of pcpu_hot, into
 * which Linux 6.2 moved some variables. Returns LINUX_UNKNOWN if the kernel has neither.
 */
uint64_t linux_percpu_offset(const struct guest *g, const char *symbol, const char *hot_member);

/*
 * Read the GVA of the per-CPU area of CPU number `cpu`, which must be below g->memory.percpu.cpus. Returns 0, or -1 if it is
 * unreadable.
 */
int linux_percpu_area(const struct guest *g, uint32_t cpu, uint64_t *area);

#endif
