/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A target: a machine that can be stopped, read and instrumented. The detector is written once, against this interface. There
 * are two implementations of struct target_ops: hv/target/kvm, for a machine of our own VMM, and hv/target/gdb, for a gdbstub
 * such as that of a libvirt domain.
 *
 * Execution model. A CPU runs until it stops at a planted breakpoint or at a watchpoint. The target then calls the client, on
 * the thread that serves that CPU and with that CPU stopped, and does what the returned action says. Callbacks for different
 * CPUs may run at the same time if caps.parallel says so. Callbacks for one CPU never do. Every other function may be called
 * from any thread, from a callback too, unless its comment says otherwise.
 */
#ifndef OUTRIDER_TARGET_TARGET_H
#define OUTRIDER_TARGET_TARGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/base/x86.h"
#include "hv/race/device.h"
#include "hv/race/stats.h"

#define TARGET_MAX_CPUS 16
#define TARGET_MAX_WATCHES 4

struct target;

/* What a target can do. It does not change after the target was made. */
struct target_caps {
	unsigned cpus;	     /* The number of CPUs. They are numbered from 0. */
	unsigned watches;    /* How many watches the client may set at a time, 0 to TARGET_MAX_WATCHES. */
	unsigned points;     /* How many breakpoints may be planted at a time. 0: any number. */
	unsigned pages;	     /* On so many pages of text they may be, beside those that have lasting ones. 0: any number. */
	unsigned lasting;    /* How many more may be planted that stay, where `points` are few since planting one is slow. */
	bool irq_while_held; /* A held CPU still takes its interrupts. */
	bool parallel;	     /* Callbacks for different CPUs may run at the same time. */
	bool costly_stops;   /* Nothing can be read or changed unless all CPUs are stopped, which takes much of a window's time.
			      */
	bool devices;	     /* The target's devices say what memory they access. */
	bool late_watch; /* on_watch may come late, at a later stop of that CPU. So it may only be believed if an access fits.
			  */
};

/* A watchpoint on data (SDM vol. 3, 18.2.5). */
struct target_watch {
	uint64_t gva;	 /* A multiple of `len`. */
	uint8_t len;	 /* 1, 2, 4 or 8 bytes. */
	bool read;	 /* Reads trap, too. Writes always do. */
	uint8_t owner;	 /* The CPU whose access is sampled. It is watched (in its interrupt handlers) only while it is held. */
	uint32_t cookie; /* Handed back with a hit. It tells a watch that was retired from the next one in the same slot. */
};

enum target_action_kind {
	/* The CPU goes on at regs->rip. */
	TARGET_RESUME,
	/* The CPU goes on with the general registers, RIP and RFLAGS of *regs. */
	TARGET_RESUME_REGS,
	/* The CPU is kept at regs->rip for hold_ns or until target_release(). Then on_hold_end is called. */
	TARGET_HOLD,
	/*
	 * For on_breakpoint: the INT3 is the guest's own, and the guest gets its #BP. For on_watch: all of these watches were
	 * retired, and the CPU goes on.
	 */
	TARGET_NOT_MINE,
};

struct target_action {
	enum target_action_kind kind;
	uint64_t hold_ns; /* How long to hold the CPU from now on, in ns (TARGET_HOLD only). */
};

/*
 * The client's callbacks. `regs` are the registers of the stopped CPU. They are valid during the call. A callback must not wait
 * for another CPU's callback.
 */
struct target_client {
	/*
	 * The CPU is about to execute the instruction at regs->rip. A breakpoint stands there or stood there a moment ago. The
	 * client has to decide whether an INT3 of the guest's own stands there, and has to do so while nothing can be planted.
	 * If it looked a moment later, it could take an INT3 that was just planted for the guest's own, and the guest would get
	 * a #BP that kills it.
	 */
	struct target_action (*on_breakpoint)(void *ctx, unsigned cpu, struct x86_regs *regs);
	/*
	 * An access has matched the watches with these cookies. The access is done, and RIP is behind it. Watches are retired
	 * lazily, so some of these may be retired already. If all are, the client answers TARGET_NOT_MINE.
	 */
	struct target_action (*on_watch)(void *ctx, unsigned cpu, struct x86_regs *regs, const uint32_t *cookies, unsigned n);
	/*
	 * The hold of the CPU has ended. The CPU is still stopped, and goes on after the action. TARGET_HOLD makes the hold
	 * longer. regs->rip may be elsewhere than at the start of the hold: in an interrupt handler, or in another task if the
	 * held one was preempted.
	 */
	struct target_action (*on_hold_end)(void *ctx, unsigned cpu, struct x86_regs *regs);
	/*
	 * A device accesses a segment of a request, or a ring, in memory whose filter target_devices_watch() was given: see
	 * struct device_observer. Called on the device's own thread, which holds no lock, and may be called for several
	 * devices, and beside the callbacks of CPUs, at the same time. A device waits meanwhile, so the client must not wait
	 * for anything but its own locks, which it holds for bounded work only. Only with caps.devices.
	 */
	void (*on_device)(void *ctx, const struct device_access *access);
	void (*on_ring)(void *ctx, const struct device_access *access);
	void *ctx; /* The first argument of every callback. */
};

