/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Searches backwards from an address in a function, along fall-through and jumps, for the instructions that write a register
 * (see origin.h). For this, the function's code is decoded once and kept (struct di_sweep). Which value an instruction puts
 * into the register is read from the instruction's encoding.
 */
#include "symbols/dwarf/origin.h"

#include <stdlib.h>
#include <string.h>

#include "hv/base/order.h"
#include "symbols/insn/flow.h"
#include "symbols/insn/insn.h"

#define MAX_SWEEP (256u << 10) /* bytes; a longer function is not searched */

/* Registers that a call may change: the caller-saved registers of the System V ABI. */
#define CALL_WRITES                                                                                                          \
	(1u << X86_RAX | 1u << X86_RCX | 1u << X86_RDX | 1u << X86_RSI | 1u << X86_RDI | 1u << X86_R8 | 1u << 9 | 1u << 10 | \
	 1u << 11)

/* A direct jump. */
struct branch {
	uint64_t target; /* Link address. */
	size_t from;	 /* Index of the jump instruction. */
};

_Static_assert(!offsetof(struct insn, addr) && !offsetof(struct branch, target),
	       "di_bisect() takes the first eight bytes for the key");

/* A function's code, decoded from the debug file. */
struct di_sweep {
	uint64_t low, high; /* Link addresses [low, high) of the code. */
	struct insn *at;    /* The instructions in order, up to the first that cannot be decoded. */
	size_t n;
	struct branch *branches; /* Sorted by target. */
	size_t n_branches;
	size_t tracer; /* Index of the call of __fentry__, which preserves all registers. SIZE_MAX: no such call. */
};

void di_sweep_free(struct di_sweep *s)
{
	if (s) {
		free(s->at);
		free(s->branches);
	}
	free(s);
}

/* Returns the link address that a direct call jumps to. Returns 0 if the instruction is not a direct call. */
static uint64_t call_target(const struct insn *i)
{
	struct insn_branch branch;

	return insn_direct_branch(i, &branch) && branch.call && i->len == 5 ? branch.target : 0;
}

static int by_target(const void *a, const void *b)
{
	const struct branch *x = a, *y = b;

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
			s->branches[s->n_branches++] = (struct branch){branch.target, i};
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

/*
 * Returns the index of the call of __fentry__, by which ftrace traces functions. The call is the function's first instruction,
 * or the second one after an endbr64. Returns SIZE_MAX if there is no such call.
 */
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

/*
 * Returns the instructions at link addresses [low, high), which must begin with a function's first instruction. The result is
 * valid until the next call: only one sweep is cached. Returns NULL if the file has no such code, or with the error set.
 */
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
	if (decode_code(di, code, s)) {
		di_sweep_free(s);
		return NULL;
	}
	s->tracer = find_tracer(di, s);
	di_sweep_free(di->sweep);
	di->sweep = s;
	return s;
}

/* Returns the index of the instruction at link address `pc`, or SIZE_MAX if no instruction begins at `pc`. */
static size_t index_of(const struct di_sweep *s, uint64_t pc)
{
	size_t n = di_bisect(s->at, s->n, sizeof(*s->at), pc);

	return n && s->at[n - 1].addr == pc ? n - 1 : SIZE_MAX;
}

/* Returns the direct jumps to link address `target`, and their number in *n. */
static const struct branch *branches_to(const struct di_sweep *s, uint64_t target, size_t *n)
{
	size_t end = di_bisect(s->branches, s->n_branches, sizeof(*s->branches), target), first = end;

	while (first && s->branches[first - 1].target == target)
		first--;
	*n = end - first;
	return s->branches + first;
}

/* The decoded fields of an instruction with REX.W, a one-byte opcode and ModRM. */
struct form {
	uint8_t opcode;
	const uint8_t *modrm;
	int reg, rm;  /* Fields of ModRM, extended by REX. */
	unsigned mod; /* Field of ModRM. */
};

/* Decode the instruction's fields. Returns false unless the instruction has REX.W, a one-byte opcode and ModRM. */
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

/*
 * Set *out to the origin that a lea gives: base plus displacement, or an address relative to RIP. For a lea with an index,
 * out->kind stays DI_UNKNOWN.
 */
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

/*
 * Set *out to the origin that a mov of eight bytes from memory gives. out->kind stays DI_UNKNOWN if the address is not known.
 */
static void from_load(const struct insn *i, bool relocatable, struct di_origin *out)
{
	const struct insn_mem *m = &i->mem[0];

	if (i->nmem != 1 || m->size != 8 || m->index != INSN_REG_NONE || m->addr32 || m->seg == INSN_FS)
		return;
	/*
	 * A module's per-CPU addresses are known only after loading. The kernel's per-CPU addresses are offsets into the
	 * kernel's per-CPU section, as are the addresses of per-CPU variables in the kernel's DWARF.
	 */
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

/*
 * Set *out to the origin that an add or sub of a constant gives: the old value of the same register, plus or minus the
 * constant.
 */
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

/*
 * Set *out to the origin of the value that instruction `i` puts into `reg`. The caller has checked that `i` writes `reg`.
 * `relocatable`: the file is a module.
 */
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
	bool failed;	 /* There are too many writers, or a path reaches an instruction without a visible predecessor. */
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

/*
 * Record that a path to the PC comes from instruction `at`. If this instruction writes the register, add it to `writers`.
 * Otherwise add it to `todo`, so that the search continues at its predecessors.
 */
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
	const struct branch *b = branches_to(f->s, f->s->at[at].addr, &n);

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
	if (!search_writers(di, &f, from))
		n = put_origins(&f, di->file.relocatable, out);
	free(f.seen);
	free(f.todo);
	return n;
}
