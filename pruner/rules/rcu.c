// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pointers and lists under RCU (Documentation/RCU/whatisRCU.rst, listRCU.rst and checklist.rst in Linux). A writer stores a
 * pointer to an object that is complete, and frees what the pointer led to only after a grace period. A reader follows the
 * pointer inside a read-side critical section, which the grace period waits for. Such a race on the pointer is meant.
 *
 * The reader's section is known from guest memory, or a mark says that there is one. What the writer does is known from its
 * code, or from a mark. With both seen the race is synchronisation. Where one is seen to be wrong the race is a harmful
 * candidate, whatever the marks say: a mark on an access says nothing of the object behind it.
 */
#include <string.h>

#include "pruner/publish.h"
#include "pruner/raise.h"
#include "pruner/rules/rules.h"
#include "pruner/section.h"

#define INSTANCES_ENOUGH 3
#define POINTER_SIZE sizeof(uint64_t)

struct rcu {
	const struct view *v;
	const struct view_side *reader, *writer;
	unsigned reader_index;
	enum section section;
	/* Before the store there was NULL in each instance. */
	bool was_null;
	/* The marks of the two sides are those of RCU. */
	bool reader_marked, writer_marked;
	struct publish publish;
	/* What becomes of the pointer behind the reader's section, when that was seen. */
	enum publish_outlives outlives;
};

/* Whether the list `kind` has what marks the side: the part of s->mark before the parenthesis. */
static bool mark_is(const struct view *v, const struct view_side *s, enum list_kind kind)
{
	size_t len = strcspn(s->mark, "(");
	char word[MARK_MAX];

	if (!s->marked || s->mark[len] != '(')
		return false;
	memcpy(word, s->mark, len);
	word[len] = '\0';
	return rules_function(v->rules, kind, word) != NULL;
}

/* In no instance was there anything but an address or NULL. */
static bool are_pointers(const struct race *race, bool *was_null)
{
	uint64_t values[2];

	*was_null = true;
	for (unsigned i = 0; i < race->kept; i++) {
		if (race->instances[i].data_len != POINTER_SIZE || !view_values(&race->instances[i], &values[0], &values[1]))
			return false;
		for (unsigned j = 0; j < 2; j++) {
			if (values[j] && !raise_is_address(values[j]))
				return false;
		}
		*was_null &= !values[0];
	}
	return race->kept != 0;
}

/* One side only reads a pointer, as a whole, and the other side stores it. */
static bool is_about_a_pointer(struct rcu *r)
{
	const struct race_side *a = r->reader->side, *b = r->writer->side;

	return a->known && b->known && !r->reader->writes && r->reader->reads && r->writer->writes && a->size == POINTER_SIZE &&
	       b->size == POINTER_SIZE && a->gva % POINTER_SIZE == 0 && a->gva % X86_PAGE_SIZE == b->gva % X86_PAGE_SIZE &&
	       are_pointers(r->v->race, &r->was_null);
}

static bool look(const struct view *v, struct rcu *r)
{
	*r = (struct rcu){.v = v, .reader_index = v->side[0].writes ? 1 : 0};
	r->reader = &v->side[r->reader_index];
	r->writer = &v->side[!r->reader_index];
	if (!is_about_a_pointer(r) || section_is_sleepable(r->reader) || section_is_sleepable(r->writer) ||
	    view_listed(v, LIST_SPECIAL, NULL) || view_listed(v, LIST_APPROXIMATE, NULL) ||
	    view_listed(v, LIST_BOTH_VALID, NULL))
		return false;
	r->section = section_of_side(v->race, r->reader_index);
	r->reader_marked = mark_is(v, r->reader, LIST_RCU_READ);
	r->writer_marked = mark_is(v, r->writer, LIST_RCU_WRITE);
	publish_of(v, r->writer, &r->publish);
	if (r->section == SECTION_INSIDE && r->reader->followed)
		r->outlives = publish_outlives_section(v, r->reader_index);
	return true;
}

