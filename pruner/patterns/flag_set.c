// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds code that tests flags of a word, and stores the word only if the flags must change: if (!(word & flags)) word |= flags;
 * or the same for clearing flags.
 */
#include "pruner/patterns/flag_set.h"

#include "pruner/code/flow/calls.h"

/* Maximum number of instructions from the branch to the join of its two paths: a copy, the or, the store and a jump back. */
#define WAY_MAX 4

static bool is_register(const struct insn_operand *operand, int reg)
{
	return operand->kind == INSN_OPERAND_REG && operand->reg == reg && !operand->high;
}

/* Returns whether the instruction sets or clears flags by an immediate, and sets out->flags and out->sets. */
static bool changes_flags(const struct insn_op *op, struct flag_set *out)
{
	uint64_t all = flow_bytes(op->dst.size);

	if (op->src.kind != INSN_OPERAND_IMM || (op->kind != INSN_OP_OR && op->kind != INSN_OP_AND))
		return false;
	out->sets = op->kind == INSN_OP_OR;
	out->flags = (out->sets ? op->imm : ~op->imm) & all;
	return true;
}

/*
 * `i` and `join` are the two successors of the branch. Follow the path from instruction `i` to `join`. Returns true if the path
 * does nothing but change flags of a word in memory, and sets out->store, out->flags and out->sets.
 */
static bool is_way_of_store(const struct code *code, unsigned i, unsigned join, struct flag_set *out)
{
	int value = -1, next[2]; /* The register with the changed word. */
	bool stored = false;

	for (unsigned steps = 0; steps < WAY_MAX && i != join; steps++) {
		const struct insn_op *op = &code->insns[i].op;

		if (op->kind == INSN_OP_MOV && op->dst.kind == INSN_OPERAND_MEM && value >= 0 && is_register(&op->src, value)) {
			stored = true;
			out->store = i;
		} else if (changes_flags(op, out) && op->dst.kind == INSN_OPERAND_MEM) {
			stored = true;
			out->store = i;
		} else if (changes_flags(op, out)) {
			value = op->dst.reg;
		} else if (op->kind != INSN_OP_JUMP &&
			   (op->kind != INSN_OP_MOV || op->dst.kind != INSN_OPERAND_REG || op->src.kind != INSN_OPERAND_REG)) {
			return false;
		}
		out->writes |= op->writes;
		if (code_successors(code, i, next) != 1 || next[0] == CODE_OUTSIDE)
			return false;
		i = (unsigned)next[0];
	}
	return stored && i == join;
}

/*
 * Set out->load to the instruction that loads the word which the branch tests. Returns false if the branch does not test
 * exactly out->flags.
 */
static bool find_load(const struct code *code, struct flag_set *out)
{
	const struct insn_op *test = out->jump ? &code->insns[out->jump - 1].op : NULL;

	if (!test || test->kind != INSN_OP_TEST || test->src.kind != INSN_OPERAND_IMM ||
	    (test->imm & flow_bytes(test->dst.size)) != out->flags)
		return false;
	out->load = out->jump - 1;
	if (test->dst.kind == INSN_OPERAND_MEM)
		return true;
	if (test->dst.kind != INSN_OPERAND_REG || test->dst.high || out->jump < 2)
		return false;
	out->load = out->jump - 2;
	return code->insns[out->load].op.kind == INSN_OP_MOV && code->insns[out->load].op.src.kind == INSN_OPERAND_MEM &&
	       is_register(&code->insns[out->load].op.dst, test->dst.reg);
}

/*
 * Returns whether the load and the store access the same bytes. In a loop, value flow may not know the base register's value.
 * So two equal operands also count as the same bytes if no instruction between the load and the store writes the base register.
 */
static bool is_one_word(const struct view_side *s, const struct flag_set *set)
{
	const struct insn_op *load = &s->code.insns[set->load].op, *store = &s->code.insns[set->store].op;
	const struct insn_mem *a = &load->insn.mem[0], *b = &store->insn.mem[0];

	if (load->insn.nmem != 1 || store->insn.nmem != 1 || a->size != b->size)
		return false;
	return flow_same_place(s->flow, set->load, set->store) ||
	       (a->base >= 0 && a->base < X86_GPRS && a->base == b->base && a->index < 0 && b->index < 0 &&
		a->disp == b->disp && a->seg == b->seg && !((load->writes | set->writes) >> a->base & 1));
}

