// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds facts that make it more likely that a race is a bug, or that make the bug worse. Their points are added up, and order
 * the races within their class.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "pruner/patterns/freed.h"
#include "pruner/patterns/last_user.h"
#include "pruner/patterns/lock.h"
#include "pruner/rules/raise.h"
#include "pruner/patterns/rcu_publish.h"
#include "pruner/patterns/rcu_section.h"

#define FACTS_MAX 16 /* More than the functions below can find. */
/* What a fact is about. The evidence has the facts about the accesses first, and then those about the datum. */
enum subject { OF_ACCESSES, OF_DATUM };

struct tally {
	const struct view *v;
	int points, most;
	enum rule_id worst; /* The rule of the first fact that has `most` points. */
	unsigned count;
	struct fact {
		enum subject subject;
		int points;
		char text[VERDICT_EVIDENCE_MAX];
		/* Sorted by the member `subject`, then by falling points, then in the order in which they were added. */
	} facts[FACTS_MAX];
};

static bool comes_before(const struct fact *f, enum subject subject, int points)
{
	return f->subject < subject || (f->subject == subject && f->points >= points);
}

static void count(struct tally *t, int points, enum rule_id rule)
{
	t->points += points;
	if (points > t->most) {
		t->most = points;
		t->worst = rule;
	}
}

static void __attribute__((format(printf, 5, 6)))
add(struct tally *t, enum subject subject, int points, enum rule_id rule, const char *fmt, ...)
{
	unsigned at = t->count;
	va_list args;

	count(t, points, rule);
	if (t->count == FACTS_MAX)
		return;
	while (at > 0 && !comes_before(&t->facts[at - 1], subject, points))
		at--;
	memmove(&t->facts[at + 1], &t->facts[at], (t->count - at) * sizeof(t->facts[0]));
	t->count++;
	t->facts[at].subject = subject;
	t->facts[at].points = points;
	va_start(args, fmt);
	vsnprintf(t->facts[at].text, sizeof(t->facts[at].text), fmt, args);
	va_end(args);
}

/*
 * Add the fact that the datum is a reference count, as its name or its use shows, or that LIST_RAISE names the datum: links,
 * lengths and so on.
 */
static void names(struct tally *t)
{
	const struct list_entry *e;

	if (view_listed(t->v, LIST_REFCOUNT, NULL)) {
		add(t, OF_DATUM, 20, RULE_REFERENCE_COUNT, "%s is a reference count by name", t->v->datum);
		return;
	}
	for (unsigned i = 0; i < 2; i++) {
		const char *callee = last_user_destroys(t->v, i);

		if (!callee)
			continue;
		add(t, OF_DATUM, 20, RULE_REFERENCE_COUNT,
		    "%s is a reference count: %s calls %s() only if the count is 0, and %s changes the count", t->v->datum,
		    view_function(&t->v->side[i]), callee, view_function(&t->v->side[!i]));
		return;
	}
	e = view_listed(t->v, LIST_RAISE, NULL);
	if (e)
		add(t, OF_DATUM, e->points, RULE_DANGEROUS_DATUM, "%s is %s by name", t->v->datum, e->name);
}

bool raise_is_address(uint64_t value)
{
	return value >> 56 == 0xff && value < 0xffffffffff000000;
}

/*
 * Returns whether a value of the datum is an address: a typedef may hide that the datum's type is a pointer. One address is
 * enough, because the other value may be NULL.
 */
static bool looks_like_pointer(const struct race *race)
{
	uint64_t before, after;

	for (unsigned i = 0; i < race->kept; i++) {
		const struct race_instance *instance = &race->instances[i];

		if (instance->data_len == sizeof(before) && view_values(instance, &before, &after) &&
		    (raise_is_address(before) || raise_is_address(after)))
			return true;
	}
	return false;
}

bool raise_is_pointer(const struct view *v)
{
	const struct race_names *names = v->race->names;
	const char *type = names && names->datum[names->best].by != DATUM_UNNAMED ? names->datum[names->best].type : "";
	size_t len = strlen(type);

	return (len && type[len - 1] == '*') || strstr(type, "(*") || looks_like_pointer(v->race);
}

