// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rules for sequence counts (Documentation/locking/seqlock.rst in Linux). After its loads, the reader checks whether the
 * count is the same as before the loads, and retries if it is not. The writer adds 1 to the count before its store and after
 * it. The code of both sides must show this. For a race on the count itself, the same evidence is needed.
 *
 * A reader that uses a value before the check may use half an update. The rule does not fit such a race. The class is unclear
 * when
 *
 * - a part of the code is not known,
 * - the reader stores the value to memory of its caller before the check,
 * - the reader follows a pointer that it read: a count does not keep an object alive,
 * - nothing shows what keeps a second writer away, or
 * - the reader is an interrupt that may wait for the task that it interrupted.
 */
#include <inttypes.h>

#include "pruner/code/flow/seqcount.h"
#include "pruner/patterns/handoff.h"
#include "pruner/rules/raise.h"
#include "pruner/rules/rules.h"

static struct flow_access access_of(const struct view_side *s)
{
	return (struct flow_access){.flow = s->flow, .at = s->at, .regs = &s->side->regs, .gva = s->side->gva};
}

/* Returns whether context `comes` may interrupt context `runs`. An NMI comes even while interrupts are disabled. */
static bool may_interrupt(const struct guest_context *comes, const struct guest_context *runs)
{
	return comes->known && runs->known && comes->kind > runs->kind && (comes->kind == GUEST_NMI || !runs->irqs_off);
}

static bool reader_interrupts_writer(const struct race *race, unsigned reader)
{
	bool waits = may_interrupt(&race->first.sides[reader].context, &race->first.sides[!reader].context);

	for (unsigned i = 0; i < race->kept; i++)
		waits |= may_interrupt(&race->instances[i].sides[reader].context, &race->instances[i].sides[!reader].context);
	return waits;
}

/*
 * Returns whether the writer ran in an interrupt in one instance, and with this interrupt enabled in another. If such a writer
 * interrupts an update, the count is even in the middle of that update. Softirqs are left out, because the record does not show
 * whether a task has disabled them.
 */
static bool writer_interrupts_itself(const struct race *race, unsigned writer)
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
 * Returns whether nothing prevents a second writer: the writer holds no lock, and it can be preempted. write_seqcount_begin()
 * and the locks that writers of a sequence count hold disable preemption; only a latch may be written with preemption on. The
 * context shows that preemption is on only if the kernel counts RCU sections (CONFIG_PREEMPT_RCU).
 */
static bool may_have_second_writer(const struct view_side *writer)
{
	return writer->lock == LOCK_NONE && writer->side->context.rcu_known;
}

static const char *doubt(const struct view *v, const struct view_side *reader, const struct view_side *writer,
			 const struct seqcount_section *read)
{
	unsigned r = v->side[0].writes ? 1 : 0;

	if (!reader->code.closed || !writer->code.closed)
		return "a part of the code was not kept";
	if (read->stores_to_caller)
		return "the reader stores what it read through a pointer of its caller before it checks the count";
	if (!read->of_count && raise_is_pointer(v) && reader->read.dereferenced)
		return "the reader follows a pointer that it read, and a count keeps no object alive";
	if (!read->latch && may_have_second_writer(writer))
		return "the writer can be preempted and takes no lock, so a second writer may run";
	if (writer_interrupts_itself(v->race, !r))
		return "the writer also runs in interrupts, and elsewhere with interrupts on, so it may interrupt itself";
	if (!read->latch && reader_interrupts_writer(v->race, r))
		return "the reader is an interrupt, and waits forever when it interrupts the writer";
	return NULL;
}

static void describe(const struct view_side *reader, const struct view_side *writer, const struct seqcount_section *read,
		     const struct seqcount_section *write, struct verdict *out)
{
	verdict_evidence(out, "%s loads the sequence count at 0x%" PRIx64 " (+0x%" PRIx64 "), ", view_function(reader),
			 read->count, view_offset(reader, read->begin));
	verdict_evidence(out, "%s, ",
			 read->latch	    ? "reads the copy of the data that its bit 0 selects"
			 : read->clears_odd ? "clears its bit 0"
					    : "goes on when it is even");
	verdict_evidence(out, "loads it again (+0x%" PRIx64 ") and retries if it changed; ", view_offset(reader, read->end));
	if (write->of_count)
		verdict_evidence(out, "%s adds 1 to it before its stores and after them", view_function(writer));
	else if (write->end != writer->at)
		verdict_evidence(out, "%s adds 1 to it before its store (+0x%" PRIx64 ") and after it (+0x%" PRIx64 ")",
				 view_function(writer), view_offset(writer, write->begin), view_offset(writer, write->end));
	else
		verdict_evidence(out,
				 "%s adds 1 to it before its store (+0x%" PRIx64
				 "), so that readers read the other copy of the data",
				 view_function(writer), view_offset(writer, write->begin));
}

/*
 * Returns whether the report has a race of two writers. If two writers add 1 at the same time, the count is even in the middle
 * of their updates.
 */
static bool has_two_writers(const struct view *v, const struct view_side *writer, const struct seqcount_section *write)
{
	const unsigned stores[] = {writer->at, write->begin, write->end};

	return handoff_two_stores(v, write->count) || handoff_two_stores(v, writer->side->gva) ||
	       handoff_two_stores_by(v, writer, stores, sizeof(stores) / sizeof(stores[0]));
}

/* Returns whether the code of both sides shows a section of one count. Sets *but to the reason for doubt, or to NULL. */
static bool matches(const struct view *v, struct verdict *out, const char **but)
{
	unsigned r = v->side[0].writes ? 1 : 0;
	const struct view_side *reader = &v->side[r], *writer = &v->side[!r];
	struct flow_access load = access_of(reader), store = access_of(writer);
	struct seqcount_section read, write;

	if (!reader->followed || !writer->followed || reader->writes || !reader->reads || !writer->writes ||
	    !seqcount_of_reader(&load, &read) || !seqcount_of_writer(&store, read.count, read.latch, &write) ||
	    read.of_count != write.of_count || has_two_writers(v, writer, &write))
		return false;
	/*
	 * For a latch, there are two copies of the data, and bit 0 of the count selects the copy that readers must read. While
	 * the writer stores, bit 0 is write.odd, and selects the copy that the writer does not change. The datum is in the
	 * changed copy, so a reader whose bit 0 was equal to write.odd must not read the datum.
	 */
	if (read.latch && !read.of_count && read.odd == write.odd)
		return false;
	*but = doubt(v, reader, writer, &read);
	out->rule = RULE_SEQUENCE_COUNT;
	describe(reader, writer, &read, &write, out);
	return true;
}

bool rule_seqcount(const struct view *v, struct verdict *out)
{
	struct verdict found = *out;
	const char *but;

	if (!matches(v, &found, &but) || but)
		return false;
	found.class = VERDICT_SYNCHRONISATION;
	*out = found;
	return true;
}

bool rule_doubtful_seqcount(const struct view *v, struct verdict *out)
{
	const char *but;

	if (!matches(v, out, &but) || !but)
		return false;
	out->class = VERDICT_UNCLEAR;
	verdict_evidence(out, "; but %s", but);
	return true;
}
