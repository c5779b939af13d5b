/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is under which lock: the record that is made of the moments of a run (lock_moment.h), for pruner/protect.h to judge and
 * for the report to keep. Everything in it is counted, so that it stays small however long a run is.
 *
 * A datum is an aligned word of 8 bytes of memory, in one life of the object that it is in: what is freed or allocated anew is
 * another datum. Accesses that overlap without beginning in the same word are not compared.
 *
 * No locks: a record belongs to one thread at a time.
 */
#ifndef OUTRIDER_RACE_PROTECTION_H
#define OUTRIDER_RACE_PROTECTION_H

#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/race/lock_moment.h"
#include "hv/race/site.h"

/* So many of each are kept; what comes when there are as many is counted as lost. */
#define PROTECTION_ACCESSES_MAX 65536u
#define PROTECTION_LOCKS_MAX 16384u
#define PROTECTION_FUNCTIONS_MAX 4096u
#define PROTECTION_PAIRS_MAX 65536u
#define PROTECTION_TAKES_MAX 16384u
#define PROTECTION_OBJECTS_MAX 65536u
#define PROTECTION_NONE UINT32_MAX

/* A function's name as site_function() says. */
struct prot_function {
	char name[SITE_NAME_MAX];
};

/* A lock that was held or taken. */
struct prot_lock {
	uint64_t gva;
	uint8_t kind; /* enum lock_kind */
	/* What is at its address. Kind GUEST_MEMORY_UNKNOWN: it was never taken in the subject. */
	struct guest_memory memory;
	/* A name for people: a variable, "struct.member", or cache+offset. It is printable. Set by protection_name(), ""
	 * before. */
	char name[LOCK_NAME_MAX];
};

/* A lock of an access's lockset. */
struct prot_held {
	uint32_t lock; /* an index in locks[] */
	uint8_t off;   /* enum lock_off bits */
	bool shared, maybe;
};

/* A task's accesses, or an interrupt's on one CPU, from the first to the last of them. */
struct prot_span {
	int64_t who; /* as in struct prot_access */
	uint64_t first_ns, last_ns;
};

/* So many tasks of an access are told apart. */
#define PROTECTION_SPANS_MAX 4u

/* All accesses that are the same in what is kept of them. */
struct prot_access {
	/* The site's name, and its GVA in this run. */
	char site[SITE_NAME_MAX];
	uint64_t pc;
	/* The datum: GVA and size of the access, and which life of its object it was in (0, 1, ...). */
	uint64_t gva;
	uint32_t size;
	uint32_t life;
	uint8_t rw; /* enum insn_rw bits */
	/* By what the first of these accesses found the datum. */
	struct base_register base;
	/* The instruction is LOCKed: two such accesses are synchronised without any lock. */
	bool locked;
	struct guest_memory memory;
	/* A name for people, as of a lock. */
	char name[160];
	/* The context: enum guest_context_kind, and whether interrupts and preemption were off and an RCU section was open. */
	uint8_t context;
	bool irqs_off, preempt_off, in_rcu, context_known;
	/* The kernel does not count RCU sections, so `in_rcu` is false for all. Not kept in reports. */
	bool rcu_unknown;
	struct prot_held held[LOCKSET_MAX];
	uint8_t held_count;
	bool held_overflow;
	/* Indices in functions[]: the function of the site, and the operation. PROTECTION_NONE: not known. */
	uint32_t function, operation;
	uint64_t count;
	/* How many of them came when another context had accessed the object before in the same life: then it is published. */
	uint64_t count_shared;
	/* The first task (PID, or -1-CPU for an interrupt and for PID 0), and whether there was another one. */
	int64_t who;
	bool several;
	/* The CPU on which the first one came, and whether others came on another. A record that is read from a report does not
	 * say: there they came on several. */
	uint16_t cpu;
	bool several_cpus;
	/* Nanoseconds since the first sample point was armed. */
	uint64_t first_ns, last_ns;
	/* The same for each task. None: there were more tasks than are told apart, or the record was read from a report. */
	struct prot_span spans[PROTECTION_SPANS_MAX];
	uint8_t span_count;
	bool spans_lost;
};

/* Two operations that were seen at the same time, on two CPUs or one interrupting the other. a <= b. */
struct prot_pair {
	uint32_t a, b; /* indices in functions[] */
	uint64_t count;
};

/* A lock that was taken in a kind of context. */
struct prot_take {
	uint32_t lock; /* an index in locks[] */
	char site[SITE_NAME_MAX];
	/* The GVA of the call in this run, and by what the first of these calls found the lock. 0: a record that was read has
	 * none. */
	uint64_t pc;
	struct base_register base;
	uint32_t function, operation;
	uint8_t context; /* enum guest_context_kind */
	/* Interrupts were off, or are off while it is held; the same of softirqs, as far as that is known (preemption off
	 * counts). */
	bool irqs_off, softirqs_off;
	/* A reader's side was taken. */
	bool shared;
	/* It was tried (lock.maybe of the moment), which waits for nobody. */
	bool tried;
	uint64_t count;
};

struct protection {
	struct prot_function *functions;
	struct prot_lock *locks;
	struct prot_access *accesses;
	struct prot_pair *pairs;
	struct prot_take *takes;
	uint32_t function_count, lock_count, access_count, pair_count, take_count;
	/* How many moments of each kind there were, and what was lost because a table was full. */
	uint64_t moments[LOCK_MOMENT_FREE + 1];
	uint64_t lost;
	/* The indexes of protection_table.c, and what protection_moments.c needs. */
	struct protection_index *index;
};

/* An empty record. NULL: memory ran out. */
struct protection *protection_new(void);

/* Set the KASLR slide of the kernel's image, for the names of sites without a symbol. Call it before the first moment. */
void protection_set_slide(struct protection *p, uint64_t slide);

/* Free the record and all that is in it. NULL is allowed. */
void protection_free(struct protection *p);

/* Take in one moment. Moments come in the order of their numbers. 0, or -1 with EXIT_INTERNAL in err when memory runs out. */
int protection_take(struct protection *p, const struct lock_moment *m, struct err *err);

/* Whether the two operations, indices in functions[], were seen at the same time. */
bool protection_met(const struct protection *p, uint32_t a, uint32_t b);

/* Give names to locks and accesses that have none, by the guest's own tables. What is named already stays as it is. */
void protection_name(struct protection *p);

/* The name of a lock of that kind (enum lock_kind), by what is at its address, as protection_name() gives it. Printable. */
void protection_lock_name(uint8_t kind, uint64_t gva, const struct guest_memory *memory, char name[LOCK_NAME_MAX]);

/*
 * Cut off what is inside of a lock of that kind (enum lock_kind): types know a lock's address as that of the first scalar in
 * it, so that "cb_lock.rlock.raw_lock" becomes "cb_lock". It becomes "" where the member is a part of the lock alone.
 */
void protection_cut_lock(uint8_t kind, char *member);

#endif
