/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A target: a machine that can be stopped, read and instrumented. The detector uses only this interface. There are two
 * implementations of struct target_ops: hv/target/kvm for a machine of Outrider's own VMM, and hv/target/gdb for a gdbstub
 * such as that of a libvirt domain.
 *
 * Execution model. A CPU runs until it hits a planted breakpoint or a watchpoint. The target then calls the client, on the
 * thread that serves that CPU and with that CPU stopped, and does what the returned action says. Callbacks for different CPUs
 * may run at the same time if caps.parallel is set. Callbacks for one CPU never do. Every other function may be called on any
 * thread, and in a callback too, unless its comment says otherwise.
 */
#ifndef OUTRIDER_TARGET_TARGET_H
#define OUTRIDER_TARGET_TARGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/base/x86.h"
#include "hv/base/device.h"
#include "hv/race/stats.h"

#define TARGET_MAX_CPUS 16
#define TARGET_MAX_WATCHES 4

struct target;

/* The target's capabilities. Constant after the target was created. */
struct target_caps {
	unsigned cpus;	  /* Number of CPUs, numbered from 0. */
	unsigned watches; /* Watches that may be set at a time, 0 to TARGET_MAX_WATCHES. */
	unsigned points;  /* Breakpoints that may be planted at a time. 0: any number. */
	unsigned pages;	  /* Pages of text that may have breakpoints, besides lasting ones. 0: any number. */
	unsigned lasting; /* More breakpoints, if they stay planted; used where `points` is small because planting is slow. */
	bool irq_while_held; /* A held CPU still takes its interrupts. */
	bool parallel;	     /* Callbacks for different CPUs may run at the same time. */
	bool costly_stops;   /* Reading or changing anything stops all CPUs, which takes a large part of a window's time. */
	bool devices;	     /* Devices report their accesses to memory. */
	bool late_watch; /* on_watch may be called late, at a later stop of the CPU. The client must check that an instruction
			  * explains the hit. */
};

/* A watchpoint on data (SDM vol. 3, 18.2.5). */
struct target_watch {
	uint64_t gva;	 /* A multiple of `len`. */
	uint8_t len;	 /* 1, 2, 4 or 8 bytes. */
	bool read;	 /* Reads trap, too. Writes always trap. */
	uint8_t owner;	 /* The held CPU. The watch is in force on it only while it is held, for its interrupt handlers. */
	uint32_t cookie; /* Passed to on_watch. Distinguishes a retired watch from the next one in the same slot. */
};

enum target_action_kind {
	/* The CPU continues at regs->rip. */
	TARGET_RESUME,
	/* The CPU continues with the general registers, RIP and RFLAGS of *regs. */
	TARGET_RESUME_REGS,
	/* The CPU is held at regs->rip for hold_ns or until target_release(). Then on_hold_end is called. */
	TARGET_HOLD,
	/*
	 * For on_breakpoint: the INT3 is the guest's own, so the guest gets its #BP. For on_watch: all of these watches were
	 * retired, and the CPU continues.
	 */
	TARGET_NOT_MINE,
};

struct target_action {
	enum target_action_kind kind;
	uint64_t hold_ns; /* How long to hold the CPU from now on, in ns (TARGET_HOLD only). */
};

/*
 * The client's callbacks. `regs` are the registers of the stopped CPU, valid during the call. A callback must not wait for
 * another CPU's callback.
 */
struct target_client {
	/*
	 * The CPU is about to execute the instruction at regs->rip, where a breakpoint is planted or was planted a moment ago.
	 * The client decides whether the INT3 there is the guest's own, while no breakpoint can be planted. If the client read
	 * the byte later, it could take a newly planted INT3 for the guest's own, and the guest would get a #BP that kills it.
	 */
	struct target_action (*on_breakpoint)(void *ctx, unsigned cpu, struct x86_regs *regs);
	/*
	 * An access hit the watches with these cookies. The access is done, and RIP is at the next instruction. Watches are
	 * retired lazily, so some of these may be retired already. If all are, the client returns TARGET_NOT_MINE.
	 */
	struct target_action (*on_watch)(void *ctx, unsigned cpu, struct x86_regs *regs, const uint32_t *cookies, unsigned n);
	/*
	 * The hold of the CPU has ended. The CPU is still stopped, and continues after the action. TARGET_HOLD extends the
	 * hold. regs->rip may differ from that at the start of the hold: the CPU may be in an interrupt handler, or in another
	 * task if the held one was preempted.
	 */
	struct target_action (*on_hold_end)(void *ctx, unsigned cpu, struct x86_regs *regs);
	/*
	 * A device accesses a segment of a request, or a ring, in memory that matches the filter of target_devices_watch():
	 * see struct device_observer. Called on the device's own thread, which holds no lock, and possibly at the same time
	 * for several devices and for CPUs. The device waits meanwhile, so the client may wait only for its own locks, which
	 * it must hold for bounded work only. Used with caps.devices.
	 */
	void (*on_device)(void *ctx, const struct device_access *access);
	void (*on_ring)(void *ctx, const struct device_access *access);
	void *ctx; /* First argument of every callback. */
};

