// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rule for lone flags: one side stores a constant 0 where 1 was, or 1 where 0 was, and the other side only branches on the
 * flag. With the old value, the reader acts as if it had run before the store. That is a bug if the flag says whether an object
 * may still be used: for example, code sets a flag "dead" and then frees the object. So the rule does not fit if a side frees
 * after its access while the other side may still be at its own access, or if the writer waits for something. If the rule fits,
 * the class is unclear.
 */
#include "pruner/patterns/lock.h"
#include "pruner/rules/raise.h"
#include "pruner/rules/rules.h"

/* Returns whether the instruction compares register `reg`, or memory if `reg` is negative, with 0 or 1. */
static bool tests_a_flag(const struct insn_op *op, int reg)
{
	bool of_itself = op->src.kind == INSN_OPERAND_REG && op->dst.kind == INSN_OPERAND_REG && op->src.reg == op->dst.reg;
	bool small = op->src.kind == INSN_OPERAND_IMM && op->imm <= 1;

	if (reg < 0 ? op->dst.kind != INSN_OPERAND_MEM : op->dst.kind != INSN_OPERAND_REG || op->dst.reg != reg)
		return false;
	return (op->kind == INSN_OP_TEST && (of_itself || (op->src.kind == INSN_OPERAND_IMM && op->imm & 1))) ||
	       (op->kind == INSN_OP_CMP && small);
}

/*
 * Returns whether the side tests at once whether the flag is set: by the accessing instruction, or, after a load, by the next
 * instruction.
 */
static bool tests(const struct view_side *s)
{
	const struct insn_op *op = &s->code.insns[s->at].op;

	if (op->kind != INSN_OP_MOV)
		return tests_a_flag(op, -1);
	return op->dst.kind == INSN_OPERAND_REG && s->at + 1 < s->code.count &&
	       tests_a_flag(&s->code.insns[s->at + 1].op, op->dst.reg);
}

/*
 * Returns whether the side only branches on the flag. A register may still hold the flag where the kept code ends. This does
 * not count as a use, because the side has tested the flag before.
 */
static bool only_branches(const struct view_side *s)
{
	return view_only_reads(s) && s->read.tested && !s->read.dereferenced && (!s->read.escapes || s->read.only_left) &&
	       !s->read.shown && tests(s);
}

static bool stores_constant(const struct view_side *s)
{
	return s->side->kind == RACE_SIDE_CPU && s->followed && s->writes && !s->reads && s->write.constant &&
	       s->write.value <= 1;
}

/* Returns whether, in each instance, the flag was 0 or 1 before the store, and then became `value` or did not change. */
static bool is_flag(const struct race *race, uint64_t value)
{
	uint64_t before, after;

	for (unsigned i = 0; i < race->kept; i++) {
		if (!view_values(&race->instances[i], &before, &after) || before > 1 || (after != before && after != value))
			return false;
	}
	return race->kept != 0;
}

bool rule_lone_flag(const struct view *v, struct verdict *out)
{
	unsigned w = v->side[0].writes ? 0 : 1;
	const struct view_side *writer = &v->side[w], *reader = &v->side[!w];

	if (!only_branches(reader) || !stores_constant(writer) || raise_may_tear(v) || !is_flag(v->race, writer->write.value))
		return false;
	if (lock_called_after(v, writer, LIST_WAIT) || raise_frees(v, w) || raise_frees(v, !w))
		return false;
	out->class = VERDICT_UNCLEAR;
	out->rule = RULE_LONE_FLAG;
	verdict_evidence(
		out,
		"%s is a flag: %s stores %u and nothing else, and %s only branches on it, so %s acts as if it had come a "
		"moment earlier or later; that is a bug if %s relies on what it found, for example on an object that "
		"goes away after the flag has changed",
		v->datum, view_function(writer), (unsigned)writer->write.value, view_function(reader), view_function(reader),
		view_function(reader));
	return true;
}
