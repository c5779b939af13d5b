// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rings of one producer and one consumer (Linux, Documentation/core-api/circular-buffers.rst). Each side has an index of its
 * own, which it alone stores, and stores behind its access to the slot that the index names. It accesses the slot only behind a
 * comparison of its own index with the other side's. The race is of a store to an index and the other side's load of it.
 *
 * That nobody else stores to an index is known of the record only. Machine code does not show either whether
 * smp_store_release() or a plain store was meant. The class is therefore unclear.
 */
#include <inttypes.h>

#include "pruner/flow/ways.h"
#include "pruner/rules/rules.h"
#include "pruner/turns.h"

#define INDEX_MAX 8 /* bytes */

struct index {
	uint64_t gva;
	unsigned size;
};

struct ring_end {
	struct turns_end turns;
	struct index own, other;
	unsigned slot; /* The first instruction that accesses a slot. */
};

static bool is_index(const struct ring_end *e, const struct index *index, unsigned i, uint8_t rw)
{
	return turns_accesses(&e->turns, i, index->gva, index->size, rw);
}

/* An addition to the index in memory, or a store of what was made of the index. */
static bool moves_on(const struct ring_end *e, const struct flow_influence *by_own, unsigned i)
{
	const struct insn_op *op = &e->turns.side->code.insns[i].op;

	return by_own->stored[i] || (op->kind == INSN_OP_ADD && op->src.kind == INSN_OPERAND_IMM);
}

/* Mark the indices and the slots. Returns whether all stores move the own index on, and there are slots. */
static bool find_slots(struct ring_end *e, const struct flow_influence *by_own)
{
	const struct code *code = &e->turns.side->code;
	bool stores = false, slots = false;

	for (unsigned i = 0; i < code->count; i++) {
		bool own = is_index(e, &e->own, i, INSN_READ | INSN_WRITE);

		e->turns.is_word[i] = own || is_index(e, &e->other, i, INSN_READ | INSN_WRITE);
		if (is_index(e, &e->other, i, INSN_WRITE))
			return false;
		if (is_index(e, &e->own, i, INSN_WRITE)) {
			if (!moves_on(e, by_own, i))
				return false;
			stores = true;
		}
		e->turns.is_data[i] = by_own->addresses[i] && !e->turns.is_word[i];
		if (e->turns.is_data[i] && !slots)
			e->slot = i;
		slots |= e->turns.is_data[i];
	}
	return stores && slots;
}

/* Whether the slots are accessed only behind the comparison, and not behind the own index's store without another comparison.
 */
static bool keeps_order(const struct ring_end *e, const bool compared[RACE_CODE_MAX])
{
	const struct code *code = &e->turns.side->code;

	for (unsigned i = 0; i < code->count; i++) {
		bool store = is_index(e, &e->own, i, INSN_WRITE);

		if ((store || e->turns.is_data[i]) && !turns_guarded(&e->turns, compared, WAYS_FROM_START, i))
			return false;
		for (unsigned j = 0; store && j < code->count; j++) {
			if (e->turns.is_data[j] && !turns_guarded(&e->turns, compared, (int)i, j))
				return false;
		}
	}
	return true;
}

static bool is_ring_end(struct ring_end *e)
{
	struct flow_influence by_own = {0}, by_other = {0};
	bool compared[RACE_CODE_MAX];

	turns_influence(&e->turns, e->own.gva, e->own.size, &by_own);
	turns_influence(&e->turns, e->other.gva, e->other.size, &by_other);
	for (unsigned i = 0; i < RACE_CODE_MAX; i++)
		compared[i] = by_own.decides[i] && by_other.decides[i];
	return find_slots(e, &by_own) && keeps_order(e, compared);
}

static void say(const struct ring_end *reader, const struct ring_end *writer, struct verdict *out)
{
	verdict_evidence(out,
			 "%s alone stores the index at 0x%" PRIx64 ", and %s alone the index at 0x%" PRIx64
			 ", each behind its access to the slot that the index names (+0x%" PRIx64 ", +0x%" PRIx64
			 ") and behind a comparison of the two; ",
			 view_function(writer->turns.side), writer->own.gva, view_function(reader->turns.side), reader->own.gva,
			 view_offset(writer->turns.side, writer->slot), view_offset(reader->turns.side, reader->slot));
	verdict_evidence(out, "no slot was seen racing; a second producer or consumer, and whether the stores are releases, "
			      "only the source shows");
}

/* Whether the reader's own index may be what instruction `i` of the reader stores. */
static bool try_own(const struct view *v, struct ring_end *reader, struct ring_end *writer, unsigned i)
{
	const struct insn_mem *mem = &reader->turns.side->code.insns[i].op.insn.mem[0];

	if (!reader->turns.gva[i] || !(mem->rw & INSN_WRITE) || mem->size > INDEX_MAX ||
	    turns_accesses(&reader->turns, i, reader->other.gva, reader->other.size, INSN_WRITE))
		return false;
	reader->own = writer->other = (struct index){reader->turns.gva[i], mem->size};
	return is_ring_end(reader) && is_ring_end(writer) && !turns_other_writer(v, reader->own.gva, &reader->turns) &&
	       !turns_other_writer(v, writer->own.gva, &writer->turns) && !turns_broken(v, &reader->turns, &writer->turns);
}

bool rule_queue(const struct view *v, struct verdict *out)
{
	unsigned r = v->side[0].writes ? 1 : 0;
	const struct view_side *load = &v->side[r], *store = &v->side[!r];
	struct ring_end reader = {0}, writer = {0};

	if (!load->followed || !store->followed || load->writes || !store->writes || load->side->size != store->side->size ||
	    load->side->size > INDEX_MAX || !load->code.closed || !store->code.closed || !load->read.tested)
		return false;
	turns_look(load, &reader.turns);
	turns_look(store, &writer.turns);
	reader.other = writer.own = (struct index){store->side->gva, store->side->size};
	if (load->side->gva != store->side->gva)
		return false;
	for (unsigned i = 0; i < load->code.count; i++) {
		if (!try_own(v, &reader, &writer, i))
			continue;
		out->class = VERDICT_UNCLEAR;
		out->rule = "ring-queue";
		say(&reader, &writer, out);
		return true;
	}
	return false;
}
