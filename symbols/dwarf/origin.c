/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Searches backwards from the PC, along fall-through and jumps, for the instructions that write the register. */
#include "symbols/dwarf/origin.h"

#include <stdlib.h>

#include "symbols/dwarf/sweep.h"
#include "symbols/insn/flow.h"

#define MAX_SWEEP (256u << 10) /* bytes of code */

/* Registers that a call may change: the caller-saved registers of the System V ABI. */
#define CALL_WRITES                                                                                                          \
	(1u << X86_RAX | 1u << X86_RCX | 1u << X86_RDX | 1u << X86_RSI | 1u << X86_RDI | 1u << X86_R8 | 1u << 9 | 1u << 10 | \
	 1u << 11)

/* A search for the writers of one register. Instructions are identified by their index in the sweep. */
struct search {
	const struct di_sweep *s;
	int reg;
	bool *seen;   /* For each instruction: it was visited already. */
	size_t *todo; /* Instructions whose predecessors have not been visited. */
	size_t n;     /* Number of entries in `todo`. */
	size_t writers[DI_MAX_ORIGINS];
	size_t n_writers;
	bool from_start; /* A path reaches the function's start. */
	bool failed;	 /* Too many writers, or a path without a visible predecessor. */
};

static bool writes(const struct di_sweep *s, size_t at, int reg)
{
	const struct insn *i = &s->at[at];

	if (at == s->tracer)
		return false;
	return i->regs_written & 1u << reg || (i->flags & INSN_CALL && CALL_WRITES & 1u << reg);
}

/*
 * Returns true if execution never falls through to the next instruction. Also true for inc, dec and push of a memory operand
 * (opcode 0xff): then the search may find no origin, but never a wrong one.
 */
static bool ends_flow(const struct insn *i)
{
	return insn_ends_flow(i) || (i->bytes[0] == 0xff && !(i->flags & INSN_CALL));
}

/* Visit instruction `at` as a predecessor on some path. */
static void come_from(struct search *f, size_t at)
{
	if (f->seen[at])
		return;
	f->seen[at] = true;
	if (!writes(f->s, at, f->reg))
		f->todo[f->n++] = at;
	else if (f->n_writers < DI_MAX_ORIGINS)
		f->writers[f->n_writers++] = at;
	else
		f->failed = true;
}

/* Visit all predecessors of instruction `at`: the instruction before it, if execution falls through, and jumps to `at`. */
static void go_back(struct search *f, size_t at)
{
	bool through = at && !ends_flow(&f->s->at[at - 1]);
	size_t n;
	const struct di_branch *b = di_sweep_branches(f->s, f->s->at[at].addr, &n);

	if (!at)
		f->from_start = true;
	else if (!through && !n)
		f->failed = true;
	if (through)
		come_from(f, at - 1);
	for (size_t i = 0; i < n; i++)
		come_from(f, b[i].from);
}

static int search_writers(struct debuginfo *di, struct search *f, size_t from)
{
	f->seen = calloc(f->s->n, sizeof(*f->seen));
	f->todo = calloc(f->s->n + 1, sizeof(*f->todo));
	if (!f->seen || !f->todo)
		return di_memory(di);
	f->todo[f->n++] = from;
	while (f->n && !f->failed) {
		if (!di_spend(di, 1))
			return -1;
		go_back(f, f->todo[--f->n]);
	}
	return 0;
}

/* Convert the writers to origins. Returns their number, or 0 if one of them is DI_UNKNOWN. */
static int put_origins(const struct search *f, bool relocatable, struct di_origin *out)
{
	int n = 0;

	if (f->failed || f->n_writers + f->from_start > DI_MAX_ORIGINS)
		return 0;
	if (f->from_start)
		out[n++] = (struct di_origin){.kind = DI_SUM, .pc = f->s->low, .reg = f->reg};
	for (size_t i = 0; i < f->n_writers; i++) {
		di_effect(&f->s->at[f->writers[i]], f->reg, relocatable, &out[n]);
		if (out[n++].kind == DI_UNKNOWN)
			return 0;
	}
	return n;
}

int di_origins(struct debuginfo *di, uint64_t low, uint64_t high, uint64_t pc, int reg, struct di_origin out[DI_MAX_ORIGINS])
{
	struct search f = {.reg = reg};
	size_t from;
	int n = -1;

	if (pc <= low || pc >= high || high - low > MAX_SWEEP || !di->searches)
		return 0;
	di->searches--;
	f.s = di_sweep(di, low, high);
	if (!f.s)
		return di->err->code == EXIT_OK ? 0 : -1;
	from = di_sweep_index(f.s, pc);
	if (from == SIZE_MAX)
		return 0;
	if (!search_writers(di, &f, from))
		n = put_origins(&f, di->file.relocatable, out);
	free(f.seen);
	free(f.todo);
	return n;
}
