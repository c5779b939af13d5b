/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A target: a machine that can be stopped, read and instrumented. Its client is the detector, which uses only this interface.
 * There are two implementations of struct target_ops: hv/target/kvm for a machine of Outrider's own VMM, and hv/target/gdb for
 * a gdbstub such as that of a libvirt domain.
 *
 * Execution model. A CPU runs until it hits a planted breakpoint or a watchpoint. The target then calls the client, on the
 * thread that serves that CPU and with that CPU stopped, and does what the returned action says. Callbacks for different CPUs
 * may run at the same time if caps.parallel is set. Callbacks for one CPU never do.
 *
 * Every other function may be called on any thread, and in a callback too, unless its comment says otherwise.
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

/* The target's capabilities. Constant once the target is created. */
struct target_caps {
	unsigned cpus;	  /* Number of CPUs, numbered from 0. */
	unsigned watches; /* Watches that may be set at a time, 0 to TARGET_MAX_WATCHES. */
	unsigned points;  /* Breakpoints that may be planted at a time. 0: any number. */
	unsigned pages;	  /* Pages of text that may have breakpoints, besides pages with lock hooks. 0: any number. */
	/*
	 * Number of breakpoints, besides `points`, for lock hooks, which stay planted for long. 0: lock hooks count among
	 * `points`.
	 */
	unsigned lasting;
	bool irq_while_held; /* A held CPU still takes its interrupts. */
	bool parallel;	     /* Callbacks for different CPUs may run at the same time. */
	bool costly_stops;   /* Any access to the machine stops all CPUs, for a large part of a window's time. */
	bool devices;	     /* Devices report their accesses to memory. */
	bool late_watch; /* on_watch may be called late, at a later stop of the CPU. The client must find an instruction there
			  * that can have made the access. */
};

/* A watchpoint on data (SDM vol. 3, 18.2.5). */
struct target_watch {
	uint64_t gva; /* A multiple of `len`. */
	uint8_t len;  /* 1, 2, 4 or 8 bytes. */
	bool read;    /* Reads trap, too. Writes always trap. */
	/*
	 * The CPU that the window holds. This CPU loads the watch only while the CPU is held: interrupt handlers that then run
	 * on it can hit the watch. TARGET_MAX_CPUS: no CPU is held, and all CPUs load the watch.
	 */
	uint8_t owner;
	uint32_t cookie; /* Passed to on_watch, to tell a retired watch from the next watch in the same slot. */
};

enum target_action_kind {
	/* The CPU continues at regs->rip. */
	TARGET_RESUME,
	/* The CPU continues with the general registers, RIP and RFLAGS of *regs. */
	TARGET_RESUME_REGS,
	/* The CPU is held at regs->rip for hold_ns or until target_release(). Then on_hold_end is called. */
	TARGET_HOLD,
	/*
	 * For on_breakpoint: the INT3 is the guest's own, so the guest gets its #BP. For on_watch: every watch
	 * that was passed to the call had been removed before, and the CPU continues.
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
	 * The CPU stopped for an INT3 at regs->rip, and is about to execute the instruction there. The breakpoint may have been
	 * removed since. While the client decides whether the INT3 is the guest's own, it must keep other threads from planting
	 * breakpoints. Otherwise it could take a newly planted INT3 for the guest's own, and the guest would get a #BP that
	 * kills it.
	 */
	struct target_action (*on_breakpoint)(void *ctx, unsigned cpu, struct x86_regs *regs);
	/*
	 * An access hit the watches with these cookies. The access is done, and RIP is at the next instruction. CPUs unload
	 * retired watches late, so some of these watches may be retired already. If all are retired, the client returns
	 * TARGET_NOT_MINE.
	 */
	struct target_action (*on_watch)(void *ctx, unsigned cpu, struct x86_regs *regs, const uint32_t *cookies, unsigned n);
	/*
	 * The hold of the CPU has ended. The CPU is still stopped, and continues after the action. TARGET_HOLD extends the
	 * hold. regs->rip may differ from its value at the start of the hold: the CPU may be in an interrupt handler, or in
	 * another task if the held task was preempted.
	 */
	struct target_action (*on_hold_end)(void *ctx, unsigned cpu, struct x86_regs *regs);
	/*
	 * A device accesses a segment of a request, or a ring, in memory that matches the filter of target_devices_watch(): see
	 * struct device_observer. Called on the device's own thread, which holds no lock, and possibly at the same time for
	 * several devices and for CPUs. The device waits meanwhile, so the client may wait only for its own locks, and must
	 * hold these only for a bounded time. Used with caps.devices.
	 */
	void (*on_device)(void *ctx, const struct device_access *access);
	void (*on_ring)(void *ctx, const struct device_access *access);
	/*
	 * A device is about to serve a request for which target_devices_want() asked, and may be held before it accesses the
	 * request's memory: see `request` and `hold_end` in struct device_observer. Called on the device's own thread, which
	 * holds no lock, one request at a time. on_request and on_request_hold_end are used with caps.devices, and may be NULL.
	 */
	uint64_t (*on_request)(void *ctx, const struct device_request *by, const struct device_segment *segments,
			       unsigned count);
	uint64_t (*on_request_hold_end)(void *ctx, bool last);
	void *ctx; /* First argument of every callback. */
};

