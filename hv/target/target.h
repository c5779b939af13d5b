/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A target: a machine that can be stopped, read and instrumented. The detector is written once against this interface; a
 * backend (kvm: our own VMM; a gdbstub behind libvirt) fills in struct target_ops.
 *
 * Execution model. A CPU runs until it stops at a planted breakpoint or a watchpoint; the backend then calls the client on
 * whatever thread serves that CPU, with the CPU stopped, and does what the returned action says. Callbacks for different CPUs
 * may run at the same time when caps.parallel says so; for one CPU never. All other functions may be called from any thread,
 * client callbacks included, except where noted.
 */
#ifndef OUTRIDER_TARGET_TARGET_H
#define OUTRIDER_TARGET_TARGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/base/x86.h"
#include "hv/race/stats.h"

#define TARGET_MAX_CPUS 16
#define TARGET_MAX_WATCHES 4

struct target;

struct target_caps {
	unsigned cpus;
	unsigned watches;    /* watchpoint slots the client may use, 0..TARGET_MAX_WATCHES */
	unsigned points;     /* breakpoints that may be planted at a time; 0: any number */
	bool irq_while_held; /* a held CPU still takes its interrupts */
	bool parallel;	     /* callbacks for different CPUs may be concurrent */
	bool costly_stops;   /* nothing can be looked at or changed but with all CPUs stopped, which costs much of a window */
	bool late_watch; /* on_watch may come late, at a later stop of that CPU: only an access that fits is to be believed */
};

/* A data watchpoint: `len` is 1, 2, 4 or 8 and gva a multiple of it (SDM vol. 3, 18.2.5). */
struct target_watch {
	uint64_t gva;
	uint8_t len;
	bool read;     /* trap reads too; writes always trap */
	uint8_t owner; /* the CPU whose access is sampled: it is watched only while held (its interrupt handlers), not after */
	uint32_t cookie; /* handed back with a hit, so that the client can tell a retired watch from the slot's next one */
};

enum target_action_kind {
	TARGET_RESUME,	    /* go on at regs->rip */
	TARGET_RESUME_REGS, /* the same, after loading general registers, RIP and RFLAGS from *regs */
	TARGET_HOLD,	    /* keep the CPU at regs->rip for hold_ns, or until target_release(); then on_hold_end */
	TARGET_NOT_MINE,    /* on_breakpoint: an INT3 of the guest's own, it gets its #BP; on_watch: all retired, just go on */
};

struct target_action {
	enum target_action_kind kind;
	uint64_t hold_ns; /* from now */
};

/* Callbacks; `regs` is the stopped CPU's state, valid during the call. They must not block on another CPU's callback. */
struct target_client {
	/*
	 * The CPU is about to execute the instruction at regs->rip, where a breakpoint stands or stood a moment ago. Whether an
	 * INT3 of the guest's own stands there the client must decide while nothing can be planted: looked at a moment later,
	 * an INT3 just planted would be taken for the guest's, and kill it.
	 */
	struct target_action (*on_breakpoint)(void *ctx, unsigned cpu, struct x86_regs *regs);
	/*
	 * An access matched the watches with these cookies. The access is done: RIP is past it. A watch may have been retired
	 * since (watches go lazily): if all were, answer TARGET_NOT_MINE and the CPU just goes on.
	 */
	struct target_action (*on_watch)(void *ctx, unsigned cpu, struct x86_regs *regs, const uint32_t *cookies, unsigned n);
	/*
	 * The hold is over; TARGET_HOLD makes it longer. regs->rip may be elsewhere: an interrupt handler, or another task if
	 * the held one was preempted. The CPU still stands; after the action it goes on.
	 */
	struct target_action (*on_hold_end)(void *ctx, unsigned cpu, struct x86_regs *regs);
	void *ctx;
};

