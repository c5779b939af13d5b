/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the instruction that hit a watchpoint (attribute.h). A data breakpoint traps after the access (SDM vol. 3, 18.2.4), so
 * RIP is at the next instruction, and x86 code cannot be decoded backwards. So this file decodes the function from its symbol
 * on, up to the instruction that ends at RIP. It then computes the operand addresses of this instruction, if the registers
 * still have the values that they had before it, and compares these addresses with the watched bytes.
 */
#include "hv/detect/report/attribute.h"

#include <stdlib.h>
#include <string.h>

#include "hv/detect/core/code.h"
#include "hv/detect/core/state.h"
#include "hv/race/conflict.h"
#include "symbols/insn/count.h"

#define FUNCTION_MAX (64u << 10)
#define LATE_BYTES 4096 /* a fast string instruction can trap up to this many bytes late */

struct sweep {
	uint8_t code[FUNCTION_MAX];
	struct guest_symbol fn;
};

static bool load_function(struct detect *d, uint64_t addr, struct sweep *s)
{
	return guest_symbol_at(d->guest, addr, &s->fn) == 0 && s->fn.size <= sizeof(s->code) &&
	       detect_code(d, s->fn.addr, s->code, s->fn.size) == 0;
}

/* Find the function's instruction that starts at GVA `start`. If `start` is 0, find the instruction that ends at GVA `end`. */
static bool find_insn(struct insn_decoder *dec, const struct sweep *s, uint64_t start, uint64_t end, struct insn *out)
{
	uint64_t at = 0;

	while (at < s->fn.size) {
		unsigned len = insn_decode(dec, s->code + at, s->fn.size - at, s->fn.addr + at, out);

		if (!len)
			return false;
		if (out->addr == start || out->addr + len == end)
			return true;
		at += len;
	}
	return false;
}

/* A watchpoint that was hit: the bytes and the access for which it was planted, and the side that hit it. */
struct watched {
	/* The watched bytes, and the access that the hit conflicts with. */
	uint64_t gva;
	uint32_t len;
	struct conflict_access access;
	struct race_side *side;
	/*
	 * The watched bytes are a whole word that the detector chose (attribute_device_window()), and not the bytes of a known
	 * access. So the access that hit the watchpoint may be to a part of these bytes only.
	 */
	bool chosen;
};

static bool overlaps(const struct watched *watched, uint64_t gva, uint32_t size)
{
	return race_ranges_overlap(gva, size, watched->gva, watched->len);
}

/* Set the registers back to the values that they had before the string instruction processed its last element. */
static void rewind_string(const struct insn *insn, struct x86_regs *regs)
{
	uint64_t step = insn->mem[0].size;

	if (regs->rflags & X86_RFLAGS_DF)
		step = -step;
	regs->gpr[X86_RSI] -= step;
	regs->gpr[X86_RDI] -= step;
	if (insn->flags & INSN_REP)
		regs->gpr[X86_RCX] = 1;
}

/* Undo the push of a call. A call that reads its target from memory first reads it, and then pushes its return address. */
static void rewind_call(const struct insn *insn, struct x86_regs *regs)
{
	if (insn->flags & INSN_CALL)
		regs->gpr[X86_RSP] += 8;
}

static void accept(struct race_side *side, const struct insn *insn, const struct insn_mem *mem, uint64_t gva)
{
	side->pc = insn->addr;
	side->gva = gva;
	side->size = mem->size;
	side->rw = mem->rw;
	side->locked = insn->flags & INSN_LOCKED;
}

/*
 * The CPU has just executed the instruction `insn`. If the operand `mem` of `insn` has a byte in common with the watched bytes,
 * stores the operand's address in *gva and returns true. Otherwise returns false.
 */
static bool overlaps_exactly(const struct insn *insn, const struct insn_mem *mem, const struct watched *watched, uint64_t *gva)
{
	struct x86_regs regs = watched->side->regs;
	struct mem_access access[INSN_MAX_MEM];
	struct insn one = *insn;

	regs.rip = insn->addr;
	if (insn->flags & INSN_STRING)
		rewind_string(insn, &regs);
	rewind_call(insn, &regs);
	one.nmem = 1;
	one.mem[0] = *mem;
	if (insn_accesses(&one, &regs, access) != 1 || !overlaps(watched, access[0].gva, access[0].size))
		return false;
	*gva = access[0].gva;
	return true;
}

/*
 * Whether `insn` may have accessed the watched bytes by this operand, although the operand's address can no longer be computed.
 * There are three reasons why it cannot be computed: the instruction overwrote its own base or index register, the decoder does
 * not describe the operand fully, or the instruction is a fast string instruction, which can trap some elements after the
 * access.
 */
static bool may_overlap(const struct insn *insn, const struct insn_mem *mem, const struct watched *watched)
{
	const struct race_side *side = watched->side;

	if (insn->flags & INSN_STRING) {
		uint64_t at = mem->base >= 0 ? side->regs.gpr[mem->base] : 0;

		uint64_t past = side->regs.rflags & X86_RFLAGS_DF ? watched->gva - at : at - watched->gva;

		return (insn->flags & INSN_REP) && past < LATE_BYTES;
	}
	return (insn->flags & INSN_INDIRECT) || (mem->base >= 0 && insn->regs_written >> mem->base & 1) ||
	       (mem->index >= 0 && insn->regs_written >> mem->index & 1);
}

/*
 * Returns the likely address of an access whose address can no longer be computed. Usually this is the first watched byte. But
 * if watched->chosen is set, the access may begin at a later byte. Then assume that the overwritten base register pointed to
 * the start of an object. The kernel's allocators align objects to eight bytes, so the lowest three bits of the displacement
 * are those of the access's address.
 */