/* The code shows that what is taken out is freed only after a grace period, and nothing else is freed that readers may hold. */
static bool takes_out_rightly(const struct rcu *r)
{
	const struct publish *p = &r->publish;

	return p->known && !p->freed && !p->reused && p->removes && p->grace_of_removed;
}

/*
 * The code shows that a new object is stored, and that nothing is taken out by that. NULL that was there is nothing. What the
 * function frees at once on another way is what its readers hold, too.
 */
static bool adds_rightly(const struct rcu *r)
{
	const struct publish *p = &r->publish;

	if (!p->known || p->freed || p->reused || p->frees_elsewhere || !p->maker)
		return false;
	if (p->over_null && !p->removes)
		return true;
	return r->was_null ? !p->removes || r->v->race->kept >= INSTANCES_ENOUGH : p->keeps && !p->removes;
}

/* Who only adds may be of a structure that RCU has nothing to do with, unless a mark or a grace period says otherwise. */
static bool writes_rightly(const struct rcu *r)
{
	return takes_out_rightly(r) || (adds_rightly(r) && (r->writer_marked || r->publish.waits_somewhere));
}

/* The reader makes nothing of the pointer but a test, as rcu_access_pointer() does. For that no section is needed. */
static bool only_tests(const struct view_side *reader)
{
	return reader->followed && !reader->read.dereferenced && !reader->read.escapes;
}

static void say_section(const struct rcu *r, struct verdict *out)
{
	const struct guest_context *c = &r->reader->side->context;

	if (c->rcu_known && c->rcu_nesting)
		verdict_evidence(out, "%s reads %s in an RCU section (rcu_read_lock_nesting was %u)", view_function(r->reader),
				 r->v->datum, c->rcu_nesting);
	else if (r->section == SECTION_INSIDE)
		verdict_evidence(out, "%s reads %s where it cannot be preempted, which RCU waits for too",
				 view_function(r->reader), r->v->datum);
	else if (r->reader_marked)
		verdict_evidence(out, "%s reads %s by %s", view_function(r->reader), r->v->datum, r->reader->mark);
	else
		verdict_evidence(out, "whether %s reads %s in an RCU section is not known", view_function(r->reader),
				 r->v->datum);
}

static void say_writer(const struct rcu *r, struct verdict *out)
{
	const struct publish *p = &r->publish;
	const char *function = view_function(r->writer);

	if (p->removes && p->grace_of_removed)
		verdict_evidence(out, "; %s frees what it takes out only after a grace period, by %s()", function, p->grace);
	else if (p->removes && r->was_null)
		verdict_evidence(out, "; %s stores where there was NULL in all %u instances", function, r->v->race->kept);
	else if (p->removes && p->grace)
		verdict_evidence(out, "; %s calls %s() behind its store, but what for is not seen", function, p->grace);
	else if (p->removes)
		verdict_evidence(out, "; %s takes an object out, and what becomes of it is not seen", function);
	else if (p->maker)
		verdict_evidence(out, "; %s stores a new object of %s()%s", function, p->maker,
				 r->was_null || p->over_null ? " where there was NULL"
				 : p->keeps		     ? ", which leads to what was there before"
							     : "");
	if (r->writer_marked)
		verdict_evidence(out, "; %s stores by %s", function, r->writer->mark);
}

static bool wrong(struct verdict *out, const char *rule)
{
	out->class = VERDICT_HARMFUL;
	out->rule = rule;
	return true;
}

/* What the pair looks like, if nothing were wrong. */
static bool looks_like_rcu(const struct rcu *r)
{
	return (r->section == SECTION_INSIDE || r->reader_marked) &&
	       (r->writer_marked || (r->publish.known && (r->publish.removes || r->publish.maker || r->publish.keeps)));
}