/* The operations that a target implements. The comment of each function target_NAME() below describes the operation NAME. */
struct target_ops {
	void (*enter)(struct target *t); /* enter and leave may be NULL. */
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
	uint64_t (*wake_ups)(struct target *t, unsigned cpu);	  /* May be NULL. */
	void (*devices_watch)(struct target *t, uint64_t filter); /* The five devices_* are NULL without caps.devices. */
	void (*devices_in_flight)(struct target *t, const struct device_observer *observer);
	bool (*devices_busy)(struct target *t);
	void (*devices_want)(struct target *t, unsigned nth);
	void (*devices_let_go)(struct target *t);
	void (*stats)(struct target *t, struct target_stats *out);
	void (*stop)(struct target *t);
};

struct target {
	const struct target_ops *ops;
	struct target_caps caps;
	const struct target_client *client; /* The client, set before the CPUs run. NULL: no callback is called. */
	atomic_bool over;		    /* The machine has ended. No callback is called any more. */
	atomic_bool ending;		    /* target_stop() was called. Failures from then on are not reported. */
};

/*
 * Outside a callback, put target_enter() and target_leave() around operations that belong together, or that are done under the
 * client's locks. A target that can be accessed only while the machine stands still then stops the machine once for all of
 * these operations. Such a target stops the machine only after the guest has had its share of time, so target_enter() may wait
 * for long. The calls nest. target_enter() must not be called under the client's locks, because callbacks take those locks
 * while the machine stands still.
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
 * KVM target: outside KVM_RUN) and does not enter it. The state of each CPU is complete, with no device access half done, and
 * can be read. None of the client's callbacks for CPUs runs. The calls nest, and several threads may make them: the CPUs
 * continue at the last target_go_on().
 *
 * The machine's clocks, timers and devices, the time of a hold, and the client's own threads are not stopped. A device may
 * still write to guest memory and call on_device and on_ring. With KVM, a thread of the client that plants breakpoints may
 * still write, too. To exclude that thread, take the client's lock after target_stand_still() and not before: then no callback
 * for a CPU runs, so none can hold the lock. If a hold ends meanwhile, its on_hold_end is called after target_go_on(). Planted
 * breakpoints stay in guest memory, and held CPUs stay held. With KVM, target_stop() takes effect only after target_go_on().
 *
 * The caller may use all functions of this interface meanwhile, except target_barrier(), which only a callback may call.
 * Another thread that calls a function of this interface may have to wait until target_go_on().
 *
 * target_stand_still() waits until the guest has had its share of time (see target_enter()), and until every CPU has left the
 * guest and has finished its callback or its device access. Any thread may call target_stand_still(), with two exceptions. A
 * callback must not call it, because it would wait for the end of that callback for ever. A thread that holds one of the
 * client's locks must not call it, because an unfinished callback may be waiting for that lock.
 *
 * Returns 0, or -1 if the machine has ended; then target_go_on() must not be called. The cost is one kick for each running CPU.
 * target_enter() does not stop the machine in this way, because the detector calls target_enter() for every round of planting,
 * and with KVM such a round must not stop the machine.
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

/* Copy the `len` bytes at the GPA `gpa` to `buf`. Returns 0, or -1 if any of them is not RAM. */
static inline int target_read_phys(struct target *t, uint64_t gpa, void *buf, size_t len)
{
	return t->ops->read_phys(t, gpa, buf, len);
}

