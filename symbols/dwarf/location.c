/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Evaluates location expressions (DWARF 5 section 2.5) whose result is a register plus a constant. The evaluation stack holds
 * such sums. Any operation with another result ends the evaluation.
 */
#include "symbols/dwarf/location.h"

#include "hv/base/x86.h"
#include "symbols/dwarf/die.h"
#include "symbols/dwarf/list.h"

#define MAX_STACK 8 /* depth of the evaluation stack; deeper expressions are not register plus constant */

struct sum {
	int reg; /* DWARF's register number. -1: the sum is only the constant. */
	uint64_t constant;
};

struct evaluation {
	struct sum stack[MAX_STACK];
	unsigned n;    /* Number of sums on the stack. */
	bool is_value; /* The result is the variable's value, not its address. */
	bool done;     /* No further operation is allowed. */
	bool failed;   /* The expression is not a sum. */
};

/* Convert a DWARF register number to enum x86_gpr (x86-64 psABI, figure 3.36). Returns -1 for other registers. */
static int gpr_of(int reg)
{
	static const int8_t gprs[] = {X86_RAX, X86_RDX, X86_RCX, X86_RBX, X86_RSI, X86_RDI, X86_RBP, X86_RSP};

	if (reg < 0 || reg > 15)
		return -1;
	return reg < 8 ? gprs[reg] : reg;
}

static void push(struct evaluation *e, int reg, uint64_t constant)
{
	if (e->n == MAX_STACK)
		e->failed = true;
	else
		e->stack[e->n++] = (struct sum){reg, constant};
}

/* Replace the top two sums by their sum or difference. */
static void add_sums(struct evaluation *e, bool subtract)
{
	struct sum a, b;

	if (e->n < 2) {
		e->failed = true;
		return;
	}
	b = e->stack[--e->n];
	a = e->stack[--e->n];
	if ((a.reg >= 0 && b.reg >= 0) || (subtract && b.reg >= 0))
		e->failed = true;
	else
		push(e, a.reg >= 0 ? a.reg : b.reg, subtract ? a.constant - b.constant : a.constant + b.constant);
}

/*
 * Execute an operation that says that the value is in a register. Such an operation must be the whole expression, so the stack
 * must be empty and no operation may follow. Only a variable in several pieces has more operations, and pieces are not
 * evaluated here.
 */
static void in_register(struct evaluation *e, uint64_t reg)
{
	if (e->n || reg > 15)
		e->failed = true;
	push(e, (int)(reg & 15), 0);
	e->is_value = e->done = true;
}

static uint64_t take_signed(struct di_cursor *c, size_t width)
{
	uint64_t v = di_take(c, width), sign = 1ull << (width * 8 - 1);

	return (v ^ sign) - sign;
}

/* Execute an operation that pushes a constant. Returns false for any other operation. */
static bool push_constant(struct evaluation *e, uint64_t code, struct di_cursor *c)
{
	if (code >= DW_OP_lit0 && code <= DW_OP_lit31)
		push(e, -1, code - DW_OP_lit0);
	else if (code == DW_OP_constu)
		push(e, -1, di_uleb(c));
	else if (code == DW_OP_consts)
		push(e, -1, (uint64_t)di_sleb(c));
	else if (code >= DW_OP_const1u && code <= DW_OP_const8s) /* codes in the order const1u, const1s, const2u, ... */
		push(e, -1,
		     (code - DW_OP_const1u) % 2 ? take_signed(c, 1u << (code - DW_OP_const1u) / 2)
						: di_take(c, 1u << (code - DW_OP_const1u) / 2));
	else if (code == DW_OP_addr)
		push(e, -1, di_take(c, 8));
	else
		return false;
	return true;
}

static void execute(struct evaluation *e, struct di_cursor *c)
{
	uint64_t code = di_take(c, 1);

	if (e->done)
		e->failed = true;
	else if (code >= DW_OP_breg0 && code <= DW_OP_breg0 + 15)
		push(e, (int)(code - DW_OP_breg0), (uint64_t)di_sleb(c));
	else if (code >= DW_OP_reg0 && code <= DW_OP_reg0 + 15)
		in_register(e, code - DW_OP_reg0);
	else if (code == DW_OP_regx)
		in_register(e, di_uleb(c));
	else if (push_constant(e, code, c))
		return;
	else if (code == DW_OP_plus || code == DW_OP_minus)
		add_sums(e, code == DW_OP_minus);
	else if (code == DW_OP_plus_uconst && e->n)
		e->stack[e->n - 1].constant += di_uleb(c);
	else if (code == DW_OP_stack_value)
		e->is_value = e->done = true;
	else
		e->failed = true;
}

/* Evaluate an expression. `out` stays DI_NOWHERE if the result is not a register plus a constant. */
static void evaluate(const uint8_t *expression, uint64_t length, struct di_location *out)
{
	struct di_cursor c = {.bytes = expression, .end = length};
	struct evaluation e = {0};

	while (di_more(&c) && !e.failed)
		execute(&e, &c);
	if (e.failed || c.bad || !e.n || gpr_of(e.stack[e.n - 1].reg) < 0)
		return;
	out->kind = e.is_value ? DI_VALUE : DI_MEMORY;
	out->reg = gpr_of(e.stack[e.n - 1].reg);
	out->offset = (int64_t)e.stack[e.n - 1].constant;
}

/*
 * Evaluate a location that is a single expression, valid at all PCs. Returns 1, 0 if the location has another form, or -1 with
 * the error set.
 */
static int lone_expression(struct di_unit *u, Dwarf_Die variable, struct di_location *out)
{
	const uint8_t *bytes;
	uint64_t length;
	int res = di_block(u, variable, DW_AT_location, &bytes, &length);

	if (res > 0)
		evaluate(bytes, length, out);
	return res;
}

int di_location(struct di_unit *u, Dwarf_Die variable, uint64_t pc, struct di_location *out)
{
	struct di_entry entry;
	struct di_list list;
	int res;

	*out = (struct di_location){0};
	res = lone_expression(u, variable, out);
	if (res)
		return res < 0 ? -1 : 0;
	res = di_list_open(u, variable, DW_AT_location, &list);
	while (res > 0) {
		res = di_list_next(&list, &entry);
		if (res > 0 && pc >= entry.low && pc < entry.high) {
			evaluate(entry.expression, entry.length, out);
			return 0;
		}
	}
	return res;
}
