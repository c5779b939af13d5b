/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the files of the detector only.
 *
 * One lock, d->lock, guards points, windows and the observation queue. It is held for bounded work only: arithmetic, a few
 * guest memory reads, one copy of a stack. Never while waiting for a CPU.
 *
 * The way of one piece of data: engine.c (a CPU stopped) -> window.c (a window opens; a conflict closes it) -> capture.c (both
 * sides copied into a queued observation) -> reporter.c (other thread: attributes the access, names it, calls the sink).
 */
#ifndef OUTRIDER_DETECT_INTERNAL_H
#define OUTRIDER_DETECT_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "hv/base/clock.h"
#include "hv/base/rng.h"
#include "hv/detect/detect.h"
#include "hv/detect/point.h"
#include "hv/detect/pool.h"

#define MAX_POINTS 65536u
#define MAX_OBSERVATIONS 128u
#define MAX_EXTENTS 2 /* RACE_DATA_MAX bytes lie on two pages at most */

/* Physical bytes of an access: what conflicts are decided on. */
struct extent {
	uint64_t gpa;
	uint32_t len;
};

/* One access as it is watched: the first RACE_DATA_MAX bytes of it. */
struct datum {
	struct mem_access access;
	struct extent extents[MAX_EXTENTS];
	unsigned extent_count;
	uint32_t len;			/* bytes looked at */
	unsigned slots;			/* bit mask of watch slots */
	uint32_t cookie;		/* of its watches */
	bool fully_watched;		/* every byte has a slot */
	uint8_t before[RACE_DATA_MAX];	/* at the hit */
	uint8_t settled[RACE_DATA_MAX]; /* when the watches were in force: what a change is measured against */
};

struct window {
	bool open;
	bool looked;	      /* whether anybody else makes progress */
	bool asked;	      /* the other CPUs, who changed the memory */
	unsigned cpu;	      /* held */
	struct x86_regs regs; /* at the hit: RIP and RSP tell the held context when it comes back to its INT3 */
	struct guest_context context;
	uint64_t opened_ns, hold_ns;
	struct point *point;
	struct datum data[INSN_MAX_MEM];
	unsigned data_count;
};

struct detect {
	struct target *target;
	struct guest *guest;
	struct detect_config config;
	struct detect_sink sink;
	struct target_client client;

	pthread_mutex_t lock;
	struct points points;
	unsigned event_points;			/* of these: not for sampling */
	struct window windows[TARGET_MAX_CPUS]; /* by the CPU held */
	unsigned open_windows;
	uint64_t irqs_off_rest[TARGET_MAX_CPUS]; /* no windows with interrupts off on that CPU until then */
	unsigned slots_used;			 /* bit mask */
	uint32_t last_cookie;
	bool closing; /* no new windows: on the way out */
	struct rng delay_rng;
	struct detect_stats stats;
	struct target_stats stats_before; /* the target's, when the first point was armed */
	uint64_t started_ns;		  /* first point armed; 0 before */
	uint64_t ended_ns;		  /* detect_stop(); 0 before */

	/* Observations: a free list and a FIFO of indices. */
	struct observation *pool_of_observations;
	uint16_t free_obs[MAX_OBSERVATIONS], queue[MAX_OBSERVATIONS];
	unsigned free_count, queue_head, queue_count;
	pthread_cond_t queued;

	/* The sampler's own. */
	struct pool *pool;
	struct rng choice_rng;
	struct insn_decoder *decoder;
	uint32_t wanted; /* k: points to keep armed */
	_Atomic uint64_t site_count;

	pthread_cond_t tick; /* wakes the sampler early, to end */
	atomic_bool stop;
	bool reporter_stop;
	pthread_t sampler, reporter;
	bool sampler_started, reporter_started;
};

/* d->lock for all but callbacks: points can be planted and memory read under it on every target. */
static inline void detect_enter(struct detect *d)
{
	target_enter(d->target);
	pthread_mutex_lock(&d->lock);
}