/*
 * Translate a GVA of the kernel or of user space with the page tables at `cr3`. These have 4 levels, or 5 if cr4.LA57 is set
 * (SDM vol. 3, 4.5). The guest may change the page tables meanwhile, so the result was true at some time during the call.
 * Returns 0 with `gpa` set, or -1 when the address is not mapped.
 */
int target_translate(struct target *t, uint64_t cr3, uint64_t cr4, uint64_t gva, uint64_t *gpa);

/*
 * As target_translate(), for an access that the kernel is about to make with these registers. Also fails if the access would
 * fault or have side effects: if `write` is set and the page is read-only, or if the CPU would set an accessed or dirty bit
 * (SDM vol. 3, 4.6 and 4.8).
 */
int target_translate_quietly(struct target *t, const struct x86_regs *regs, uint64_t gva, bool write, uint64_t *gpa);

/* Copy the `len` bytes at the GVA `gva` to `buf`, page by page. Returns 0, or -1 if any of them is unmapped or not RAM. */
int target_read(struct target *t, uint64_t cr3, uint64_t cr4, uint64_t gva, void *buf, size_t len);

/*
 * Copy `len` bytes to the GVA `gva`, page by page. Returns as target_read() does. Only for bytes that the stopped CPU was about
 * to write to `gva` itself.
 */
int target_write(struct target *t, uint64_t cr3, uint64_t cr4, uint64_t gva, const void *buf, size_t len);

/*
 * Plant a breakpoint on the instruction at the GVA `gva`, which is mapped at the GPA `gpa`, if its first byte is still `first`.
 * CPUs may run meanwhile. Returns 0, 1 if memory has another byte, or -1 if the breakpoint cannot be planted.
 */
static inline int target_plant(struct target *t, uint64_t gva, uint64_t gpa, uint8_t first)
{
	return t->ops->plant(t, gva, gpa, first);
}

/*
 * Remove a breakpoint, so that CPUs execute `first` again. `intact` false says that the rest of the instruction has changed:
 * the page may have other contents, so the byte is left unchanged.
 */
static inline void target_unplant(struct target *t, uint64_t gva, uint64_t gpa, uint8_t first, bool intact)
{
	t->ops->unplant(t, gva, gpa, first, intact);
}

/*
 * Make sure that a stopped CPU executes `byte` at the GPA `gpa` when it continues. The CPU stopped for a breakpoint there that
 * was removed since, and memory has `byte` now.
 */
static inline void target_refetch(struct target *t, uint64_t gpa, uint8_t byte)
{
	t->ops->refetch(t, gpa, byte);
}

/*
 * Publish a watch in a slot that is clear. On other CPUs the watch is in force only after target_watch_sync(). Set all slots of
 * a window before one target_watch_sync(), so that each CPU is kicked only once for the window.
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

/*
 * Wait until every CPU but `self` has loaded the published watches, or will load them before its next instruction. In a
 * callback for a device, `self` is caps.cpus.
 */
static inline void target_watch_sync(struct target *t, unsigned self)
{
	t->ops->watch_sync(t, self);
}

