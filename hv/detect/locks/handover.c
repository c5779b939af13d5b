// SPDX-License-Identifier: GPL-2.0-or-later
/* Hand-overs by objects that are no locks: turns hits of lock hooks at calls and callbacks into events (handover.h). */
#include "hv/detect/locks/handover.h"

#include <string.h>

/* Upper bound of an object's size in bytes: the event that an object was freed does not say how large it was. */
#define OBJECT_BYTES 8192u
#define RETURN_BYTES 8u /* size of the return address that a call pushes */

uint64_t handover_object(enum handover_kind kind, uint64_t value)
{
	/* The number of an interrupt line is an unsigned int: the upper half of its register is undefined. */
	return kind == HANDOVER_IRQ ? (uint32_t)value : value;
}

/* A serial call begins by taking a lock and ends by releasing it. So it also orders what comes before and after the call. */
static struct lock_event event_of(const struct handover_stop *stop, uint64_t gva, uint8_t kind, enum handover_side side,
				  bool give)
{
	return (struct lock_event){.number = stop->number,
				   .gva = gva,
				   .who = stop->who,
				   .give = give,
				   .handover = kind != HANDOVER_SERIAL,
				   .kind = kind,
				   .side = (uint8_t)side};
}

/* ---- what runs ---- */

/*
 * `stop->regs` has the stack pointer of the context that stopped. Forget the context's frames at this depth of the stack and
 * deeper. Their callbacks and calls have ended, but no hook saw them end, as when a callback ends by a jump that has no hook.
 */
static void forget_deeper(struct handover *h, const struct handover_stop *stop)
{
	for (unsigned i = 0; i < HANDOVER_FRAMES_MAX; i++) {
		struct handover_frame *f = &h->frames[i];

		if (f->used && lock_who_same(&f->who, &stop->who) && f->rsp <= stop->regs->gpr[X86_RSP])
			f->used = false;
	}
}

/* Add a frame of the context that stopped. The frame's `rsp` is the CPU's stack pointer plus `above` bytes. */
static void push(struct handover *h, const struct handover_stop *stop, uint64_t above, struct handover_frame frame)
{
	unsigned i = 0;

	forget_deeper(h, stop);
	while (i < HANDOVER_FRAMES_MAX && h->frames[i].used)
		i++;
	if (i == HANDOVER_FRAMES_MAX)
		i = h->oldest++ % HANDOVER_FRAMES_MAX;
	frame.who = stop->who;
	frame.rsp = stop->regs->gpr[X86_RSP] + above;
	frame.used = true;
	h->frames[i] = frame;
}

/*
 * Remove the frame that the context of the stop has at the stop's stack pointer, and store it in *out. `callback`: the frame
 * must be that of a callback, otherwise of a call. Returns false if there is no such frame.
 */
static bool pop(struct handover *h, const struct handover_stop *stop, bool callback, struct handover_frame *out)
{
	for (unsigned i = 0; i < HANDOVER_FRAMES_MAX; i++) {
		struct handover_frame *f = &h->frames[i];

		if (!f->used || f->callback != callback || f->rsp != stop->regs->gpr[X86_RSP] ||
		    !lock_who_same(&f->who, &stop->who))
			continue;
		*out = *f;
		f->used = false;
		return true;
	}
	return false;
}

/* ---- objects ---- */

/* Returns the index of the object, or HANDOVER_OBJECTS_MAX. */
static unsigned find_object(const struct handover *h, uint64_t gva, uint8_t kind)
{
	unsigned i = 0;

	while (i < HANDOVER_OBJECTS_MAX && (!h->objects[i].used || h->objects[i].gva != gva || h->objects[i].kind != kind))
		i++;
	return i;
}

bool handover_has(const struct handover *h, enum handover_kind kind, uint64_t gva)
{
	/* A thread that began before the run has no entry in the table of objects. So every thread counts as known. */
	return kind == HANDOVER_THREAD || find_object(h, gva, (uint8_t)kind) < HANDOVER_OBJECTS_MAX;
}

/* Returns the entry of the object, which may be new. */
static struct handover_object *add_object(struct handover *h, uint64_t gva, uint8_t kind)
{
	unsigned i = find_object(h, gva, kind);

	if (i < HANDOVER_OBJECTS_MAX)
		return &h->objects[i];
	for (i = 0; i < HANDOVER_OBJECTS_MAX && h->objects[i].used;)
		i++;
	if (i == HANDOVER_OBJECTS_MAX)
		i = h->oldest_object++ % HANDOVER_OBJECTS_MAX;
	h->objects[i] = (struct handover_object){.gva = gva, .kind = kind, .used = true};
	return &h->objects[i];
}

