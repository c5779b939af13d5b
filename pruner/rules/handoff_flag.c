// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rules for data that a flag hands over, and for a flag that fails to hand data over (Documentation/memory-barriers.txt in
 * Linux, acquire and release). One side stores the flag after all its accesses to the data. The other side accesses the data
 * only after a branch on the flag. Machine code does not show whether the source has smp_store_release() or a plain store, so
 * the class is unclear.
 *
 * If both sides store the flag, both must test the flag before they access the data. If only one side stores the flag, all
 * instances must show the same change of the flag. If the report has a race on the data, the flag does not hand the data over,
 * even if both sides mark their accesses to the flag.
 */
#include <inttypes.h>

#include "pruner/patterns/handoff.h"
#include "pruner/rules/rules.h"

struct handoff {
	struct handoff_side reader, writer;
	uint64_t flag;
	unsigned size;
	/* GVA of the first datum that both sides access. */
	uint64_t data;
	/* The first access of each side to this datum. */
	unsigned reader_at, writer_at;
};

static bool is_flag(const struct handoff *h, const struct handoff_side *end, unsigned i, uint8_t rw)
{
	return handoff_accesses(end, i, h->flag, h->size, rw);
}

/*
 * Mark the instructions that access memory which both functions access, except the flag. Returns whether one of them is a
 * store.
 */
static bool find_data(struct handoff *h)
{
	const struct code *r = &h->reader.side->code, *w = &h->writer.side->code;
	bool stored = false;

	for (unsigned i = 0; i < r->count; i++) {
		h->reader.is_word[i] = is_flag(h, &h->reader, i, INSN_READ | INSN_WRITE);
		for (unsigned j = 0; j < w->count; j++) {
			const struct insn_mem *mem = &w->insns[j].op.insn.mem[0];

			h->writer.is_word[j] = is_flag(h, &h->writer, j, INSN_READ | INSN_WRITE);
			if (h->reader.is_word[i] || h->writer.is_word[j] || !h->writer.gva[j] ||
			    !handoff_accesses(&h->reader, i, h->writer.gva[j], mem->size, INSN_READ | INSN_WRITE))
				continue;
			if (!h->data) {
				h->data = h->reader.gva[i];
				h->reader_at = i;
				h->writer_at = j;
			}
			h->reader.is_data[i] = h->writer.is_data[j] = true;
			stored |= (mem->rw | r->insns[i].op.insn.mem[0].rw) & INSN_WRITE;
		}
	}
	return stored;
}

/*
 * Where the checked paths begin, as bits: at the function's start, or at the function's stores to the flag. On these paths, the
 * side must test the flag before it accesses the data.
 */
enum { ENTRY = 1, STORES = 2 };

/*
 * Returns whether the side accesses the data only after a branch on the flag, on paths from its start or from each of its
 * stores to the flag.
 */
static bool tests_first(const struct handoff *h, const struct handoff_side *end, unsigned from)
{
	struct flow_dependencies on_flag = {0};
	const struct code *code = &end->side->code;

	handoff_dependencies(end, h->flag, h->size, &on_flag);
	for (unsigned i = 0; i < code->count; i++) {
		if (!end->is_data[i])
			continue;
		if (from & ENTRY && !handoff_guarded(end, on_flag.control, -1, i))
			return false;
		for (unsigned j = 0; from & STORES && j < code->count; j++) {
			if (is_flag(h, end, j, INSN_WRITE) && !handoff_guarded(end, on_flag.control, (int)j, i))
				return false;
		}
	}
	return true;
}

/* Returns whether the flag changed in every instance, always from the same old value to the same new value. */
static bool changes_once(const struct race *race)
{
	uint64_t from, to, before, after;

	if (!race->kept || !view_values(&race->instances[0], &from, &to) || from == to)
		return false;
	for (unsigned i = 1; i < race->kept; i++) {
		if (!view_values(&race->instances[i], &before, &after) || before != from || after != to)
			return false;
	}
	return true;
}

static bool stores_flag(const struct handoff *h, const struct handoff_side *end)
{
	for (unsigned i = 0; i < end->side->code.count; i++) {
		if (is_flag(h, end, i, INSN_WRITE))
			return true;
	}
	return false;
}

/* Returns whether the writer accesses the data only while the flag says that the data are its own. */
static bool writer_waits(const struct view *v, const struct handoff *h)
{
	return tests_first(h, &h->writer, ENTRY | STORES) ||
	       (tests_first(h, &h->writer, STORES) && !stores_flag(h, &h->reader) && changes_once(v->race) &&
		!handoff_other_writer(v, h->flag, &h->writer));
}

static void describe(const struct view *v, const struct handoff *h, struct verdict *out)
{
	verdict_evidence(out,
			 "%s accesses 0x%" PRIx64 " (+0x%" PRIx64
			 ") only after a branch on %s, and %s stores to %s only after its "
			 "accesses to the same address (+0x%" PRIx64 "); no race was seen there; ",
			 view_function(h->reader.side), h->data, view_offset(h->reader.side, h->reader_at), v->datum,
			 view_function(h->writer.side), v->datum, view_offset(h->writer.side, h->writer_at));
	verdict_evidence(out, "only the source shows whether %s is accessed with acquire and release", v->datum);
}

/*
 * Returns whether the race is on a flag, both functions access some data, and the reader accesses these data only after a
 * branch on the flag. Whether the writer keeps the order, too, is not checked here. Sets *h.
 */
static bool is_flag_of_data(const struct view *v, struct handoff *h)
{
	unsigned r = v->side[0].writes ? 1 : 0;
	const struct view_side *reader = &v->side[r], *writer = &v->side[!r];

	if (!reader->followed || !writer->followed || reader->writes || !writer->writes || writer->reads ||
	    reader->side->size != writer->side->size || !reader->code.closed || !writer->code.closed || !reader->read.tested ||
	    reader->read.dereferenced)
		return false;
	handoff_resolve(reader, &h->reader);
	handoff_resolve(writer, &h->writer);
	h->flag = writer->side->gva;
	h->size = writer->side->size;
	return h->reader.gva[reader->at] == h->flag && h->writer.gva[writer->at] == h->flag && find_data(h) &&
	       tests_first(h, &h->reader, ENTRY);
}

bool rule_handoff_flag(const struct view *v, struct verdict *out)
{
	struct handoff h = {0};

	if (!is_flag_of_data(v, &h) || !tests_first(&h, &h.reader, STORES) || !writer_waits(v, &h) ||
	    handoff_two_stores(v, h.flag) || handoff_broken(v, &h.reader, &h.writer))
		return false;
	out->class = VERDICT_UNCLEAR;
	out->rule = RULE_HANDED_OVER;
	describe(v, &h, out);
	return true;
}

bool rule_broken_handoff_flag(const struct view *v, struct verdict *out)
{
	struct handoff h = {0};

	if (!is_flag_of_data(v, &h) || view_updates(&v->side[0]) || view_updates(&v->side[1]) ||
	    !handoff_data_raced(v, &h.reader, &h.writer))
		return false;
	out->class = VERDICT_HARMFUL;
	out->rule = RULE_NOT_HANDED_OVER;
	verdict_evidence(out,
			 "the handoff by %s fails: %s accesses 0x%" PRIx64 " (+0x%" PRIx64
			 ") only after a branch on it, and a race was seen there",
			 v->datum, view_function(h.reader.side), h.data, view_offset(h.reader.side, h.reader_at));
	return true;
}
