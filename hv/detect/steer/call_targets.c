// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds which functions a function calls, and how often functions are called (call_targets.h). */
#include "hv/detect/steer/call_targets.h"

#include <stdlib.h>
#include <string.h>

#include "hv/base/grow.h"
#include "hv/detect/core/code.h"
#include "hv/detect/core/state.h"
#include "symbols/insn/flow.h"

void call_targets_fini(struct call_targets *t)
{
	free(t->list);
	*t = (struct call_targets){0};
}

int call_targets_add(struct call_targets *t, uint64_t target)
{
	uint64_t *to = list_grow(&t->list, &t->count, sizeof(*to), NULL);

	if (!to)
		return -1;
	*to = target;
	return 0;
}

static int by_address(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

void call_targets_sort(struct call_targets *t)
{
	size_t kept = 0;

	if (t->count)
		qsort(t->list, t->count, sizeof(*t->list), by_address);
	for (size_t i = 0; i < t->count; i++) {
		if (!kept || t->list[kept - 1] != t->list[i])
			t->list[kept++] = t->list[i];
	}
	t->count = kept;
}

bool call_targets_has(const struct call_targets *t, uint64_t target)
{
	return t->count && bsearch(&target, t->list, t->count, sizeof(*t->list), by_address);
}

int call_targets_of(struct detect *d, uint64_t addr, uint64_t size, struct call_targets *out)
{
	uint8_t *code = malloc(size);
	struct insn insn;
	uint64_t target;
	int ret = code ? 0 : -1;

	if (!code || detect_code(d, addr, code, size))
		goto out;
	for (uint64_t at = 0; at < size && ret == 0;) {
		unsigned len = insn_decode(d->sampler.decoder, code + at, size - at, addr + at, &insn);

		if (len && insn_leads_to(&insn, &target) && target - addr >= size)
			ret = call_targets_add(out, target);
		at += len ? len : 1;
	}
out:
	free(code);
	return ret;
}

/* Count the calls in the `len` bytes of code that are at GVA `gva`. */
static void count_calls(const uint8_t *code, size_t len, uint64_t gva, const struct spans *functions, uint32_t *counts)
{
	for (size_t at = 0; at + X86_CALL_LEN <= len; at++) {
		int32_t displacement;
		uint64_t target;
		size_t i;

		/* A jump (e9) counts, too. */
		if ((code[at] & 0xfeu) != X86_CALL)
			continue;
		memcpy(&displacement, code + at + 1, sizeof(displacement));
		target = gva + at + X86_CALL_LEN + (uint64_t)(int64_t)displacement;
		i = spans_find(functions, target);
		if (i != SPANS_NONE && functions->list[i].start == target)
			counts[i]++;
	}
}

int call_targets_callers(struct detect *d, uint64_t start, uint64_t end, const struct spans *functions, uint32_t *counts)
{
	uint8_t *code = malloc(X86_PAGE_SIZE);

	if (!code)
		return -1;
	memset(counts, 0, functions->count * sizeof(*counts));
	for (uint64_t page = start; page < end && !atomic_load(&d->life.stop); page += CALL_TARGETS_PAGES * X86_PAGE_SIZE) {
		size_t len = end - page < X86_PAGE_SIZE ? (size_t)(end - page) : X86_PAGE_SIZE;

		if (detect_code(d, page, code, len) == 0)
			count_calls(code, len, page, functions, counts);
	}
	for (size_t i = 0; i < functions->count; i++)
		counts[i] *= CALL_TARGETS_PAGES;
	free(code);
	return 0;
}