static bool is_wrong(const struct rcu *r, struct verdict *out)
{
	const struct publish *p = &r->publish;

	if (r->section == SECTION_OUTSIDE && !only_tests(r->reader) &&
	    (r->reader_marked || r->writer_marked || writes_rightly(r))) {
		verdict_evidence(out,
				 "%s reads %s in no RCU section, and can be preempted there, so no grace period waits for it",
				 view_function(r->reader), r->v->datum);
		if (p->grace)
			verdict_evidence(out, "; %s relies on one, by %s()", view_function(r->writer), p->grace);
		return wrong(out, "reader-outside-rcu");
	}
	if (!looks_like_rcu(r))
		return false;
	if (r->outlives == PUBLISH_OUTLIVES_SECTION) {
		verdict_evidence(out, "%s goes through what it read of %s behind the end of its RCU section",
				 view_function(r->reader), r->v->datum);
		return wrong(out, "reader-outside-rcu");
	}
	if (p->freed_of_shared) {
		verdict_evidence(out, "%s may free by %s(), with no grace period before it, what %s may have got from %s",
				 view_function(r->writer), p->freed, view_function(r->reader), r->v->datum);
		return wrong(out, "freed-under-readers");
	}
	if (p->reused) {
		verdict_evidence(out, "%s uses an object again that %s may still be at, with no grace period in between",
				 view_function(r->writer), view_function(r->reader));
		return wrong(out, "reused-under-readers");
	}
	return false;
}

/* How much of the evidence there is. VERDICT_HARMFUL: too little for this rule. */
static enum verdict_class evident(const struct rcu *r)
{
	const struct publish *p = &r->publish;
	bool rightly = writes_rightly(r);

	if (p->freed || p->reused || r->section == SECTION_OUTSIDE)
		return VERDICT_HARMFUL;
	if (!r->reader->followed || publish_by_reader(r->reader))
		return VERDICT_HARMFUL;
	if (rightly)
		return r->section == SECTION_INSIDE || r->reader_marked ? VERDICT_SYNCHRONISATION : VERDICT_UNCLEAR;
	if (r->section != SECTION_INSIDE && !r->reader_marked)
		return VERDICT_HARMFUL;
	/* Of an object that it takes out a mark says nothing. */
	if (r->writer_marked)
		return p->known && !p->removes && !p->frees_elsewhere && (p->keeps || r->was_null) ? VERDICT_SYNCHRONISATION
												   : VERDICT_UNCLEAR;
	return adds_rightly(r) || (p->removes && p->grace) ? VERDICT_UNCLEAR : VERDICT_HARMFUL;
}

/* What is to be said against a pair that is right otherwise. */
static void doubt(const struct rcu *r, struct verdict *out)
{
	const char *who = view_function(r->writer), *but = NULL;

	if (r->outlives == PUBLISH_MAY_OUTLIVE_SECTION) {
		who = view_function(r->reader);
		but = "still has the pointer behind the end of its RCU section";
	} else if (r->publish.completes_late) {
		but = "stores to the new object behind that, where it did not store before";
	} else if (r->publish.hands_on) {
		but = "gives what it takes out away at once";
	} else if (r->publish.frees_elsewhere) {
		but = "frees something else at once on another way";
	}
	if (!but)
		return;
	out->class = VERDICT_UNCLEAR;
	verdict_evidence(out, "; but %s %s", who, but);
}

bool rule_rcu(const struct view *v, struct verdict *out)
{
	struct rcu r;
	enum verdict_class class;

	if (!look(v, &r))
		return false;
	if (is_wrong(&r, out))
		return true;
	/* Marks on both sides are for the rule of marked accesses, where the code shows no more. */
	if (r.reader_marked && r.writer_marked && !writes_rightly(&r) && r.outlives == PUBLISH_ENDS_WITH_SECTION)
		return false;
	class = evident(&r);
	if (class == VERDICT_HARMFUL)
		return false;
	out->class = class;
	out->rule = "rcu-publication";
	say_section(&r, out);
	say_writer(&r, out);
	doubt(&r, out);
	return true;
}
