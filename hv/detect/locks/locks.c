// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Follows locks (locks.h): keeps the lockset of each context up to date, and queues lock moments. A lock moment is an access, a
 * taken or released lock, or the end of an object; moments are numbered by locks.number.
 */
#include "hv/detect/locks/locks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/clock.h"
#include "hv/detect/core/capture.h"
#include "hv/detect/core/state.h"
#include "hv/detect/locks/entries.h"
#include "hv/detect/locks/handover.h"
#include "hv/detect/locks/lock_known.h"
#include "hv/detect/locks/lock_sets.h"
#include "hv/detect/locks/outside.h"
#include "hv/detect/locks/sections.h"
#include "hv/detect/steer/confirm.h"
#include "hv/detect/steer/handover_order.h"
#include "hv/detect/steer/lock_order.h"
#include "hv/detect/steer/pool.h"

#define CALL_LEN 5u
#define OPCODE_CALL 0xe8
#define OPCODE_JMP 0xe9
/*
 * Each lock call that becomes a lock moment copies a stack. Budget of copies: 500/s on average, 50 in a burst. The last 25 of a
 * burst are kept for calls while other contexts are in critical sections: only such calls show which critical sections overlap.
 */
#define CAPTURES_A_SECOND 500u
#define CAPTURES_AT_ONCE 50.0
#define CAPTURES_KEPT 25.0
#define NS_PER_SECOND 1000000000u
/* Flag bits in the owner word of a mutex (kernel/locking/mutex.c). */
#define OWNER_FLAGS 7u
/* The smallest ERR_PTR() value. */
#define ERRORS_FROM 0xfffffffffffff001ull

struct locks {
	struct detect *d;
	/*
	 * Lock functions of this guest; instructions where a call's result is seen; instructions where a lock function is
	 * inlined; and instructions where a callback of a hand-over begins or ends.
	 */
	struct lock_known known, results, inlined, begins, ends;
	struct entries entries;
	struct handover handover;
	struct lock_sets sets;
	/* The latest lock operations and hand-overs, to find whether they order two accesses. */
	struct lock_events events;
	/* Critical sections that follow each other in one activation of a function. */
	struct sections sections;
	struct lock_load load;
	/* Until this time (CLOCK_MONOTONIC, ns) locksets are unknown. */
	uint64_t unsure_until_ns;
	/* Number of locks, since the last locks_dropped(), that were held when the text that took them was freed. */
	unsigned dropped;
	struct lock_ring ring;
	/* The number of the latest lock moment. */
	uint64_t number;
	/* For each CPU with an open window, the number of the moment of the held access. */
	uint64_t window[TARGET_MAX_CPUS];
	/* For each CPU that is held between two critical sections, which ones these are. */
	struct section_gap gap[TARGET_MAX_CPUS];
	/* When the budget was last refilled (CLOCK_MONOTONIC, ns), and how many stacks may be copied now. */
	uint64_t paid_ns;
	double budget;
};

struct locks *locks_new(struct detect *d)
{
	struct locks *l = calloc(1, sizeof(*l));

	if (!l || lock_ring_init(&l->ring)) {
		free(l);
		return NULL;
	}
	l->d = d;
	l->budget = CAPTURES_AT_ONCE;
	return l;
}

void locks_free(struct locks *l)
{
	if (!l)
		return;
	lock_ring_fini(&l->ring);
	lock_known_fini(&l->known);
	lock_known_fini(&l->results);
	lock_known_fini(&l->inlined);
	lock_known_fini(&l->begins);
	lock_known_fini(&l->ends);
	sections_fini(&l->sections);
	lock_load_fini(&l->load);
	free(l);
}

struct lock_ring *locks_ring(struct locks *l)
{
	return &l->ring;
}

struct lock_load *locks_load(struct locks *l)
{
	return &l->load;
}

bool locks_of_subject(const struct locks *l, const struct guest_symbol *function)
{
	const struct detect_config *config = &l->d->config;

	if (!pool_module_fits(function->module, config->module))
		return false;
	return function->name[0] && pool_name_fits(function->name, config->sample);
}

/* ---- lock functions in the guest ---- */

/* Whether the kernel has none of the functions `names`, separated by '|', that release the lock. */
static bool given_unseen(const struct symtab *symbols, const char *names)
{
	char name[sizeof(((struct lock_function *)NULL)->given_by)];

	for (const char *end; *names; names = *end ? end + 1 : end) {
		end = strchrnul(names, '|');
		snprintf(name, sizeof(name), "%.*s", (int)(end - names), names);
		if (symtab_addr(symbols, name))
			return false;
		if (!*end)
			return true;
	}
	return false;
}

