// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rule for races on pointers and lists under RCU (Documentation/RCU/whatisRCU.rst, listRCU.rst and checklist.rst in Linux).
 * A writer stores a pointer to a new, complete object, waits for a grace period, and then frees the old object. A reader
 * follows the pointer inside a read-side critical section, and the grace period lasts until this section has ended. If both
 * sides follow these rules, their race on the pointer does no harm.
 *
 * The recorded context or a mark shows whether the reader is in a section. The writer's code or a mark shows what the writer
 * does. If both sides follow the rules of RCU, the race is synchronisation. If one side breaks them, the race is a harmful
 * candidate. That holds for marked accesses, too: a mark says nothing about when the object is freed.
 */
#include <string.h>

#include "pruner/rules/raise.h"
#include "pruner/patterns/rcu_publish.h"
#include "pruner/patterns/rcu_section.h"
#include "pruner/rules/rules.h"

#define INSTANCES_ENOUGH 3
#define POINTER_SIZE sizeof(uint64_t)

struct rcu {
	const struct view *v;
	const struct view_side *reader, *writer;
	unsigned reader_index;
	enum rcu_section rcu_section;
	/* In every instance the store replaced NULL. */
	bool was_null;
	/* The side is marked by a macro or function of RCU. */
	bool reader_marked, writer_marked;
	struct rcu_publish rcu_publish;
	/* Whether the reader uses the pointer after its section. */
	enum rcu_publish_outlives outlives;
};

/* Returns whether the list `kind` has the macro or function that marks the side: the part of s->mark before the parenthesis. */
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

/* Returns whether all values in all instances are addresses in the kernel or NULL. */
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

/* Returns whether one side only reads the pointer, in one access, and the other side stores it. */
static bool is_pointer_race(struct rcu *r)
{
	const struct race_side *a = r->reader->side, *b = r->writer->side;

	return a->kind == RACE_SIDE_CPU && b->kind == RACE_SIDE_CPU && !r->reader->writes && r->reader->reads &&
	       r->writer->writes && a->size == POINTER_SIZE && b->size == POINTER_SIZE && a->gva % POINTER_SIZE == 0 &&
	       a->gva % X86_PAGE_SIZE == b->gva % X86_PAGE_SIZE && are_pointers(r->v->race, &r->was_null);
}

static bool collect(const struct view *v, struct rcu *r)
{
	*r = (struct rcu){.v = v, .reader_index = v->side[0].writes ? 1 : 0};
	r->reader = &v->side[r->reader_index];
	r->writer = &v->side[!r->reader_index];
	if (!is_pointer_race(r) || rcu_section_is_sleepable(r->reader) || rcu_section_is_sleepable(r->writer) ||
	    view_listed(v, LIST_SPECIAL, NULL) || view_listed(v, LIST_APPROXIMATE, NULL) ||
	    view_listed(v, LIST_BOTH_VALID, NULL))
		return false;
	r->rcu_section = rcu_section_of_side(v, r->reader_index);
	r->reader_marked = mark_is(v, r->reader, LIST_RCU_READ);
	r->writer_marked = mark_is(v, r->writer, LIST_RCU_WRITE);
	rcu_publish_of(v, r->writer, &r->rcu_publish);
	if (r->rcu_section == RCU_SECTION_INSIDE && r->reader->followed)
		r->outlives = rcu_publish_outlives_section(v, r->reader_index);
	return true;
}

/*
 * Returns whether the writer frees the removed object only after a grace period, and frees nothing else that readers may hold.
 */
static bool removes_correctly(const struct rcu *r)
{
	const struct rcu_publish *p = &r->rcu_publish;

	return p->known && !p->freed && !p->reused && p->removes && p->grace_of_removed;
}

/*
 * Returns whether the writer stores a new object and removes no object: the old pointer is NULL, or the new object points to
 * the object of the old pointer. On no path may the function free another object without a grace period, because readers may
 * access that object too.
 */
static bool adds_correctly(const struct rcu *r)
{
	const struct rcu_publish *p = &r->rcu_publish;

	if (!p->known || p->freed || p->reused || p->frees_elsewhere || !p->allocator)
		return false;
	if (p->over_null && !p->removes)
		return true;
	return r->was_null ? !p->removes || r->v->race->kept >= INSTANCES_ENOUGH : p->links_old && !p->removes;
}

/*
 * Returns whether the store looks like a store to a list under RCU, although only a part of the writer's code was kept. Such a
 * store adds an object whose link was set before, or takes an object out and lets readers go on from that object. Returns false
 * if all of the code was kept, because all of it must show the allocation or the grace period.
 */
