/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine in memory, for tests: guest-physical RAM with real page tables in it, and a target over it that does what it is
 * told and writes down what that was. It has no CPUs: a test calls the client's callbacks itself, as a backend would.
 *
 * RAM is read and written with atomic bytes, so that several threads may be CPUs at once, under a thread sanitizer too.
 */
#ifndef OUTRIDER_TESTS_FAKE_TARGET_H
#define OUTRIDER_TESTS_FAKE_TARGET_H

#include <pthread.h>
#include <stdatomic.h>

#include "hv/target/target.h"

#define FAKE_RAM (8u << 20)
#define FAKE_SLOTS 8 /* more than a client may use: a watch set beyond caps.watches is seen */

struct fake_target {
	struct target target;
	uint8_t *ram;	     /* guest-physical 0 .. FAKE_RAM */
	uint64_t tables_end; /* page tables are allocated from 0x1000 up to here */
	struct x86_regs peek[TARGET_MAX_CPUS];
	atomic_bool busy[TARGET_MAX_CPUS]; /* not idle; at first all are */

	atomic_int inside;    /* target_enter() without target_leave() yet */
	atomic_int stands;    /* target_stand_still() without target_go_on() yet */
	pthread_mutex_t lock; /* guards what follows */
	struct target_watch watches[FAKE_SLOTS];
	bool watched[FAKE_SLOTS];
	unsigned watch_sets, watch_clears, misuses; /* misuse: a slot set twice, cleared twice, or that does not exist */
	unsigned syncs, last_self;
	unsigned barriers;
	unsigned releases[TARGET_MAX_CPUS];
	unsigned debug_changes[TARGET_MAX_CPUS];
	unsigned intercepts, stops;
	bool intercepting, refuse_intercept;

	/* Called by the operations of these names, without the lock; NULL: nothing to do. */
	void (*on_sync)(void *ctx, unsigned self);
	void (*on_barrier)(void *ctx, unsigned self);
	void (*on_release)(void *ctx, unsigned cpu);
	void *hook_ctx;
};

/* NULL: out of memory. No CPU's callback is known: the client is the test's business. */
struct fake_target *fake_target_new(unsigned cpus, unsigned watches);
void fake_target_free(struct fake_target *ft);

/* A page for a table, zeroed; its gpa. */
uint64_t fake_page(struct fake_target *ft);

/* Map [gva, gva+size) to gpa in the tables at `cr3`, with pages of 1 << shift (12, 21 or 30), `levels` deep (4 or 5). */
void fake_map(struct fake_target *ft, uint64_t cr3, unsigned levels, uint64_t gva, uint64_t gpa, uint64_t size, unsigned shift);
void fake_unmap(struct fake_target *ft, uint64_t cr3, unsigned levels, uint64_t gva);

void fake_write(struct fake_target *ft, uint64_t gpa, const void *buf, size_t len);
uint8_t fake_byte(const struct fake_target *ft, uint64_t gpa);

/* How many slots hold a watch now. */
unsigned fake_watch_count(struct fake_target *ft);

#endif
