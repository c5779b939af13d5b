/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints instructions for people, in AT&T syntax as objdump and kernel oopses print them. */
#include "symbols/insn/text.h"

#include <capstone.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/linux_image.h"
#include "symbols/insn/flow.h"

struct insn_printer {
	csh cs;
	cs_insn *ci;
};

struct insn_printer *insn_printer_new(void)
{
	struct insn_printer *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	/*
	 * The printer does not share the decoder's handle: with AT&T syntax, Capstone also reverses the operands that the
	 * decoder reads.
	 */
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &p->cs) != CS_ERR_OK) {
		free(p);
		return NULL;
	}
	if (cs_option(p->cs, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT) == CS_ERR_OK)
		p->ci = cs_malloc(p->cs);
	if (!p->ci) {
		insn_printer_free(p);
		return NULL;
	}
	return p;
}

void insn_printer_free(struct insn_printer *p)
{
	if (!p)
		return;
	if (p->ci)
		cs_free(p->ci, 1);
	cs_close(&p->cs);
	free(p);
}

static void bytes_text(const struct insn *insn, char out[INSN_TEXT_MAX])
{
	int used = snprintf(out, INSN_TEXT_MAX, "%-6s ", ".byte");

	for (unsigned i = 0; i < insn->len; i++)
		used += snprintf(out + used, INSN_TEXT_MAX - (size_t)used, "%s0x%02x", i ? "," : "", insn->bytes[i]);
}

/* Returns true and sets *gva if an operand is relative to RIP. */
static bool rip_address(const struct insn *insn, uint64_t *gva)
{
	for (unsigned i = 0; i < insn->nmem; i++) {
		const struct insn_mem *m = &insn->mem[i];

		if (m->base != INSN_REG_RIP)
			continue;
		*gva = insn->addr + insn->len + (uint64_t)m->disp;
		return true;
	}
	return false;
}

/*
 * Capstone prints the address of a kernel variable as a negative number: "$-0x3fd37f80". Sets *gva to the address and returns
 * the rest of `operands` after the number. Returns NULL if `operands` does not begin with a kernel address.
 */
static const char *kernel_address(const char *operands, uint64_t *gva)
{
	char *end;

	if (strncmp(operands, "$-0x", 4) != 0)
		return NULL;
	*gva = -strtoull(operands + 4, &end, 16);
	return *gva >= LINUX_IMAGE_START && *gva < (uint64_t)-0x100000 ? end : NULL;
}

void insn_text(struct insn_printer *p, const struct insn *insn, const char *target, char out[INSN_TEXT_MAX])
{
	const uint8_t *at = insn->bytes;
	size_t left = insn->len;
	uint64_t addr = insn->addr, gva;
	struct insn_branch branch;
	const char *rest;
	int used;

	if (!cs_disasm_iter(p->cs, &at, &left, &addr, p->ci) || left) {
		bytes_text(insn, out);
		return;
	}
	if (target && insn_direct_branch(insn, &branch))
		used = snprintf(out, INSN_TEXT_MAX, "%-6s %s", p->ci->mnemonic, target);
	else if ((rest = kernel_address(p->ci->op_str, &gva)))
		used = snprintf(out, INSN_TEXT_MAX, "%-6s $0x%" PRIx64 "%s", p->ci->mnemonic, gva, rest);
	else if (p->ci->op_str[0])
		used = snprintf(out, INSN_TEXT_MAX, "%-6s %s", p->ci->mnemonic, p->ci->op_str);
	else
		used = snprintf(out, INSN_TEXT_MAX, "%s", p->ci->mnemonic);
	if (used < INSN_TEXT_MAX && rip_address(insn, &gva))
		snprintf(out + used, INSN_TEXT_MAX - (size_t)used, "  # 0x%" PRIx64, gva);
}