static bool looks_like_list(const struct rcu *r)
{
	const struct rcu_publish *p = &r->rcu_publish;

	if (p->known || p->reused || p->freed_of_this)
		return false;
	return p->removes ? p->leaves_link : p->prepares && !p->freed && (p->links_old || p->over_null || p->links_table);
}

/*
 * Returns whether the writer follows RCU's rules. A writer that only adds an object may belong to a structure without RCU, so
 * that writer also needs a mark, or a wait for a grace period anywhere in the function.
 */
static bool follows_rcu(const struct rcu *r)
{
	return removes_correctly(r) || (adds_correctly(r) && (r->writer_marked || r->rcu_publish.waits_somewhere));
}

/* Returns whether the reader only tests the pointer, as with rcu_access_pointer(). Such a reader needs no section. */
static bool only_tests(const struct view_side *reader)
{
	return reader->followed && !reader->read.dereferenced && !reader->read.escapes;
}

static void describe_section(const struct rcu *r, struct verdict *out)
{
	const struct guest_context *c = &r->reader->side->context;

	if (c->rcu_known && c->rcu_nesting)
		verdict_evidence(out, "%s reads %s in an RCU section (rcu_read_lock_nesting was %u)", view_function(r->reader),
				 r->v->datum, c->rcu_nesting);
	else if (r->rcu_section == RCU_SECTION_INSIDE)
		verdict_evidence(out, "%s reads %s where it cannot be preempted, and RCU grace periods wait for that too",
				 view_function(r->reader), r->v->datum);
	else if (r->reader_marked)
		verdict_evidence(out, "%s reads %s by %s", view_function(r->reader), r->v->datum, r->reader->mark);
	else
		verdict_evidence(out, "whether %s reads %s in an RCU section is not known", view_function(r->reader),
				 r->v->datum);
}

static void describe_writer(const struct rcu *r, struct verdict *out)
{
	const struct rcu_publish *p = &r->rcu_publish;
	const char *function = view_function(r->writer);

	if (p->removes && p->grace_of_removed)
		verdict_evidence(out, "; %s frees the object that it removes only after a grace period, by %s()", function,
				 p->grace);
	else if (p->removes && r->was_null)
		verdict_evidence(out, "; in all %u instances, the pointer was NULL before %s stored to it", r->v->race->kept,
				 function);
	else if (p->removes && p->grace)
		verdict_evidence(out, "; %s calls %s() after its store, but its code does not show for which object", function,
				 p->grace);
	else if (p->removes && p->leaves_link)
		verdict_evidence(out,
				 "; %s takes an object out of a list as list_del_rcu() does, which leaves the object's link "
				 "to the next one, and its code does not show how that is freed",
				 function);
	else if (p->removes)
		verdict_evidence(out, "; %s removes an object, and its code does not show how that is freed", function);
	else if (p->allocator)
		verdict_evidence(out, "; %s stores a new object from %s()%s", function, p->allocator,
				 r->was_null || p->over_null ? " where there was NULL"
				 : p->links_old		     ? ", which points to what was there before"
							     : "");
	else if (p->prepares && (p->links_old || p->over_null || p->links_table))
		verdict_evidence(out, "; %s stores an object that it prepared before, %s", function,
				 p->links_old	? "and that points to what was there before"
				 : p->over_null ? "where there was NULL"
						: "and that points to what an element of the same table pointed to");
	if (r->writer_marked)
		verdict_evidence(out, "; %s stores by %s", function, r->writer->mark);
}

static bool violation(struct verdict *out, enum rule_id rule)
{
	out->class = VERDICT_HARMFUL;
	out->rule = rule;
	return true;
}

/* Returns whether the two sides look like a reader and a writer under RCU, whether or not they follow its rules. */
static bool looks_like_rcu(const struct rcu *r)
{
	return (r->rcu_section == RCU_SECTION_INSIDE || r->reader_marked) &&
	       (r->writer_marked ||
		(r->rcu_publish.known && (r->rcu_publish.removes || r->rcu_publish.allocator || r->rcu_publish.links_old)));
}

