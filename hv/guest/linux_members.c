/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds and reads members of the kernel's structures by the kernel's BTF (linux_members.h). */
#include "hv/guest/linux_members.h"

#include <string.h>

#include "hv/guest/linux_guest.h"

void linux_find_member(const struct guest *g, const char *type, const char *path, uint32_t limit, struct btf_member *out)
{
	if (!g->btf || btf_member(g->btf, type, path, out) || out->size > sizeof(uint64_t) || out->bits > 63 ||
	    out->size > limit || out->offset > limit - out->size)
		*out = (struct btf_member){0};
}

uint32_t guest_pointer_offset(const struct guest *g, const char *type, const char *member)
{
	struct btf_member m;

	linux_find_member(g, type, member, UINT32_MAX, &m);
	return m.size == sizeof(uint64_t) && !m.bits ? m.offset : 0;
}

uint64_t linux_member_value(const uint8_t *copy, const struct btf_member *m)
{
	uint64_t value = 0;

	memcpy(&value, copy + m->offset, m->size);
	return m->bits ? value >> m->shift & ((1ull << m->bits) - 1) : value;
}

int linux_read_member(const struct guest *g, uint64_t gva, const struct btf_member *m, uint64_t *value)
{
	const struct btf_member here = {.size = m->size, .bits = m->bits, .shift = m->shift};
	uint8_t copy[sizeof(uint64_t)];

	if (!m->size || !x86_kernel_address(gva) || guest_read(g, gva + m->offset, copy, m->size))
		return -1;
	*value = linux_member_value(copy, &here);
	return 0;
}

uint64_t linux_percpu_offset(const struct guest *g, const char *symbol, const char *hot_member)
{
	struct symbol sym;
	struct btf_member member;

	if (symtab_find(g->symtab, symbol, &sym) == 0)
		return sym.addr;
	if (g->btf && symtab_find(g->symtab, "pcpu_hot", &sym) == 0 && btf_member(g->btf, "pcpu_hot", hot_member, &member) == 0)
		return sym.addr + member.offset;
	return LINUX_UNKNOWN;
}

int linux_percpu_area(const struct guest *g, uint32_t cpu, uint64_t *area)
{
	return guest_read(g, g->memory.percpu.offsets + cpu * sizeof(*area), area, sizeof(*area)) ? -1 : 0;
}
