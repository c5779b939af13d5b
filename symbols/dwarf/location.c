/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Location expressions (DWARF 5 section 2.5). What matters here is whether one comes to a register plus a constant: so it is
 * evaluated with exactly such sums on its stack, and given up at any operation that makes something else.
 */
#include "symbols/dwarf/location.h"

#include "hv/base/x86.h"
#include "symbols/dwarf/die.h"
#include "symbols/dwarf/list.h"

#define MAX_STACK 8

struct sum {
	int reg; /* DWARF's number, or -1: only a constant */
	uint64_t constant;
};

struct machine {
	struct sum stack[MAX_STACK];
	unsigned n;
	bool is_value, done, failed;
};

/* x86-64 psABI, figure 3.36. */
static int gpr_of(int reg)
{
	static const int8_t gprs[] = {X86_RAX, X86_RDX, X86_RCX, X86_RBX, X86_RSI, X86_RDI, X86_RBP, X86_RSP};

	if (reg < 0 || reg > 15)
		return -1;
	return reg < 8 ? gprs[reg] : reg;
}

static void push(struct machine *m, int reg, uint64_t constant)
{
	if (m->n == MAX_STACK)
		m->failed = true;
	else
		m->stack[m->n++] = (struct sum){reg, constant};
}

static void add(struct machine *m, bool subtract)
{
	struct sum a, b;

	if (m->n < 2) {
		m->failed = true;
		return;
	}
	b = m->stack[--m->n];
	a = m->stack[--m->n];
	if ((a.reg >= 0 && b.reg >= 0) || (subtract && b.reg >= 0))
		m->failed = true;
	else
		push(m, a.reg >= 0 ? a.reg : b.reg, subtract ? a.constant - b.constant : a.constant + b.constant);
}

/* A value in a register: nothing else may be on the stack, nothing may follow but another piece of it. */
static void in_register(struct machine *m, uint64_t reg)
{
	if (m->n || reg > 15)
		m->failed = true;
	push(m, (int)(reg & 15), 0);
	m->is_value = m->done = true;
}

static uint64_t take_signed(struct di_cursor *c, size_t width)
{
	uint64_t v = di_take(c, width), sign = 1ull << (width * 8 - 1);

	return (v ^ sign) - sign;
}

/* Operations that push a constant: true, and it is done. */
static bool push_constant(struct machine *m, uint64_t code, struct di_cursor *c)
{
	if (code >= DW_OP_lit0 && code <= DW_OP_lit31)
		push(m, -1, code - DW_OP_lit0);
	else if (code == DW_OP_constu)
		push(m, -1, di_uleb(c));
	else if (code == DW_OP_consts)
		push(m, -1, (uint64_t)di_sleb(c));
	else if (code >= DW_OP_const1u && code <= DW_OP_const8s) /* 1, 2, 4 and 8 bytes, unsigned and signed by turns */
		push(m, -1,
		     (code - DW_OP_const1u) % 2 ? take_signed(c, 1u << (code - DW_OP_const1u) / 2)
						: di_take(c, 1u << (code - DW_OP_const1u) / 2));
	else if (code == DW_OP_addr)
		push(m, -1, di_take(c, 8));
	else
		return false;
	return true;
}

static void step(struct machine *m, struct di_cursor *c)
{
	uint64_t code = di_take(c, 1);

	if (m->done)
		m->failed = true;
	else if (code >= DW_OP_breg0 && code <= DW_OP_breg0 + 15)
		push(m, (int)(code - DW_OP_breg0), (uint64_t)di_sleb(c));
	else if (code >= DW_OP_reg0 && code <= DW_OP_reg0 + 15)
		in_register(m, code - DW_OP_reg0);
	else if (code == DW_OP_regx)
		in_register(m, di_uleb(c));
	else if (push_constant(m, code, c))
		return;
	else if (code == DW_OP_plus || code == DW_OP_minus)
		add(m, code == DW_OP_minus);
	else if (code == DW_OP_plus_uconst && m->n)
		m->stack[m->n - 1].constant += di_uleb(c);
	else if (code == DW_OP_stack_value)
		m->is_value = m->done = true;
	else
		m->failed = true;
}

static void run(const uint8_t *expression, uint64_t length, struct di_location *out)
{
	struct di_cursor c = {.bytes = expression, .end = length};
	struct machine m = {0};

	while (di_more(&c) && !m.failed)
		step(&m, &c);
	if (m.failed || c.bad || !m.n || gpr_of(m.stack[m.n - 1].reg) < 0)
		return;
	out->place = m.is_value ? DI_VALUE : DI_MEMORY;
	out->reg = gpr_of(m.stack[m.n - 1].reg);
	out->offset = (int64_t)m.stack[m.n - 1].constant;
}

/* A lone expression, which holds everywhere. 1: that is what the location is, 0: it is not, -1: error set. */
static int lone_expression(struct di_unit *u, Dwarf_Die variable, struct di_location *out)
{
	const uint8_t *bytes;
	uint64_t length;
	int res = di_block(u, variable, DW_AT_location, &bytes, &length);

	if (res > 0)
		run(bytes, length, out);
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
			run(entry.expression, entry.length, out);
			return 0;
		}
	}
	return res;
}