static void pointer(struct tally *t)
{
	if (!raise_is_pointer(t->v))
		return;
	add(t, OF_DATUM, 10, RULE_POINTER, "%s is a pointer", t->v->datum);
}

/* Returns whether the side stores a value that it computed from the datum's old value, by one instruction or several. */
static bool updates(const struct view_side *s)
{
	return s->side->kind == RACE_SIDE_CPU && s->followed &&
	       ((s->reads && s->writes) || (s->reads && s->read.written_back) || (s->writes && s->write.merges));
}

static void lost_update(struct tally *t)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct view_side *s = &t->v->side[i], *other = &t->v->side[!i];
		bool seen = other->side->kind != RACE_SIDE_UNSEEN;

		if (!updates(s) || s->side->locked || !seen || !(other->writes || updates(other)))
			continue;
		add(t, OF_ACCESSES, 12, RULE_LOST_UPDATE,
		    "lost update of %s: %s stores what it computed from an old value, and overwrites what %s stored in between",
		    t->v->datum, view_function(s), view_function(other));
		return;
	}
}

/*
 * Returns whether grace periods wait for the side, so that no free after a grace period can race with it. False for a side that
 * changes the datum: if an update of a reference count is lost, the object is freed twice or too early despite grace periods.
 */
static bool is_waited_for(const struct view *v, unsigned which)
{
	const struct view_side *s = &v->side[which];

	return s->side->kind == RACE_SIDE_CPU && !view_changes(s) && rcu_section_of_side(v, which) == RCU_SECTION_INSIDE &&
	       !rcu_section_is_sleepable(s);
}

/*
 * Returns false if the datum is a variable of the kernel or of a module, and no pointer: nobody frees a variable, and the datum
 * leads to no object that could be freed.
 */
static bool may_be_freed(const struct view *v)
{
	const struct guest_memory *m = &v->race->first.memory;
	bool variable = m->kind == GUEST_MEMORY_KERNEL || m->kind == GUEST_MEMORY_MODULE ||
			(m->kind == GUEST_MEMORY_PER_CPU && m->symbol.name[0]);

	return !variable || raise_is_pointer(v);
}

const char *raise_frees(const struct view *v, unsigned which)
{
	return freed_after(v, which, is_waited_for(v, !which) ? FREED_EARLY : FREED_EVER);
}

static void freed(struct tally *t)
{
	if (!may_be_freed(t->v))
		return;
	for (unsigned i = 0; i < 2; i++) {
		const struct view_side *s = &t->v->side[i], *other = &t->v->side[!i];
		const char *callee = freed_after(t->v, i, FREED_EVER), *immediate;

		if (!callee)
			continue;
		immediate = raise_frees(t->v, i);
		if (!immediate) {
			add(t, OF_ACCESSES, 0, RULE_NO_BENIGN_PATTERN,
			    "%s may free by %s() only after a grace period, which waits for %s", view_function(s), callee,
			    view_function(other));
			continue;
		}
		add(t, OF_ACCESSES, 15, RULE_FREED_AFTERWARDS, "%s may call %s() after its access to %s", view_function(s),
		    immediate, t->v->datum);
		return;
	}
}

static void one_lock(struct tally *t)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct view_side *held = &t->v->side[i], *none = &t->v->side[!i];

		if (held->lock != LOCK_HELD || none->lock != LOCK_NONE)
			continue;
		add(t, OF_ACCESSES, 11, RULE_LOCK_ON_ONE_SIDE, "%s %s no lock for %s, %s %s", view_function(none),
		    none->side->locks.complete ? "holds" : "takes", t->v->datum, view_function(held), held->lock_why);
		return;
	}
}

static void other_locks(struct tally *t)
{
	const struct view_side *a = &t->v->side[0], *b = &t->v->side[1];

	if (!lock_none_common(t->v))
		return;
	add(t, OF_ACCESSES, 11, RULE_NO_COMMON_LOCK, "%s holds %s, %s holds %s, and no common lock orders their accesses to %s",
	    view_function(a), lock_held_name(a), view_function(b), lock_held_name(b), t->v->datum);
}

