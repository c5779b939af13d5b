// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What makes a race more likely to be a bug, or makes a bug worse. The points are added, and order the races within their
 * class.
 */
#include <string.h>

#include "pruner/lock.h"
#include "pruner/publish.h"
#include "pruner/raise.h"
#include "pruner/section.h"

struct tally {
	const struct view *v;
	struct verdict *out;
	int points, most;
	const char *worst;
};

static void count(struct tally *t, int points, const char *name)
{
	t->points += points;
	if (points > t->most) {
		t->most = points;
		t->worst = name;
	}
}

/* Points for the datum's names: reference counts first, then what the lists say of linkage, lengths and so on. */
static void names(struct tally *t)
{
	const struct list_entry *e;

	if (view_listed(t->v, LIST_REFCOUNT, NULL)) {
		verdict_evidence(t->out, "; %s is a reference count by name", t->v->datum);
		count(t, 20, "reference-count");
		return;
	}
	e = view_listed(t->v, LIST_RAISE, NULL);
	if (e) {
		verdict_evidence(t->out, "; %s is %s by name", t->v->datum, e->name);
		count(t, e->points, "dangerous-datum");
	}
}

bool raise_is_address(uint64_t value)
{
	return value >> 56 == 0xff && value < 0xffffffffff000000;
}

/* A typedef does not say that it is a pointer, but its values do. One of the two values may be NULL. */
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
	verdict_evidence(t->out, "; %s is a pointer", t->v->datum);
	count(t, 10, "pointer");
}

/* Whether the side changes the datum by what it read of it, in one instruction that is not LOCKed or in several. */
static bool updates(const struct view_side *s)
{
	return s->side->known && s->followed &&
	       ((s->reads && s->writes) || (s->reads && s->read.written_back) || (s->writes && s->write.merges));
}

static void lost_update(struct tally *t)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct view_side *s = &t->v->side[i], *other = &t->v->side[!i];
		bool seen = other->side->known || other->side->by_device;

		if (!updates(s) || s->side->locked || !seen || !(other->writes || updates(other)))
			continue;
		verdict_evidence(t->out, "; %s writes back what it made of an old value: what %s stored meanwhile is lost",
				 view_function(s), view_function(other));
		count(t, 12, "lost-update");
		return;
	}
}

/*
 * Whether a grace period of RCU's waits for the side, which then never meets a free that is behind one. Of a side that changes
 * the datum this says nothing: with a count that is lost, the object is freed twice, or too early for others.
 */
static bool is_waited_for(const struct view *v, unsigned which)
{
	const struct view_side *s = &v->side[which];

	return s->side->known && !view_changes(s) && section_of_side(v->race, which) == SECTION_INSIDE &&
	       !section_is_sleepable(s);
}

static void freed(struct tally *t)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct view_side *s = &t->v->side[i], *other = &t->v->side[!i];
		const char *callee = lock_called_behind(t->v, s, LIST_FREE), *at_once;

		if (!callee)
			continue;
		at_once = is_waited_for(t->v, !i) ? publish_frees_at_once(t->v, s) : callee;
		if (!at_once) {
			verdict_evidence(t->out, "; %s may free by %s only after a grace period, which waits for %s",
					 view_function(s), callee, view_function(other));
			continue;
		}
		verdict_evidence(t->out, "; %s may call %s afterwards", view_function(s), at_once);
		count(t, 15, "freed-afterwards");
		return;
	}
}

static void one_lock(struct tally *t)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct view_side *held = &t->v->side[i], *none = &t->v->side[!i];
		const char *lock = lock_known(held);

		if (held->lock != LOCK_HELD || none->lock != LOCK_NONE)
			continue;
		verdict_evidence(t->out, "; %s holds %s, %s %s none", view_function(held),
				 lock ? lock : "a lock or has preemption off", view_function(none),
				 none->side->locks.complete ? "holds" : "takes");
		count(t, 11, "lock-on-one-side");
		return;
	}
}

static void other_locks(struct tally *t)
{
	const struct view_side *a = &t->v->side[0], *b = &t->v->side[1];

	if (!lock_none_common(t->v))
		return;
	verdict_evidence(t->out, "; %s holds %s, %s holds %s, and no lock keeps the two apart", view_function(a), lock_known(a),
			 view_function(b), lock_known(b));
	count(t, 11, "no-common-lock");
}

static void interrupt(struct tally *t)
{
	const struct guest_context *a = &t->v->race->first.sides[0].context, *b = &t->v->race->first.sides[1].context;

	if (!a->known || !b->known || a->kind == b->kind)
		return;
	verdict_evidence(t->out, "; one side is an interrupt");
	count(t, 5, "interrupt-against-task");
}

/* Whether `whole` accesses at once all that `part` accesses, because one aligned access covers it. */
static bool covered(const struct race_side *part, const struct race_side *whole)
{
	/* The same memory may have two addresses, which are equal within a page. */
	uint64_t from = (part->gva - whole->gva) % X86_PAGE_SIZE;

	return whole->size <= sizeof(uint64_t) && whole->gva % whole->size == 0 && part->size <= whole->size &&
	       from <= whole->size - part->size;
}

bool raise_may_tear(const struct view *v)
{
	unsigned w = v->side[0].writes ? 0 : 1;
	const struct view_side *writer = &v->side[w], *other = &v->side[!w];

	if (!writer->side->known || !other->side->known || !writer->side->size || !other->side->size)
		return false;
	if (covered(other->side, writer->side))
		return other->writes && other->side->size != writer->side->size;
	/* A LOCKed access changes the datum as a whole, in the byte that its bit is in. */
	return !writer->side->locked || other->writes || !covered(writer->side, other->side);
}

static void torn(struct tally *t)
{
	if (!raise_may_tear(t->v))
		return;
	verdict_evidence(t->out, "; the accesses are not to the same bytes, or not aligned");
	count(t, 6, "torn");
}

static void used(struct tally *t)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct view_side *s = &t->v->side[i];

		if (!s->side->known || !s->followed || !s->reads || !(s->read.tested || s->read.dereferenced))
			continue;
		verdict_evidence(t->out, "; %s %s it", view_function(s), s->read.dereferenced ? "goes through" : "branches on");
		count(t, s->read.dereferenced ? 8 : 4, "value-used");
		return;
	}
}

static void half_marked(struct tally *t)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct view_side *marked = &t->v->side[i], *plain = &t->v->side[!i];

		if (!marked->marked || plain->marked || !plain->side->known)
			continue;
		verdict_evidence(t->out, "; one side only is marked: %s in %s, a plain access in %s", marked->mark,
				 view_function(marked), view_function(plain));
		count(t, 2, "one-side-marked");
		return;
	}
}

/* Nothing but the end of the request orders the two sides. */
static void device(struct tally *t)
{
	if (t->v->side[1].side->by_device)
		count(t, 9, "device-not-awaited");
}

int raise_points(const struct view *v, struct verdict *out, const char **worst)
{
	struct tally t = {.v = v, .out = out};

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
	*worst = t.worst;
	return t.points;
}
