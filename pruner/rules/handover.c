// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Data that are handed over by a flag (Linux, Documentation/memory-barriers.txt, acquire and release). One side stores the flag
 * behind all its accesses to the data. The other side accesses the data only behind a branch by the flag. Machine code does not
 * show whether smp_store_release() or a plain store was meant, so the class is unclear.
 *
 * A flag that comes back must be tested by both sides before they access the data. A flag that does not must always have been
 * seen to change in one way. Data that were seen racing were not handed over, whatever the code looks like, and even if
 * the flag is marked on both sides.
 */
#include <inttypes.h>

#include "pruner/rules/rules.h"
#include "pruner/turns.h"

struct handover {
	struct turns_end reader, writer;
	uint64_t flag;
	unsigned size;
	uint64_t data;		       /* The GVA of the first datum that both access. */
	unsigned reader_at, writer_at; /* Of this datum, the first access of each. */
};

static bool is_flag(const struct handover *h, const struct turns_end *end, unsigned i, uint8_t rw)
{
	return turns_accesses(end, i, h->flag, h->size, rw);
}

/* Mark what both functions access, apart from the flag. Returns whether one of them stores to some of it. */
static bool find_data(struct handover *h)
{
	const struct code *r = &h->reader.side->code, *w = &h->writer.side->code;
	bool stored = false;

	for (unsigned i = 0; i < r->count; i++) {
		h->reader.is_word[i] = is_flag(h, &h->reader, i, INSN_READ | INSN_WRITE);
		for (unsigned j = 0; j < w->count; j++) {
			const struct insn_mem *mem = &w->insns[j].op.insn.mem[0];

			h->writer.is_word[j] = is_flag(h, &h->writer, j, INSN_READ | INSN_WRITE);
			if (h->reader.is_word[i] || h->writer.is_word[j] || !h->writer.gva[j] ||
			    !turns_accesses(&h->reader, i, h->writer.gva[j], mem->size, INSN_READ | INSN_WRITE))
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

/* Where the ways begin on which the flag must be asked. They are bits. */
enum { ENTRY = 1, STORES = 2 };

/* Whether the end accesses the data only behind a branch by the flag, from its entry or from each of its stores to the flag. */
static bool asks_first(const struct handover *h, const struct turns_end *end, unsigned from)
{
	struct flow_influence by_flag = {0};
	const struct code *code = &end->side->code;

	turns_influence(end, h->flag, h->size, &by_flag);
	for (unsigned i = 0; i < code->count; i++) {
		if (!end->is_data[i])
			continue;
		if (from & ENTRY && !turns_guarded(end, by_flag.decides, -1, i))
			return false;
		for (unsigned j = 0; from & STORES && j < code->count; j++) {
			if (is_flag(h, end, j, INSN_WRITE) && !turns_guarded(end, by_flag.decides, (int)j, i))
				return false;
		}
	}
	return true;
}

/* Whether the flag was always seen to change, and from one value to one other. */
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

static bool stores_flag(const struct handover *h, const struct turns_end *end)
{
	for (unsigned i = 0; i < end->side->code.count; i++) {
		if (is_flag(h, end, i, INSN_WRITE))
			return true;
	}
	return false;
}

/* Whether the writer stores to the data only while they are the writer's. */
static bool writer_waits(const struct view *v, const struct handover *h)
{
	return asks_first(h, &h->writer, ENTRY | STORES) ||
	       (asks_first(h, &h->writer, STORES) && !stores_flag(h, &h->reader) && changes_once(v->race) &&
		!turns_other_writer(v, h->flag, &h->writer));
}

static void say(const struct view *v, const struct handover *h, struct verdict *out)
{
	verdict_evidence(out,
			 "%s accesses 0x%" PRIx64 " (+0x%" PRIx64
			 ") only behind a branch by %s, and %s stores to %s only behind its "
			 "accesses to the same (+0x%" PRIx64 "), in which no race was seen; ",
			 view_function(h->reader.side), h->data, view_offset(h->reader.side, h->reader_at), v->datum,
			 view_function(h->writer.side), v->datum, view_offset(h->writer.side, h->writer_at));
	verdict_evidence(out, "whether %s is accessed by acquire and release, only the source shows", v->datum);
}

/* Whether the race is of a flag that guards data of both functions, as far as the reader's code shows. */
static bool is_flag_of_data(const struct view *v, struct handover *h)
{
	unsigned r = v->side[0].writes ? 1 : 0;
	const struct view_side *reader = &v->side[r], *writer = &v->side[!r];

	if (!reader->followed || !writer->followed || reader->writes || !writer->writes || writer->reads ||
	    reader->side->size != writer->side->size || !reader->code.closed || !writer->code.closed || !reader->read.tested ||
	    reader->read.dereferenced)
		return false;
	turns_look(reader, &h->reader);
	turns_look(writer, &h->writer);
	h->flag = writer->side->gva;
	h->size = writer->side->size;
	return h->reader.gva[reader->at] == h->flag && h->writer.gva[writer->at] == h->flag && find_data(h) &&
	       asks_first(h, &h->reader, ENTRY);
}

bool rule_handover(const struct view *v, struct verdict *out)
{
	struct handover h = {0};

	if (!is_flag_of_data(v, &h) || !asks_first(&h, &h.reader, STORES) || !writer_waits(v, &h) ||
	    turns_two_stores(v, h.flag) || turns_broken(v, &h.reader, &h.writer))
		return false;
	out->class = VERDICT_UNCLEAR;
	out->rule = "handed-over";
	say(v, &h, out);
	return true;
}

bool rule_broken_handover(const struct view *v, struct verdict *out)
{
	struct handover h = {0};

	if (!is_flag_of_data(v, &h) || view_updates(&v->side[0]) || view_updates(&v->side[1]) ||
	    !turns_data_raced(v, &h.reader, &h.writer))
		return false;
	out->class = VERDICT_HARMFUL;
	out->rule = "not-handed-over";
	verdict_evidence(out,
			 "%s accesses 0x%" PRIx64 " (+0x%" PRIx64
			 ") only behind a branch by %s, and was seen racing there all the same",
			 view_function(h.reader.side), h.data, view_offset(h.reader.side, h.reader_at), v->datum);
	return true;
}