static inline void detect_leave(struct detect *d)
{
	pthread_mutex_unlock(&d->lock);
	target_leave(d->target);
}

void detect_note(struct detect *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- engine.c ---- */

void engine_init(struct detect *d);

/* ---- event.c ---- */

/* Plant them; before the first sample point. */
void event_plant(struct detect *d);

/* Both under d->lock. */
struct target_action event_hit(struct detect *d, struct point *point, unsigned cpu, struct x86_regs *regs);
void event_text_gone(struct detect *d, uint64_t base, uint64_t size);

/* ---- access.c: one access in physical memory ---- */

/* Fill extents and len from datum->access with the page tables in `regs`. 0, or -1: not mapped or not RAM. */
int datum_locate(struct detect *d, const struct x86_regs *regs, struct datum *datum);
int datum_read(struct detect *d, const struct datum *datum, uint8_t *out);
bool data_overlap(const struct datum *a, const struct datum *b);

/* ---- window.c; all under d->lock ---- */

/* What to do with a hit: opens a window on `cpu` if there is something to watch and time allowed. *sync: watches were set. */
struct target_action window_open(struct detect *d, struct point *point, unsigned cpu, const struct x86_regs *regs,
				 const struct datum *data, unsigned n, bool *sync);

/*
 * The watches are in force: read the data again, so that a change found at the end happened under their eyes. (One in between
 * was a race too, but could not be told from a device's.)
 */
void window_settle(struct detect *d, struct window *w);

/* Close: the watch slots are retired, the point removed (its INT3 is gone before the held context goes on). */
void window_close(struct detect *d, struct window *w);

/*
 * A conflict of w's `datum` with an access by `cpu`, stopped with `regs`: both sides are captured, the window is closed, the
 * held CPU let go. `other` is the access if it is known already (RACE_BY_POINT), NULL if it is to be attributed
 * (RACE_BY_WATCH).
 */
void window_conflict(struct detect *d, struct window *w, const struct datum *datum, unsigned cpu, const struct x86_regs *regs,
		     const struct datum *other);

/*
 * The hold is over: look for changed memory, then close; or hold on, if this was the early look. *ask: memory was changed
 * under a watch that nobody reported; let the other CPUs deliver what they have (target_barrier), then call this again.
 */
struct target_action window_expire(struct detect *d, struct window *w, bool *ask);

/* Accesses about to be made at `point`, located in memory; those on the own stack or without memory are left out. */
unsigned window_data(struct detect *d, const struct point *point, const struct x86_regs *regs, struct datum data[INSN_MAX_MEM]);

/* ---- capture.c; under d->lock ---- */

/* A free observation or NULL (counted as lost). observation_queue() hands it to the reporter. */
struct observation *observation_get(struct detect *d);
void observation_queue(struct detect *d, struct observation *o);
void capture_side(struct detect *d, unsigned cpu, const struct x86_regs *regs, const struct guest_context *context,
		  struct race_side *side);

/* ---- attribute.c: on the reporter thread, without the lock ---- */

/*
 * Name the access behind a watchpoint hit: sweep the function from its symbol to where the CPU stopped; the instruction before
 * must access the watched bytes. Fills pc, gva, size, rw, locked; leaves pc 0 when it cannot be told.
 */
void attribute_watch(struct detect *d, struct insn_decoder *decoder, struct observation *o);

/* ---- describe.c: on the reporter thread, without the lock ---- */

/* Fill in symbol, code and callees of a side whose access is known as far as it will be. */
void describe_side(struct detect *d, struct insn_decoder *decoder, struct race_side *side);

/* Code as the guest wrote it, without our INT3s. Takes d->lock. */
int detect_code(struct detect *d, uint64_t gva, void *buf, size_t len);

void *reporter_main(void *arg);
void *sampler_main(void *arg);

#endif
