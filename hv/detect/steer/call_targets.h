/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds which functions a function calls, as far as its code tells: by direct calls, and by direct jumps to another function
 * (tail calls). Calls through pointers are missed, because their code does not tell the target. Sampler's thread only, and
 * without d->lock.
 */
#ifndef OUTRIDER_DETECT_STEER_CALL_TARGETS_H
#define OUTRIDER_DETECT_STEER_CALL_TARGETS_H

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

#include "hv/detect/core/spans.h"

struct detect;

/* A growing list of GVAs. All zeros: empty. */
struct call_targets {
	uint64_t *list;
	size_t count;
};

void call_targets_fini(struct call_targets *t);

/* Append an address. Returns 0, or -1 if memory runs out. */
int call_targets_add(struct call_targets *t, uint64_t target);

/* Sort the list, and keep each address once. */
void call_targets_sort(struct call_targets *t);

/* Returns whether the list, which must be sorted, has the address. */
bool call_targets_has(const struct call_targets *t, uint64_t target);

/*
 * Append the targets of the calls that lead out of the function of `size` bytes at GVA `addr`. A function whose code cannot be
 * read has none. Returns 0, or -1 if memory runs out.
 */
int call_targets_of(struct detect *d, uint64_t addr, uint64_t size, struct call_targets *out);

/*
 * Estimate from how many places in the text [start, end) each of `functions` is called. Stores the numbers in counts[], indexed
 * like the functions, which must be sorted. Reads only one of CALL_TARGETS_PAGES pages, and looks for the bytes of calls
 * without decoding, because decoding a kernel takes seconds, and in the labs 40 s. Returns 0, or -1 if memory runs out.
 */
int call_targets_callers(struct detect *d, uint64_t start, uint64_t end, const struct spans *functions, uint32_t *counts);

#define CALL_TARGETS_PAGES 8u

#endif
