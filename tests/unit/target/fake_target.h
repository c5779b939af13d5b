/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine in memory, for tests: guest-physical RAM with real page tables in it, and a target over it that carries out calls
 * and records them. It has no CPUs. A test calls the client's callbacks itself, as a target would.
 *
 * RAM is read and written byte by byte with atomic operations, so that several threads may play CPUs at once, under a thread
 * sanitizer too.
 */
#ifndef OUTRIDER_TESTS_FAKE_TARGET_H
#define OUTRIDER_TESTS_FAKE_TARGET_H

#include <pthread.h>
#include <stdatomic.h>

#include "hv/target/target.h"

#define FAKE_RAM (8u << 20)
#define FAKE_SLOTS 8 /* More than a client may use, so that a watch beyond caps.watches is noticed. */

struct fake_target {
	struct target target;
	uint8_t *ram;			       /* FAKE_RAM bytes from the guest-physical address 0 on. */
	uint64_t tables_end;		       /* Page tables are allocated from 0x1000 on, and end here. */
	struct x86_regs peek[TARGET_MAX_CPUS]; /* What target_peek_regs() returns. */
	atomic_bool busy[TARGET_MAX_CPUS];     /* The CPU is not idle. At first all are idle. */
	_Atomic uint64_t wake_ups[TARGET_MAX_CPUS];

	/* What devices do: see fake_device_*(). */
	_Atomic uint64_t device_filter; /* What target_devices_watch() was given last. */
	atomic_bool devices_busy;	/* What target_devices_busy() returns. */
	atomic_uint wanted;		/* What target_devices_want() was given last. */
	atomic_uint let_go;		/* Number of calls of target_devices_let_go(). */

	/* What target_stats() returns for these three. All its other counts are 0. */
	_Atomic uint64_t stopped_ns, lost_ns, still_ns;
	atomic_int inside;    /* How many calls of target_enter() had no target_leave() yet. */
	atomic_uint enters;   /* How many calls of target_enter() there were. */
	atomic_int stands;    /* How many calls of target_stand_still() had no target_go_on() yet. */
	pthread_mutex_t lock; /* Guards what follows. */
	struct target_watch watches[FAKE_SLOTS];
	bool watched[FAKE_SLOTS];
	unsigned watch_sets, watch_clears;
	unsigned misuses; /* How often a slot was set twice, was cleared twice, or did not exist. */
	unsigned syncs, last_self;
	unsigned barriers;
	unsigned refetches;
	bool barrier_gives_up; /* target_barrier() says that not all CPUs have delivered their stops. */
	unsigned releases[TARGET_MAX_CPUS];
	unsigned debug_changes[TARGET_MAX_CPUS];
	unsigned intercepts, stops;
	bool intercepting, refuse_intercept;
	/*
	 * Which stand of the machine it was in, from 1 on, when breakpoints began to be intercepted, and when the debug
	 * registers of a CPU were last reported as changed. 0: the machine ran.
	 */
	unsigned intercepted_in, debug_changed_in;
	unsigned stand; /* The number of the last stand. */
	/* The segments and the stores to rings that target_devices_in_flight() reports. A test fills them in. */
	struct device_access segments[FAKE_SLOTS], stores[FAKE_SLOTS];
	unsigned segment_count, store_count;

	/* The target operations of the same names call these functions, without holding the lock. NULL: no function. */
	void (*on_stand)(void *ctx);
	void (*on_sync)(void *ctx, unsigned self);
	void (*on_barrier)(void *ctx, unsigned self);
	void (*on_release)(void *ctx, unsigned cpu);
	void *hook_ctx;
};

/* Returns NULL when memory runs out. The target has no client until the test sets one. */
struct fake_target *fake_target_new(unsigned cpus, unsigned watches);
void fake_target_free(struct fake_target *ft);

/* Allocate a zeroed page for a table. Returns its GPA. */
uint64_t fake_page(struct fake_target *ft);

/* Map [gva, gva+size) to gpa in the tables at `cr3`, with pages of 1 << shift (12, 21 or 30), `levels` deep (4 or 5). */
void fake_map(struct fake_target *ft, uint64_t cr3, unsigned levels, uint64_t gva, uint64_t gpa, uint64_t size, unsigned shift);
void fake_unmap(struct fake_target *ft, uint64_t cr3, unsigned levels, uint64_t gva);

/* Clear this bit in the entry of a page, and set all other bits of a kernel page. `bit` 0: set all of them. */
void fake_page_lacks(struct fake_target *ft, uint64_t cr3, unsigned levels, uint64_t gva, uint64_t bit);

void fake_write(struct fake_target *ft, uint64_t gpa, const void *buf, size_t len);
uint8_t fake_byte(const struct fake_target *ft, uint64_t gpa);

/*
 * Let a device begin to access a segment, or access a ring. The target reports that to the client if the filter contains the
 * memory. Returns whether it did.
 */
bool fake_device_begins(struct fake_target *ft, const struct device_access *access);
bool fake_device_ring(struct fake_target *ft, const struct device_access *access);

/* Return the number of slots that have a watch now. */
unsigned fake_watch_count(struct fake_target *ft);

#endif
