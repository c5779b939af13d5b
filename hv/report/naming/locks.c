// SPDX-License-Identifier: GPL-2.0-or-later
/* Names the data and locks of a record of locks by debug files. */
#include "hv/report/naming/locks.h"

#include <stdio.h>
#include <string.h>

#include "hv/base/clean.h"
#include "hv/base/clock.h"
#include "hv/report/naming/pointees.h"

struct work {
	const struct naming *n;
	struct protection *p;
	struct pointees *pointees;
	/*
	 * Limits of this thread's CPU time, in ns. After learn_until_ns, no more pointers are looked up. After until_ns, the
	 * remaining entries keep their names.
	 */
	uint64_t learn_until_ns, until_ns;
	bool late;
};

/* Returns true if this thread's CPU time is below `until_ns`. Otherwise sets w->late. */
static bool in_time(struct work *w, uint64_t until_ns)
{
	bool late = thread_cpu_ns() > until_ns;

	w->late |= late;
	return !late;
}

/*
 * Returns true if debug files need not be asked: the guest's tables already name the member, or the memory is a stack or
 * belongs to user space, where no pointer has a type.
 */
static bool is_told(const struct guest_memory *m)
{
	return m->member[0] || m->kind == GUEST_MEMORY_STACK || m->kind == GUEST_MEMORY_USER;
}

static int learn(struct work *w)
{
	const struct protection *p = w->p;

	for (uint32_t i = 0; i < p->access_count && in_time(w, w->learn_until_ns); i++) {
		const struct prot_access *a = &p->accesses[i];
		const struct pointer_use use = {a->site, a->pc, a->gva, a->size, a->base, &a->memory, a->life};

		if (!is_told(&a->memory) && !a->memory.symbol.name[0] && pointees_learn(w->pointees, &use) < 0)
			return -1;
	}
	for (uint32_t i = 0; i < p->take_count && in_time(w, w->learn_until_ns); i++) {
		const struct prot_take *t = &p->takes[i];
		const struct prot_lock *lock = &p->locks[t->lock];
		const struct pointer_use use = {t->site, t->pc, lock->gva, 1, t->base, &lock->memory, POINTEE_ANY_LIFE};

		if (!is_told(&lock->memory) && !lock->memory.symbol.name[0] && pointees_learn(w->pointees, &use) < 0)
			return -1;
	}
	pointees_sort(w->pointees);
	return 0;
}

/* Find the datum at `gva` inside a variable that the guest's tables know only by name. */
static bool by_variable(const struct work *w, const struct guest_memory *m, uint64_t gva, uint32_t size,
			struct debuginfo_datum *out)
{
	struct debug_image image;
	struct debuginfo *di;
	size_t len = strlen(m->symbol.name);

	if (m->kind != GUEST_MEMORY_KERNEL && m->kind != GUEST_MEMORY_MODULE)
		return false;
	di = naming_image_any(w->n, gva, &image) ? debug_images_of(w->n->images, &image) : NULL;
	/* Accept the result only if the variable is the one that the guest's tables name. */
	return di && !strcmp(m->symbol.module, m->kind == GUEST_MEMORY_MODULE ? image.name : "") &&
	       debuginfo_variable_at(di, gva, size, out, NULL) > 0 && out->fit >= DEBUGINFO_FIT_INSIDE && out->variable &&
	       !strncmp(out->path, m->symbol.name, len) && strchr(".[", out->path[len]);
}

/* A datum's name from debug files: `owner` is the part before the member, such as "nic->" or "table". */
struct found_name {
	char owner[DEBUGINFO_TYPE_MAX], member[DEBUGINFO_PATH_MAX];
};

/* Find the datum's name in debug files. Returns false if they do not have it. */
static bool find_name(const struct work *w, const struct guest_memory *m, uint64_t gva, uint32_t size, uint32_t life,
		      struct found_name *out)
{
	struct pointee_member member;
	struct debuginfo_datum d;

	if (is_told(m))
		return false;
	if (m->symbol.name[0]) {
		if (!by_variable(w, m, gva, size, &d) || strlen(d.variable) + 2 > sizeof(out->owner))
			return false;
		snprintf(out->owner, sizeof(out->owner), "%.*s%s", DEBUGINFO_TYPE_MAX - 2, d.variable,
			 d.member[0] == '[' ? "" : ".");
		snprintf(out->member, sizeof(out->member), "%s", d.member);
	} else {
		if (!pointees_at(w->pointees, gva, size, m, life, &member))
			return false;
		snprintf(out->owner, sizeof(out->owner), "%s->", member.owner);
		snprintf(out->member, sizeof(out->member), "%s", member.member);
	}
	return out->member[0] != '\0';
}

/* Copy the name to `out`. If the name does not fit, leave `out` unchanged: truncation would cut off the member. */
static void put_name(const struct found_name *name, char *out, size_t size)
{
	char text[sizeof(name->owner) + sizeof(name->member)];

	snprintf(text, sizeof(text), "%s%s", name->owner, name->member);
	clean_field(text, sizeof(text));
	if (strlen(text) < size)
		memcpy(out, text, strlen(text) + 1);
}

static void name_access(const struct work *w, struct prot_access *a)
{
	struct found_name name;

	if (find_name(w, &a->memory, a->gva, a->size, a->life, &name))
		put_name(&name, a->name, sizeof(a->name));
}

static void name_lock(const struct work *w, struct prot_lock *lock)
{
	struct found_name name;

	if (!find_name(w, &lock->memory, lock->gva, 1, POINTEE_ANY_LIFE, &name))
		return;
	protection_cut_lock(lock->kind, name.member);
	if (name.member[0])
		put_name(&name, lock->name, sizeof(lock->name));
}

int naming_locks(const struct naming *n, struct protection *p, uint64_t limit_ns, bool *complete, struct err *err)
{
	const uint64_t now = thread_cpu_ns();
	struct work w = {.n = n,
			 .p = p,
			 .pointees = pointees_new(n),
			 .learn_until_ns = now + limit_ns / 4 * 3,
			 .until_ns = now + limit_ns};
	int rc = w.pointees ? learn(&w) : -1;

	if (rc < 0)
		err_set(err, EXIT_INTERNAL, "out of memory while naming data and locks");
	for (uint32_t i = 0; rc == 0 && i < p->lock_count && in_time(&w, w.until_ns); i++)
		name_lock(&w, &p->locks[i]);
	for (uint32_t i = 0; rc == 0 && i < p->access_count && in_time(&w, w.until_ns); i++)
		name_access(&w, &p->accesses[i]);
	*complete = !w.late;
	pointees_free(w.pointees);
	return rc;
}
