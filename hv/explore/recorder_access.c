// SPDX-License-Identifier: GPL-2.0-or-later
/* The accesses that a stepped instruction makes (recorder.h). */
#include "hv/explore/recorder.h"

#include "hv/explore/record.h"
#include "hv/guest/guest.h"
#include "symbols/insn/op.h"

/* Returns explore_access.caller of the instruction. */
static uint64_t caller_of(const struct recorder *r, const struct insn *insn)
{
	return code_facts(&r->code, insn) & KERNEL_LIBRARY ? calls_of_library(&r->calls, r->kernel) : 0;
}

/*
 * Returns explore_access.commutes of the instruction. This takes further decoding for locked instructions only, which are few:
 * all others count as INSN_COMMUTES_NOT.
 */
static uint8_t commuting(struct recorder *r, const struct insn *insn)
{
	const uint64_t after = insn->addr + insn->len;
	uint8_t code[INSN_MAX_LEN];
	enum insn_commuting kind;
	struct insn_op op;

	if (!(insn->flags & INSN_LOCKED))
		return INSN_COMMUTES_NOT;
	insn_op_decode(r->drive.decoder, insn->bytes, insn->len, insn->addr, &op);
	kind = insn_op_commutes(&op);
	if (!insn_op_decode(r->drive.decoder, code, drive_code(&r->drive, r->side, after, code), after, &op) || op.reads_flags)
		return INSN_COMMUTES_NOT;
	return (uint8_t)kind;
}

/*
 * Record one access of an instruction. `as` has the fields that all accesses of the instruction share. If the access crosses a
 * page, record a part in each page. Of an access of more than a page, by an instruction that copies or clears memory, record
 * only the first 4096 bytes.
 */
static void add_access(struct recorder *r, const struct explore_access *as, const struct mem_access *access)
{
	struct recorded *out = r->out;
	uint32_t left = access->size < X86_PAGE_SIZE ? access->size : X86_PAGE_SIZE, size;
	bool crosses = access->gva % X86_PAGE_SIZE + left > X86_PAGE_SIZE;

	for (uint64_t gva = access->gva; left && x86_kernel_address(gva) && out->count < EXPLORE_ACCESSES_MAX;
	     gva += size, left -= size) {
		uint32_t room = X86_PAGE_SIZE - (uint32_t)(gva % X86_PAGE_SIZE);
		struct explore_access *a = &out->access[out->count++];

		size = left < room ? left : room;
		*a = *as;
		a->gva = gva;
		a->gpa = pages_gpa(&r->pages, &r->drive.copy, r->side, gva);
		a->size = size;
		a->rw = access->rw;
		a->crosses = crosses;
	}
}

void recorder_add(struct recorder *r, const struct insn *insn, const struct x86_regs *regs)
{
	struct mem_access access[INSN_MAX_MEM];
	struct explore_access as;
	unsigned n;

	/* All iterations of a string instruction are recorded with the first one. */
	if (!r->own || !code_accesses(insn) || (insn->flags & INSN_REP && r->last_pc == regs->rip))
		return;
	n = insn_accesses(insn, regs, access);
	as = (struct explore_access){
		.pc = regs->rip,
		.at = (uint32_t)r->out->summary.steps,
		.locked = insn->flags & INSN_LOCKED,
		.service = calls_in_service(&r->calls),
		.other_call = r->call,
		.length = insn->len,
		.caller = caller_of(r, insn),
	};
	as.commutes = commuting(r, insn);
	for (unsigned i = 0; i < n; i++)
		if (!guest_on_stack(regs, access[i].gva))
			add_access(r, &as, &access[i]);
}
