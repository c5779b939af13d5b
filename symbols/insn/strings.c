/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decodes the string instructions movs, cmps, stos, lods, scas, ins and outs. */
#include "symbols/insn/strings.h"

/*
 * What a string instruction does with one element. `opcode` has bit 0 cleared: that bit only says whether the elements are
 * bytes or larger.
 */
struct string_insn {
	uint8_t opcode;
	uint8_t at_rsi, at_rdi; /* enum insn_rw of the element at RSI or RDI; 0 if it is not accessed */
	bool writes_rax;
	bool port_io; /* ins and outs: an element has at most 4 bytes, even with REX.W */
};

static const struct string_insn string_insns[] = {
	{.opcode = 0xa4, .at_rsi = INSN_READ, .at_rdi = INSN_WRITE}, /* movs */
	{.opcode = 0xa6, .at_rsi = INSN_READ, .at_rdi = INSN_READ},  /* cmps */
	{.opcode = 0xaa, .at_rdi = INSN_WRITE},			     /* stos */
	{.opcode = 0xac, .at_rsi = INSN_READ, .writes_rax = true},   /* lods */
	{.opcode = 0xae, .at_rdi = INSN_READ},			     /* scas */
	{.opcode = 0x6c, .at_rdi = INSN_WRITE, .port_io = true},     /* ins */
	{.opcode = 0x6e, .at_rsi = INSN_READ, .port_io = true},	     /* outs */
};

static const struct string_insn *find_string_insn(uint8_t opcode)
{
	for (unsigned i = 0; i < sizeof(string_insns) / sizeof(*string_insns); i++) {
		if (string_insns[i].opcode == (opcode & 0xfe))
			return &string_insns[i];
	}
	return NULL;
}

static void add_element(struct insn *out, const struct insn_prefixes *p, enum x86_gpr pointer, uint16_t size, uint8_t rw)
{
	if (!rw)
		return;
	out->mem[out->nmem++] = (struct insn_mem){
		.size = size,
		.rw = rw,
		.base = (int8_t)pointer,
		.index = INSN_REG_NONE,
		.scale = 1,
		.seg = pointer == X86_RDI ? 0 : p->seg, /* the destination segment is always ES, whose base is 0 */
		.addr32 = p->addr32,
	};
	out->regs_written |= (uint16_t)(1u << pointer);
}

static uint16_t element_size(const struct string_insn *s, const struct insn_prefixes *p, uint8_t opcode)
{
	if (!(opcode & 1))
		return 1;
	if (p->rex & 8)
		return s->port_io ? 4 : 8;
	return p->opsize ? 2 : 4;
}

bool insn_decode_string(struct insn *out, const struct insn_prefixes *p, uint8_t opcode)
{
	const struct string_insn *s = find_string_insn(opcode);
	uint16_t size;

	if (!s)
		return false;
	size = element_size(s, p, opcode);
	add_element(out, p, X86_RSI, size, s->at_rsi);
	add_element(out, p, X86_RDI, size, s->at_rdi);
	out->flags |= INSN_STRING | (s->port_io ? INSN_PORT_IO : 0);
	if (s->writes_rax)
		out->regs_written |= 1u << X86_RAX;
	if (p->rep) {
		out->flags |= INSN_REP;
		out->regs_written |= 1u << X86_RCX;
	}
	return true;
}