/* A target's implementation. The comment of each function target_NAME() below describes the operation NAME. */
struct target_ops {
	void (*enter)(struct target *t); /* NULL, together with `leave`, for a target that has nothing to do here. */
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
	void (*devices_watch)(struct target *t, uint64_t filter); /* NULL, together with the next two, without caps.devices. */
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
	atomic_bool ending;		    /* target_stop() was called. Failures from then on are not reported. */
};

/*
 * Put target_enter() and target_leave() around operations outside a callback that belong together, or that are done under the
 * client's locks. A target that can be accessed only while the machine stands still then stops it once for all of these
 * operations. It does so only after the guest has had its share of time, so target_enter() may wait for long. The calls nest.
 * target_enter() must not be called under the client's locks, because callbacks take those locks while the machine stands
 * still.
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
 * Make the whole machine stand still for a moment, to copy it or to read a consistent state. Each call that returned 0 needs a
 * call of target_go_on() by the same thread.
 *
 * From the return of target_stand_still() until target_go_on(), no CPU executes anything: each is outside the guest (for the
 * KVM target: outside KVM_RUN) and does not enter it. Its state is complete, with no device access half done, and can be read.
 * None of the client's callbacks for CPUs runs. The calls nest, and several threads may make them: the CPUs continue at the
 * last target_go_on().
 *
 * Not stopped are the machine's clocks, timers and devices, the time of a hold, and the client's own threads. A device may
 * still write to guest memory and call on_device and on_ring, and with KVM a thread that plants breakpoints may still write,
 * too. To keep that thread out, take the client's lock after target_stand_still() and not before: no CPU's callback runs then
 * that could hold it. A hold that ends meanwhile gets its on_hold_end after target_go_on(). Earlier changes stay: a planted
 * breakpoint is still in guest memory, and a held CPU is still held. With KVM the machine does not end meanwhile, either:
 * target_stop() takes effect after target_go_on().
 *
 * The caller may use all functions of this interface meanwhile, except target_barrier(), which belongs in a callback. Other
 * threads may have to wait in any of them until target_go_on().
 *
 * May be called on any thread, but not in a callback, since the CPU of that callback could not come to a stop, and not under
 * the client's locks, since a callback that must end first may be waiting for them. It waits until every CPU has left the
 * guest and has finished its callback or its device access. A target that owes the guest its share of time (see
 * target_enter()) waits for that, too.
 *
 * Returns 0, or -1 when the machine has ended; then there is nothing to undo. The cost is one kick for each running CPU.
 * target_enter() does not do this, because the detector uses it around every round of planting, and with KVM such a round must
 * not stop the machine.
 */
static inline int target_stand_still(struct target *t)
{
	return t->ops->stand_still(t);
}

/* Let the machine continue, unless another target_stand_still() is in force. */
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
 * Translate a GVA of the kernel or of user space with the page tables at `cr3`. These have 4 levels, or 5 if cr4.LA57 is set
 * (SDM vol. 3, 4.5). The guest may change them meanwhile, so the result was true at some time during the call. Returns 0 with
 * `gpa` set, or -1 when the address is not mapped.
 */
int target_translate(struct target *t, uint64_t cr3, uint64_t cr4, uint64_t gva, uint64_t *gpa);

/*
 * The same for an access that the kernel is about to make with these registers. Also fails when the access would have side
 * effects: when `write` is set and the page is read-only, or when the CPU would set an accessed or dirty bit (SDM vol. 3, 4.6
 * and 4.8).
 */
int target_translate_quietly(struct target *t, const struct x86_regs *regs, uint64_t gva, bool write, uint64_t *gpa);

/* Copy the `len` bytes at the GVA `gva`, page by page. Returns 0, or -1 when any of them is unmapped or not RAM. */
int target_read(struct target *t, uint64_t cr3, uint64_t cr4, uint64_t gva, void *buf, size_t len);

/*
 * Copy `len` bytes to the GVA `gva` in the same way. May only be used for what the stopped CPU was about to write there
 * itself.
 */