void locks_learn(struct locks *l, const struct symtab *symbols)
{
	const struct lock_functions *list = l->d->config.locks;

	pthread_mutex_lock(&l->d->lock);
	for (size_t i = 0; i < lock_functions_count(list); i++) {
		const struct lock_function *function = lock_functions_get(list, i);
		const struct known_lock_function f = {
			.addr = symtab_addr(symbols, function->name),
			.function = function,
			.given_unseen = given_unseen(symbols, function->given_by),
		};

		/* If memory runs out, calls of this function will be missed, so no lockset is known any more. */
		if (f.addr && lock_known_add(&l->known, &f))
			l->sets.incomplete = true;
	}
	pthread_mutex_unlock(&l->d->lock);
}

static bool is_there(const struct lock_known *known, const struct lock_function *function)
{
	for (size_t i = 0; i < known->count; i++) {
		if (known->list[i].function == function)
			return true;
	}
	return false;
}

size_t locks_unknown(struct locks *l, const char *names[], size_t max)
{
	const struct lock_functions *list = l->d->config.locks;
	size_t n = 0;

	pthread_mutex_lock(&l->d->lock);
	for (size_t i = 0; i < lock_functions_count(list); i++) {
		const struct lock_function *function = lock_functions_get(list, i);

		if (!function->line || function->code_len || is_there(&l->known, function))
			continue;
		if (n < max)
			names[n] = function->name;
		n++;
	}
	pthread_mutex_unlock(&l->d->lock);
	return n;
}

/* Returns the target of a direct call or jump, or 0 for any other instruction. */
static uint64_t target_of(const struct insn *insn)
{
	int32_t displacement;

	if (insn->len != CALL_LEN || (insn->bytes[0] != OPCODE_CALL && insn->bytes[0] != OPCODE_JMP))
		return 0;
	memcpy(&displacement, insn->bytes + 1, sizeof(displacement));
	return insn->addr + CALL_LEN + (uint64_t)(int64_t)displacement;
}

const struct lock_function *locks_called(struct locks *l, const struct insn *insn)
{
	const struct lock_function *function = NULL;
	const struct known_lock_function *f;
	uint64_t target = target_of(insn);

	if (!target)
		return NULL;
	pthread_mutex_lock(&l->d->lock);
	f = lock_known_at(&l->known, target);
	if (f && f->function->op != LOCK_OUTER && f->function->op != LOCK_CALLER)
		function = f->function;
	pthread_mutex_unlock(&l->d->lock);
	return function;
}

const struct lock_function *locks_inlined(struct locks *l, uint64_t function, const uint8_t *code, size_t len)
{
	const struct lock_functions *list = l->d->config.locks;
	bool is_one;

	pthread_mutex_lock(&l->d->lock);
	is_one = lock_known_at(&l->known, function);
	pthread_mutex_unlock(&l->d->lock);
	for (size_t i = 0; i < lock_functions_count(list) && !is_one; i++) {
		const struct lock_function *f = lock_functions_get(list, i);

		if (f->code_len && f->code_len <= len && memcmp(f->code, code, f->code_len) == 0)
			return f;
	}
	return NULL;
}

int locks_expect_inlined(struct locks *l, uint64_t addr, const struct lock_function *function)
{
	const struct known_lock_function f = {.addr = addr, .function = function};
	int ret;

	pthread_mutex_lock(&l->d->lock);
	ret = lock_known_add(&l->inlined, &f);
	pthread_mutex_unlock(&l->d->lock);
	return ret;
}

int locks_expect_result(struct locks *l, uint64_t addr, const struct lock_function *function)
{
	struct known_lock_function f = {.addr = addr, .function = function};
	int ret;

	pthread_mutex_lock(&l->d->lock);
	for (size_t i = 0; i < l->known.count; i++) {
		if (l->known.list[i].function == function)
			f.given_unseen = l->known.list[i].given_unseen;
	}
	ret = lock_known_add(&l->results, &f);
	pthread_mutex_unlock(&l->d->lock);
	return ret;
}

void locks_follow_sections(struct locks *l, const struct section_function *function)
{
	pthread_mutex_lock(&l->d->lock);
	sections_follow(&l->sections, function);
	pthread_mutex_unlock(&l->d->lock);
}

const struct sections *locks_sections(const struct locks *l)
{
	return &l->sections;
}

void locks_planted(struct locks *l, bool complete, uint64_t sure_from_ns)
{
	pthread_mutex_lock(&l->d->lock);
	/* While lock hooks rest, locksets stay unknown. */
	if (!l->load.rest_until_ns)
		l->unsure_until_ns = sure_from_ns;
	/* Record that lock operations before now may have been missed. */
	if (!l->load.rest_until_ns) {
		lock_events_hole(&l->events, l->number + 1);
		sections_hole(&l->sections);
	}
	l->sets.incomplete |= !complete;
	pthread_mutex_unlock(&l->d->lock);
}

