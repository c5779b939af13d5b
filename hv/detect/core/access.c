/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares accesses by the guest-physical bytes that they access. */
#include "hv/detect/core/access.h"

#include "hv/race/conflict.h"

int datum_locate(struct target *target, const struct x86_regs *regs, struct datum *datum)
{
	uint32_t left = datum->access.size < RACE_DATA_MAX ? datum->access.size : RACE_DATA_MAX;
	uint64_t gva = datum->access.gva;

	datum->len = left;
	datum->extent_count = 0;
	if (!left || gva + left < gva)
		return -1;
	while (left) {
		struct extent *e = &datum->extents[datum->extent_count];
		uint32_t chunk = X86_PAGE_SIZE - (uint32_t)(gva & (X86_PAGE_SIZE - 1));
		uint8_t byte;

		e->len = chunk < left ? chunk : left;
		if (target_translate(target, regs->cr3, regs->cr4, gva, &e->gpa) || target_read_phys(target, e->gpa, &byte, 1))
			return -1;
		datum->extent_count++;
		gva += e->len;
		left -= e->len;
	}
	return 0;
}

int datum_read(struct target *target, const struct datum *datum, uint8_t *out)
{
	for (unsigned i = 0; i < datum->extent_count; i++) {
		if (target_read_phys(target, datum->extents[i].gpa, out, datum->extents[i].len))
			return -1;
		out += datum->extents[i].len;
	}
	return 0;
}

_Static_assert(RACE_DATA_MAX <= 64, "bits() has one bit for each byte of a datum");

/* Returns a mask in which `count` bits are set, from bit `first` on. `count` is at least 1. */
static uint64_t bits(uint32_t first, uint32_t count)
{
	return UINT64_MAX >> (64 - count) << first;
}

uint64_t datum_bytes_in(const struct datum *datum, uint64_t gpa, uint64_t len, struct extent *common)
{
	uint64_t found = 0;
	uint32_t at = 0;

	for (unsigned i = 0; i < datum->extent_count; i++) {
		const struct extent *e = &datum->extents[i];
		uint64_t start = e->gpa > gpa ? e->gpa : gpa;
		uint64_t end = e->gpa + e->len < gpa + len ? e->gpa + e->len : gpa + len;

		if (start < end) {
			if (common && !found)
				*common = (struct extent){.gpa = start, .len = (uint32_t)(end - start)};
			found |= bits(at + (uint32_t)(start - e->gpa), (uint32_t)(end - start));
		}
		at += e->len;
	}
	return found;
}

bool data_overlap(const struct datum *a, const struct datum *b)
{
	for (unsigned i = 0; i < a->extent_count; i++) {
		for (unsigned j = 0; j < b->extent_count; j++) {
			const struct extent *x = &a->extents[i], *y = &b->extents[j];

			if (race_ranges_overlap(x->gpa, x->len, y->gpa, y->len))
				return true;
		}
	}
	return false;
}
