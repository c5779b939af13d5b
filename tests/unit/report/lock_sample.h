/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A small record of locks: a datum under a lock in one function and not in another, and a lock that an interrupt takes too. */
#ifndef OUTRIDER_TEST_REPORT_LOCK_SAMPLE_H
#define OUTRIDER_TEST_REPORT_LOCK_SAMPLE_H

#include <stdio.h>
#include <string.h>

#include "hv/race/lock_record.h"

#define SAMPLE_OBJECT UINT64_C(0xffff888012345600)
#define SAMPLE_LOCK (SAMPLE_OBJECT + 0x80)

static inline struct guest_memory sample_slab(uint32_t offset)
{
	struct guest_memory m = {.kind = GUEST_MEMORY_SLAB,
				 .cpu = -1,
				 .cache = "ext4_inode_cache",
				 .merged = GUEST_MERGED_NO,
				 .object = SAMPLE_OBJECT,
				 .object_size = 1104,
				 .offset = offset};

	return m;
}

static inline struct guest_symbol sample_function(const char *module, const char *name, uint64_t addr)
{
	struct guest_symbol s = {.addr = addr, .size = 0x80};

	snprintf(s.module, sizeof(s.module), "%s", module);
	snprintf(s.name, sizeof(s.name), "%s", name);
	return s;
}

/* The sites are those of sample_observation(). */
static inline struct lock_moment sample_moment(uint64_t number, bool first)
{
	struct lock_moment m = {.number = number, .time_ns = number * 1001, .cpu = first ? 0 : 1};

	m.symbol = first ? sample_function("ext4", "ext4_foo", 0xffffffffc0100000)
			 : sample_function("", "generic_bar", 0xffffffff81200000);
	m.pc = m.symbol.addr + (first ? 0x1c : 0x33);
	m.context = (struct guest_context){.pid = first ? 42 : 43, .known = true, .rcu_known = true, .rcu_nesting = !first};
	m.path[0] = m.symbol;
	m.path_count = 1;
	return m;
}

static inline struct lock_moment sample_access(uint64_t number, bool first)
{
	struct lock_moment m = sample_moment(number, first);

	m.kind = LOCK_MOMENT_ACCESS;
	m.data[0] = (struct lock_datum){
		.gva = SAMPLE_OBJECT + 0x78, .size = 4, .rw = first ? INSN_WRITE : INSN_READ, .memory = sample_slab(0x78)};
	m.data_count = 1;
	if (first)
		m.locks =
			(struct lockset){.count = 1, .held = {{.gva = SAMPLE_LOCK, .kind = LOCK_SPIN, .off = LOCK_NO_SOFTIRQ}}};
	return m;
}

static inline struct lock_moment sample_take(uint64_t number, bool interrupt)
{
	struct lock_moment m = sample_moment(number, true);

	m.kind = LOCK_MOMENT_TAKE;
	m.lock = (struct held_lock){.gva = SAMPLE_LOCK, .kind = LOCK_SPIN};
	m.lock_memory = sample_slab(0x80);
	m.context.kind = interrupt ? GUEST_HARDIRQ : GUEST_TASK;
	m.context.irqs_off = interrupt;
	return m;
}

/* For protection_free(). NULL: memory ran out. */
static inline struct protection *sample_protection(void)
{
	struct lock_moment moments[] = {sample_take(1, false), sample_access(2, true), sample_access(3, false),
					sample_access(4, true), sample_take(5, true)};
	struct protection *p = protection_new();

	moments[2].during[0] = 2;
	moments[2].during_count = 1;
	for (size_t i = 0; p && i < sizeof(moments) / sizeof(moments[0]); i++)
		protection_take(p, &moments[i], NULL);
	if (p)
		protection_name(p);
	return p;
}

/* Of sample_protection(): the race of sample_observation(), and the lock's two takings. They are the caller's. */
static inline void sample_suspicions(struct suspicion list[2])
{
	memset(list, 0, 2 * sizeof(list[0]));
	list[0] = (struct suspicion){.kind = SUSPICION_UNPROTECTED,
				     .side = {0, 1},
				     .held = 2,
				     .total = 3,
				     .concurrent = true,
				     .rank = 70,
				     .text = "ext4_inode_cache+0x78: ext4_inode_cache+0x80 held in 2 of 3 accesses",
				     .confirm = CONFIRM_SEEN,
				     .reached = {12, 7}};
	race_id("ext4:ext4_foo+0x1c", "generic_bar+0x33", list[0].id);
	list[1] = (struct suspicion){.kind = SUSPICION_INTERRUPT,
				     .side = {0, 1},
				     .rank = -1,
				     .text = "ext4_inode_cache+0x80 is taken in an interrupt",
				     .confirm = CONFIRM_NONE};
	race_id("ext4:ext4_foo+0x1c", "ext4:ext4_foo+0x1c", list[1].id);
}

#endif