/* ---- callbacks that are stopped ---- */

void handover_stop(struct handover *h, const struct lock_function *function, uint64_t gva)
{
	add_object(h, gva, function->kind)->stopped++;
}

/* The object is released for its callback. This undoes a stop of the callback. */
static void start(struct handover *h, const struct lock_function *function, uint64_t gva)
{
	unsigned i = find_object(h, gva, function->kind);

	if (i == HANDOVER_OBJECTS_MAX)
		return;
	/* enable_irq() undoes one disable_irq(). request_irq(), which passes the handler, undoes all of them. */
	if (function->kind == HANDOVER_IRQ && function->calls == LOCK_CALLS_NOTHING && h->objects[i].stopped)
		h->objects[i].stopped--;
	else
		h->objects[i].stopped = 0;
	h->objects[i].quiet &= h->objects[i].stopped != 0;
}

/*
 * The call of `f`, which waits for the object's callback, has returned: the callback has ended. If the call also stops the
 * callback (f->stops), count this stop. Change nothing if the callback was queued during the call, because it may run after the
 * call.
 */
static void waited(struct handover *h, const struct handover_frame *f)
{
	unsigned i = find_object(h, f->gva, f->kind);
	struct handover_object *object;

	if (f->stops)
		object = add_object(h, f->gva, f->kind);
	else if (i < HANDOVER_OBJECTS_MAX)
		object = &h->objects[i];
	else
		return;
	if (object->queued > f->number)
		return;
	if (f->stops)
		object->stopped++;
	object->quiet = object->stopped != 0;
}

/*
 * A callback begins. If it counted as stopped, a call that started it again was missed, so it is not stopped any more. An
 * exception is an interrupt that came just before disable_irq_nosync(): its handler may begin after that call, and the line is
 * stopped nevertheless.
 */
static void began(struct handover_object *object)
{
	if (object->kind != HANDOVER_IRQ || object->quiet)
		object->stopped = 0;
	object->quiet = false;
}

static bool runs(const struct handover *h, const struct handover_object *object)
{
	for (unsigned i = 0; i < HANDOVER_FRAMES_MAX; i++) {
		const struct handover_frame *f = &h->frames[i];

		if (f->used && f->callback && f->gva == object->gva && f->kind == object->kind)
			return true;
	}
	return false;
}

static void add_callback(struct lockset *set, uint64_t gva, bool shared)
{
	for (unsigned i = 0; i < set->count; i++) {
		if (set->held[i].gva == gva)
			return;
	}
	if (set->count == LOCKSET_MAX)
		set->overflow = true;
	else
		set->held[set->count++] = (struct held_lock){.gva = gva, .kind = LOCK_CALLBACK, .shared = shared};
}

void handover_add_callbacks(const struct handover *h, const struct lock_who *who, uint64_t rsp, struct lockset *set)
{
	for (unsigned i = 0; i < HANDOVER_FRAMES_MAX; i++) {
		const struct handover_frame *f = &h->frames[i];

		if (f->used && f->callback && f->rsp >= rsp && lock_who_same(&f->who, who))
			add_callback(set, f->gva, false);
	}
	for (unsigned i = 0; i < HANDOVER_OBJECTS_MAX; i++) {
		const struct handover_object *object = &h->objects[i];

		if (object->used && object->quiet && !runs(h, object))
			add_callback(set, object->gva, true);
	}
}

bool handover_lines_stopped(const struct handover *h)
{
	bool any = false;

	for (unsigned i = 0; i < HANDOVER_OBJECTS_MAX; i++) {
		const struct handover_object *object = &h->objects[i];

		if (!object->used || object->kind != HANDOVER_IRQ)
			continue;
		if (!object->stopped)
			return false;
		any = true;
	}
	return any;
}

void handover_seen(struct handover *h, unsigned cpu, const struct guest_context *context)
{
	for (unsigned i = 0; context->known && i < HANDOVER_FRAMES_MAX; i++) {
		struct handover_frame *f = &h->frames[i];

		if (f->used && f->callback && f->who.cpu == cpu && f->who.kind > context->kind)
			f->used = false;
	}
}

/*
 * A callback begins. Returns the number of the lock moment in which the callback was queued or, if no hook saw that, in which
 * it begins. A call that waits for the callback waits for this run if the call was made in that moment or later.
 */
