/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lists that the rules use: the kinds of entries, and how a rule finds an entry. Only the pruner uses this header. */
#ifndef OUTRIDER_PRUNER_LISTS_LISTS_H
#define OUTRIDER_PRUNER_LISTS_LISTS_H

#include "hv/race/names.h"
#include "pruner/lists/prune_rules.h"
#include "symbols/insn/insn.h"

enum list_kind {
	/* Variables that race by design. */
	LIST_SPECIAL,
	/* Statistics, by name. */
	LIST_COUNTER,
	/* Data that code reads for an estimate. */
	LIST_APPROXIMATE,
	/* Data whose old value is as correct for a reader as the new value. */
	LIST_BOTH_VALID,
	/* Data that only LOCKed instructions change while others read it. */
	LIST_ATOMIC,
	/* Functions and macros of marked accesses. */
	LIST_MARKED,
	/* Functions that take a lock. */
	LIST_LOCK,
	/* Functions that release a lock. */
	LIST_UNLOCK,
	/* Names of data that are words of locks, or words of the scheduler such as preemption counts. */
	LIST_LOCK_WORD,
	/* Functions that share no memory with other CPUs but the words of locks. */
	LIST_LOCK_INSIDE,
	/* Functions whose first argument is the address of the word of a lock. */
	LIST_LOCK_ARGUMENT,
	/* Functions that wait until other code has ended, such as work, timers and interrupts. */
	LIST_WAIT,
	/* Functions that free an object, at once or later. */
	LIST_FREE,
	/* Functions that destroy an object that has no user any more. */
	LIST_DESTROY,
	/*
	 * Functions of LIST_FREE and LIST_DESTROY that may end no object's life: they drop a reference, or release a lock. Used
	 * where the count is changed by LOCKed instructions.
	 */
	LIST_DROP,
	/* Functions of LIST_FREE that free an object only after an RCU grace period. */
	LIST_GRACE_FREE,
	/* Functions that wait for an RCU grace period before they return. */
	LIST_GRACE_WAIT,
	/* Functions that begin an RCU read-side critical section. */
	LIST_SECTION_BEGIN,
	/* Functions that end an RCU read-side critical section. */
	LIST_SECTION_END,
	/* Functions that never call the scheduler. */
	LIST_NO_SLEEP,
	/* Functions that return a new object. */
	LIST_ALLOC,
	/* Functions that only check their arguments. */
	LIST_CHECK,
	/* Functions and macros that make a marked read, and need an RCU read-side critical section. */
	LIST_RCU_READ,
	/* Functions and macros that make a marked write, with which readers under RCU may race. */
	LIST_RCU_WRITE,
	/* Functions that copy user data into a page. */
	LIST_PAGE_COPY,
	/* Functions that wait for the end of a page's write-back before the page is changed, if the disk needs stable pages. */
	LIST_STABLE_PAGES,
	/*
	 * Functions whose result says only what they found when they ran, as poll() does: the caller checks again under a lock.
	 */
	LIST_PEEK,
	/* Functions that print numbers for people and keep no pointer to them. */
	LIST_SHOW,
	/* Reference counts. */
	LIST_REFCOUNT,
	/* Data, other than reference counts, on which a race does more harm. */
	LIST_RAISE,
	LIST_KINDS
};

#define KERNEL_ANY 0xffffffffu /* The kernel is not known. */
/* The report has races of several kernel versions. */
#define KERNEL_SEVERAL 0xfffffffeu

struct list_entry {
	enum list_kind kind;
	/* Shell patterns, separated by blanks. All patterns that are given must match. NULL: not given. */
	char *variable, *type, *member, *function, *word;
	char *reason, *source;
	char *name; /* LIST_RAISE: what a verdict calls the datum. */
	/* LIST_RAISE: how many points the datum adds to the rank. */
	int points;
	/* LIST_LOCK_ARGUMENT: size of the lock's word. 0: not given. */
	int bytes;
	/* The entry also fits races in which both sides write. */
	bool two_writers;
	/* `function` lists functions that write the datum. Otherwise it lists functions that read it. */
	bool of_writer;
	/* LIST_MARKED whose member `word` names a macro: the macro marks all accesses in its parentheses. */
	bool covers_all;
	/* LIST_MARKED: the kind of access that the entry marks, INSN_READ or INSN_WRITE. 0: both kinds. */
	uint8_t access;
	/* The first and the last kernel that the entry is for, as major << 16 | minor. */
	uint32_t kernel_from, kernel_to;
};

struct prune_rules {
	struct insn_decoder *decoder;
	struct list_entry *entries;
	size_t count;
	/* The guest kernel's source, or NULL. The caller owns it. */
	struct sources *sources;
	/* The kernel of the races, as major << 16 | minor; or KERNEL_ANY or KERNEL_SEVERAL. */
	uint32_t kernel;
	bool kernel_given; /* A kernel was set or added. */
	/*
	 * No kernel of the races has CONFIG_PREEMPTION: a task that runs in the kernel keeps its CPU until it calls the
	 * scheduler.
	 */
	bool cannot_preempt;
};

/*
 * Set *out to the version at the start of `text`, for example "6.1" or "6.1.0-21-amd64", as major << 16 | minor. Returns the
 * end of the version in `text`, or NULL when there is none.
 */
const char *kernel_version(const char *text, uint32_t *out);

struct list_query {
	enum list_kind kind;
	const struct datum_name *datum;
	const char *function; /* The function that accesses the datum. */
	bool changes;	      /* The function stores to the datum. */
	bool two_writers;     /* Both sides store to the datum. */
};

/* Returns whether the entry is for the kernel of the races. */
bool rules_kernel_fits(const struct prune_rules *rules, const struct list_entry *e);

/*
 * Returns the first entry that fits the query and the kernel. Returns NULL if no entry fits, or if the datum's name is a guess.
 */
const struct list_entry *rules_datum(const struct prune_rules *rules, const struct list_query *query);

/*
 * Returns the first entry of the list `kind` that names this function and is for this kind of access, or NULL. `access` is
 * INSN_READ, INSN_WRITE or both; only an entry without the key "access" is for both.
 */
const struct list_entry *rules_access(const struct prune_rules *rules, enum list_kind kind, const char *function,
				      uint8_t access);

/* Returns the first entry of the list `kind` that names this function and has no key "access", or NULL. */
const struct list_entry *rules_function(const struct prune_rules *rules, enum list_kind kind, const char *function);

#endif
