/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The record of which locks protect which data, built from the lock events of a run (lock_moment.h). pruner/locks/protect.h
 * derives suspicions from it, and the report stores it. Equal events are counted, not listed, so the record's size does not
 * grow with the length of a run.
 *
 * A datum is an aligned 8-byte word in one lifetime of the object that contains it: after the object is freed, allocated
 * anew or reused, the word is a new datum. Overlapping accesses that begin in different words are not compared.
 *
 * No locks: one thread at a time uses a record.
 */
#ifndef OUTRIDER_RACE_PROTECTION_H
#define OUTRIDER_RACE_PROTECTION_H

#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/race/lock_moment.h"
#include "hv/race/section_fate.h"
#include "hv/race/section_pair.h"
#include "hv/race/section_replay.h"
#include "hv/race/site.h"

/* Maximum number of entries per table. Further entries are counted as lost. */
#define PROTECTION_ACCESSES_MAX 65536u
#define PROTECTION_LOCKS_MAX 16384u
#define PROTECTION_FUNCTIONS_MAX 4096u
#define PROTECTION_PAIRS_MAX 65536u
#define PROTECTION_TAKES_MAX 16384u
#define PROTECTION_USES_MAX 131072u
#define PROTECTION_OBJECTS_MAX 65536u
#define PROTECTION_NONE UINT32_MAX

/* A function's name, as site_function() writes it. */
struct prot_function {
	char name[SITE_NAME_MAX];
};

/* A lock that was held or taken. */
struct prot_lock {
	uint64_t gva;
	uint8_t kind; /* enum lock_kind */
	/* What the lock's address belongs to. Kind GUEST_MEMORY_UNKNOWN: the lock was never taken in the subject. */
	struct guest_memory memory;
	/*
	 * Printable name of the lock: a variable, "struct.member", or cache+offset. "" until protection_name() sets the name.
	 */
	char name[LOCK_NAME_MAX];
};

/* A lock in the lockset of an access. */
struct prot_held {
	uint32_t lock; /* index into locks[] */
	uint8_t off;   /* enum lock_off bits */
	bool shared, maybe;
};

/*
 * When one task, or the interrupts on one CPU, made the first and the last of its accesses in a group (struct prot_access). A
 * group can have several such spans, because several tasks can make its accesses.
 */
struct prot_span {
	int64_t who; /* as in struct prot_access */
	uint64_t first_ns, last_ns;
};

/* Maximum number of tasks whose time spans are recorded per group of accesses. */
#define PROTECTION_SPANS_MAX 4u

/*
 * A group of accesses with the same site, datum, kind, context, operation and held locks. The record has one entry for each
 * group, with the number of the accesses.
 */
struct prot_access {
	/* The site's name, and its GVA in this run. */
	char site[SITE_NAME_MAX];
	uint64_t pc;
	/* The datum: GVA and size in bytes of the access, and the lifetime of its object (0, 1, ...). */
	uint64_t gva;
	uint32_t size;
	uint32_t life;
	uint8_t rw; /* enum insn_rw bits */
	/* The base register of the instruction, at the first access of the group. */
	struct base_register base;
	/* The instruction is LOCKed. Two such accesses are synchronised without a lock. */
	bool locked;
	struct guest_memory memory;
	/* Printable name of the datum, as for a lock. */
	char name[160];
	/*
	 * The context: its kind (enum guest_context_kind), and whether interrupts are off, preemption is off, and the context
	 * is in an RCU read-side critical section.
	 */
	uint8_t context;
	bool irqs_off, preempt_off, in_rcu, context_known;
	/* The kernel does not count RCU read-side critical sections, so `in_rcu` is always false. Not stored in reports. */
	bool rcu_unknown;
	struct prot_held held[LOCKSET_MAX];
	uint8_t held_count;
	bool held_overflow;
	/* Indices into functions[]: the function that contains the site, and the operation. PROTECTION_NONE: unknown. */
	uint32_t function, operation;
	uint64_t count;
	/*
	 * How many of these accesses were made after another context had accessed the object in the same lifetime. The object
	 * then counts as published.
	 */
	uint64_t count_shared;
	/*
	 * `who`: the task that made the group's first access, as its PID, or -1-CPU for an interrupt or PID 0. `several`: other
	 * tasks made accesses of this group, too.
	 */
	int64_t who;
	bool several;
	/*
	 * `cpu`: the CPU of the group's first access. `several_cpus`: other CPUs made accesses of this group, too. A report
	 * stores neither: in a record that was read from a report, `several_cpus` is set.
	 */
	uint16_t cpu;
	bool several_cpus;
	/* Nanoseconds since the first sample point was armed. */
	uint64_t first_ns, last_ns;
	/*
	 * The time span of each task that made accesses of this group. span_count 0: there were more than PROTECTION_SPANS_MAX
	 * tasks, or the record comes from a report.
	 */
	struct prot_span spans[PROTECTION_SPANS_MAX];
	uint8_t span_count;
	bool spans_lost;
};

/*
 * Two operations that were seen at the same time, on two CPUs, or on one CPU where an interrupt came during one operation and
 * began the other. a <= b.
 */
struct prot_pair {
	uint32_t a, b; /* indices into functions[] */
	uint64_t count;
};