void locks_rest(struct locks *l)
{
	pthread_mutex_lock(&l->d->lock);
	l->unsure_until_ns = UINT64_MAX;
	memset(l->sets.contexts, 0, sizeof(l->sets.contexts));
	handover_rest(&l->handover);
	lock_events_hole(&l->events, UINT64_MAX);
	sections_hole(&l->sections);
	lock_load_rest(&l->load, monotonic_ns());
	pthread_mutex_unlock(&l->d->lock);
}

void locks_text_gone(struct locks *l, uint64_t base, uint64_t size)
{
	lock_load_forget(&l->load, base, size);
	l->dropped += lock_sets_text_gone(&l->sets, base, size);
	lock_known_forget(&l->known, base, size);
	lock_known_forget(&l->results, base, size);
	lock_known_forget(&l->inlined, base, size);
	lock_known_forget(&l->begins, base, size);
	lock_known_forget(&l->ends, base, size);
	entries_forget(&l->entries, base, size);
	handover_text_gone(&l->handover, base, size);
	sections_text_gone(&l->sections, base, size);
}

unsigned locks_dropped(struct locks *l)
{
	unsigned n;

	pthread_mutex_lock(&l->d->lock);
	n = l->dropped;
	l->dropped = 0;
	pthread_mutex_unlock(&l->d->lock);
	return n;
}

/* ---- lock moments ---- */

/*
 * Take one stack copy from the budget. Returns whether the budget allowed it. `others`: other contexts are in critical
 * sections. Then the whole budget may be used, because only such calls show which contexts overlap.
 */
static bool pay(struct locks *l, uint64_t now, bool others)
{
	if (l->paid_ns)
		l->budget += (double)(now - l->paid_ns) / NS_PER_SECOND * CAPTURES_A_SECOND;
	if (l->budget > CAPTURES_AT_ONCE)
		l->budget = CAPTURES_AT_ONCE;
	l->paid_ns = now;
	if (l->budget < (others ? 1 : CAPTURES_KEPT + 1))
		return false;
	l->budget--;
	return true;
}

/*
 * Returns the number of the moment when the context took the latest lock that it surely holds, or 0 if it holds no such lock.
 */
static uint64_t last_taken(const struct lock_context *c)
{
	for (unsigned i = c->set.count; i-- > 0;) {
		if (!c->set.held[i].maybe)
			return c->taken[i];
	}
	return 0;
}

/*
 * Store in `during` the latest moment of each other context that is held before an access or is in a critical section: on
 * another CPU, interrupted, or asleep. Returns the number of moments. If this CPU's own window is open, the context that
 * stopped now is an interrupt, and the held context is one of those other contexts.
 */
static unsigned other_contexts(const struct locks *l, const struct lock_context *own, uint64_t during[LOCK_DURING_MAX])
{
	unsigned n = 0;

	for (unsigned c = 0; c < l->d->target->caps.cpus && n < LOCK_DURING_MAX; c++) {
		if (l->d->hit.windows[c].open && l->window[c])
			during[n++] = l->window[c];
	}
	for (unsigned i = 0; i < LOCK_CONTEXTS_MAX && n < LOCK_DURING_MAX; i++) {
		const struct lock_context *c = &l->sets.contexts[i];

		if (c != own && last_taken(c))
			during[n++] = last_taken(c);
	}
	return n;
}

/*
 * Whether the lock word shows that the lock is free, or held by another task: then its release was missed, or it was never
 * taken.
 */
static bool is_lost(const struct locks *l, const struct held_lock *lock, const struct guest_context *context)
{
	uint64_t word = 0, owner = 0;

	switch (lock->kind) {
	case LOCK_SPIN:
	case LOCK_RWLOCK:
		return guest_read(l->d->guest, lock->gva, &word, 4) == 0 && !(uint32_t)word;
	case LOCK_MUTEX:
		if (guest_read(l->d->guest, lock->gva, &owner, sizeof(owner)))
			return false;
		return context->task && context->kind == GUEST_TASK ? (owner & ~(uint64_t)OWNER_FLAGS) != context->task
								    : !owner;
	case LOCK_RWSEM:
		return guest_read(l->d->guest, lock->gva, &word, sizeof(word)) == 0 && !word;
	default:
		return false;
	}
}

/* Store in *out the lockset of a context at an access, after dropping locks whose release was missed. */
static void get_held(struct locks *l, unsigned cpu, const struct guest_context *context, struct lockset *out)
{
	struct lock_context *c = lock_sets_find(&l->sets, cpu, context);

	for (unsigned i = c ? c->set.count : 0; i-- > 0;) {
		struct held_lock *lock = &c->set.held[i];

		if (is_lost(l, lock, context))
			lock_sets_drop(c, i);
		else if (lock->kind == LOCK_MUTEX && context->task)
			lock->maybe = false;
	}
	lock_sets_get(&l->sets, cpu, context, out);
	out->overflow |= monotonic_ns() < l->unsure_until_ns;
}