int target_write(struct target *t, uint64_t cr3, uint64_t cr4, uint64_t gva, const void *buf, size_t len);

/*
 * Plant a breakpoint on the instruction at the GVA `gva`, which is mapped at the GPA `gpa`, if its first byte is still
 * `first`. CPUs may run meanwhile. Returns 0; 1 when there is another byte; -1 when the breakpoint cannot be planted.
 */
static inline int target_plant(struct target *t, uint64_t gva, uint64_t gpa, uint8_t first)
{
	return t->ops->plant(t, gva, gpa, first);
}

/*
 * Remove a breakpoint, so that CPUs execute `first` again. `intact` is false when the rest of the instruction has changed. The
 * page may then have other contents, so the target leaves the byte unchanged.
 */
static inline void target_unplant(struct target *t, uint64_t gva, uint64_t gpa, uint8_t first, bool intact)
{
	t->ops->unplant(t, gva, gpa, first, intact);
}

/*
 * A CPU stopped for a breakpoint at the GPA `gpa` that was removed since: `byte` is there now. Make sure that the CPU executes
 * `byte` when it continues.
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

/* Retire the watch in a slot. No CPU is kicked for this, so a CPU may still hit the watch once and report its cookie. */
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
 * Return when every other CPU has delivered the stops that it had before this call. Called in a callback of the CPU `self`,
 * without the client's locks. Waits for some milliseconds at most, because two CPUs may be doing this to each other. Returns
 * whether all CPUs have delivered; if not, one of them may still have a stop to report.
 */
static inline bool target_barrier(struct target *t, unsigned self)
{
	return t->ops->barrier(t, self);
}

/*
 * End the hold of a CPU now, if it is held. Its on_hold_end follows, on the thread that serves it. May be called under the
 * client's locks.
 */
static inline void target_release(struct target *t, unsigned cpu)
{
	t->ops->release(t, cpu);
}

/*
 * Get the registers of a running CPU by stopping it for a moment. Must not be called in a callback. Returns 0, or -1 when the
 * machine has ended.
 */
static inline int target_peek_regs(struct target *t, unsigned cpu, struct x86_regs *regs)
{
	return t->ops->peek_regs(t, cpu, regs);
}

/*
 * The guest has written, or may have written, the debug registers of a CPU. The guest's breakpoints must work besides the
 * watches. The target reads these registers before the CPU's next entry into the guest: at once when called in a callback of
 * that CPU, otherwise surely only after target_watch_sync().
 */
static inline void target_debug_regs_changed(struct target *t, unsigned cpu)
{
	t->ops->debug_regs_changed(t, cpu);
}

/* Whether a CPU waits for an interrupt, as far as the target can find out without stopping it. */
static inline bool target_idle(struct target *t, unsigned cpu)
{
	return t->ops->idle(t, cpu);
}

/*
 * Set which memory is in open windows: the union of device_filter() over all of it, or 0. A device that begins an access to
 * memory that matches the filter calls on_device or on_ring from then on. Does nothing without caps.devices.
 */
static inline void target_devices_watch(struct target *t, uint64_t filter)
{
	if (t->ops->devices_watch)
		t->ops->devices_watch(t, filter);
}

/*
 * Call `observer`, before this returns, for every access of a device in progress to memory that matches the last filter. Call
 * this after target_devices_watch() and before the first read of the memory: then each access was reported by one of the two
 * or by both, or it was over before that read. May be called under the client's locks. The observer must not call a function
 * of this interface. Does nothing without caps.devices.
 */
static inline void target_devices_in_flight(struct target *t, const struct device_observer *observer)
{
	if (t->ops->devices_in_flight)
		t->ops->devices_in_flight(t, observer);
}

/* Whether any device serves a request, or was notified about one. Always false without caps.devices. */
static inline bool target_devices_busy(struct target *t)
{
	return t->ops->devices_busy && t->ops->devices_busy(t);
}

/*
 * Turn the interception of breakpoints on or off for all CPUs. It must be on while any breakpoint is planted. Returns 0 once
 * this is in force, or -1 with `err` set.
 */
static inline int target_intercept(struct target *t, bool on, struct err *err)
{
	return t->ops->intercept(t, on, err);
}

/* The target's counts so far. */
static inline void target_stats(struct target *t, struct target_stats *out)
{
	t->ops->stats(t, out);
}

/* End the machine, or the connection to it. The function that runs the machine, or waits for its end, then returns. */
static inline void target_stop(struct target *t)
{
	atomic_store(&t->ending, true);
	t->ops->stop(t);
}

#endif