static uint64_t likely_address(const struct insn_mem *mem, const struct watched *watched)
{
	uint64_t gva = (watched->gva & ~UINT64_C(7)) + ((uint64_t)mem->disp & 7);

	if (!watched->chosen || mem->base < 0 || mem->index != INSN_REG_NONE || !overlaps(watched, gva, mem->size))
		return watched->gva;
	return gva;
}

static bool explains(const struct insn *insn, const struct watched *watched, bool exactly)
{
	for (unsigned i = 0; i < insn->nmem; i++) {
		const struct insn_mem *mem = &insn->mem[i];
		const struct conflict_access access = {.known = true, .locked = insn->flags & INSN_LOCKED, .rw = mem->rw};
		uint64_t gva = likely_address(mem, watched);

		if (!race_is_conflict(&watched->access, &access) ||
		    !(exactly ? overlaps_exactly(insn, mem, watched, &gva) : may_overlap(insn, mem, watched)))
			continue;
		accept(watched->side, insn, mem, gva);
		return true;
	}
	return false;
}

/*
 * Returns whether a call that read its target from memory made the access. After such a call, RIP is at the callee's first
 * byte, and the return address on the stack leads to the call.
 */
static bool explained_by_caller(struct detect *d, struct insn_decoder *dec, struct sweep *s, const struct watched *watched)
{
	const struct race_side *side = watched->side;
	uint64_t ret;
	struct insn insn;

	if (side->stack_len < sizeof(ret))
		return false;
	memcpy(&ret, side->stack, sizeof(ret));
	return load_function(d, ret - 1, s) && find_insn(dec, s, 0, ret, &insn) && (insn.flags & INSN_CALL) &&
	       explains(&insn, watched, true);
}

static void attribute(struct detect *d, struct insn_decoder *decoder, const struct watched *watched)
{
	const uint64_t rip = watched->side->regs.rip;
	struct sweep *s = malloc(sizeof(*s));
	struct insn at, before;
	bool rep, previous;

	if (!s)
		return;
	/*
	 * A REP string instruction traps after an element, with RIP still at the instruction. After all other instructions RIP
	 * is at the next one.
	 */
	rep = load_function(d, rip, s) && find_insn(decoder, s, rip, 0, &at) && (at.flags & INSN_REP);
	previous = load_function(d, rip - 1, s) && find_insn(decoder, s, 0, rip, &before);
	if (!(rep && explains(&at, watched, true)) && !(previous && explains(&before, watched, true)) &&
	    !explained_by_caller(d, decoder, s, watched) && !(rep && explains(&at, watched, false)) && previous)
		explains(&before, watched, false);
	free(s);
}

/* Returns whether the instruction to which the side's access was attributed has made its memory operand 0. */
static bool made_zero(struct detect *d, struct insn_decoder *decoder, const struct race_side *side)
{
	uint64_t len = side->regs.rip - side->pc;
	uint8_t code[INSN_MAX_LEN];
	struct insn insn;

	return side->pc && len && len <= sizeof(code) && detect_code(d, side->pc, code, len) == 0 &&
	       insn_decode(decoder, code, len, side->pc, &insn) && insn_left_zero(&insn, &side->regs);
}

bool attribute_watch(struct detect *d, struct insn_decoder *decoder, struct observation *o)
{
	const struct race_side *sampled = &o->sides[0], *other = &o->sides[1];

	attribute(d, decoder,
		  &(struct watched){
			  .gva = sampled->gva,
			  .len = sampled->size < RACE_DATA_MAX ? sampled->size : RACE_DATA_MAX,
			  /* Only a held get is LOCKed. It conflicts with writes, also with LOCKed ones (last_put.h). */
			  .access = {.known = true, .rw = sampled->locked ? INSN_READ : sampled->rw},
			  .side = &o->sides[1],
		  });
	/* If two CPUs wrote to the count of a get in a row, the second one may have made it 0 before the first one was asked.
	 */
	return !sampled->locked || (other->pc && (!other->locked || made_zero(d, decoder, other)));
}

/*
 * Reduce the datum of a window that holds a device's request to the bytes that the CPU accessed. Before the call, the datum is
 * the whole watched word, whose address is `gva`.
 */
static void cut_datum(struct observation *o, uint64_t gva)
{
	struct race_side *side = &o->sides[0];
	uint64_t start = side->gva > gva ? side->gva : gva, end = gva + o->data_len;
	uint32_t skip = (uint32_t)(start - gva);

	if (side->gva + side->size < end)
		end = side->gva + side->size;
	if (start >= end) {
		/* The instruction is not certain to have accessed these bytes (may_overlap()): keep the word. */
		start = gva;
		end = gva + o->data_len;
		skip = 0;
	}
	side->gva = start;
	side->size = o->data_len = (uint32_t)(end - start);
	memmove(o->before, o->before + skip, o->data_len);
	memmove(o->after, o->after + skip, o->data_len);
	o->gpa += skip;
	o->page.gpa += skip; /* still in the same page */
	o->sides[1].device.gpa = o->gpa;
	o->sides[1].device.len = o->data_len;
}

void attribute_device_window(struct detect *d, struct insn_decoder *decoder, struct observation *o)
{
	const uint64_t gva = o->sides[0].gva;

	attribute(d, decoder,
		  &(struct watched){
			  .gva = gva,
			  .len = o->data_len,
			  .access = {.known = true, .rw = o->sides[1].rw},
			  .side = &o->sides[0],
			  .chosen = true,
		  });
	if (o->sides[0].pc)
		cut_datum(o, gva);
}