/*
 * A group of takings of one lock that are equal in site, function, operation, context, interrupts and kind of taking. The
 * record has one entry for each group, with the number of takings.
 */
struct prot_take {
	uint32_t lock; /* index into locks[] */
	char site[SITE_NAME_MAX];
	/*
	 * `pc`: GVA of the call in this run. `base`: the register that passed the lock to the first call of the group. Both are
	 * 0 in a record that was read from a report.
	 */
	uint64_t pc;
	struct base_register base;
	uint32_t function, operation;
	uint8_t context; /* enum guest_context_kind */
	/*
	 * `irqs_off`, `softirqs_off`: interrupts, or softirqs, are off while the lock is held: they were off before, or the
	 * lock function turns them off. If preemption is off, softirqs_off is set. If only the subject's interrupts are off,
	 * irqs_off is set, and softirqs_off is not.
	 */
	bool irqs_off, softirqs_off;
	/* The reader's side was taken. */
	bool shared;
	/* A trylock (lock.maybe of the event), which never waits. */
	bool tried;
	uint64_t count;
};

/*
 * Accesses of one group (struct prot_access) that were made in one critical section. The call that took the lock identifies the
 * critical section.
 */
struct prot_use {
	uint32_t access;   /* index into accesses[] */
	uint32_t lock;	   /* index into locks[] */
	uint64_t taken_at; /* GVA of the call that took the lock */
	/* The code compares the value that the access reads, and branches (`decides` of struct lock_datum). */
	bool decides;
	/* As in struct lock_datum. */
	bool steps, same_results, stores_back;
	uint64_t bits;
	struct lock_check check;
	struct lock_test test; /* Not stored in reports. */
	uint64_t count;
};

struct protection {
	struct prot_function *functions;
	struct prot_lock *locks;
	struct prot_access *accesses;
	struct prot_pair *pairs;
	struct prot_take *takes;
	struct prot_use *uses;
	uint32_t function_count, lock_count, access_count, pair_count, take_count, use_count;
	/* The pairs of critical sections, sorted by `first`, then `second`. */
	struct section_pair *sections;
	uint32_t section_count;
	/* The fates of data that the critical sections of suspected pairs access (section_fate.h). */
	struct section_fate *fates;
	uint32_t fate_count;
	/*
	 * Results of running critical sections in copies of the machine (section_replay.h): at most SECTION_REPLAYS_MAX
	 * entries.
	 */
	struct section_replay *section_replays;
	uint32_t section_replay_count;
	/* Number of events per kind, and number of entries lost because a table was full. */
	uint64_t moments[LOCK_MOMENT_FREE + 1];
	uint64_t lost;
	/* The indexes of protection_table.c and the state of protection_moments.c. */
	struct protection_index *index;
};

/* Returns an empty record, or NULL if memory runs out. */
struct protection *protection_new(void);

/* Set the KASLR slide of the kernel image, for the names of sites without a symbol. Call it before the first event. */
void protection_set_slide(struct protection *p, uint64_t slide);

/* Free the record with all its content. `p` may be NULL. */
void protection_free(struct protection *p);

/* Add one event. Events come in the order of their numbers. Returns 0, or -1 with EXIT_INTERNAL in err if memory runs out. */
int protection_take(struct protection *p, const struct lock_moment *m, struct err *err);

/*
 * Replace the record's pairs of critical sections by a copy of the `n` pairs in `list`. At most SECTION_PAIRS_MAX pairs are
 * kept. Returns 0, or -1 with EXIT_INTERNAL in err if memory runs out.
 */
int protection_set_sections(struct protection *p, const struct section_pair *list, size_t n, struct err *err);

/* As protection_set_sections(), for the record's fates: at most SECTION_FATES_MAX are kept. */
int protection_set_fates(struct protection *p, const struct section_fate *list, size_t n, struct err *err);

/*
 * Find the entry of section_replays[] for the critical sections that begin at these calls, or add an entry with all counts 0.
 * Returns NULL if memory runs out or the list is full. The returned entry is valid until the next call.
 */
struct section_replay *protection_section_replay(struct protection *p, uint64_t first, uint64_t second, uint64_t between);

/*
 * Find or add the function's name to functions[]. Returns its index, or PROTECTION_NONE if the symbol has no name, memory runs
 * out, or the table is full.
 */
uint32_t protection_function_of(struct protection *p, const struct guest_symbol *symbol);

/* Returns true if the two operations, indices into functions[], were seen at the same time. */
bool protection_concurrent(const struct protection *p, uint32_t a, uint32_t b);

/* Name all locks and accesses that have no name yet, from the guest's own data structures. */
void protection_name(struct protection *p);

/*
 * Write the printable name that protection_name() gives to a lock of kind `kind` (enum lock_kind) at the address `gva`.
 * `memory` says what the address belongs to.
 */
void protection_lock_name(uint8_t kind, uint64_t gva, const struct guest_memory *memory, char name[LOCK_NAME_MAX]);

/*
 * Cut the inside of a lock of kind `kind` (enum lock_kind) off a member's path. The path at a lock's address names the lock's
 * first scalar: "cb_lock.rlock.raw_lock" becomes "cb_lock". The result is "" if the path is only the inside of the lock.
 */
void protection_cut_lock(uint8_t kind, char *member);

#endif
