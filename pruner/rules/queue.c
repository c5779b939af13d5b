// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rule for rings of one producer and one consumer (Documentation/core-api/circular-buffers.rst in Linux). Each side owns an
 * index to which only this side stores. A side accesses the slot of its index only after a comparison of both indices, and
 * stores its index only after that access. The race is between a store of one index and the other side's load of that index.
 *
 * The only evidence that no other function stores to an index is that the report has no such race. Machine code does not show
 * whether the source has smp_store_release() or a plain store. So the class is unclear.
 */
#include <inttypes.h>

#include "pruner/code/flow/reachability.h"
#include "pruner/patterns/handoff.h"
#include "pruner/rules/rules.h"

#define INDEX_MAX 8 /* bytes */

struct index {
	uint64_t gva;
	unsigned size;
};

struct ring_end {
	struct handoff_side handoff;
	struct index own, other;
	unsigned slot; /* The first instruction that accesses a slot. */
};

static bool is_index(const struct ring_end *e, const struct index *index, unsigned i, uint8_t rw)
{
	return handoff_accesses(&e->handoff, i, index->gva, index->size, rw);
}

/*
 * Returns whether instruction `i`, a store to the side's own index, computes the new index from the old one: adds to the index
 * in memory, or stores a value that depends on the old index.
 */
static bool advances(const struct ring_end *e, const struct flow_dependencies *on_own, unsigned i)
{
	const struct insn_op *op = &e->handoff.side->code.insns[i].op;

	return on_own->data[i] || (op->kind == INSN_OP_ADD && op->src.kind == INSN_OPERAND_IMM);
}

/*
 * Mark the accesses to indices and slots. Returns whether there are slots, and all stores of the side to an index advance its
 * own index.
 */
static bool find_slots(struct ring_end *e, const struct flow_dependencies *on_own)
{
	const struct code *code = &e->handoff.side->code;
	bool stores = false, slots = false;

	for (unsigned i = 0; i < code->count; i++) {
		bool own = is_index(e, &e->own, i, INSN_READ | INSN_WRITE);

		e->handoff.is_word[i] = own || is_index(e, &e->other, i, INSN_READ | INSN_WRITE);
		if (is_index(e, &e->other, i, INSN_WRITE))
			return false;
		if (is_index(e, &e->own, i, INSN_WRITE)) {
			if (!advances(e, on_own, i))
				return false;
			stores = true;
		}
		e->handoff.is_data[i] = on_own->address[i] && !e->handoff.is_word[i];
		if (e->handoff.is_data[i] && !slots)
			e->slot = i;
		slots |= e->handoff.is_data[i];
	}
	return stores && slots;
}

/*
 * Returns whether the side keeps the order that a ring needs: it accesses slots and stores its index only after a comparison of
 * the indices. After the store of its index, it accesses a slot only after another comparison.
 */
static bool keeps_order(const struct ring_end *e, const bool compared[RACE_CODE_MAX])
{
	const struct code *code = &e->handoff.side->code;

	for (unsigned i = 0; i < code->count; i++) {
		bool store = is_index(e, &e->own, i, INSN_WRITE);

		if ((store || e->handoff.is_data[i]) && !handoff_guarded(&e->handoff, compared, REACH_FROM_START, i))
			return false;
		for (unsigned j = 0; store && j < code->count; j++) {
			if (e->handoff.is_data[j] && !handoff_guarded(&e->handoff, compared, (int)i, j))
				return false;
		}
	}
	return true;
}

static bool is_ring_end(struct ring_end *e)
{
	struct flow_dependencies on_own = {0}, on_other = {0};
	bool compared[RACE_CODE_MAX];

	handoff_dependencies(&e->handoff, e->own.gva, e->own.size, &on_own);
	handoff_dependencies(&e->handoff, e->other.gva, e->other.size, &on_other);
	for (unsigned i = 0; i < RACE_CODE_MAX; i++)
		compared[i] = on_own.control[i] && on_other.control[i];
	return find_slots(e, &on_own) && keeps_order(e, compared);
}

static void describe(const struct ring_end *reader, const struct ring_end *writer, struct verdict *out)
{
	verdict_evidence(out,
			 "only %s was seen to store the index at 0x%" PRIx64 ", and only %s the index at 0x%" PRIx64
			 "; each stores its index after its access to the slot that the index names (+0x%" PRIx64
			 ", +0x%" PRIx64 "), and accesses the slot after a comparison of both indices; ",
			 view_function(writer->handoff.side), writer->own.gva, view_function(reader->handoff.side),
			 reader->own.gva, view_offset(writer->handoff.side, writer->slot),
			 view_offset(reader->handoff.side, reader->slot));
	verdict_evidence(
		out, "no race on a slot was seen; only the source shows whether there is a second producer or consumer, and "
		     "whether the stores are releases");
}

/*
 * The race gives one index of the ring: `writer` is the side that stores this index, and `reader` the side that loads it. The
 * other index is the one that only `reader` stores. Try the memory to which instruction `i` of `reader` stores as this other
 * index. Returns whether the two sides, with these two indices, are the producer and the consumer of a ring.
 */
static bool try_own(const struct view *v, struct ring_end *reader, struct ring_end *writer, unsigned i)
{
	const struct insn_mem *mem = &reader->handoff.side->code.insns[i].op.insn.mem[0];

	if (!reader->handoff.gva[i] || !(mem->rw & INSN_WRITE) || mem->size > INDEX_MAX ||
	    handoff_accesses(&reader->handoff, i, reader->other.gva, reader->other.size, INSN_WRITE))
		return false;
	reader->own = writer->other = (struct index){reader->handoff.gva[i], mem->size};
	return is_ring_end(reader) && is_ring_end(writer) && !handoff_other_writer(v, reader->own.gva, &reader->handoff) &&
	       !handoff_other_writer(v, writer->own.gva, &writer->handoff) &&
	       !handoff_broken(v, &reader->handoff, &writer->handoff);
}

bool rule_queue(const struct view *v, struct verdict *out)
{
	unsigned r = v->side[0].writes ? 1 : 0;
	const struct view_side *load = &v->side[r], *store = &v->side[!r];
	struct ring_end reader = {0}, writer = {0};

	if (!load->followed || !store->followed || load->writes || !store->writes || load->side->size != store->side->size ||
	    load->side->size > INDEX_MAX || !load->code.closed || !store->code.closed || !load->read.tested)
		return false;
	handoff_resolve(load, &reader.handoff);
	handoff_resolve(store, &writer.handoff);
	reader.other = writer.own = (struct index){store->side->gva, store->side->size};
	if (load->side->gva != store->side->gva)
		return false;
	for (unsigned i = 0; i < load->code.count; i++) {
		if (!try_own(v, &reader, &writer, i))
			continue;
		out->class = VERDICT_UNCLEAR;
		out->rule = RULE_RING_QUEUE;
		describe(&reader, &writer, out);
		return true;
	}
	return false;
}