/* What a target implements. Each operation is described at the function target_...() of its name below. */
struct target_ops {
	void (*enter)(struct target *t); /* NULL, with `leave`, for a target that has nothing to do here. */
	void (*leave)(struct target *t);
	int (*stand_still)(struct target *t);
	void (*go_on)(struct target *t);
	int (*read_phys)(struct target *t, uint64_t gpa, void *buf, size_t len);
	int (*write_phys)(struct target *t, uint64_t gpa, const void *buf, size_t len); /* See target_write(). */
	int (*plant)(struct target *t, uint64_t gva, uint64_t gpa, uint8_t first);
	void (*unplant)(struct target *t, uint64_t gva, uint64_t gpa, uint8_t first, bool intact);
	void (*refetch)(struct target *t, uint64_t gpa, uint8_t byte);
	int (*intercept)(struct target *t, bool on, struct err *err);
	void (*watch_set)(struct target *t, unsigned slot, const struct target_watch *watch);
	void (*watch_clear)(struct target *t, unsigned slot);
	void (*watch_sync)(struct target *t, unsigned self);
	bool (*barrier)(struct target *t, unsigned self);
	void (*release)(struct target *t, unsigned cpu);
	int (*peek_regs)(struct target *t, unsigned cpu, struct x86_regs *regs);
	void (*debug_regs_changed)(struct target *t, unsigned cpu);
	bool (*idle)(struct target *t, unsigned cpu);
	void (*devices_watch)(struct target *t, uint64_t filter); /* NULL, with the next two, without caps.devices. */
	void (*devices_in_flight)(struct target *t, const struct device_observer *observer);
	bool (*devices_busy)(struct target *t);
	void (*stats)(struct target *t, struct target_stats *out);
	void (*stop)(struct target *t);
};

struct target {
	const struct target_ops *ops;
	struct target_caps caps;
	const struct target_client *client; /* Set before the CPUs run. NULL: no callback is called. */
	atomic_bool over;		    /* The machine has ended. No callback is called any more. */
	atomic_bool ending;		    /* target_stop() was called. What fails from then on is no failure. */
};

/*
 * Put target_enter() and target_leave() around what is done to the machine from outside a callback, if it is to be done in one
 * go or under the client's locks. A target that can only be touched while the machine stands still stops it once for all of
 * this. It does so not before the guest has had its share of time, so target_enter() may wait for long. The calls nest.
 * target_enter() must not be called under the client's locks, because callbacks take those while the machine stands still.
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
 * read. None of the client's callbacks for CPUs runs. The calls nest, and several threads may make them: the CPUs go on when
 * the last caller says so.
 *
 * What is not stopped: the machine's clocks, timers and devices, the time of a hold, and the client's own threads. A device may
 * still write to the guest's memory and call on_device and on_ring, and with KVM so may a thread that plants breakpoints. To
 * keep that thread out, take the client's lock after target_stand_still() and not before: no CPU's callback runs then that
 * could have it. A hold that ends meanwhile gets its on_hold_end after target_go_on(). What was changed before stays as it is:
 * a breakpoint that is planted is still in the guest's memory, and a held CPU is still held. With KVM the machine does not end
 * meanwhile, either: target_stop() takes effect after target_go_on().
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

/* Copy the `len` bytes at the GPA `gpa`. Returns 0, or -1 when any of them is not RAM. */
static inline int target_read_phys(struct target *t, uint64_t gpa, void *buf, size_t len)
{
	return t->ops->read_phys(t, gpa, buf, len);
}

/*
 * Translate the GVA `gva`, of the kernel or of user space, with the page tables at `cr3`. These have 4 levels, or 5 if cr4.LA57
 * is set (SDM vol. 3, 4.5). They are the guest's and may change meanwhile, so the result is one that was true at some moment.
 * Returns 0 with `gpa` set, or -1 when the address is not mapped.
 */
int target_translate(struct target *t, uint64_t cr3, uint64_t cr4, uint64_t gva, uint64_t *gpa);

/*
 * The same for an access that the kernel is about to make with these registers. It fails, besides, when the CPU would not make
 * the access as quietly: when the page may not be written to and `write` is set, or when the CPU would set an accessed or a
 * dirty bit on the way (SDM vol. 3, 4.6 and 4.8).
 */
int target_translate_quietly(struct target *t, const struct x86_regs *regs, uint64_t gva, bool write, uint64_t *gpa);

/* Copy the `len` bytes at the GVA `gva`, page by page. Returns 0, or -1 when any of them is not mapped or not RAM. */
int target_read(struct target *t, uint64_t cr3, uint64_t cr4, uint64_t gva, void *buf, size_t len);

/*
 * Copy `len` bytes to the GVA `gva` in the same way. This may only be used for what the CPU that was stopped was about to write
 * there itself.
 */
int target_write(struct target *t, uint64_t cr3, uint64_t cr4, uint64_t gva, const void *buf, size_t len);

