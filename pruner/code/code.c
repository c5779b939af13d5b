// SPDX-License-Identifier: GPL-2.0-or-later
/* Decodes the kept code of one side of a race, and finds where execution continues after each instruction. */
#include "pruner/code/code.h"

#include <string.h>

#include "symbols/insn/flow.h"

static const char *callee_at(const struct race_side *side, uint32_t at)
{
	for (uint32_t i = 0; i < side->callee_count; i++) {
		if (side->callees[i].at == at)
			return side->callees[i].name;
	}
	return NULL;
}

/* Kernels with CONFIG_RETHUNK, a defence against attacks on return prediction, return by a jump to __x86_return_thunk. */
static bool is_return_thunk(const char *callee)
{
	return callee && strstr(callee, "return_thunk") != NULL;
}

/*
 * Returns whether the callee is __stack_chk_fail(), which a function calls when its stack protector was overwritten. The call
 * does not return.
 */
static bool is_stack_failure(const char *callee)
{
	return callee && strcmp(callee, "__stack_chk_fail") == 0;
}

static void decode_from(struct code *code, struct insn_decoder *decoder, const struct race_side *side, uint32_t at)
{
	code->count = 0;
	code->access = -1;
	memset(code->index, 0xff, sizeof(code->index));
	while (at < side->code_len) {
		struct code_insn *insn = &code->insns[code->count];
		uint64_t addr = side->code_gva + at;
		unsigned n = insn_op_decode(decoder, side->code + at, side->code_len - at, addr, &insn->op);

		if (!n)
			break;
		insn->callee = callee_at(side, at);
		insn->has_predecessor = insn->shows = false;
		if (insn->op.kind == INSN_OP_JUMP && is_return_thunk(insn->callee))
			insn->op.kind = INSN_OP_RET;
		if (insn->op.kind == INSN_OP_CALL && is_stack_failure(insn->callee))
			insn->op.kind = INSN_OP_STOP;
		if (side->pc && addr == side->pc)
			code->access = (int)code->count;
		code->index[at] = (int16_t)code->count++;
		at += n;
	}
}

static bool is_ud2(const struct insn_op *op)
{
	return op->kind == INSN_OP_NOP && insn_is_ud2(&op->insn);
}

/*
 * Mark a ud2 at the end of the function as an instruction without a successor. Linux continues after the ud2 of a WARN_ON(),
 * and stops at the ud2 of a BUG(). The bytes are the same. A function does not end in a WARN_ON(), so a ud2 that only padding
 * follows is a BUG().
 */
static void end_at_bug(struct code *code, const struct guest_symbol *symbol)
{
	unsigned i = code->count;
	const struct insn *last = i ? &code->insns[i - 1].op.insn : NULL;

	if (!last || !symbol->name[0] || last->addr + last->len != symbol->addr + symbol->size)
		return;
	while (i > 1 && code->insns[i - 1].op.kind == INSN_OP_NOP && !is_ud2(&code->insns[i - 1].op))
		i--;
	if (is_ud2(&code->insns[i - 1].op))
		code->insns[i - 1].op.kind = INSN_OP_STOP;
}

static int index_of(const struct code *code, uint64_t addr)
{
	uint64_t at = addr - code->base;

	return at < RACE_CODE_MAX ? code->index[at] : CODE_OUTSIDE;
}

static void mark_successors(struct code *code)
{
	int next[2];

	for (unsigned i = 0; i < code->count; i++) {
		unsigned n = code_successors(code, i, next);

		for (unsigned j = 0; j < n; j++) {
			if (next[j] != CODE_OUTSIDE)
				code->insns[next[j]].has_predecessor = true;
		}
	}
}

/*
 * Returns whether the instruction is a tail call: a jump to another function. A jump to "foo.cold" stays in foo(): a
 * function's cold part has a symbol of its own.
 */
static bool is_tail_call(const struct code_insn *insn)
{
	return insn->op.kind == INSN_OP_JUMP && insn->callee && !strstr(insn->callee, ".cold");
}

/*
 * Returns whether execution may continue after instruction `i` in a part of its function that was not kept. The code of that
 * part may jump to any kept instruction.
 */
static bool leaves_kept_code(const struct code *code, unsigned i, const struct guest_symbol *symbol)
{
	const struct code_insn *insn = &code->insns[i];
	uint64_t after = insn->op.insn.addr + insn->op.insn.len;
	int next[2];
	unsigned n = code_successors(code, i, next);

	if (insn->op.kind == INSN_OP_JUMP)
		return next[0] == CODE_OUTSIDE && !is_tail_call(insn);
	/*
	 * The next instruction was not kept. If the function ends here, there is no next instruction: the instruction is a call
	 * that does not return.
	 */
	if (n && next[0] == CODE_OUTSIDE && (!symbol->size || after - symbol->addr < symbol->size))
		return true;
	return n > 1 && next[1] == CODE_OUTSIDE;
}

static bool is_closed(const struct code *code, const struct guest_symbol *symbol)
{
	for (unsigned i = 0; i < code->count; i++) {
		if (leaves_kept_code(code, i, symbol))
			return false;
	}
	/*
	 * A ".cold" symbol is only a part of a function. The main part, which was not kept, may jump to any instruction of the
	 * ".cold" part.
	 */
	return code->whole && !strstr(symbol->name, ".cold");
}

void code_load(struct code *code, struct insn_decoder *decoder, const struct race_side *side)
{
	code->base = side->code_gva;
	code->whole = side->symbol.name[0] && side->symbol.addr == side->code_gva;
	for (uint32_t at = 0; at < INSN_MAX_LEN; at++) {
		decode_from(code, decoder, side, at);
		if (code->access >= 0 || !side->pc)
			break;
	}
	end_at_bug(code, &side->symbol);
	mark_successors(code);
	code->closed = is_closed(code, &side->symbol);
}

unsigned code_successors(const struct code *code, unsigned i, int next[2])
{
	const struct insn_op *op = &code->insns[i].op;
	int after = i + 1 < code->count ? (int)i + 1 : CODE_OUTSIDE;

	switch (op->kind) {
	case INSN_OP_RET:
	case INSN_OP_STOP:
		return 0;
	case INSN_OP_JUMP:
		next[0] = op->target ? index_of(code, op->target) : CODE_OUTSIDE;
		return 1;
	case INSN_OP_JCC:
		next[0] = after;
		next[1] = index_of(code, op->target);
		return 2;
	default:
		next[0] = after;
		return 1;
	}
}

int code_condition(const struct insn_op *op)
{
	const uint8_t *bytes = op->insn.bytes;

	if (op->insn.len >= 2 && bytes[0] == 0x0f && bytes[1] >> 4 == 8)
		return bytes[1] & 0xf;
	return op->insn.len == 2 && bytes[0] >> 4 == 7 ? bytes[0] & 0xf : CODE_IF_UNKNOWN;
}