static void interrupt(struct tally *t)
{
	const struct guest_context *a = &t->v->race->first.sides[0].context, *b = &t->v->race->first.sides[1].context;

	if (!a->known || !b->known || a->kind == b->kind)
		return;
	add(t, OF_ACCESSES, 5, RULE_INTERRUPT_AGAINST_TASK, "one side is an interrupt");
}

/* Returns whether one aligned access of `whole` contains all bytes of `part`. */
static bool covered(const struct race_side *part, const struct race_side *whole)
{
	/*
	 * The two sides may access one page at two different GVAs, through two mappings. So `from`, the distance from the start
	 * of `whole` to the start of `part`, is computed modulo the page size.
	 */
	uint64_t from = (part->gva - whole->gva) % X86_PAGE_SIZE;

	return whole->size <= sizeof(uint64_t) && whole->gva % whole->size == 0 && part->size <= whole->size &&
	       from <= whole->size - part->size;
}

bool raise_may_tear(const struct view *v)
{
	unsigned w = v->side[0].writes ? 0 : 1;
	const struct view_side *writer = &v->side[w], *other = &v->side[!w];

	if (writer->side->kind != RACE_SIDE_CPU || other->side->kind != RACE_SIDE_CPU || !writer->side->size ||
	    !other->side->size)
		return false;
	if (covered(other->side, writer->side))
		return other->writes && other->side->size != writer->side->size;
	/*
	 * A LOCKed store that lies inside the reader's access is not torn, even if it is narrower than the access: for example,
	 * an instruction may store only the byte that contains the changed bit.
	 */
	return !writer->side->locked || other->writes || !covered(writer->side, other->side);
}

static void torn(struct tally *t)
{
	if (!raise_may_tear(t->v))
		return;
	add(t, OF_ACCESSES, 6, RULE_TORN,
	    "the accesses to %s are not to the same bytes, or not aligned, so a part of a store may be seen", t->v->datum);
}

static void used(struct tally *t)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct view_side *s = &t->v->side[i];

		if (s->side->kind != RACE_SIDE_CPU || !s->followed || !s->reads || !(s->read.tested || s->read.dereferenced))
			continue;
		add(t, OF_ACCESSES, s->read.dereferenced ? 8 : 4, RULE_VALUE_USED, "%s %s %s", view_function(s),
		    s->read.dereferenced ? "computes an address from" : "branches on", t->v->datum);
		return;
	}
}

static void half_marked(struct tally *t)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct view_side *marked = &t->v->side[i], *plain = &t->v->side[!i];

		if (!marked->marked || plain->marked || plain->side->kind != RACE_SIDE_CPU)
			continue;
		add(t, OF_ACCESSES, 2, RULE_ONE_SIDE_MARKED, "only one side is marked: %s in %s, a plain access in %s",
		    marked->mark, view_function(marked), view_function(plain));
		return;
	}
}

/*
 * Count the points for a race with a device. No fact is added: rule_device() has already written to the evidence that one side
 * is a device.
 */
static void device(struct tally *t)
{
	if (t->v->side[1].side->kind == RACE_SIDE_DEVICE)
		count(t, 9, RULE_DEVICE_NOT_AWAITED);
}

int raise_points(const struct view *v, struct verdict *out, enum rule_id *worst)
{
	struct tally t;

	/* The array of facts, 16 KiB, is not cleared: add() sets each fact that is used. */
	t.v = v;
	t.points = t.most = 0;
	t.worst = RULE_NO_BENIGN_PATTERN;
	t.count = 0;
	names(&t);
	pointer(&t);
	freed(&t);
	lost_update(&t);
	one_lock(&t);
	other_locks(&t);
	torn(&t);
	used(&t);
	interrupt(&t);
	half_marked(&t);
	device(&t);
	for (unsigned i = 0; i < t.count; i++)
		verdict_evidence(out, "%s%s", out->evidence[0] ? "; " : "", t.facts[i].text);
	*worst = t.worst;
	return t.points;
}
