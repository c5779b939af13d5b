/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A register's origin: sweep the function, then go back from the PC along its branches to what wrote the register. */
#include <stdlib.h>
#include <string.h>

#include "hv/base/x86.h"
#include "symbols/dwarf/origin.h"
#include "symbols/insn/flow.h"
#include "symbols/insn/insn.h"

#define MAX_SWEEP (256u << 10) /* bytes */

/* What a call may change: the System V ABI's scratch registers. */
#define CALL_WRITES                                                                                                          \
	(1u << X86_RAX | 1u << X86_RCX | 1u << X86_RDX | 1u << X86_RSI | 1u << X86_RDI | 1u << X86_R8 | 1u << 9 | 1u << 10 | \
	 1u << 11)

struct branch {
	uint64_t target;
	size_t from;
};

struct di_sweep {
	uint64_t low, high;
	struct insn *at;
	size_t n;
	struct branch *branches; /* direct ones, by target */
	size_t n_branches;
	size_t tracer; /* the call of __fentry__, which changes no register; SIZE_MAX: there is none */
};

void di_sweep_free(struct di_sweep *s)
{
	if (s) {
		free(s->at);
		free(s->branches);
	}
	free(s);
}

/*
 * Control does not pass: what comes next is reached from elsewhere. inc, dec and push of a memory operand are taken for the
 * same, at the cost of an origin that could be told.
 */
static bool ends_flow(const struct insn *i)
{
	return insn_ends_flow(i) || (i->bytes[0] == 0xff && !(i->flags & INSN_CALL));
}

static int by_target(const void *a, const void *b)
{
	const struct branch *x = a, *y = b;

	return (x->target > y->target) - (x->target < y->target);
}

static int collect_branches(struct debuginfo *di, struct di_sweep *s)
{
	struct insn_branch branch;

	s->branches = calloc(s->n + 1, sizeof(*s->branches));
	if (!s->branches)
		return di_memory(di);
	for (size_t i = 0; i < s->n; i++) {
		if (insn_direct_branch(&s->at[i], &branch) && !branch.call)
			s->branches[s->n_branches++] = (struct branch){branch.target, i};
	}
	qsort(s->branches, s->n_branches, sizeof(*s->branches), by_target);
	return 0;
}

static int decode(struct debuginfo *di, const uint8_t *code, struct di_sweep *s)
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

/* The target of a direct call. */
static uint64_t call_target(const struct insn *i)
{
	struct insn_branch branch;

	return insn_direct_branch(i, &branch) && branch.call && i->len == 5 ? branch.target : 0;
}

/* Where ftrace's call is: at the function's beginning, or behind an endbr64 there. */
static size_t find_tracer(const struct debuginfo *di, const struct di_sweep *s)
{
	for (size_t i = 0; i < s->n && i < 2; i++) {
		uint64_t target = call_target(&s->at[i]);
		const char *name = target ? di_file_call(&di->file, s->at[i].addr + 1, target) : NULL;

		if (name && !strcmp(name, "__fentry__"))
			return i;
	}
	return SIZE_MAX;
}

/* The function's instructions; NULL: none in the file, or error set. */
static const struct di_sweep *sweep(struct debuginfo *di, uint64_t low, uint64_t high)
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
	if (decode(di, code, s)) {
		di_sweep_free(s);
		return NULL;
	}
	s->tracer = find_tracer(di, s);
	di_sweep_free(di->sweep);
	di->sweep = s;
	return s;
}

/* An instruction's encoding, as far as the forms of interest go: REX.W, a one-byte opcode and ModRM. */
struct form {
	uint8_t opcode;
	const uint8_t *modrm;
	int reg, rm; /* with REX's extensions */
	unsigned mod;
};

static bool read_form(const struct insn *i, struct form *f)
{
	size_t at = 0;
	uint8_t rex;

	while (at < i->len && (i->bytes[at] == 0x65 || i->bytes[at] == 0x3e || i->bytes[at] == 0x2e))
		at++;
	if (at + 3 > i->len || (i->bytes[at] & 0xf8) != 0x48)
		return false;
	rex = i->bytes[at];
	*f = (struct form){.opcode = i->bytes[at + 1], .modrm = i->bytes + at + 2};
	f->mod = *f->modrm >> 6;
	f->reg = (*f->modrm >> 3 & 7) | (rex & 4) << 1;
	f->rm = (*f->modrm & 7) | (rex & 1) << 3;
	return true;
}

static int64_t signed_at(const uint8_t *bytes, size_t width)
{
	int32_t wide;

	if (width == 1)
		return (int8_t)*bytes;
	memcpy(&wide, bytes, sizeof(wide));
	return wide;
}

/* lea with a base and a displacement, or RIP-relative; an index makes it nothing of interest. */
static void from_lea(const struct insn *i, const struct form *f, struct di_origin *out)
{
	const uint8_t *disp = f->modrm + 1;
	size_t width = f->mod == 1 ? 1 : f->mod == 2 || (!f->mod && (f->rm & 7) == 5) ? 4 : 0;

	if ((f->rm & 7) == 4) {
		if ((*disp & 0x3f) != 0x24 || f->mod == 0)
			return;
		disp++;
	}
	if (disp + width != i->bytes + i->len)
		return;
	if (!f->mod && (f->rm & 7) == 5) {
		out->kind = DI_ADDRESS;
		out->addr = i->addr + i->len + (uint64_t)signed_at(disp, 4);
		return;
	}
	out->kind = DI_SUM;
	out->reg = f->rm;
	out->disp = width ? signed_at(disp, width) : 0;
}