struct target_ops {
	void (*enter)(struct target *t); /* this and leave may be NULL: nothing to do */
	void (*leave)(struct target *t);
	int (*stand_still)(struct target *t);
	void (*go_on)(struct target *t);
	/* Bytes [gpa, gpa+len) of guest-physical RAM; -1 when any is not RAM. */
	int (*read_phys)(struct target *t, uint64_t gpa, void *buf, size_t len);
	int (*write_phys)(struct target *t, uint64_t gpa, const void *buf, size_t len);
	int (*plant)(struct target *t, uint64_t gva, uint64_t gpa, uint8_t first);
	void (*unplant)(struct target *t, uint64_t gva, uint64_t gpa, uint8_t first, bool intact);
	void (*refetch)(struct target *t, uint64_t gpa, uint8_t byte);
	/* Whether any INT3 is planted: turns breakpoint interception on or off for all CPUs. Returns once it is in force. */
	int (*intercept)(struct target *t, bool on, struct err *err);
	void (*watch_set)(struct target *t, unsigned slot, const struct target_watch *watch);
	void (*watch_clear)(struct target *t, unsigned slot);
	void (*watch_sync)(struct target *t, unsigned self);
	void (*barrier)(struct target *t, unsigned self);
	void (*release)(struct target *t, unsigned cpu);
	int (*peek_regs)(struct target *t, unsigned cpu, struct x86_regs *regs);
	void (*debug_regs_changed)(struct target *t, unsigned cpu);
	bool (*idle)(struct target *t, unsigned cpu);
	void (*stats)(struct target *t, struct target_stats *out);
	void (*stop)(struct target *t);
};

struct target {
	const struct target_ops *ops;
	struct target_caps caps;
	const struct target_client *client; /* set before CPUs run; NULL: nobody listens */
	atomic_bool over;		    /* the machine has ended: no callback comes any more */
};

/*
 * Around what is done to the machine from outside a callback, if it is to be done at one go or under the client's locks. A
 * target that can only be touched while it stands still is stopped once for all of it, not before the guest had its share of
 * time: this may wait long. Nests. Never under the client's locks: callbacks take those while the machine stands still.
 */
static inline void target_enter(struct target *t)
{
	if (t->ops->enter)
		t->ops->enter(t);
}

static inline void target_leave(struct target *t)
{
	if (t->ops->leave)
		t->ops->leave(t);
}

/*
 * Make the whole machine stand still for a moment, to copy it or to look at it as it is at one point in time. Every call that
 * returned 0 needs a call of target_go_on() by the same thread.
 *
 * From the return of target_stand_still() until target_go_on(), no CPU executes anything: each one is outside the guest (for
 * the KVM target: outside KVM_RUN) and does not enter it. Its state is whole, with no access to a device half done, and can be
 * read. None of the client's callbacks runs. The calls nest, and several threads may make them: the CPUs go on when the last
 * caller says so.
 *
 * What is not stopped: the machine's clocks, timers and devices, and the time of a hold. A device may still write to the
 * guest's memory. A hold that ends meanwhile gets its on_hold_end after target_go_on(). What was changed before stays as it is:
 * a breakpoint that is planted is still in the guest's memory, and a held CPU is still held.
 *
 * All functions of this interface may be used meanwhile by the caller, except target_barrier(), which belongs in a callback. No
 * other thread may rely on being able to: a target can keep them waiting until target_go_on().
 *
 * Callable from any thread but not from a callback, since the CPU that is in a callback cannot come to a stand. Never to be
 * called under the client's locks, since a callback that must end first may be waiting for them. It waits until every CPU has
 * left the guest and has ended its callback or its access to a device, and for a target that owes the guest its share of time
 * (see target_enter()) it waits for that too.
 *
 * Returns 0, or -1 when the machine is over; then there is nothing to undo. Its cost is one kick for each running CPU. Those
 * who do not call it pay nothing, which is why it is not what target_enter() does: the detector uses that around every round of
 * planting, and with KVM a round must not stop the machine.
 */
static inline int target_stand_still(struct target *t)
{
	return t->ops->stand_still(t);
}

/* Let the machine go on, if no other target_stand_still() is still in force. */
static inline void target_go_on(struct target *t)
{
	t->ops->go_on(t);
}

static inline int target_read_phys(struct target *t, uint64_t gpa, void *buf, size_t len)
{
	return t->ops->read_phys(t, gpa, buf, len);
}

/*
 * Translate kernel or user GVA `gva` with the page tables at `cr3` (4-level, or 5-level with cr4.LA57; SDM vol. 3, 4.5). The
 * tables are the guest's and may change meanwhile: the result is one that was true at some moment. 0, or -1 if not mapped.
 */
