// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sequence counts (Linux, Documentation/locking/seqlock.rst). The reader asks behind its loads whether the count is still what
 * it was before them, and reads again where it is not. The writer adds 1 to the same count before its store and behind it. The
 * code of both sides must show this. The count itself is part of the same evidence.
 *
 * Whoever uses a value before the question uses half an update, and such a race is no case of this rule. Where the code is
 * known in part only, or the value goes to the caller's memory before the question, the class is unclear. It is unclear too
 * where the reader follows a pointer, since a count does not keep an object alive, where nothing seen keeps a second writer
 * away, and where a reader in an interrupt may wait for the task that it interrupted.
 */
#include <inttypes.h>

#include "pruner/flow/section.h"
#include "pruner/raise.h"
#include "pruner/rules/rules.h"
#include "pruner/turns.h"

static struct flow_access access_of(const struct view_side *s)
{
	return (struct flow_access){.flow = s->flow, .at = s->at, .regs = &s->side->regs, .gva = s->side->gva};
}

/* Interrupts that are off keep no NMI out. */
static bool may_interrupt(const struct guest_context *comes, const struct guest_context *runs)
{
	return comes->known && runs->known && comes->kind > runs->kind && (comes->kind == GUEST_NMI || !runs->irqs_off);
}

static bool waits_for_itself(const struct race *race, unsigned reader)
{
	bool waits = may_interrupt(&race->first.sides[reader].context, &race->first.sides[!reader].context);

	for (unsigned i = 0; i < race->kept; i++)
		waits |= may_interrupt(&race->instances[i].sides[reader].context, &race->instances[i].sides[!reader].context);
	return waits;
}

/*
 * Whether the writer's function ran in an interrupt in one instance, and let it in in another. Such a writer leaves the count
 * even in the middle of the update that it interrupts. Softirqs do not count, since a task that keeps them out is not told from
 * others.
 */
static bool interrupts_itself(const struct race *race, unsigned writer)
{
	for (unsigned i = 0; i < race->kept; i++) {
		const struct guest_context *c = &race->instances[i].sides[writer].context;

		for (unsigned j = 0; j < race->kept && c->kind >= GUEST_HARDIRQ; j++) {
			if (may_interrupt(c, &race->instances[j].sides[writer].context))
				return true;
		}
	}
	return false;
}

/*
 * Whether nothing seen keeps a second writer away. write_seqcount_begin() and every lock for it turn preemption off, but for a
 * latch. Whether preemption is off is known of kernels that count RCU's sections, since these count that too.
 */
static bool is_alone_by_chance(const struct view_side *writer)
{
	return writer->lock == LOCK_NONE && writer->side->context.rcu_known;
}

static const char *doubt(const struct view *v, const struct view_side *reader, const struct view_side *writer,
			 const struct section *read)
{
	unsigned r = v->side[0].writes ? 1 : 0;

	if (!reader->code.closed || !writer->code.closed)
		return "a part of the code was not kept";
	if (read->hands_out)
		return "the reader stores what it read through its caller's pointer before it asks";
	if (!read->of_count && raise_is_pointer(v) && reader->read.dereferenced)
		return "the reader follows what it read, and a count keeps no object alive";
	if (!read->latch && is_alone_by_chance(writer))
		return "the writer can be preempted and takes no lock, so a second writer may come";
	if (interrupts_itself(v->race, !r))
		return "the writer runs in interrupts too, and elsewhere lets them in";
	if (!read->latch && waits_for_itself(v->race, r))
		return "the reader is an interrupt, and waits for ever when it interrupts the writer";
	return NULL;
}

static void say(const struct view_side *reader, const struct view_side *writer, const struct section *read,
		const struct section *write, struct verdict *out)
{
	verdict_evidence(out, "%s loads the sequence count at 0x%" PRIx64 " (+0x%" PRIx64 "), ", view_function(reader),
			 read->count, view_offset(reader, read->before));
	verdict_evidence(out, "%s, ",
			 read->latch	    ? "takes the copy that its bit 0 names"
			 : read->clears_odd ? "clears its bit 0"
					    : "goes on when it is even");
	verdict_evidence(out, "loads it again (+0x%" PRIx64 ") and goes back if it changed; ",
			 view_offset(reader, read->behind));
	if (write->of_count)
		verdict_evidence(out, "%s adds 1 to it before its stores and behind them", view_function(writer));
	else if (write->behind != writer->at)
		verdict_evidence(out, "%s adds 1 to it before its store (+0x%" PRIx64 ") and behind it (+0x%" PRIx64 ")",
				 view_function(writer), view_offset(writer, write->before), view_offset(writer, write->behind));
	else
		verdict_evidence(out, "%s adds 1 to it before its store (+0x%" PRIx64 "), so that readers take the other copy",
				 view_function(writer), view_offset(writer, write->before));
}

/* Two writers that add at once leave the count even in the middle of an update. */
static bool has_two_writers(const struct view *v, const struct view_side *writer, const struct section *write)
{
	const unsigned stores[] = {writer->at, write->before, write->behind};

	return turns_two_stores(v, write->count) || turns_two_stores(v, writer->side->gva) ||
	       turns_two_stores_by(v, writer, stores, sizeof(stores) / sizeof(stores[0]));
}

/* Whether the codes of both sides show a section of one count, and in *but what is to be said against it. */
static bool fits(const struct view *v, struct verdict *out, const char **but)
{
	unsigned r = v->side[0].writes ? 1 : 0;
	const struct view_side *reader = &v->side[r], *writer = &v->side[!r];
	struct flow_access load = access_of(reader), store = access_of(writer);
	struct section read, write;

	if (!reader->followed || !writer->followed || reader->writes || !reader->reads || !writer->writes ||
	    !section_of_reader(&load, &read) || !section_of_writer(&store, read.count, read.latch, &write) ||
	    read.of_count != write.of_count || has_two_writers(v, writer, &write))
		return false;
	/* Readers that start now must not take the copy that is being changed. */
	if (read.latch && !read.of_count && read.odd == write.odd)
		return false;
	*but = doubt(v, reader, writer, &read);
	out->rule = "sequence-count";
	say(reader, writer, &read, &write, out);
	return true;
}

bool rule_sequence(const struct view *v, struct verdict *out)
{
	struct verdict found = *out;
	const char *but;

	if (!fits(v, &found, &but) || but)
		return false;
	found.class = VERDICT_SYNCHRONISATION;
	*out = found;
	return true;
}

bool rule_doubtful_sequence(const struct view *v, struct verdict *out)
{
	const char *but;

	if (!fits(v, out, &but) || !but)
		return false;
	out->class = VERDICT_UNCLEAR;
	verdict_evidence(out, "; but %s", but);
	return true;
}