/*
 * Plant a breakpoint on the instruction at the GVA `gva`, which is mapped at the GPA `gpa`, if its first byte is still `first`.
 * CPUs may run meanwhile. Returns 0; 1 when another byte stands there; -1 when the breakpoint cannot be planted.
 */
static inline int target_plant(struct target *t, uint64_t gva, uint64_t gpa, uint8_t first)
{
	return t->ops->plant(t, gva, gpa, first);
}

/*
 * Take a breakpoint out again, so that `first` is executed. `intact` is false when the rest of the instruction is no longer
 * there. Then what is at `gpa` may be somebody else's by now, and it is left as it is.
 */
static inline void target_unplant(struct target *t, uint64_t gva, uint64_t gpa, uint8_t first, bool intact)
{
	t->ops->unplant(t, gva, gpa, first, intact);
}

/*
 * A CPU has stopped for a breakpoint at the GPA `gpa` that is no longer there: `byte` is. Make sure that the CPU executes
 * `byte` when it goes on.
 */
static inline void target_refetch(struct target *t, uint64_t gpa, uint8_t byte)
{
	t->ops->refetch(t, gpa, byte);
}

/*
 * Publish a watch in a slot that is clear. On other CPUs it is in force only after target_watch_sync(). To have one kick for
 * each CPU and window, set all slots of a window first and then sync once.
 */
static inline void target_watch_set(struct target *t, unsigned slot, const struct target_watch *watch)
{
	t->ops->watch_set(t, slot, watch);
}

/* Retire the watch in a slot. This is lazy: no CPU is kicked. A CPU may still trip on the watch once and deliver its cookie. */
static inline void target_watch_clear(struct target *t, unsigned slot)
{
	t->ops->watch_clear(t, slot);
}

/* Return when every CPU but `self` has loaded the published watches, or will load them before its next instruction. */
static inline void target_watch_sync(struct target *t, unsigned self)
{
	t->ops->watch_sync(t, self);
}

/*
 * Return when every other CPU has delivered the stops it had before this call. To be called from a callback of the CPU `self`,
 * without the client's locks. It waits for some milliseconds at most, because two CPUs may be doing this to each other. Returns
 * whether they have; if not, one of them may still have something to say.
 */
static inline bool target_barrier(struct target *t, unsigned self)
{
	return t->ops->barrier(t, self);
}

/* End the hold of a CPU now, if it is held. Its on_hold_end follows, on its own thread. Callable under the client's locks. */
static inline void target_release(struct target *t, unsigned cpu)
{
	t->ops->release(t, cpu);
}

/* Get the registers of a running CPU by stopping it for a moment. Not from a callback. Returns 0, or -1 when the machine is
 * over. */
static inline int target_peek_regs(struct target *t, unsigned cpu, struct x86_regs *regs)
{
	return t->ops->peek_regs(t, cpu, regs);
}

/*
 * The guest has, or may have, written the debug registers of a CPU. What it has set there must work beside the watches. The
 * target reads these registers before the CPU's next entry into the guest. When called from a callback of that CPU, that is at
 * once. Otherwise it is sure only after target_watch_sync().
 */
static inline void target_debug_regs_changed(struct target *t, unsigned cpu)
{
	t->ops->debug_regs_changed(t, cpu);
}

/* Whether a CPU waits for an interrupt, as far as that can be told without stopping it. */
static inline bool target_idle(struct target *t, unsigned cpu)
{
	return t->ops->idle(t, cpu);
}

/*
 * Say which memory is in open windows: the union of device_filter() over all of it, or 0. A device that begins to access memory
 * from then on calls on_device or on_ring, if the memory may be of that filter. Does nothing without caps.devices.
 */
static inline void target_devices_watch(struct target *t, uint64_t filter)
{
	if (t->ops->devices_watch)
		t->ops->devices_watch(t, filter);
}

/*
 * Tell `observer`, before this returns, of all that devices are accessing now in memory of the filter that was given last. To
 * be called after target_devices_watch() and before the memory is first looked at: then of each access one of the two has told,
 * or both have, or it was over before that look. Callable under the client's locks. The observer must not call a function of
 * this interface. Does nothing without caps.devices.
 */
static inline void target_devices_in_flight(struct target *t, const struct device_observer *observer)
{
	if (t->ops->devices_in_flight)
		t->ops->devices_in_flight(t, observer);
}

/* Whether any device serves a request, or was notified of one. Always false without caps.devices. */
static inline bool target_devices_busy(struct target *t)
{
	return t->ops->devices_busy && t->ops->devices_busy(t);
}

/*
 * Turn the interception of breakpoints on or off for all CPUs: it is on while any breakpoint may be planted. Returns once that
 * is in force: 0, or -1 with `err` set.
 */
static inline int target_intercept(struct target *t, bool on, struct err *err)
{
	return t->ops->intercept(t, on, err);
}

/* What the target has counted so far. */
static inline void target_stats(struct target *t, struct target_stats *out)
{
	t->ops->stats(t, out);
}

/* End the machine, or the connection to it. The function that runs it, or waits for its end, then returns. */
static inline void target_stop(struct target *t)
{
	atomic_store(&t->ending, true);
	t->ops->stop(t);
}

#endif