static bool has(const struct lockset *set, uint64_t gva)
{
	for (unsigned i = 0; i < set->count; i++) {
		if (set->held[i].gva == gva)
			return true;
	}
	return false;
}

static void add_outer(const struct locks *l, const struct guest_context *context, struct lockset *set)
{
	for (size_t i = 0; context->kind == GUEST_TASK && context->task && i < l->known.count; i++) {
		const struct known_lock_function *k = &l->known.list[i];

		if (k->function->op != LOCK_OUTER || has(set, k->addr) ||
		    !outside_owns(l->d->guest, k->addr, k->function->kind, context->task))
			continue;
		if (set->count == LOCKSET_MAX)
			set->overflow = true;
		else
			set->held[set->count++] = (struct held_lock){.gva = k->addr, .kind = k->function->kind};
	}
}

bool locks_held(struct locks *l, unsigned cpu, const struct guest_context *context, struct lockset *out)
{
	get_held(l, cpu, context, out);
	add_outer(l, context, out);
	if (!out->overflow)
		return true;
	*out = (struct lockset){0};
	return false;
}

/* Add a moment with the number l->number to the ring. Returns NULL if the ring is full: the moment is then lost. */
static struct raw_moment *put(struct locks *l, enum lock_moment_kind kind, uint64_t now)
{
	struct raw_moment *raw = lock_ring_put(&l->ring, kind);

	if (!raw) {
		l->d->stats.moments_lost++;
		return NULL;
	}
	raw->number = l->number;
	raw->time_ns = l->d->life.started_ns && now > l->d->life.started_ns ? now - l->d->life.started_ns : 0;
	pthread_cond_signal(&l->d->lock_moment);
	return raw;
}

/*
 * Returns the base register by which the instruction addresses the datum, or an all-zero struct. Finds the operand by its
 * address, because `data` leaves out some operands of the instruction (window_data()).
 */
static struct base_register base_of(const struct insn *insn, const struct x86_regs *regs, const struct datum *datum)
{
	struct mem_access accesses[INSN_MAX_MEM];
	unsigned n = insn->flags & INSN_STRING ? 0 : insn_accesses(insn, regs, accesses);

	for (unsigned i = 0; i < n; i++) {
		const struct insn_mem *mem = &insn->mem[i];

		if (accesses[i].gva == datum->access.gva && accesses[i].rw == datum->access.rw && !mem->seg && !mem->addr32 &&
		    mem->base >= 0 && mem->base != X86_RSP)
			return (struct base_register){regs->gpr[mem->base], (uint8_t)mem->base};
	}
	return (struct base_register){0};
}

/*
 * If the site belongs to a suspected pair that is to be confirmed (confirm.h), learn whether locks order this access after the
 * latest access at the pair's other site.
 */
static void confirm(struct locks *l, unsigned cpu, const struct guest_context *context, const struct raw_moment *raw,
		    uint64_t site)
{
	struct confirm_lock others[LOCKSET_MAX];
	unsigned n;

	if (!context->known || !confirm_has(l->d, site))
		return;
	for (unsigned i = 0; i < raw->data_count; i++) {
		struct lock_hit hit = {.number = l->number,
				       .gva = raw->data[i].gva,
				       .size = raw->data[i].size,
				       .rw = raw->data[i].rw,
				       .who = lock_who_is(cpu, context),
				       .held = raw->locks};

		n = confirm_locks(l->d, site, &hit, others);
		outside_look(l->d->guest, &l->sets, context, others, n, &hit);
		confirm_accessed(l->d, &l->events, site, &hit);
	}
}

/*
 * Record the acquires of calls that have returned in this context without a hook. Its events are numbered before the stop's own
 * event, and nothing was seen of the context in between.
 */
static void see_returns(struct locks *l, unsigned cpu, const struct x86_regs *regs, const struct guest_context *context,
			bool in_subject)
{
	struct lock_who who;
	struct lock_event event;

	if (!context->known)
		return;
	who = lock_who_is(cpu, context);
	while (handover_returned(&l->handover, &who, regs->gpr[X86_RSP], in_subject, &event)) {
		event.number = ++l->number;
		lock_events_add(&l->events, &event);
	}
}

