/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbols/dwarf/sweep.h"

#include <stdlib.h>
#include <string.h>

#include "hv/base/order.h"
#include "symbols/insn/flow.h"

void di_sweep_free(struct di_sweep *s)
{
	if (s) {
		free(s->at);
		free(s->branches);
	}
	free(s);
}

uint64_t di_call_target(const struct insn *i)
{
	struct insn_branch branch;

	return insn_direct_branch(i, &branch) && branch.call && i->len == 5 ? branch.target : 0;
}

static int by_target(const void *a, const void *b)
{
	const struct di_branch *x = a, *y = b;

	return order_u64(x->target, y->target);
}

static int collect_branches(struct debuginfo *di, struct di_sweep *s)
{
	struct insn_branch branch;

	s->branches = calloc(s->n + 1, sizeof(*s->branches));
	if (!s->branches)
		return di_memory(di);
	for (size_t i = 0; i < s->n; i++) {
		if (insn_direct_branch(&s->at[i], &branch) && !branch.call)
			s->branches[s->n_branches++] = (struct di_branch){branch.target, i};
	}
	qsort(s->branches, s->n_branches, sizeof(*s->branches), by_target);
	return 0;
}

static int decode_code(struct debuginfo *di, const uint8_t *code, struct di_sweep *s)
{
	struct insn_decoder *decoder = insn_decoder_new();
	size_t len = s->high - s->low;
	int status = -1;

	s->at = calloc(len, sizeof(*s->at));
	if (!decoder || !s->at) {
		di_memory(di);
		goto out;
	}
	for (size_t at = 0; at < len;) {
		unsigned n = insn_decode(decoder, code + at, len - at, s->low + at, &s->at[s->n]);

		if (!n || !di_spend(di, 1))
			break;
		at += n;
		s->n++;
	}
	status = di->err->code == EXIT_OK ? collect_branches(di, s) : -1;
out:
	insn_decoder_free(decoder);
	return status;
}

/* Returns the index of ftrace's call: it is the function's first instruction, or the second one after an endbr64. */
static size_t find_tracer(const struct debuginfo *di, const struct di_sweep *s)
{
	for (size_t i = 0; i < s->n && i < 2; i++) {
		uint64_t target = di_call_target(&s->at[i]);
		const char *name = target ? di_file_call(&di->file, s->at[i].addr + 1, target) : NULL;

		if (name && !strcmp(name, "__fentry__"))
			return i;
	}
	return SIZE_MAX;
}

const struct di_sweep *di_sweep(struct debuginfo *di, uint64_t low, uint64_t high)
{
	const uint8_t *code;
	struct di_sweep *s;

	if (di->sweep && di->sweep->low == low && di->sweep->high == high)
		return di->sweep;
	code = di_file_code(&di->file, low, high - low, di->err);
	s = code ? calloc(1, sizeof(*s)) : NULL;
	if (!s) {
		if (code)
			di_memory(di);
		return NULL;
	}
	*s = (struct di_sweep){.low = low, .high = high};
	if (decode_code(di, code, s)) {
		di_sweep_free(s);
		return NULL;
	}
	s->tracer = find_tracer(di, s);
	di_sweep_free(di->sweep);
	di->sweep = s;
	return s;
}

size_t di_sweep_index(const struct di_sweep *s, uint64_t pc)
{
	size_t n = di_bisect(s->at, s->n, sizeof(*s->at), pc);

	return n && s->at[n - 1].addr == pc ? n - 1 : SIZE_MAX;
}

const struct di_branch *di_sweep_branches(const struct di_sweep *s, uint64_t target, size_t *n)
{
	size_t end = di_bisect(s->branches, s->n_branches, sizeof(*s->branches), target), first = end;

	while (first && s->branches[first - 1].target == target)
		first--;
	*n = end - first;
	return s->branches + first;
}
