/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Follows hand-overs (hv/race/handover.h). A callback is a function of the subject, the sampled code, that the kernel calls
 * with an object. struct handover records which callbacks run in which context, which calls that acquire an object have not
 * returned yet, and which functions are callbacks. lock_handovers.c passes the hits of lock hooks here. The results are events
 * for handover_order().
 *
 * A callback becomes known when it is handed over: queue_work_on() tells the address of the work function. A callback that was
 * handed over before the run becomes known when the kernel is seen to call it (handover_learn()). The sampler's thread then
 * plants hooks at the first instruction of that function and at its ends (callback_hooks.h).
 *
 * While a callback is stopped, as by napi_disable() or disable_irq(), and has ended, it cannot run at the same time as any
 * access. So each access then counts as made under LOCK_CALLBACK, like the accesses of the callback itself.
 *
 * Nothing here allocates. A full table loses a release or an acquire: then an order of two accesses is not seen, and their pair
 * stays suspected. Guarded by the detector's lock.
 */
#ifndef OUTRIDER_DETECT_LOCKS_HANDOVER_H
#define OUTRIDER_DETECT_LOCKS_HANDOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/detect/steer/lock_order.h"
#include "hv/guest/guest.h"
#include "hv/guest/lock_functions.h"

#define HANDOVER_FRAMES_MAX 128u
#define HANDOVER_CALLBACKS_MAX 256u
#define HANDOVER_OBJECTS_MAX 256u
/* The hook of a callback is at most this many bytes after its start (callback_hooks.c). */
#define HANDOVER_PROLOGUE 64u

/* A callback that runs, or an acquiring call that has not returned. */
struct handover_frame {
	/* The context. A frame of a task (GUEST_TASK) stays while the CPU runs other tasks. */
	struct lock_who who;
	/*
	 * The stack pointer at the callback's first instruction, or at the call. The stack pointer has this value again at the
	 * callback's end, or after the call.
	 */
	uint64_t rsp;
	/* The object: its GVA, or the number of an interrupt line. */
	uint64_t gva;
	/*
	 * Of a call: the number of its lock moment. Of a callback: the number of the lock moment in which the callback was
	 * queued or, if no hook saw that, began. A call that waits for the callback waits for this run if the call was made in
	 * that moment or later (lock_event.due).
	 */
	uint64_t number;
	uint8_t kind;
	bool used, callback;
	/*
	 * Of a call: the called function is not code of the subject. Then it counts as one that never calls the subject in
	 * this context. With --sample and without --module, this is known only of calls that were seen at the function's entry.
	 */
	bool outside;
	/* The call's result decides whether the object is acquired. */
	bool tested;
	/* Of a call: the object's callback is stopped when the call returns. */
	bool stops;
};

/* A function that the kernel calls back. */
struct handover_callback {
	uint64_t addr;
	/*
	 * The lock function by which the callback became known: a function to which the subject passed the callback
	 * (LOCK_RELEASE), or a function that calls the callback (LOCK_CALLER).
	 */
	const struct lock_function *function;
	/* handover_next_callback() has returned it. */
	bool known;
};

/*
 * An object that belongs to a callback: the subject released the object for the callback, or the kernel called the callback
 * with it.
 */
struct handover_object {
	uint64_t gva;
	uint8_t kind;
	bool used;
	/*
	 * Of a queued work item or timer: the number of the lock moment in which it was queued. 0: not queued, as far as the
	 * detector saw.
	 */
	uint64_t queued;
	/* How often the callback was stopped without being started again: calls of disable_irq() nest. */
	unsigned stopped;
	/*
	 * The callback was stopped, and then a call waited until it had ended: the callback does not run until it is started
	 * again.
	 */
	bool quiet;
};

struct handover {
	struct handover_frame frames[HANDOVER_FRAMES_MAX];
	struct handover_callback callbacks[HANDOVER_CALLBACKS_MAX];
	struct handover_object objects[HANDOVER_OBJECTS_MAX];
	unsigned callback_count;
	/*
	 * Counters that choose, modulo the array's size, which entry of frames[] or objects[] a new entry replaces when all
	 * are used.
	 */
	unsigned oldest, oldest_object;
};

/* A stop at a lock hook. */
struct handover_stop {
	const struct guest *guest;
	const struct x86_regs *regs;
	/* The context, which is known. */
	struct lock_who who;
	/* GVA of the context's task_struct, or 0. */
	uint64_t task;
	/* Number of the stop. Stops and lock moments are numbered together, in their order (lock_moment.number). */
	uint64_t number;
};

/*
 * Returns what identifies the object in events: its GVA, or the number of an interrupt line. `value`: the argument or register
 * that passes the object.
 */