void locks_access(struct locks *l, unsigned cpu, const struct x86_regs *regs, const struct insn *insn, const struct datum *data,
		  unsigned n)
{
	uint64_t now = monotonic_ns();
	struct guest_context context;
	struct raw_moment *raw;

	guest_context(l->d->guest, regs, &context);
	lock_sets_seen(&l->sets, cpu, &context);
	see_returns(l, cpu, regs, &context, true);
	l->number++;
	/*
	 * If this CPU has an open window, an interrupt on the CPU makes the access now, and l->window[cpu] stays the number of
	 * the held access.
	 */
	if (!l->d->hit.windows[cpu].open)
		l->window[cpu] = l->number;
	raw = put(l, LOCK_MOMENT_ACCESS, now);
	if (!raw)
		return;
	get_held(l, cpu, &context, &raw->locks);
	add_outer(l, &context, &raw->locks);
	for (unsigned i = 0; i < n; i++) {
		const struct datum *datum = &data[i];

		raw->data[raw->data_count++] = (struct lock_datum){.gva = datum->access.gva,
								   .gpa = datum->extents[0].gpa,
								   .size = datum->access.size,
								   .rw = datum->access.rw,
								   .base = base_of(insn, regs, datum)};
	}
	confirm(l, cpu, &context, raw, regs->rip);
	raw->during_count = other_contexts(l, lock_sets_find(&l->sets, cpu, &context), raw->during);
	capture_side(l->d->target, l->d->guest, cpu, regs, &context, &raw->side);
	raw->side.pc = regs->rip;
}

/* Returns the register that holds the argument, or an all-zero struct if no register holds it or the argument is NULL. */
static struct base_register argument_register(const struct lock_function *function, const struct x86_regs *regs)
{
	static const uint8_t order[] = {X86_RDI, X86_RSI, X86_RDX, X86_RCX, X86_R8, X86_R8 + 1};
	uint8_t gpr = function->arg < sizeof(order) ? order[function->arg] : 0;

	if (function->arg >= sizeof(order) || !regs->gpr[gpr])
		return (struct base_register){0};
	return (struct base_register){regs->gpr[gpr], gpr};
}

static uint64_t argument(const struct locks *l, const struct lock_function *function, const struct x86_regs *regs)
{
	uint64_t base = argument_register(function, regs).value;

	if (function->arg == LOCK_ARG_VARIABLE)
		base = symtab_addr(guest_symtab(l->d->guest), function->variable);
	return base ? base + (uint64_t)(int64_t)function->offset : 0;
}

static void object_ends(struct locks *l, uint64_t gva)
{
	struct raw_moment *raw;

	l->number++;
	confirm_object_ends(l->d, gva);
	handover_object_ends(&l->events, gva);
	handover_object_gone(&l->handover, gva);
	raw = put(l, LOCK_MOMENT_FREE, monotonic_ns());
	if (raw)
		raw->lock.gva = gva;
}

/* Queue a lock moment of a call, if the budget allows. The caller updates the lockset in either case. */
static void tell_call(struct locks *l, unsigned cpu, const struct x86_regs *regs, const struct guest_context *context,
		      enum lock_moment_kind kind, const struct held_lock *lock, struct base_register base)
{
	uint64_t now = monotonic_ns(), during[LOCK_DURING_MAX];
	unsigned n = other_contexts(l, lock_sets_find(&l->sets, cpu, context), during);
	struct raw_moment *raw = pay(l, now, n) ? put(l, kind, now) : NULL;

	if (!raw)
		return;
	lock_sets_get(&l->sets, cpu, context, &raw->locks);
	raw->lock = *lock;
	raw->lock_base = base;
	memcpy(raw->during, during, sizeof(during));
	raw->during_count = n;
	capture_side(l->d->target, l->d->guest, cpu, regs, context, &raw->side);
	raw->side.pc = regs->rip;
}

/*
 * Record the operation for lock_order(). A trylock is left out, because the call does not show yet whether it takes the lock.
 * lock_order() needs no such record: the lock of a successful trylock is in the lockset at the access, or its release was
 * recorded.
 */
static void add_event(struct locks *l, unsigned cpu, const struct guest_context *context, enum lock_op op,
		      const struct held_lock *lock)
{
	if (op == LOCK_TRY)
		return;
	if (context->known)
		lock_events_add(&l->events, &(struct lock_event){.number = l->number,
								 .gva = lock->gva,
								 .who = lock_who_is(cpu, context),
								 .give = op == LOCK_GIVE || op == LOCK_SHARE,
								 .shared = lock->shared});
	else
		lock_events_hole(&l->events, l->number);
}

/* Follow the critical sections. A trylock begins a section when its result is seen (tried()). */
static void follow_section(struct locks *l, unsigned cpu, const struct guest_context *context, enum lock_op op,
			   const struct held_lock *lock)
{
	struct lock_who who;

	if (!context->known)
		return;
	who = lock_who_is(cpu, context);
	if (op == LOCK_TAKE)
		sections_take(&l->sections, &who, lock->gva, lock->taken_at, l->number);
	else if (op == LOCK_GIVE)
		sections_give(&l->sections, &who, lock->gva, l->number);
}