int target_translate(struct target *t, uint64_t cr3, uint64_t cr4, uint64_t gva, uint64_t *gpa);

/* Copy `len` bytes at `gva`, page by page. 0, or -1 when any byte is unmapped or not RAM. */
int target_read(struct target *t, uint64_t cr3, uint64_t cr4, uint64_t gva, void *buf, size_t len);

/* The same, to the guest; only ever to a stack that the CPU we stopped was about to write to itself. */
int target_write(struct target *t, uint64_t cr3, uint64_t cr4, uint64_t gva, const void *buf, size_t len);

/*
 * Plant a breakpoint on the instruction at `gva`, mapped at `gpa`, if its first byte is still `first`. CPUs may run meanwhile.
 * 0; 1: another byte stands there; -1: it cannot be planted.
 */
static inline int target_plant(struct target *t, uint64_t gva, uint64_t gpa, uint8_t first)
{
	return t->ops->plant(t, gva, gpa, first);
}

/*
 * Take it out again, so that `first` is executed. Not `intact`: the rest of the instruction is no longer there, so what is at
 * gpa may be somebody else's by now and is left as it is.
 */
static inline void target_unplant(struct target *t, uint64_t gva, uint64_t gpa, uint8_t first, bool intact)
{
	t->ops->unplant(t, gva, gpa, first, intact);
}

/* A CPU stopped for a breakpoint that is no longer there; `byte` is. See to it that this is what it executes. */
static inline void target_refetch(struct target *t, uint64_t gpa, uint8_t byte)
{
	t->ops->refetch(t, gpa, byte);
}

/*
 * Publish a watch in a slot that is clear. In force on another CPU only after target_watch_sync(): set all slots of a window,
 * then sync once; that is what keeps it at one kick per CPU and window.
 */
static inline void target_watch_set(struct target *t, unsigned slot, const struct target_watch *watch)
{
	t->ops->watch_set(t, slot, watch);
}

/* Retire a slot. Lazily: no CPU is kicked; one that still trips on it comes back once and is not reported. */
static inline void target_watch_clear(struct target *t, unsigned slot)
{
	t->ops->watch_clear(t, slot);
}

/* Return when every CPU but `self` has the published watches loaded or will load them before its next instruction. */
static inline void target_watch_sync(struct target *t, unsigned self)
{
	t->ops->watch_sync(t, self);
}

/*
 * From a callback of `self`, without the client's locks: return when every other CPU has delivered the stops it had before the
 * call. Waits some milliseconds at most: two CPUs may be doing this to each other.
 */
static inline void target_barrier(struct target *t, unsigned self)
{
	t->ops->barrier(t, self);
}

/* End the hold of `cpu` now, if it is held; its on_hold_end follows on its own thread. Callable under the client's locks. */
static inline void target_release(struct target *t, unsigned cpu)
{
	t->ops->release(t, cpu);
}

/* Registers of a running CPU, stopping it for a moment. Not from a callback. 0, or -1 when the machine is over. */
static inline int target_peek_regs(struct target *t, unsigned cpu, struct x86_regs *regs)
{
	return t->ops->peek_regs(t, cpu, regs);
}

/*
 * The guest has, or may have, written the debug registers of `cpu`; what it set must work beside our watches. They are looked
 * at before the CPU's next entry: from a callback of that CPU at once, from elsewhere after target_watch_sync().
 */
static inline void target_debug_regs_changed(struct target *t, unsigned cpu)
{
	t->ops->debug_regs_changed(t, cpu);
}

/* Whether the CPU waits for an interrupt, as far as can be told without stopping it. */
static inline bool target_idle(struct target *t, unsigned cpu)
{
	return t->ops->idle(t, cpu);
}

static inline int target_intercept(struct target *t, bool on, struct err *err)
{
	return t->ops->intercept(t, on, err);
}

static inline void target_stats(struct target *t, struct target_stats *out)
{
	t->ops->stats(t, out);
}

/* End the machine (or the connection); the backend's run function returns. */
static inline void target_stop(struct target *t)
{
	t->ops->stop(t);
}

#endif