static uint64_t due_since(struct handover *h, uint64_t gva, uint8_t kind, uint64_t now)
{
	struct handover_object *object = add_object(h, gva, kind);
	uint64_t due = object->queued ? object->queued : now;

	object->queued = 0;
	began(object);
	return due;
}

void handover_object_gone(struct handover *h, uint64_t gva)
{
	for (unsigned i = 0; i < HANDOVER_OBJECTS_MAX; i++) {
		if (h->objects[i].kind != HANDOVER_IRQ && h->objects[i].gva - gva < OBJECT_BYTES)
			h->objects[i].used = false;
	}
}

/* ---- releases and acquires ---- */

/* Remember a callback. Returns whether it is new. */
static bool learn(struct handover *h, uint64_t addr, const struct lock_function *function)
{
	for (unsigned i = 0; i < h->callback_count; i++) {
		if (h->callbacks[i].addr == addr)
			return false;
	}
	if (h->callback_count == HANDOVER_CALLBACKS_MAX)
		return false;
	h->callbacks[h->callback_count++] = (struct handover_callback){.addr = addr, .function = function};
	return true;
}

bool handover_release(struct handover *h, const struct handover_stop *stop, const struct lock_function *function, uint64_t gva,
		      uint64_t callee, struct lock_event *out)
{
	*out = event_of(stop, gva, function->kind, function->kind == HANDOVER_COMPLETION ? HANDOVER_END : HANDOVER_START, true);
	start(h, function, gva);
	if (function->kind == HANDOVER_WORK || function->kind == HANDOVER_TIMER)
		add_object(h, gva, function->kind)->queued = stop->number;
	return callee && learn(h, callee, function);
}

bool handover_learn(struct handover *h, const struct lock_function *function, uint64_t callee)
{
	return learn(h, callee, function);
}

/* `above`: bytes by which the stack pointer is lower than it will be after the call. */
static void acquire(struct handover *h, const struct handover_stop *stop, uint64_t above, const struct lock_function *function,
		    uint64_t gva, bool outside)
{
	push(h, stop, above,
	     (struct handover_frame){.gva = gva,
				     .number = stop->number,
				     .kind = function->kind,
				     .outside = outside,
				     .tested = function->tested,
				     .stops = function->stops});
}

void handover_acquire(struct handover *h, const struct handover_stop *stop, const struct lock_function *function, uint64_t gva,
		      bool outside)
{
	acquire(h, stop, 0, function, gva, outside);
}

void handover_acquire_at_entry(struct handover *h, const struct handover_stop *stop, const struct lock_function *function,
			       uint64_t gva)
{
	for (unsigned i = 0; i < HANDOVER_FRAMES_MAX; i++) {
		const struct handover_frame *f = &h->frames[i];

		if (f->used && !f->callback && f->gva == gva && f->kind == function->kind &&
		    f->rsp == stop->regs->gpr[X86_RSP] + RETURN_BYTES && lock_who_same(&f->who, &stop->who))
			return;
	}
	acquire(h, stop, RETURN_BYTES, function, gva, true);
}

bool handover_returned(struct handover *h, const struct lock_who *who, uint64_t rsp, bool in_subject, struct lock_event *out)
{
	for (unsigned i = 0; i < HANDOVER_FRAMES_MAX; i++) {
		struct handover_frame *f = &h->frames[i];

		if (!f->used || f->callback || f->tested || !lock_who_same(&f->who, who))
			continue;
		if (f->rsp > rsp && !(f->outside && in_subject))
			continue;
		*out = (struct lock_event){.gva = f->gva,
					   .since = f->number,
					   .who = *who,
					   .handover = true,
					   .kind = f->kind,
					   .side = HANDOVER_END};
		waited(h, f);
		f->used = false;
		return true;
	}
	return false;
}

bool handover_acquired(struct handover *h, const struct handover_stop *stop, const struct lock_function *function,
		       struct lock_event *out)
{
	uint64_t result = stop->regs->gpr[X86_RAX];
	struct handover_frame frame;

	if (!pop(h, stop, false, &frame) || frame.kind != function->kind)
		return false;
	/*
	 * Some functions return 0 for failure: their result is a time in jiffies, a long. The others return 0 for success:
	 * their result is an int, so the upper half of RAX is undefined.
	 */
	if (function->tested && function->nonzero != ((function->nonzero ? result : (uint32_t)result) != 0))
		return false;
	waited(h, &frame);
	*out = event_of(stop, frame.gva, frame.kind, HANDOVER_END, false);
	return true;
}