/* ---- hand-over by something that is no lock ---- */

enum stop_where {
	STOP_SUBJECT, /* in code of the subject */
	STOP_RETURN,  /* the hook of an acquiring call's result, which handover_acquired() sees */
	STOP_ENTRY,   /* at the entry of a function that hands over, which another such function may have called */
};

/* Fill in *stop. Returns false when the context is unknown: then an event may be missing. */
static bool stop_of(struct locks *l, unsigned cpu, const struct x86_regs *regs, enum stop_where where,
		    struct handover_stop *stop)
{
	struct guest_context context;

	guest_context(l->d->guest, regs, &context);
	lock_load_stop(&l->load, cpu, &context, monotonic_ns());
	lock_sets_seen(&l->sets, cpu, &context);
	if (where != STOP_RETURN)
		see_returns(l, cpu, regs, &context, where != STOP_ENTRY);
	l->number++;
	if (!context.known) {
		lock_events_hole(&l->events, l->number);
		return false;
	}
	*stop = (struct handover_stop){.guest = l->d->guest,
				       .regs = regs,
				       .who = lock_who_is(cpu, &context),
				       .task = context.task,
				       .number = l->number};
	return true;
}

/* Returns the pointer at `offset` in the object at `gva`, or 0. */
static uint64_t pointer_in(const struct locks *l, uint64_t gva, int32_t offset)
{
	uint64_t pointer;

	return guest_read(l->d->guest, gva + (uint64_t)offset, &pointer, sizeof(pointer)) ? 0 : pointer;
}

/* Returns the GVA of the function that the kernel will call with the released object, or 0. */
static uint64_t callee_of(const struct locks *l, const struct lock_function *function, const struct x86_regs *regs,
			  uint64_t gva)
{
	const struct lock_function argument_of = {.arg = (uint8_t)function->calls_at};
	struct guest_symbol symbol;
	uint64_t callee;

	if (function->calls == LOCK_CALLS_ARGUMENT)
		return argument(l, &argument_of, regs);
	if (function->calls != LOCK_CALLS_MEMBER)
		return 0;
	callee = pointer_in(l, gva, function->calls_at);
	if (function->calls_or_at && (guest_symbol_at(l->d->guest, callee, &symbol) || symbol.addr != callee))
		return pointer_in(l, gva, function->calls_or_at);
	return callee;
}

/* `entry`: the CPU is at the start of the function, after the call pushed the return address. */
static void handed_over(struct locks *l, unsigned cpu, const struct x86_regs *regs, const struct lock_function *function,
			bool entry)
{
	uint64_t gva = handover_object((enum handover_kind)function->kind, argument(l, function, regs));
	struct handover_stop stop;
	struct lock_event event;

	if (!gva || !stop_of(l, cpu, regs, entry ? STOP_ENTRY : STOP_SUBJECT, &stop))
		return;
	if (function->op == LOCK_ACQUIRE) {
		sections_wait(&l->sections, &stop.who, stop.number);
		if (entry)
			handover_acquire_at_entry(&l->handover, &stop, function, gva);
		else if (!function->tested || lock_known_at(&l->results, regs->rip + CALL_LEN))
			handover_acquire(&l->handover, &stop, function, gva);
		return;
	}
	/* Until the new callback has its hooks, what it acquires and releases is missed (locks_callbacks_followed()). */
	if (handover_release(&l->handover, &stop, function, gva, callee_of(l, function, regs, gva), &event))
		lock_events_hole(&l->events, UINT64_MAX);
	lock_events_add(&l->events, &event);
}

/* The CPU is at the entry of a function that hands over, called by any code. */
static void entered(struct locks *l, unsigned cpu, const struct x86_regs *regs, struct entry_hook *entry)
{
	const enum handover_kind kind = (enum handover_kind)entry->function->kind;
	uint64_t gva = handover_object(kind, argument(l, entry->function, regs));

	if (handover_has(&l->handover, kind, gva))
		handed_over(l, cpu, regs, entry->function, true);
	else
		entry->idle_stops++;
}

static void taken_over(struct locks *l, unsigned cpu, const struct x86_regs *regs, const struct lock_function *function)
{
	struct handover_stop stop;
	struct lock_event event;

	if (stop_of(l, cpu, regs, STOP_RETURN, &stop) && handover_acquired(&l->handover, &stop, function, &event))
		lock_events_add(&l->events, &event);
}

static void callback_begins(struct locks *l, unsigned cpu, const struct x86_regs *regs, const struct lock_function *function)
{
	struct handover_stop stop;
	struct lock_event event;

	if (stop_of(l, cpu, regs, STOP_SUBJECT, &stop) && handover_enter(&l->handover, &stop, function, &event))
		lock_events_add(&l->events, &event);
}