static void from_load(const struct insn *i, bool relocatable, struct di_origin *out)
{
	const struct insn_mem *m = &i->mem[0];

	if (i->nmem != 1 || m->size != 8 || m->index != INSN_REG_NONE || m->addr32 || m->seg == INSN_FS)
		return;
	/* A module's per-CPU addresses are known when it is loaded; the kernel's are offsets, and DWARF has them so. */
	if (m->seg && (relocatable || m->base >= 0))
		return;
	out->kind = DI_LOAD;
	out->disp = m->disp;
	out->reg = m->base;
	if (m->base >= 0)
		return;
	out->reg = -1;
	out->addr = (uint64_t)m->disp + (m->base == INSN_REG_RIP ? i->addr + i->len : 0);
}

/* add and sub of a constant, in place. */
static void from_arithmetic(const struct insn *i, const struct form *f, struct di_origin *out)
{
	int64_t constant = signed_at(f->modrm + 1, f->opcode == 0x83 ? 1 : 4);
	int which = *f->modrm >> 3 & 7;

	if (f->modrm + 1 + (f->opcode == 0x83 ? 1 : 4) != i->bytes + i->len || (which != 0 && which != 5))
		return;
	out->kind = DI_SUM;
	out->reg = f->rm;
	out->disp = which ? -constant : constant;
}

/* What the instruction, which writes `reg`, makes of it. */
static void effect(const struct insn *i, int reg, bool relocatable, struct di_origin *out)
{
	struct form f;

	*out = (struct di_origin){.pc = i->addr};
	if (reg == X86_RAX && call_target(i)) {
		out->kind = DI_RETURN;
		out->addr = call_target(i);
	}
	if (!read_form(i, &f))
		return;
	if (f.opcode == 0x8b && f.mod == 3 && f.reg == reg) {
		*out = (struct di_origin){.kind = DI_SUM, .pc = i->addr, .reg = f.rm};
	} else if (f.opcode == 0x89 && f.mod == 3 && f.rm == reg) {
		*out = (struct di_origin){.kind = DI_SUM, .pc = i->addr, .reg = f.reg};
	} else if (f.opcode == 0x8b && f.mod != 3 && f.reg == reg) {
		from_load(i, relocatable, out);
	} else if (f.opcode == 0x8d && f.mod != 3 && f.reg == reg) {
		from_lea(i, &f, out);
	} else if ((f.opcode == 0x81 || f.opcode == 0x83) && f.mod == 3 && f.rm == reg) {
		from_arithmetic(i, &f, out);
	} else if (f.opcode == 0xc7 && f.mod == 3 && f.rm == reg && f.modrm + 5 == i->bytes + i->len) {
		out->kind = DI_ADDRESS;
		out->addr = (uint64_t)signed_at(f.modrm + 1, 4);
	}
}

/* The search for writes of one register, back along all ways. */
struct search {
	const struct di_sweep *s;
	int reg;
	bool *seen;
	size_t *todo, n;
	size_t writers[DI_MAX_ORIGINS], n_writers;
	bool from_start, failed;
};

static bool writes(const struct di_sweep *s, size_t at, int reg)
{
	const struct insn *i = &s->at[at];

	if (at == s->tracer)
		return false;
	return i->regs_written & 1u << reg || (i->flags & INSN_CALL && CALL_WRITES & 1u << reg);
}

/* Control comes from instruction `at`. */
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

/* Whoever is executed right before instruction `at`. */
static void go_back(struct search *f, size_t at)
{
	const struct branch key = {.target = f->s->at[at].addr};
	const struct branch *b = bsearch(&key, f->s->branches, f->s->n_branches, sizeof(key), by_target);
	const struct branch *end = f->s->branches + f->s->n_branches;
	bool through = at && !ends_flow(&f->s->at[at - 1]);

	if (!at)
		f->from_start = true;
	else if (!through && !b)
		f->failed = true;
	if (through)
		come_from(f, at - 1);
	while (b && b > f->s->branches && b[-1].target == key.target)
		b--;
	for (; b && b < end && b->target == key.target; b++)
		come_from(f, b->from);
}

static int search_writer(struct debuginfo *di, struct search *f, size_t from)
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

/* The instruction at an address; SIZE_MAX: no instruction begins there. */
static size_t index_of(const struct di_sweep *s, uint64_t pc)
{
	size_t low = 0, high = s->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->at[middle].addr < pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low < s->n && s->at[low].addr == pc ? low : SIZE_MAX;
}

/* What the search found, as origins; their number, or 0 if one of them is not understood. */
static int origins(const struct search *f, bool relocatable, struct di_origin *out)
{
	int n = 0;

	if (f->failed || f->n_writers + f->from_start > DI_MAX_ORIGINS)
		return 0;
	if (f->from_start)
		out[n++] = (struct di_origin){.kind = DI_SUM, .pc = f->s->low, .reg = f->reg};
	for (size_t i = 0; i < f->n_writers; i++) {
		effect(&f->s->at[f->writers[i]], f->reg, relocatable, &out[n]);
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
	f.s = sweep(di, low, high);
	if (!f.s)
		return di->err->code == EXIT_OK ? 0 : -1;
	from = index_of(f.s, pc);
	if (from == SIZE_MAX)
		return 0;
	if (!search_writer(di, &f, from))
		n = origins(&f, di->file.relocatable, out);
	free(f.seen);
	free(f.todo);
	return n;
}
