/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the files of the gdbstub target only. The client is the user of the target, which is the detector.
 *
 * A thread that talks to the stub holds gdb_target.lock. gdb_lock() takes this lock, and its calls nest. During a callback of
 * the client the machine stands still and the serving thread holds gdb_target.lock, so the client's locks are always taken
 * after gdb_target.lock.
 */
#ifndef OUTRIDER_TARGET_GDB_INTERNAL_H
#define OUTRIDER_TARGET_GDB_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "hv/base/allowance.h"
#include "hv/base/clock.h"
#include "hv/base/limit.h"
#include "hv/rsp/rsp.h"
#include "hv/target/gdb/journal.h"
#include "hv/target/gdb/memory.h"
#include "hv/target/target.h"

#define GDB_BURST_NS 10000000.0 /* Cap of the saved budget, in ns. A longer stop of the machine makes the budget negative. */

/* The hold of one CPU (TARGET_HOLD). Resuming the machine does not resume a held CPU. */
struct gdb_hold {
	bool active;	      /* The CPU is held. */
	atomic_bool released; /* Set by target_release() on any thread, without the lock: the hold has ended. */
	uint64_t deadline_ns; /* When the hold ends by itself (CLOCK_MONOTONIC, ns). */
};

/* One of the machine's watches. */
struct gdb_slot {
	bool used;		   /* The client has set `watch` and has not cleared it. */
	bool installed;		   /* The stub has the watchpoint `there`. */
	struct target_watch watch; /* What the client wants. */
	struct target_watch there; /* What the stub has. */
};

struct gdb_target {
	struct target target; /* The first member, because gdb_target() casts a pointer to it. */
	struct rsp *rsp;
	struct limit *limit; /* gdb_config.limit, or `own_limit`. */
	struct limit own_limit;
	double overhead;		   /* gdb_config.overhead, in force while breakpoints are planted. */
	bool hardware;			   /* Breakpoints go into debug registers, not into the guest's text. */
	bool was_running;		   /* The machine ran before the target stopped it, so detaching lets it run again. */
	atomic_bool foreign;		   /* Another user has stopped the machine: the target must not resume it. */
	bool detached;			   /* gdb_target_detach() is done. */
	uint32_t threads[TARGET_MAX_CPUS]; /* The stub's thread ID of each CPU. */

	pthread_mutex_t lock;
	_Atomic pthread_t owner; /* The thread that holds the lock. Valid while `owned` is set. */
	atomic_bool owned;	 /* A thread holds the lock. */
	unsigned depth;		 /* Number of nested calls of gdb_lock() by the thread that holds the lock. */

	/* The lock guards everything from here to `kicks`. */
	bool stopped;	 /* The machine stands still. */
	bool have_event; /* `event` is a stop that has not been delivered to the client yet. */
	struct rsp_stop event;
	uint64_t stopped_ns;	 /* When the machine was last stopped, on CLOCK_MONOTONIC. */
	uint64_t linger_ns;	 /* The serving thread resumes the machine at this time, on CLOCK_MONOTONIC. 0: at once. */
	struct allowance budget; /* How long the machine may stand still, kept up to date by gdb_account(). */
	bool searching;		 /* The client has not found the guest's kernel yet, and only reads memory. */
	struct gdb_slot slots[TARGET_MAX_WATCHES];
	struct gdb_hold holds[TARGET_MAX_CPUS];
	struct gdb_planted *planted;	/* The planted breakpoints, at most caps.points plus caps.lasting of them. */
	struct gdb_planted own_planted; /* Used if the caller keeps no journal. */
	struct gdb_memory memory;
	uint64_t started_ns; /* When gdb_target_start() was called, on CLOCK_MONOTONIC, or 0. */
	uint64_t paused_ns;  /* How long the machine has stood still since started_ns, in ns. */
	uint64_t lost_ns;    /* target_stats.lost_ns. */
	uint64_t stops;	     /* Number of stops of the machine. */
	uint64_t events;     /* Number of stops delivered to the client. */
	uint64_t stale;	     /* Number of stops that the client rejected. */
	uint64_t kicks;	     /* Number of times that the target stopped the running machine. */

