/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lists that the rules look into. Only the pruner uses this header. */
#ifndef OUTRIDER_PRUNER_LISTS_H
#define OUTRIDER_PRUNER_LISTS_H

#include "hv/race/names.h"
#include "pruner/prune_rules.h"
#include "symbols/insn/insn.h"

enum list_kind {
	LIST_SPECIAL,	    /* Variables that race by design. */
	LIST_COUNTER,	    /* Names of statistics. */
	LIST_APPROXIMATE,   /* Data that is read for a rough figure. */
	LIST_BOTH_VALID,    /* Data of which the old value and the new value are both right. */
	LIST_ATOMIC,	    /* Data that only LOCKed instructions change while others look at it. */
	LIST_MARKED,	    /* Functions and words of marked accesses. */
	LIST_LOCK,	    /* Functions that take a lock. */
	LIST_UNLOCK,	    /* Functions that give a lock back. */
	LIST_FREE,	    /* Functions that free an object, at once or later. */
	LIST_GRACE_FREE,    /* Those of LIST_FREE that free an object only after a grace period of RCU's. */
	LIST_GRACE_WAIT,    /* Functions that return after a grace period of RCU's. */
	LIST_SECTION_BEGIN, /* Functions that begin a read-side critical section of RCU's. */
	LIST_SECTION_END,   /* Functions that end a read-side critical section of RCU's. */
	LIST_ALLOC,	    /* Functions that return a new object. */
	LIST_CHECK,	    /* Functions that only look at the objects that they are given. */
	LIST_RCU_READ,	    /* Functions and words of marked reads that need a read-side critical section. */
	LIST_RCU_WRITE,	    /* Functions and words of marked writes that readers under RCU may race with. */
	LIST_PAGE_COPY,	    /* Functions that copy the user's data into a page. */
	LIST_STABLE_PAGES,  /* Functions that wait, where it must be, until a page is written before they let it be changed. */
	LIST_SHOW,	    /* Functions that show numbers to people and keep nothing of them. */
	LIST_REFCOUNT,	    /* Counts that an object's life depends on. */
	LIST_RAISE,	    /* Other data that makes a race worse. */
	LIST_KINDS
};

#define KERNEL_ANY 0xffffffffu	   /* The kernel is not known. */
#define KERNEL_SEVERAL 0xfffffffeu /* The races are of kernels of several versions. */

struct list_entry {
	enum list_kind kind;
	/* Shell patterns, separated by blanks. Each string that is given must match. A NULL string was not given. */
	char *variable, *type, *member, *function, *word;
	char *reason, *source;
	char *name;	  /* Of LIST_RAISE: what a verdict calls the datum. */
	int points;	  /* Of LIST_RAISE: how much worse the datum makes a race. */
	bool two_writers; /* The reason is good for two writers too. */
	bool of_writer;	  /* `function` has functions that write the datum. Otherwise they are functions that look at it. */
	bool covers_all;  /* Of a marked word: it marks all accesses in its parentheses. */
	uint8_t access;	  /* Of LIST_MARKED: INSN_READ or INSN_WRITE when only such accesses are marked. 0: both are. */
	uint32_t kernel_from, kernel_to; /* The kernels that the entry is for, as major << 16 | minor. Both are included. */
};

struct prune_rules {
	struct insn_decoder *decoder;
	struct list_entry *entries;
	size_t count, room;
	struct sources *sources; /* The guest kernel's source, or NULL. It is the caller's. */
	uint32_t kernel; /* The kernel that the races are of, as major << 16 | minor; or KERNEL_ANY, or KERNEL_SEVERAL. */
};

/* Read "6.1" or "6.1.0-21-amd64" as major << 16 | minor. Returns where the number ended, or NULL when there is none. */
const char *kernel_version(const char *text, uint32_t *out);

struct list_query {
	enum list_kind kind;
	const struct datum_name *datum;
	const char *function; /* The function that accesses the datum. */
	bool changes;	      /* That function stores to the datum. */
	bool two_writers;     /* Both sides store to the datum. */
};

/* Returns whether the entry is meant for the kernel that the races are of. */
bool rules_kernel_fits(const struct prune_rules *rules, const struct list_entry *e);

/* Returns the first entry that fits the query and the kernel, or NULL. */
const struct list_entry *rules_datum(const struct prune_rules *rules, const struct list_query *query);

/*
 * Returns the first entry of the list `kind` that has this function and marks such an access in it, or NULL. `access` is
 * INSN_READ, INSN_WRITE or both.
 */
const struct list_entry *rules_access(const struct prune_rules *rules, enum list_kind kind, const char *function,
				      uint8_t access);

/* Returns the first entry of the list `kind` that has this function and is for all accesses in it, or NULL. */
const struct list_entry *rules_function(const struct prune_rules *rules, enum list_kind kind, const char *function);

#endif
