/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lists behind the rules, loaded. Shared by the files of the pruner only. */
#ifndef OUTRIDER_PRUNER_LISTS_H
#define OUTRIDER_PRUNER_LISTS_H

#include "hv/race/names.h"
#include "pruner/prune_rules.h"
#include "symbols/insn/insn.h"

enum list_kind {
	LIST_SPECIAL,	  /* variables that race by design */
	LIST_COUNTER,	  /* statistics, by name */
	LIST_APPROXIMATE, /* read for a rough figure */
	LIST_BOTH_VALID,  /* the old value and the new one are both right */
	LIST_ATOMIC,	  /* data that only LOCKed instructions change while others look */
	LIST_MARKED,	  /* functions and words of marked accesses */
	LIST_LOCK,	  /* functions that take a lock, */
	LIST_UNLOCK,	  /* that give one back, */
	LIST_FREE,	  /* that free an object, at once or later, */
	LIST_SHOW,	  /* that show numbers to people and keep nothing of them */
	LIST_REFCOUNT,	  /* counts that an object's life depends on */
	LIST_RAISE,	  /* other data that makes a race worse */
	LIST_KINDS
};

#define KERNEL_ANY 0xffffffffu
#define KERNEL_SEVERAL 0xfffffffeu

struct list_entry {
	enum list_kind kind;
	/* Shell patterns separated by blanks; all that are given must match. NULL: not given. */
	char *variable, *type, *member, *function, *word;
	char *reason, *source;
	char *name;			 /* of a raise: what it is called in a verdict */
	int points;			 /* of a raise */
	bool two_writers;		 /* the reason is good for two writers too */
	bool of_writer;			 /* the functions are those of the writer, not of who looks */
	bool covers_all;		 /* a marked word marks all accesses in its parentheses */
	uint8_t access;			 /* of what is marked: INSN_READ or INSN_WRITE if only those are; 0: both */
	uint32_t kernel_from, kernel_to; /* major << 16 | minor, both included */
};

struct prune_rules {
	struct insn_decoder *decoder;
	struct list_entry *entries;
	size_t count, room;
	char *sources;	 /* folder or NULL */
	uint32_t kernel; /* as in struct list_entry; KERNEL_ANY: not known; KERNEL_SEVERAL */
};

/* "6.1" and "6.1.0-21-amd64" as major << 16 | minor; returns where it ended, or NULL. */
const char *kernel_version(const char *text, uint32_t *out);

struct list_query {
	enum list_kind kind;
	const struct datum_name *datum;
	const char *function; /* that accesses it */
	bool changes;	      /* and stores to it */
	bool two_writers;     /* both sides do */
};

/* Whether the entry is meant for the kernel that the races are of. */
bool rules_kernel_fits(const struct prune_rules *rules, const struct list_entry *e);

/* The first entry for that datum, and for this kernel; or NULL. */
const struct list_entry *rules_datum(const struct prune_rules *rules, const struct list_query *query);

/* The same for such an access in it, INSN_READ, INSN_WRITE or both. */
const struct list_entry *rules_access(const struct prune_rules *rules, enum list_kind kind, const char *function,
				      uint8_t access);

/* The first entry of a kind that has this function, for all accesses in it; or NULL. */
const struct list_entry *rules_function(const struct prune_rules *rules, enum list_kind kind, const char *function);

#endif
