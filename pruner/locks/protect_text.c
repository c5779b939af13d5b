// SPDX-License-Identifier: GPL-2.0-or-later
/* Describes a suspicion in one sentence: the datum, its lock, and the access that was made without the lock. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "hv/base/clean.h"
#include "pruner/locks/atomicity_facts.h"
#include "pruner/locks/protect_pair.h"
#include "pruner/locks/protect_text.h"

static void __attribute__((format(printf, 2, 3))) add(struct suspicion *s, const char *fmt, ...)
{
	size_t used = strlen(s->text);
	va_list args;

	va_start(args, fmt);
	vsnprintf(s->text + used, sizeof(s->text) - used, fmt, args);
	va_end(args);
}

/* Append the name of a datum or lock, or its address when it has no name. */
static void add_name(struct suspicion *s, const char *name, uint64_t gva)
{
	if (name[0])
		add(s, "%.120s", name);
	else
		add(s, "0x%" PRIx64, gva);
}

static void add_lock(const struct protection *p, struct suspicion *s, uint32_t lock)
{
	add_name(s, p->locks[lock].name, p->locks[lock].gva);
}

/* Append the function, and the function of its operation (such as a system call) if this is known and is another function. */
static void add_function(const struct protection *p, struct suspicion *s, uint32_t function, uint32_t operation)
{
	add(s, "%.60s%s", protect_function(p, function), function == PROTECTION_NONE ? "" : "()");
	if (operation != PROTECTION_NONE && operation != function)
		add(s, " (reached from %.60s())", protect_function(p, operation));
}

/* Append which lock the unprotected side holds instead. Returns whether anything was appended. */
static bool add_other_lock(const struct protection *p, struct suspicion *s, const struct prot_access *b)
{
	if (protect_held(b, s->lock)) {
		add(s, ", which holds it only as a reader and yet writes");
		return true;
	}
	for (unsigned i = 0; i < b->held_count; i++) {
		if (b->held[i].maybe || p->locks[b->held[i].lock].kind == LOCK_CALLBACK)
			continue;
		add(s, ", which holds ");
		add_lock(p, s, b->held[i].lock);
		add(s, " instead");
		return true;
	}
	return false;
}

/* Append why the two accesses can run at the same time. `before` is the conjunction that joins this clause to the sentence. */
static void add_when(const struct protection *p, struct suspicion *s, const struct prot_access *a, const struct prot_access *b,
		     const char *before)
{
	if (s->concurrent && a->operation == b->operation && a->function != b->function) {
		add(s, "; %.60s() ran on two CPUs at the same time, and leads to ", protect_function(p, a->operation));
		add_function(p, s, a->function, PROTECTION_NONE);
		add(s, " too");
		return;
	}
	add(s, "%s", before);
	if (s->concurrent && a->operation == b->operation) {
		add(s, "ran on two CPUs at the same time");
		return;
	}
	if (s->concurrent)
		add(s, "ran at the same time as ");
	else
		add(s, protect_pair_interrupts(b, a) ? "can interrupt " : "can be interrupted by ");
	add_function(p, s, a->function, a->operation);
}

static void unprotected(const struct protection *p, struct suspicion *s)
{
	const struct prot_access *a = &p->accesses[s->side[0]], *b = &p->accesses[s->side[1]];

	add_name(s, a->name, a->gva);
	add(s, ": ");
	add_lock(p, s, s->lock);
	add(s, " held in %" PRIu64 " of %" PRIu64 " accesses, but not in ", s->held, s->total);
	add_function(p, s, b->function, b->operation);
	add_when(p, s, a, b, add_other_lock(p, s, b) ? ", and " : ", which ");
}

static void interrupt(const struct protection *p, struct suspicion *s)
{
	const struct prot_take *open = &p->takes[s->side[0]], *handler = &p->takes[s->side[1]];
	bool softirq = handler->context == GUEST_SOFTIRQ;

	add_lock(p, s, s->lock);
	add(s, ": taken with %s on in ", softirq ? "softirqs" : "interrupts");
	add_function(p, s, open->function, open->operation);
	add(s, "; the %s in ", softirq ? "softirq" : "interrupt");
	add_function(p, s, handler->function, handler->operation);
	add(s, " takes this lock too, and waits forever if it comes on a CPU that holds the lock");
}

void protect_describe(const struct protection *p, struct suspicion *s)
{
	s->text[0] = '\0';
	if (s->kind == SUSPICION_ATOMICITY) {
		atomicity_describe(p, s, ATOMICITY_TOLD, s->text, sizeof(s->text));
		return;
	}
	if (s->kind == SUSPICION_UNPROTECTED)
		unprotected(p, s);
	else
		interrupt(p, s);
	clean_field(s->text, sizeof(s->text));
}