static void callback_ends(struct locks *l, unsigned cpu, const struct x86_regs *regs, const struct lock_function *function)
{
	struct handover_stop stop;
	struct lock_event event;

	if (stop_of(l, cpu, regs, STOP_SUBJECT, &stop) && handover_leave(&l->handover, &stop, function, &event))
		lock_events_add(&l->events, &event);
}

void locks_called_back(struct locks *l, uint64_t caller, uint64_t callee)
{
	const struct known_lock_function *f;

	pthread_mutex_lock(&l->d->lock);
	f = lock_known_at(&l->known, caller);
	/* Until the callback has its hooks, what it acquires and releases is missed (locks_callbacks_followed()). */
	if (f && f->function->op == LOCK_CALLER && handover_learn(&l->handover, f->function, callee))
		lock_events_hole(&l->events, UINT64_MAX);
	pthread_mutex_unlock(&l->d->lock);
}

const struct lock_function *locks_next_callback(struct locks *l, uint64_t *addr)
{
	const struct handover_callback *callback;
	const struct lock_function *function = NULL;

	pthread_mutex_lock(&l->d->lock);
	callback = handover_next_callback(&l->handover);
	if (callback) {
		*addr = callback->addr;
		function = callback->function;
	}
	pthread_mutex_unlock(&l->d->lock);
	return function;
}

int locks_expect_callback(struct locks *l, uint64_t addr, const struct lock_function *function, bool begins)
{
	const struct known_lock_function f = {.addr = addr, .function = function};
	int ret;

	pthread_mutex_lock(&l->d->lock);
	ret = lock_known_add(begins ? &l->begins : &l->ends, &f);
	l->entries.kinds |= 1u << function->kind;
	pthread_mutex_unlock(&l->d->lock);
	return ret;
}

struct entries *locks_entries(struct locks *l)
{
	return &l->entries;
}

const struct lock_function *locks_next_entry(struct locks *l, uint64_t *addr)
{
	const struct lock_function *function = NULL;

	pthread_mutex_lock(&l->d->lock);
	for (size_t i = 0; i < l->known.count && !function; i++) {
		struct known_lock_function *k = &l->known.list[i];

		if (k->entered || !entries_fit(k->function) || !(l->entries.kinds >> k->function->kind & 1))
			continue;
		k->entered = true;
		*addr = k->addr;
		function = k->function;
	}
	pthread_mutex_unlock(&l->d->lock);
	return function;
}

int locks_expect_entry(struct locks *l, uint64_t addr, const struct lock_function *function)
{
	int ret = -1;

	pthread_mutex_lock(&l->d->lock);
	if (l->entries.count < ENTRY_HOOKS_MAX) {
		l->entries.list[l->entries.count++] = (struct entry_hook){.addr = addr, .function = function};
		ret = 0;
	}
	pthread_mutex_unlock(&l->d->lock);
	return ret;
}

void locks_callbacks_followed(struct locks *l)
{
	pthread_mutex_lock(&l->d->lock);
	if (!l->load.rest_until_ns)
		lock_events_hole(&l->events, l->number + 1);
	pthread_mutex_unlock(&l->d->lock);
}

/*
 * A call that tried to take a lock has returned. If it took the lock, its section began at the call: the lock was asked for
 * then.
 */
static void tried(struct locks *l, unsigned cpu, const struct guest_context *context, const struct known_lock_function *f,
		  uint64_t taken_at, bool taken)
{
	const struct lock_context *own;
	unsigned last;
	struct lock_who who;

	lock_sets_tried(&l->sets, cpu, context, taken_at, taken, !f->given_unseen);
	own = lock_sets_find(&l->sets, cpu, context);
	last = own ? own->set.count : 0;
	if (!taken || !context->known || !last-- || own->set.held[last].taken_at != taken_at || own->set.held[last].maybe)
		return;
	who = lock_who_is(cpu, context);
	sections_take(&l->sections, &who, own->set.held[last].gva, taken_at, own->taken[last]);
}

/*
 * A call of `f` has returned on this CPU, with its result in RAX: if `f` allocated an object, end the lifetime of the previous
 * object at its address; if `f` tried a lock, record whether the lock was taken.
 */
static void call_returned(struct locks *l, unsigned cpu, const struct x86_regs *regs, const struct known_lock_function *f)
{
	uint64_t result = regs->gpr[X86_RAX];
	struct guest_context context;

	if (f->function->op == LOCK_ACQUIRE) {
		taken_over(l, cpu, regs, f->function);
		return;
	}
	if (f->function->op == LOCK_NEW) {
		if (x86_kernel_address(result) && result < ERRORS_FROM)
			object_ends(l, result);
		return;
	}
	/* The result is an int, or a bool in the low 8 bits. */
	result = f->function->nonzero ? result & 0xff : (uint32_t)result;
	guest_context(l->d->guest, regs, &context);
	tried(l, cpu, &context, f, regs->rip - CALL_LEN, f->function->nonzero == (result != 0));
}