/*
 * Returns which of the registers `regs`, which hold the word before the instruction, may hold it after the instruction. Returns
 * ~0 if the instruction may use one of them.
 */
static unsigned held_after(const struct insn_op *op, unsigned regs)
{
	unsigned used = flow_makes_zero(op) ? 0 : op->reads;

	if (op->kind == INSN_OP_CALL)
		return regs & FLOW_ARGUMENTS ? ~0u : regs & FLOW_CALLEE_SAVED;
	if (op->kind == INSN_OP_RET)
		return regs & 1u << X86_RAX ? ~0u : 0;
	/*
	 * An instruction that writes only 1 or 2 bytes of a register leaves the other bytes of the flag word's value in it, so
	 * the register still holds the value.
	 */
	return regs & used ? ~0u : op->dst.kind == INSN_OPERAND_REG && op->dst.size < 4 ? regs : regs & ~(unsigned)op->writes;
}

/*
 * Returns whether, on all paths from instruction `from`, no instruction uses the word in the registers `regs`. Returns false if
 * the word may be used in code that was not kept.
 */
static bool is_unused(const struct code *code, unsigned from, uint16_t regs)
{
	uint16_t held[RACE_CODE_MAX] = {[0] = 0};
	bool changed = true;
	int next[2];

	held[from] = regs;
	while (changed) {
		changed = false;
		for (unsigned i = 0; i < code->count; i++) {
			unsigned after = held[i] ? held_after(&code->insns[i].op, held[i]) : 0, n;

			if (after == ~0u)
				return false;
			n = after ? code_successors(code, i, next) : 0;
			for (unsigned j = 0; j < n; j++) {
				if (next[j] == CODE_OUTSIDE)
					return false;
				changed |= (after & ~held[next[j]]) != 0;
				held[next[j]] |= (uint16_t)after;
			}
		}
	}
	return true;
}

/*
 * Returns whether only the branch and the store use the loaded word. The path with the store and the path without it join at
 * instruction `join`. The result is true if no instruction from `join` on uses a register that holds the word.
 */
static bool decides_only_the_store(const struct view_side *s, const struct flag_set *set, unsigned join)
{
	const struct insn_op *load = &s->code.insns[set->load].op;

	return is_unused(&s->code, join, (uint16_t)(set->writes | (load->kind == INSN_OP_MOV ? 1u << load->dst.reg : 0)));
}

static bool is_flag_set(const struct view_side *s, unsigned jump, struct flag_set *out)
{
	const struct code *code = &s->code;
	int next[2], condition = code_condition(&code->insns[jump].op);
	unsigned way;

	if ((condition != CODE_IF_ZERO && condition != CODE_IF_NOT_ZERO) || code_successors(code, jump, next) != 2 ||
	    next[0] == CODE_OUTSIDE || next[1] == CODE_OUTSIDE)
		return false;
	for (way = 0; way < 2; way++) {
		*out = (struct flag_set){.jump = jump};
		if (is_way_of_store(code, (unsigned)next[way], (unsigned)next[!way], out))
			break;
	}
	if (way == 2)
		return false;
	/*
	 * If the code sets flags, the store must be on the path for a test that found 0: the path on which a je jumps, or on
	 * which a jne does not jump. If the code clears flags, the store must be on the other path.
	 */
	if (out->sets != ((condition == CODE_IF_ZERO) == (way == 1)) || !find_load(code, out))
		return false;
	return is_one_word(s, out) && decides_only_the_store(s, out, (unsigned)next[!way]);
}

bool flag_set_of_side(const struct view_side *s, struct flag_set *out)
{
	if (s->side->kind != RACE_SIDE_CPU || !s->followed)
		return false;
	for (unsigned i = 0; i < s->code.count; i++) {
		if (s->code.insns[i].op.kind == INSN_OP_JCC && is_flag_set(s, i, out) &&
		    (out->load == s->at || out->store == s->at))
			return true;
	}
	return false;
}
