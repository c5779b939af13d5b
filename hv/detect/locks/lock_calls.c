// SPDX-License-Identifier: GPL-2.0-or-later
/* Follows calls of lock functions: what each one takes or releases, and which critical section begins or ends with it. */
#include <string.h>

#include "hv/base/clock.h"
#include "hv/detect/core/capture.h"
#include "hv/detect/locks/entries.h"
#include "hv/detect/locks/internal.h"
#include "hv/detect/locks/lock_known.h"
#include "hv/detect/locks/lock_sets.h"
#include "hv/detect/locks/locks.h"
#include "hv/detect/locks/sections.h"
#include "hv/detect/steer/confirm.h"
#include "hv/detect/steer/handover_order.h"
#include "hv/detect/steer/lock_order.h"

#define OPCODE_JUMP 0xe9
/* Upper bound of a freed object's size in bytes: the call that frees it does not say how large it is. */
#define OBJECT_BYTES 8192u
/* The smallest ERR_PTR() value. */
#define ERRORS_FROM 0xfffffffffffff001ull

/* The life of the object at `gva`, of at most `bytes` bytes, ends. `reused`: the object goes back to its pool. */
static void life_ends(struct locks *l, uint64_t gva, uint32_t bytes, bool reused)
{
	struct raw_moment *raw;

	l->number++;
	confirm_object_ends(l->d, gva, bytes);
	fates_object_ends(&l->fates, gva, bytes);
	raw = lock_moment_put(l, LOCK_MOMENT_FREE, monotonic_ns());
	if (raw) {
		raw->lock.gva = gva;
		raw->reused = reused;
	}
}

/* The object was freed or allocated. Hand-overs by an object that is only reused stay valid, because it is not freed. */
static void object_ends(struct locks *l, uint64_t gva)
{
	life_ends(l, gva, OBJECT_BYTES, false);
	handover_object_ends(&l->events, gva);
	handover_object_gone(&l->handover, gva);
}