	pthread_t server; /* The thread that serves the stub. Valid while `serving` is set. */
	bool serving;
	atomic_bool ending;	  /* target_stop() was called. From then on no thread waits for the guest's share of time. */
	atomic_bool finish;	  /* The serving thread is to return. */
	int wake_fd;		  /* An eventfd that wakes the serving thread. */
	pthread_mutex_t end_lock; /* Guards changes of `ending`, `foreign` and target.over. */
	pthread_cond_t ended;	  /* Signalled when `ending`, `foreign` or target.over is set. */
};

static inline struct gdb_target *gdb_target(struct target *t)
{
	return (struct gdb_target *)t;
}

/* ---- enter.c ---- */

void gdb_lock(struct gdb_target *gt);
void gdb_unlock(struct gdb_target *gt);

/* Wake the serving thread. Any thread, with or without the lock. */
void gdb_wake(struct gdb_target *gt);

/* Bring the budget and the time that the machine has stood still up to date. The caller holds the lock. */
void gdb_account(struct gdb_target *gt);

/*
 * Stop the machine if it runs. If the machine stops for another event first, gdb_target.event keeps that event for delivery.
 * The caller holds the lock. Returns 0, or -1 when the connection is dead.
 */
int gdb_stop(struct gdb_target *gt);

/* Record that the connection is dead, which ends the session. */
void gdb_over(struct gdb_target *gt);

/* Record that another user has stopped the machine. The target does not resume it any more, and the session ends. */
void gdb_paused(struct gdb_target *gt);

/*
 * gdb_enter(), gdb_leave() and gdb_stand_still() are operations of struct target_ops. gdb_leave() serves as the operation
 * go_on, too.
 */
void gdb_enter(struct target *t);
void gdb_leave(struct target *t);
int gdb_stand_still(struct target *t);

/* ---- access.c: operations of struct target_ops ---- */

int gdb_read_phys(struct target *t, uint64_t gpa, void *buf, size_t len);
int gdb_write_phys(struct target *t, uint64_t gpa, const void *buf, size_t len);
int gdb_plant(struct target *t, uint64_t gva, uint64_t gpa, uint8_t first);
void gdb_unplant(struct target *t, uint64_t gva, uint64_t gpa, uint8_t first, bool intact);

/* Remove every breakpoint in `planted`. The machine stands still. */
void gdb_remove_points(struct gdb_target *gt);

/* ---- watch.c: operations of struct target_ops, and helpers for watches ---- */

void gdb_watch_set(struct target *t, unsigned slot, const struct target_watch *watch);
void gdb_watch_clear(struct target *t, unsigned slot);
void gdb_watch_sync(struct target *t, unsigned self);

/* Send changed watches to the stub. The machine stands still. */
void gdb_apply_watches(struct gdb_target *gt);

/* Collect the cookies of the watches that cover the GVA `addr`. Returns their number. */
unsigned gdb_watch_cookies(const struct gdb_target *gt, uint64_t addr, uint32_t cookies[TARGET_MAX_WATCHES]);

/* ---- events.c: for the serving thread, which holds the lock while the machine stands still ---- */

/* Deliver gdb_target.event to the client and carry out the client's action. */
void gdb_deliver(struct gdb_target *gt);

/* Returns true if any CPU's hold is over or was released. */
bool gdb_any_hold_is_over(const struct gdb_target *gt);

/* End the holds that are over or were released: call on_hold_end for each and carry out the client's action. */
void gdb_end_holds(struct gdb_target *gt);

bool gdb_barrier(struct target *t, unsigned self); /* An operation of struct target_ops. */

/* ---- serve.c ---- */

/* Body of the serving thread. `target` is the struct gdb_target. */
void *gdb_serve(void *target);

#endif
