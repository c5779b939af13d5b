/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of planted breakpoints (point.h): plants, finds and removes them by address. */
#include "hv/detect/core/point.h"

#include <stdlib.h>
#include <string.h>

#include "hv/base/clock.h"

int points_init(struct points *p, struct target *target, uint32_t capacity)
{
	uint32_t buckets = 1;

	while (buckets < 4 * capacity)
		buckets *= 2;
	*p = (struct points){.target = target, .capacity = capacity, .hash_mask = buckets - 1};
	p->slots = calloc(capacity, sizeof(*p->slots));
	p->armed = calloc(capacity, sizeof(*p->armed));
	p->free_slots = calloc(capacity, sizeof(*p->free_slots));
	p->hash = calloc(buckets, sizeof(*p->hash));
	if (!p->slots || !p->armed || !p->free_slots || !p->hash) {
		points_fini(p);
		return -1;
	}
	for (uint32_t i = 0; i < capacity; i++)
		p->free_slots[i] = i;
	return 0;
}

void points_fini(struct points *p)
{
	free(p->slots);
	free(p->armed);
	free(p->free_slots);
	free(p->hash);
	*p = (struct points){0};
}

static uint32_t bucket_of(const struct points *p, uint64_t addr)
{
	return (uint32_t)((addr * 0x9e3779b97f4a7c15ull) >> 32) & p->hash_mask;
}

/* Returns the bucket that holds `addr`, or the empty bucket where `addr` would be inserted. */
static uint32_t probe(const struct points *p, uint64_t addr)
{
	uint32_t b = bucket_of(p, addr);

	while (p->hash[b] && p->slots[p->hash[b] - 1].addr != addr)
		b = (b + 1) & p->hash_mask;
	return b;
}

struct point *points_find(const struct points *p, uint64_t addr)
{
	uint32_t entry = p->hash[probe(p, addr)];

	return entry ? &p->slots[entry - 1] : NULL;
}

/*
 * Whether guest memory still has the instruction's bytes after the first, as far as they are on the same page. Before planting,
 * this shows that the instruction was not patched since it was decoded. Before removing, this shows that the page still has
 * this text, and was not freed and reused.
 */
static bool tail_stands(const struct points *p, const struct insn *insn, uint64_t gpa)
{
	uint64_t in_page = X86_PAGE_SIZE - (gpa & (X86_PAGE_SIZE - 1));
	size_t len = (insn->len < in_page ? insn->len : in_page) - 1;
	uint8_t tail[INSN_MAX_LEN];

	return !len || (target_read_phys(p->target, gpa + 1, tail, len) == 0 && memcmp(tail, insn->bytes + 1, len) == 0);
}

struct point *points_plant(struct points *p, const struct insn *insn, uint64_t gpa)
{
	uint32_t b = probe(p, insn->addr), slot;
	struct point *point;

	if (p->hash[b] || p->count == p->capacity)
		return NULL;
	if (!tail_stands(p, insn, gpa) || target_plant(p->target, insn->addr, gpa, insn->bytes[0]))
		return NULL;

	slot = p->free_slots[p->capacity - 1 - p->count];
	point = &p->slots[slot];
	*point = (struct point){
		.addr = insn->addr, .gpa = gpa, .insn = *insn, .position = p->count, .planted_ns = monotonic_ns()};
	p->armed[p->count++] = slot;
	p->hash[b] = slot + 1;
	return point;
}

/*
 * Remove an address from the hash table. Deletion by backward shift keeps probe sequences unbroken without tombstones (Knuth,
 * vol. 3, 6.4, algorithm R).
 */
static void unhash(struct points *p, uint64_t addr)
{
	uint32_t hole = probe(p, addr), b = hole;

	for (;;) {
		uint32_t home;

		b = (b + 1) & p->hash_mask;
		if (!p->hash[b])
			break;
		home = bucket_of(p, p->slots[p->hash[b] - 1].addr);
		if (((b - home) & p->hash_mask) >= ((b - hole) & p->hash_mask)) {
			p->hash[hole] = p->hash[b];
			hole = b;
		}
	}
	p->hash[hole] = 0;
}

void points_remove(struct points *p, struct point *point)
{
	uint32_t slot = (uint32_t)(point - p->slots);
	uint32_t last = p->armed[p->count - 1];

	target_unplant(p->target, point->addr, point->gpa, point->insn.bytes[0], tail_stands(p, &point->insn, point->gpa));
	unhash(p, point->addr);
	p->armed[point->position] = last;
	p->slots[last].position = point->position;
	p->count--;
	p->again -= point->again;
	p->free_slots[p->capacity - 1 - p->count] = slot;
	point->addr = 0;
}

void points_overlay(const struct points *p, uint64_t gva, uint8_t *buf, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		const struct point *point = buf[i] == X86_INT3 ? points_find(p, gva + i) : NULL;

		if (point)
			buf[i] = point->insn.bytes[0];
	}
}