static void called(struct locks *l, unsigned cpu, const struct x86_regs *regs, const struct known_lock_function *f)
{
	const struct lock_function *function = f->function;
	uint64_t gva = argument(l, function, regs);
	struct guest_context context;
	struct held_lock lock;

	if (!gva || function->op == LOCK_NEW)
		return;
	if (function->op == LOCK_FREE) {
		object_ends(l, gva);
		return;
	}
	if (function->op == LOCK_RELEASE || function->op == LOCK_ACQUIRE) {
		handed_over(l, cpu, regs, function, false);
		return;
	}
	guest_context(l->d->guest, regs, &context);
	lock_load_stop(&l->load, cpu, &context, monotonic_ns());
	lock_sets_seen(&l->sets, cpu, &context);
	l->number++;
	lock = (struct held_lock){.gva = gva,
				  .taken_at = regs->rip,
				  .kind = function->kind,
				  .off = function->off,
				  .shared = function->shared,
				  .maybe = function->op == LOCK_TRY};
	add_event(l, cpu, &context, function->op, &lock);
	follow_section(l, cpu, &context, function->op, &lock);
	if (function->op == LOCK_TAKE || function->op == LOCK_TRY) {
		tell_call(l, cpu, regs, &context, LOCK_MOMENT_TAKE, &lock, argument_register(function, regs));
		if (function->op == LOCK_TAKE && !lock.shared && lock.kind != LOCK_SEMAPHORE)
			lock_sets_anew(&l->sets, cpu, &context, gva);
		lock.maybe |= f->given_unseen;
		lock_sets_take(&l->sets, cpu, &context, &lock, l->number);
	} else if (function->op == LOCK_GIVE) {
		tell_call(l, cpu, regs, &context, LOCK_MOMENT_GIVE, &lock, argument_register(function, regs));
		lock_sets_give(&l->sets, cpu, &context, gva);
	} else if (function->op == LOCK_SHARE) {
		lock_sets_share(&l->sets, cpu, &context, gva);
	}
}

bool locks_gap(struct locks *l, unsigned cpu, const struct x86_regs *regs, const struct guest_context *context,
	       const struct point *point, struct section_gap *out)
{
	const struct known_lock_function *f = lock_known_at(&l->known, target_of(&point->insn));
	struct lock_who who;
	uint64_t gva;

	if (!f)
		f = lock_known_at(&l->inlined, point->addr);
	if (!f || f->function->op != LOCK_TAKE || !context->known)
		return false;
	gva = argument(l, f->function, regs);
	who = lock_who_is(cpu, context);
	return gva && sections_gap(&l->sections, &who, gva, point->addr, out);
}

void locks_hold(struct locks *l, unsigned cpu, const struct section_gap *gap)
{
	/* The CPU is not before an access, so no later moment is simultaneous with one. */
	l->window[cpu] = 0;
	l->gap[cpu] = *gap;
	sections_hold(&l->sections, gap, l->number);
}

bool locks_gap_met(struct locks *l, unsigned cpu)
{
	return sections_gap_met(&l->sections, &l->gap[cpu]);
}

static void activation_begins(struct locks *l, unsigned cpu, const struct x86_regs *regs, uint64_t pc)
{
	struct guest_context context;
	struct lock_who who;

	guest_context(l->d->guest, regs, &context);
	if (!context.known)
		return;
	who = lock_who_is(cpu, &context);
	sections_at(&l->sections, &who, pc);
}

void locks_call(struct locks *l, unsigned cpu, const struct x86_regs *regs, const struct point *point)
{
	const struct known_lock_function *before = lock_known_at(&l->results, point->addr);
	const struct known_lock_function *now = lock_known_at(&l->known, target_of(&point->insn));
	const struct known_lock_function *begins = lock_known_at(&l->begins, point->addr);
	const struct known_lock_function *ends = lock_known_at(&l->ends, point->addr);
	struct entry_hook *entry = entries_at(&l->entries, point->addr);

	if (!now)
		now = lock_known_at(&l->inlined, point->addr);
	if (before)
		call_returned(l, cpu, regs, before);
	if (begins)
		callback_begins(l, cpu, regs, begins->function);
	if (sections_begins_at(&l->sections, point->addr))
		activation_begins(l, cpu, regs, point->addr);
	if (now)
		called(l, cpu, regs, now);
	if (entry) {
		entered(l, cpu, regs, entry);
	}
	/* A callback may end by a jump to a lock function. */
	if (ends)
		callback_ends(l, cpu, regs, ends->function);
}