/* Queue a lock moment of a call, if the budget of stack copies allows it. The caller updates the lockset in either case. */
static void tell_call(struct locks *l, unsigned cpu, const struct x86_regs *regs, const struct guest_context *context,
		      enum lock_moment_kind kind, const struct held_lock *lock, struct base_register base)
{
	uint64_t now = monotonic_ns(), during[LOCK_DURING_MAX];
	unsigned n = lock_other_contexts(l, lock_sets_find(&l->sets, cpu, context), during);
	struct raw_moment *raw = lock_moment_pay(l, now, n) ? lock_moment_put(l, kind, now) : NULL;

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

/*
 * The context takes the lock `gva`. For each lock that it already holds exclusively, record that it holds this lock and `gva`
 * together.
 */
static void nest(struct locks *l, unsigned cpu, const struct guest_context *context, const struct lock_who *who, uint64_t gva)
{
	const struct lock_context *own = lock_sets_find(&l->sets, cpu, context);

	for (unsigned i = 0; own && i < own->set.count; i++) {
		if (!own->set.held[i].shared && !own->set.held[i].maybe)
			sections_nested(&l->sections, who, gva, own->set.held[i].gva);
	}
}

/* Returns whether several contexts can hold the lock at once that the function takes. */
static bool overlaps(const struct lock_function *function)
{
	return function->shared || (function->kind == LOCK_SEMAPHORE && !function->exclusive);
}

/* The context takes a lock by this call: a critical section begins. */
static void begin_section(struct locks *l, const struct lock_who *who, const struct x86_regs *regs,
			  const struct section_call *call)
{
	struct call_chain chain;

	locks_call_chain(l, call->taken_at, regs->gpr[X86_RSP], &chain);
	fates_again(&l->fates, who, call, &l->sections);
	sections_take(&l->sections, who, call, &chain);
	fates_take(&l->fates, who, call, l->sections.made, l->sections.made_count);
}

/*
 * The call begins or ends a critical section: record that in the context's activation (sections.h). A trylock begins a section
 * only when its result is seen (tried()).
 */
static void follow_section(struct locks *l, unsigned cpu, const struct x86_regs *regs, const struct guest_context *context,
			   const struct lock_function *function, const struct held_lock *lock)
{
	const struct section_call call = {lock->gva, lock->taken_at, l->number, overlaps(function)};
	enum lock_op op = function->op;
	struct lock_who who;

	if (!context->known)
		return;
	who = lock_who_is(cpu, context);
	if (op == LOCK_TAKE) {
		begin_section(l, &who, regs, &call);
		nest(l, cpu, context, &who, lock->gva);
	} else if (op == LOCK_GIVE) {
		fates_give(&l->fates, &who, lock->gva);
		sections_give(&l->sections, &who, lock->gva, l->number);
	} else if (op == LOCK_SHARE) {
		sections_share(&l->sections, &who, lock->gva);
	}
}

/*
 * A call that tried to take a lock has returned. If the call took the lock, record a critical section that began at the call,
 * and not at its return.
 */
static void tried(struct locks *l, unsigned cpu, const struct x86_regs *regs, const struct guest_context *context,
		  const struct known_lock_function *f, bool taken)
{
	uint64_t taken_at = regs->rip - X86_CALL_LEN;
	const struct lock_context *own;
	unsigned last;
	struct lock_who who;
	struct section_call call = {.taken_at = taken_at, .shared = overlaps(f->function)};

	lock_sets_tried(&l->sets, cpu, context, taken_at, taken, !f->given_unseen);
	own = lock_sets_find(&l->sets, cpu, context);
	last = own ? own->set.count : 0;
	if (!taken || !context->known || !last-- || own->set.held[last].taken_at != taken_at || own->set.held[last].maybe)
		return;
	who = lock_who_is(cpu, context);
	call.gva = own->set.held[last].gva;
	call.number = own->taken[last];
	begin_section(l, &who, regs, &call);
}

/*
 * Returns whether this call releases the lock at its end, and a hook sees the call return. A jump to the function, at the
 * end of a function of the subject, has no such hook: the lock then counts as released at the jump.
 */
static bool gives_at_return(const struct locks *l, const struct x86_regs *regs, const struct lock_function *function)
{
	const struct known_lock_function *result;

	if (!function->at_return)
		return false;
	result = lock_known_at(&l->results, regs->rip + X86_CALL_LEN);
	return result && result->function == function;
}

/* A call that releases its lock at its end has returned. */
static void given(struct locks *l, unsigned cpu, const struct x86_regs *regs, const struct lock_function *function)
{
	struct guest_context context;
	struct held_lock lock = {.kind = function->kind, .shared = function->shared};

	guest_context(l->d->guest, regs, &context);
	lock.gva = lock_sets_left(&l->sets, cpu, &context, regs->rip - X86_CALL_LEN);
	if (!lock.gva)
		return;
	lock_see_returns(l, cpu, regs, &context, true);
	lock_seen(l, cpu, &context);
	l->number++;
	add_event(l, cpu, &context, LOCK_GIVE, &lock);
	follow_section(l, cpu, regs, &context, function, &lock);
}

/* A call has returned the object at `gva`, or an error. `also_at`: of struct known_lock_function. */
static void allocated(struct locks *l, uint64_t gva, uint32_t also_at)
{
	uint64_t also;

	if (!x86_kernel_address(gva) || gva >= ERRORS_FROM)
		return;
	object_ends(l, gva);
	if (also_at && guest_read(l->d->guest, gva + also_at, &also, sizeof(also)) == 0 && x86_kernel_address(also))
		object_ends(l, also);
}

/*
 * A call of `f` has returned on this CPU, with its result in RAX. If `f` waits for a hand-over, record the acquire. If `f` has
 * allocated an object, end the lifetime of the previous object at this address. If `f` releases a lock at its end, record that.
 * If `f` tried to take a lock, record whether it did.
 */
static void call_returned(struct locks *l, unsigned cpu, const struct x86_regs *regs, const struct known_lock_function *f)
{
	uint64_t result = regs->gpr[X86_RAX];
	struct guest_context context;

	if (f->function->op == LOCK_ACQUIRE) {
		lock_taken_over(l, cpu, regs, f->function);
		return;
	}
	if (f->function->op == LOCK_NEW) {
		allocated(l, result, f->also_at);
		return;
	}
	if (f->function->op == LOCK_GIVE) {
		given(l, cpu, regs, f->function);
		return;
	}
	/*
	 * If nonzero means success, compare only the low 8 bits with 0, because the result can be a bool. Otherwise the result
	 * is an int.
	 */
	result = f->function->nonzero ? result & 0xff : (uint32_t)result;
	guest_context(l->d->guest, regs, &context);
	tried(l, cpu, regs, &context, f, f->function->nonzero == (result != 0));
}

/*
 * A call that takes a lock and releases it before it returns. No access of the subject is made under the lock. But an access
 * before this call comes before the accesses that follow a later call for this lock.
 */
static void passes(struct locks *l, unsigned cpu, const struct guest_context *context, uint64_t gva)
{
	const struct held_lock lock = {.gva = gva};

	add_event(l, cpu, context, LOCK_TAKE, &lock);
	l->number++;
	add_event(l, cpu, context, LOCK_GIVE, &lock);
}

/* The call takes or tries to take the lock. */
static void takes(struct locks *l, unsigned cpu, const struct guest_context *context, const struct known_lock_function *f,
		  struct held_lock lock)
{
	if (!lock.maybe && !lock.shared && lock.kind != LOCK_SEMAPHORE)
		lock_sets_anew(&l->sets, cpu, context, lock.gva);
	lock.maybe |= f->given_unseen;
	lock_sets_take(&l->sets, cpu, context, &lock, l->number);
}

/* The call will release the lock at its end. */
static void leaves(struct locks *l, unsigned cpu, const struct guest_context *context, uint64_t gva)
{
	struct lock_who who;

	if (!context->known)
		return;
	who = lock_who_is(cpu, context);
	sections_leave(&l->sections, &who, gva, l->number);
}

/* A call that takes a lock, tries to, releases it, or keeps it as a reader. */
static void takes_or_gives(struct locks *l, unsigned cpu, const struct x86_regs *regs, const struct guest_context *context,
			   const struct known_lock_function *f, uint64_t gva)
{
	const struct lock_function *function = f->function;
	struct held_lock lock = {.gva = gva,
				 .taken_at = regs->rip,
				 .kind = function->kind,
				 .off = function->off | (handover_lines_stopped(&l->handover) ? LOCK_NO_LINE : 0),
				 .shared = function->shared,
				 .maybe = function->op == LOCK_TRY};

	/*
	 * For lock_order(), a lock that the call releases at its end is released here as well as at the return: another context
	 * may take the lock, and the CPU, before this call returns.
	 */
	add_event(l, cpu, context, function->op, &lock);
	if (gives_at_return(l, regs, function) && lock_sets_leave(&l->sets, cpu, context, gva, regs->rip)) {
		leaves(l, cpu, context, gva);
		tell_call(l, cpu, regs, context, LOCK_MOMENT_GIVE, &lock, lock_argument_register(function, regs));
		return;
	}
	follow_section(l, cpu, regs, context, function, &lock);
	if (function->op == LOCK_TAKE || function->op == LOCK_TRY) {
		tell_call(l, cpu, regs, context, LOCK_MOMENT_TAKE, &lock, lock_argument_register(function, regs));
		takes(l, cpu, context, f, lock);
	} else if (function->op == LOCK_GIVE) {
		tell_call(l, cpu, regs, context, LOCK_MOMENT_GIVE, &lock, lock_argument_register(function, regs));
		lock_sets_give(&l->sets, cpu, context, gva);
	} else if (function->op == LOCK_SHARE) {
		lock_sets_share(&l->sets, cpu, context, gva);
	}
}

static void called(struct locks *l, unsigned cpu, const struct x86_regs *regs, const struct known_lock_function *f)
{
	const struct lock_function *function = f->function;
	uint64_t gva = lock_argument(l, function, regs);
	struct guest_context context;

	if (!gva || function->op == LOCK_NEW)
		return;
	guest_context(l->d->guest, regs, &context);
	if (function->op == LOCK_FREE) {
		lock_see_returns(l, cpu, regs, &context, true);
		object_ends(l, gva);
		return;
	}
	if (function->op == LOCK_REUSE) {
		lock_see_returns(l, cpu, regs, &context, true);
		lock_load_stop(&l->load, cpu, &context, monotonic_ns());
		life_ends(l, gva, LOCK_REUSED_BYTES, true);
		return;
	}
	if (function->op == LOCK_RELEASE || function->op == LOCK_ACQUIRE || function->op == LOCK_STOP) {
		lock_handed_over(l, cpu, regs, f, false);
		return;
	}
	lock_see_returns(l, cpu, regs, &context, true);
	lock_load_stop(&l->load, cpu, &context, monotonic_ns());
	lock_seen(l, cpu, &context);
	l->number++;
	if (function->op == LOCK_PASS) {
		passes(l, cpu, &context, gva);
		return;
	}
	takes_or_gives(l, cpu, regs, &context, f, gva);
}

/* Returns the function by which the call at this hook takes a lock, or NULL. */
static const struct lock_function *taken_by(const struct locks *l, const struct point *point)
{
	const struct known_lock_function *f = lock_known_at(&l->known, lock_call_target(&point->insn));

	if (!f)
		f = lock_known_at(&l->inlined, point->addr);
	return f && f->function->op == LOCK_TAKE ? f->function : NULL;
}

uint64_t locks_takes(struct locks *l, unsigned cpu, const struct x86_regs *regs, const struct guest_context *context,
		     const struct point *point, struct lock_who *who)
{
	const struct lock_function *function = taken_by(l, point);

	if (!function || !context->known)
		return 0;
	*who = lock_who_is(cpu, context);
	return lock_argument(l, function, regs);
}

bool locks_place(struct locks *l, const struct point *point, uint8_t *gpr, int32_t *offset)
{
	const struct lock_function *function = taken_by(l, point);

	if (!function)
		return false;
	*gpr = lock_argument_gpr(function);
	*offset = function->offset;
	return true;
}

bool locks_gap(struct locks *l, unsigned cpu, const struct x86_regs *regs, const struct guest_context *context,
	       const struct point *point, struct section_gap *out)
{
	struct call_chain chain;
	struct lock_who who;
	uint64_t gva = locks_takes(l, cpu, regs, context, point, &who);

	if (!gva)
		return false;
	locks_call_chain(l, point->addr, regs->gpr[X86_RSP], &chain);
	return sections_gap(&l->sections, &who, gva, point->addr, &chain, out);
}

void locks_hold_before(struct locks *l, unsigned cpu)
{
	/* The CPU is held before a call, so there is no held access with which a later moment could be simultaneous. */
	l->window[cpu] = 0;
}

void locks_hold(struct locks *l, unsigned cpu, const struct section_gap *gap)
{
	locks_hold_before(l, cpu);
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
	sections_at(&l->sections, &who, pc, regs->gpr[X86_RSP]);
}

/*
 * The CPU is at a lock hook. If the instruction is a jump from a function with sections to another function, record the jump.
 */
static void jumps(struct locks *l, unsigned cpu, const struct x86_regs *regs, const struct point *point)
{
	uint64_t target = lock_call_target(&point->insn);
	struct guest_context context;
	struct lock_who who;

	if (point->insn.bytes[0] != OPCODE_JUMP || !target)
		return;
	guest_context(l->d->guest, regs, &context);
	if (!context.known)
		return;
	who = lock_who_is(cpu, &context);
	sections_jump(&l->sections, &who, point->addr, target);
}

void locks_call(struct locks *l, unsigned cpu, const struct x86_regs *regs, const struct point *point)
{
	const struct known_lock_function *before = lock_known_at(&l->results, point->addr);
	const struct known_lock_function *now = lock_known_at(&l->known, lock_call_target(&point->insn));
	const struct known_lock_function *begins = lock_known_at(&l->begins, point->addr);
	const struct known_lock_function *ends = lock_known_at(&l->ends, point->addr);
	struct entry_hook *entry = entries_at(&l->entries, point->addr);

	if (!now)
		now = lock_known_at(&l->inlined, point->addr);
	if (before)
		call_returned(l, cpu, regs, before);
	if (begins)
		lock_callback_begins(l, cpu, regs, begins->function);
	if (sections_begins_at(&l->sections, point->addr))
		activation_begins(l, cpu, regs, point->addr);
	jumps(l, cpu, regs, point);
	if (now)
		called(l, cpu, regs, now);
	if (entry) {
		lock_entered(l, cpu, regs, entry);
	}
	/*
	 * Handle the end of the callback after the call: a callback may end by a jump to a lock function, whose call is then
	 * still a part of the callback.
	 */
	if (ends)
		lock_callback_ends(l, cpu, regs, ends->function);
}