static bool violates_rcu(const struct rcu *r, struct verdict *out)
{
	const struct rcu_publish *p = &r->rcu_publish;

	if (r->rcu_section == RCU_SECTION_OUTSIDE && !only_tests(r->reader) &&
	    (r->reader_marked || r->writer_marked || follows_rcu(r))) {
		verdict_evidence(
			out, "%s reads %s outside any RCU section, and can be preempted there, so no grace period waits for it",
			view_function(r->reader), r->v->datum);
		if (p->grace)
			verdict_evidence(out, "; %s relies on a grace period, by %s()", view_function(r->writer), p->grace);
		return violation(out, RULE_READER_OUTSIDE_RCU);
	}
	if (!looks_like_rcu(r))
		return false;
	if (r->outlives == RCU_PUBLISH_OUTLIVES_SECTION) {
		verdict_evidence(out, "%s follows the pointer that it read from %s after the end of its RCU section",
				 view_function(r->reader), r->v->datum);
		return violation(out, RULE_READER_OUTSIDE_RCU);
	}
	if (p->freed_of_shared) {
		verdict_evidence(
			out,
			"%s may call %s(), without a grace period before it, on an object that %s may have reached through %s",
			view_function(r->writer), p->freed, view_function(r->reader), r->v->datum);
		return violation(out, RULE_FREED_UNDER_READERS);
	}
	if (p->reused) {
		verdict_evidence(out, "%s uses an object again that %s may still access, without a grace period in between",
				 view_function(r->writer), view_function(r->reader));
		return violation(out, RULE_REUSED_UNDER_READERS);
	}
	return false;
}

/*
 * Returns the class that the evidence supports, VERDICT_SYNCHRONISATION or VERDICT_UNCLEAR. If the evidence is too weak for
 * either, returns VERDICT_HARMFUL. Here this value does not say that the race does harm: it only tells rule_rcu() that the rule
 * does not fit, so that other rules decide.
 */
static enum verdict_class class_by_evidence(const struct rcu *r)
{
	const struct rcu_publish *p = &r->rcu_publish;
	bool correct = follows_rcu(r), is_list = r->rcu_section == RCU_SECTION_INSIDE && looks_like_list(r);

	if (p->reused || r->rcu_section == RCU_SECTION_OUTSIDE || !r->reader->followed || rcu_publish_by_reader(r->reader))
		return VERDICT_HARMFUL;
	if (p->freed)
		return is_list ? VERDICT_UNCLEAR : VERDICT_HARMFUL;
	if (correct)
		return r->rcu_section == RCU_SECTION_INSIDE || r->reader_marked ? VERDICT_SYNCHRONISATION : VERDICT_UNCLEAR;
	if (r->rcu_section != RCU_SECTION_INSIDE && !r->reader_marked)
		return VERDICT_HARMFUL;
	/*
	 * A mark does not show when an object that the store removes is freed. So with a marked writer, the race is
	 * synchronisation only if the code shows that the store removes no object.
	 */
	if (r->writer_marked)
		return p->known && !p->removes && !p->frees_elsewhere && (p->links_old || r->was_null) ? VERDICT_SYNCHRONISATION
												       : VERDICT_UNCLEAR;
	return adds_correctly(r) || (p->removes && p->grace) || is_list ? VERDICT_UNCLEAR : VERDICT_HARMFUL;
}

/*
 * Set the class VERDICT_UNCLEAR, and add the reason to the evidence, if something that the reader or the writer does may still
 * break the rules of RCU.
 */
static void doubt(const struct rcu *r, struct verdict *out)
{
	const char *who = view_function(r->writer), *but = NULL;

	if (r->outlives == RCU_PUBLISH_MAY_OUTLIVE_SECTION) {
		who = view_function(r->reader);
		but = rcu_section_until_sleep(r->v, r->reader_index)
			      ? "still has the pointer after a call that may sleep, or gives it to its caller"
			      : "still has the pointer after the end of its RCU section";
	} else if (r->rcu_publish.completes_late) {
		but = "sets a field of the new object only after that store";
	} else if (r->rcu_publish.escapes) {
		but = "passes on the object that it removes, without a grace period";
	} else if (r->rcu_publish.frees_elsewhere) {
		but = "frees something else without a grace period on another path";
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

	if (!collect(v, &r))
		return false;
	if (violates_rcu(&r, out))
		return true;
	/*
	 * If both sides are marked, rule_marked() decides, unless the code shows that the writer follows the rules of RCU, or
	 * that the reader may use the pointer after its section.
	 */
	if (r.reader_marked && r.writer_marked && !follows_rcu(&r) && r.outlives == RCU_PUBLISH_ENDS_WITH_SECTION)
		return false;
	class = class_by_evidence(&r);
	if (class == VERDICT_HARMFUL)
		return false;
	out->class = class;
	out->rule = RULE_RCU_PUBLICATION;
	describe_section(&r, out);
	describe_writer(&r, out);
	doubt(&r, out);
	return true;
}
