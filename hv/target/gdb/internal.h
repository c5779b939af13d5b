/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the files of the gdbstub backend only.
 *
 * Whoever talks to the stub holds gt->lock, which is taken by gdb_lock() and nests for the thread that has it. The machine
 * stands still during a callback, with the lock held by the serving thread; so a client's lock is always taken after this one.
 */
#ifndef OUTRIDER_TARGET_GDB_INTERNAL_H
#define OUTRIDER_TARGET_GDB_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "hv/base/clock.h"
#include "hv/rsp/rsp.h"
#include "hv/target/gdb/gdb.h"
#include "hv/target/gdb/memory.h"

struct gdb_hold {
	bool active;
	atomic_bool released;
	uint64_t deadline_ns; /* CLOCK_MONOTONIC */
};

struct gdb_slot {
	bool used;	/* as the client wants it */
	bool installed; /* `there` is what the stub has */
	struct target_watch watch, there;
};

/* The share of time: a balance in nanoseconds of standing still, kept up to date by gdb_account(). */
struct gdb_budget {
	double share;
	double credit_ns;
	uint64_t last_ns;
};

struct gdb_target {
	struct target target;
	struct rsp *rsp;
	double overhead;
	bool hardware;
	bool was_running;    /* so it shall run again */
	atomic_bool foreign; /* somebody else has stopped it */
	bool detached;
	uint32_t threads[TARGET_MAX_CPUS]; /* the stub's ids, by CPU */

	pthread_mutex_t lock;
	_Atomic pthread_t owner; /* of the lock, valid while owned */
	atomic_bool owned;
	unsigned depth;

	/* What follows belongs to who holds the lock. */
	bool stopped;
	bool have_event;       /* a stop that was seen by the way and has not been delivered */
	struct rsp_stop event; /* this one */
	uint64_t stopped_ns, linger_ns;
	struct gdb_budget budget;
	struct gdb_slot slots[TARGET_MAX_WATCHES];
	struct gdb_hold holds[TARGET_MAX_CPUS];
	struct gdb_planted *planted, own_planted; /* caps.points at most */
	struct gdb_memory memory;
	uint64_t started_ns, paused_ns;
	uint64_t stops, events, stale, kicks;

	pthread_t server;
	bool serving;
	atomic_bool ending; /* target_stop(): nobody waits for the guest's share any more */
	atomic_bool finish; /* the serving thread is to return */
	int wake_fd;	    /* eventfd: it is to look again */
	pthread_mutex_t end_lock;
	pthread_cond_t ended; /* `ending`, or the machine is over */
};

static inline struct gdb_target *gdb_target(struct target *t)
{
	return (struct gdb_target *)t;
}

/* ---- enter.c ---- */

void gdb_lock(struct gdb_target *gt);
void gdb_unlock(struct gdb_target *gt);
void gdb_wake(struct gdb_target *gt);

/* The rest with the lock held. Count the time up to now. */
void gdb_account(struct gdb_target *gt);

/* Stop a running machine; an event that came first is kept in gt->event. 0 or -1: dead. */
int gdb_stop(struct gdb_target *gt);

/* Bring watchpoints in line with what is wanted, and let those CPUs go on that are not held. 0 or -1: dead. */
int gdb_resume(struct gdb_target *gt);

/* The connection is dead: the machine is over for us. */
void gdb_over(struct gdb_target *gt);

/* Somebody else has stopped the machine: it stands still from here on, and the client is to end. */
void gdb_paused(struct gdb_target *gt);

void gdb_enter(struct target *t);
void gdb_leave(struct target *t);
int gdb_stand_still(struct target *t);

/* ---- watch.c ---- */

void gdb_watch_set(struct target *t, unsigned slot, const struct target_watch *watch);
void gdb_watch_clear(struct target *t, unsigned slot);
void gdb_watch_sync(struct target *t, unsigned self);

/* Tell the stub; the machine stands still. */
void gdb_apply_watches(struct gdb_target *gt);

/* The cookies of the watches that a stop at `addr` is about. Returns how many. */
unsigned gdb_watch_cookies(const struct gdb_target *gt, uint64_t addr, uint32_t cookies[TARGET_MAX_WATCHES]);

/* ---- serve.c ---- */

void *gdb_serve(void *target);
void gdb_barrier(struct target *t, unsigned self);

#endif