uint64_t handover_object(enum handover_kind kind, uint64_t value);

/*
 * The CPU is about to call a LOCK_RELEASE function with this object. `callee` is the GVA of the function that the kernel will
 * call back, or 0. Stores the event in *out. Returns whether the callback was not known before: until its hooks are planted, no
 * order is certain.
 */
bool handover_release(struct handover *h, const struct handover_stop *stop, const struct lock_function *function, uint64_t gva,
		      uint64_t callee, struct lock_event *out);

/*
 * The kernel calls the function at `callee` from the LOCK_CALLER function. Returns whether the callback was not known before:
 * until its hooks are planted, no order is certain.
 */
bool handover_learn(struct handover *h, const struct lock_function *function, uint64_t callee);

/*
 * The CPU is about to call a LOCK_ACQUIRE function with this object. If the function is `tested`, a hook must see the call's
 * result. `outside`: the function is not code of the subject.
 */
void handover_acquire(struct handover *h, const struct handover_stop *stop, const struct lock_function *function, uint64_t gva,
		      bool outside);

/* The CPU is about to call a LOCK_STOP function with this object. */
void handover_stop(struct handover *h, const struct lock_function *function, uint64_t gva);

/*
 * Add to `set` the callbacks that no other CPU can run now: those that this context runs itself, and those that are stopped and
 * that no context runs. Each is a held_lock of kind LOCK_CALLBACK.
 */
void handover_add_callbacks(const struct handover *h, const struct lock_who *who, uint64_t rsp, struct lockset *set);

/* Whether the subject has at least one interrupt line, and all its interrupt lines are stopped, as far as the detector saw. */
bool handover_lines_stopped(const struct handover *h);

/*
 * This CPU is in this context, so all interrupts of a higher kind (enum guest_context_kind) have ended on the CPU: forget the
 * frames of the callbacks that ran in them.
 */
void handover_seen(struct handover *h, unsigned cpu, const struct guest_context *context);

/*
 * Whether the object belongs to a callback, as far as the detector saw. Always true for a thread, which may have begun before
 * the run.
 */
bool handover_has(const struct handover *h, enum handover_kind kind, uint64_t gva);

/* The CPU is at the entry of a LOCK_ACQUIRE function with this object. Does nothing if the call was seen already. */
void handover_acquire_at_entry(struct handover *h, const struct handover_stop *stop, const struct lock_function *function,
			       uint64_t gva);

/*
 * A CPU stopped. Returns true if an acquiring call of its context has returned and no hook saw the return, with the event in
 * *out. There are two signs of this: the stack pointer is not below its value at the call any more; or the called function is
 * outside of the subject, and `in_subject` says that the CPU is in code of the subject, which this function never calls. The
 * second sign is needed where the caller has no hook after the call and goes on in functions that it calls itself.
 * out->since is set. Call this function first at each stop, again and again until it returns false.
 */
bool handover_returned(struct handover *h, const struct lock_who *who, uint64_t rsp, bool in_subject, struct lock_event *out);

/* A hook saw that a LOCK_ACQUIRE function has returned. Returns whether the object was acquired, with the event in *out. */
bool handover_acquired(struct handover *h, const struct handover_stop *stop, const struct lock_function *function,
		       struct lock_event *out);

/*
 * The CPU is at the first instruction of a callback. Returns false if the function does not run as a callback now, because
 * other code called it directly or jumped to it: then nothing was acquired. Otherwise stores the event in *out.
 */
bool handover_enter(struct handover *h, const struct handover_stop *stop, const struct lock_function *function,
		    struct lock_event *out);

/*
 * The CPU is at an end of a callback. Returns true, with the event in *out, if the callback's object is known: a hook saw the
 * callback's beginning, or the callback is the function of a thread, whose end releases the thread itself.
 */
bool handover_leave(struct handover *h, const struct handover_stop *stop, const struct lock_function *function,
		    struct lock_event *out);

/* Returns the next callback whose hooks are to be planted, or NULL. Valid until the detector's lock is released. */
const struct handover_callback *handover_next_callback(struct handover *h);

/* Let handover_next_callback() return the callbacks in [base, base+size) again: their text can have hooks now. */
void handover_callbacks_again(struct handover *h, uint64_t base, uint64_t size);

/* The object at `gva` was freed or allocated: forget its entry. */
void handover_object_gone(struct handover *h, uint64_t gva);

/* The hooks are being removed: forget all frames and all objects. The known callbacks stay. */
void handover_rest(struct handover *h);

/* The text [base, base+size) is about to be freed: forget its callbacks. */
void handover_text_gone(struct handover *h, uint64_t base, uint64_t size);

#endif