/* Whether the return address on the stack belongs to a direct call of the function at whose start the CPU is. */
static bool called_directly(const struct handover_stop *stop)
{
	uint8_t code[X86_CALL_LEN];
	int32_t displacement;
	uint64_t back, start;

	if (guest_read(stop->guest, stop->regs->gpr[X86_RSP], &back, sizeof(back)) ||
	    guest_read(stop->guest, back - X86_CALL_LEN, code, sizeof(code)))
		return true;
	memcpy(&displacement, code + 1, sizeof(displacement));
	start = back + (uint64_t)(int64_t)displacement;
	return code[0] == X86_CALL && stop->regs->rip - start <= HANDOVER_PROLOGUE;
}

/* Whether the pointer at GVA `at` points to the callback that begins here. If `cleared` is set, a NULL pointer counts, too. */
static bool leads_here(const struct handover_stop *stop, uint64_t at, bool cleared)
{
	uint64_t callee;

	return guest_read(stop->guest, at, &callee, sizeof(callee)) == 0 &&
	       ((cleared && !callee) || stop->regs->rip - callee <= HANDOVER_PROLOGUE);
}

/*
 * Whether the first argument can be the callback's object. If another function of the subject jumped here, the argument is
 * something else.
 */
static bool has_object(const struct handover_stop *stop, const struct lock_function *function)
{
	uint64_t argument = stop->regs->gpr[X86_RDI];

	if (function->kind == HANDOVER_IRQ)
		return !x86_kernel_address(argument);
	if (function->kind == HANDOVER_SERIAL && !x86_kernel_address(argument))
		return false;
	if (function->calls != LOCK_CALLS_MEMBER)
		return true;
	/* timer_shutdown() clears the pointer, perhaps just before the timer's function begins. */
	return leads_here(stop, argument + (uint64_t)function->calls_at, true) ||
	       (function->calls_or_at && leads_here(stop, argument + (uint64_t)function->calls_or_at, false));
}

bool handover_enter(struct handover *h, const struct handover_stop *stop, const struct lock_function *function,
		    struct lock_event *out)
{
	uint64_t gva = handover_object((enum handover_kind)function->kind, stop->regs->gpr[X86_RDI]);

	if (!has_object(stop, function))
		return false;
	forget_deeper(h, stop);
	if (called_directly(stop))
		return false;
	push(h, stop, 0,
	     (struct handover_frame){.gva = gva,
				     .number = due_since(h, gva, function->kind, stop->number),
				     .kind = function->kind,
				     .callback = true});
	*out = event_of(stop, gva, function->kind, HANDOVER_START, false);
	out->begins = true;
	return true;
}

bool handover_leave(struct handover *h, const struct handover_stop *stop, const struct lock_function *function,
		    struct lock_event *out)
{
	struct handover_frame frame;

	if (!pop(h, stop, true, &frame)) {
		if (function->kind != HANDOVER_THREAD || !stop->task || called_directly(stop))
			return false;
		frame = (struct handover_frame){.kind = HANDOVER_THREAD};
	}
	/*
	 * The object of a thread is its task, because kthread_stop() gets the task, and not the argument of the thread's
	 * function.
	 */
	*out = event_of(stop, frame.kind == HANDOVER_THREAD ? stop->task : frame.gva, frame.kind, HANDOVER_END, true);
	/* A thread ends once, so every call that waits for its end waits for this end. */
	out->due = frame.kind == HANDOVER_THREAD ? 0 : frame.number;
	return true;
}

/* ---- callbacks ---- */

const struct handover_callback *handover_next_callback(struct handover *h)
{
	for (unsigned i = 0; i < h->callback_count; i++) {
		struct handover_callback *c = &h->callbacks[i];

		if (!c->known) {
			c->known = true;
			return c;
		}
	}
	return NULL;
}

void handover_callbacks_again(struct handover *h, uint64_t base, uint64_t size)
{
	for (unsigned i = 0; i < h->callback_count; i++) {
		if (h->callbacks[i].addr - base < size)
			h->callbacks[i].known = false;
	}
}

void handover_rest(struct handover *h)
{
	memset(h->frames, 0, sizeof(h->frames));
	memset(h->objects, 0, sizeof(h->objects));
}

void handover_text_gone(struct handover *h, uint64_t base, uint64_t size)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < h->callback_count; i++) {
		if (h->callbacks[i].addr - base >= size)
			h->callbacks[kept++] = h->callbacks[i];
	}
	h->callback_count = kept;
}