/*
 * Wait until every other CPU has delivered the stops that it had before this call. To be called in a callback of the CPU
 * `self`, or of a device with caps.cpus for `self`, without the client's locks. The KVM target waits for at most 10 ms, because
 * two CPUs may wait for each other here. Returns true if all CPUs have delivered; otherwise a CPU may still have a stop to
 * report.
 */
static inline bool target_barrier(struct target *t, unsigned self)
{
	return t->ops->barrier(t, self);
}

/*
 * End the hold of a CPU now, if the CPU is held. The thread that serves the CPU then calls on_hold_end. May be called under the
 * client's locks.
 */
static inline void target_release(struct target *t, unsigned cpu)
{
	t->ops->release(t, cpu);
}

/*
 * Get the registers of a running CPU by stopping it for a moment. Must not be called in a callback. Returns 0, or -1 if the
 * machine has ended.
 */
static inline int target_peek_regs(struct target *t, unsigned cpu, struct x86_regs *regs)
{
	return t->ops->peek_regs(t, cpu, regs);
}

/*
 * Tell the target that the guest may have written the debug registers of a CPU, so that the guest's own breakpoints work
 * besides the watches. The target reads these registers before the CPU's next entry into the guest. Outside a callback of that
 * CPU, this is certain only after target_watch_sync().
 */
static inline void target_debug_regs_changed(struct target *t, unsigned cpu)
{
	t->ops->debug_regs_changed(t, cpu);
}

/* Returns true if a CPU waits for an interrupt, as far as the target can find out without stopping it. */
static inline bool target_idle(struct target *t, unsigned cpu)
{
	return t->ops->idle(t, cpu);
}

/* Returns how often the CPU has woken up from waiting for an interrupt. Always 0 if the target does not count this. */
static inline uint64_t target_wake_ups(struct target *t, unsigned cpu)
{
	return t->ops->wake_ups ? t->ops->wake_ups(t, cpu) : 0;
}

/*
 * Set the filter of the memory in open windows: the union of device_filter() over that memory, or 0 if no window is open. From
 * then on, on_device or on_ring is called when a device begins an access to memory that matches the filter. Does nothing
 * without caps.devices.
 */
static inline void target_devices_watch(struct target *t, uint64_t filter)
{
	if (t->ops->devices_watch)
		t->ops->devices_watch(t, filter);
}

/*
 * Call `observer`, before this function returns, for every device access in progress to memory that matches the last filter.
 * Call this function after target_devices_watch() and before the first read of the memory: then each access is reported to the
 * client's callbacks, to `observer` or to both, or ended before that read. May be called under the client's locks. The observer
 * must not call a function of this interface. Does nothing without caps.devices.
 */
static inline void target_devices_in_flight(struct target *t, const struct device_observer *observer)
{
	if (t->ops->devices_in_flight)
		t->ops->devices_in_flight(t, observer);
}

/* Returns true if any device serves a request, or was notified about a request. Always false without caps.devices. */
static inline bool target_devices_busy(struct target *t)
{
	return t->ops->devices_busy && t->ops->devices_busy(t);
}

/*
 * Have the target call on_request for the nth request that devices begin to serve from now on, counted from 1; 0: for none.
 * Replaces the number of an earlier call. May be called under the client's locks. Requires caps.devices.
 */
static inline void target_devices_want(struct target *t, unsigned nth)
{
	t->ops->devices_want(t, nth);
}

/*
 * End the hold of the request that is held, if any. The device's thread then calls on_request_hold_end. May be called under the
 * client's locks. Requires caps.devices.
 */
static inline void target_devices_let_go(struct target *t)
{
	t->ops->devices_let_go(t);
}

/*
 * Turn the interception of breakpoints on or off for all CPUs. Interception must be on while any breakpoint is planted. Returns
 * 0 once the change is in force, or -1 with `err` set.
 */
static inline int target_intercept(struct target *t, bool on, struct err *err)
{
	return t->ops->intercept(t, on, err);
}

/* Get the target's counts so far. */
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
