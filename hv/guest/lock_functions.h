/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions by which the guest's kernel takes locks and gives them back, and by which objects begin and end: the list
 * linux_locks.conf, which is a part of the program, and lists of the user's. docs/locks.md describes the format.
 *
 * One thread fills a list, and any thread may read it from then on.
 */
#ifndef OUTRIDER_GUEST_LOCK_FUNCTIONS_H
#define OUTRIDER_GUEST_LOCK_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/race/lockset.h"

enum lock_op {
	LOCK_TAKE,
	LOCK_TRY,
	LOCK_GIVE,
	LOCK_FREE,  /* the argument is an object that ends */
	LOCK_NEW,   /* the result is an object that begins */
	LOCK_OUTER, /* no function: a lock that says its owner, and that may be taken outside of the code that is looked at */
};

/* The argument is the address of a variable, not a register. */
#define LOCK_ARG_VARIABLE 0xff
/* The most bytes of code that stand for a function which is inlined. */
#define LOCK_CODE_MAX 16u

struct lock_function {
	/* The function's name, and of LOCK_OUTER that of the variable. With code, "code:" and its bytes. */
	char name[64];
	/*
	 * Of LOCK_GIVE: how kernels inline it, in bytes. The first instruction gives the lock back, and the others tell it from
	 * an instruction that only looks like it. 0 bytes: it is a function.
	 */
	uint8_t code[LOCK_CODE_MAX];
	uint8_t code_len;
	enum lock_op op;
	/* enum lock_kind */
	uint8_t kind;
	/* enum lock_off bits: what is off while the lock is held. */
	uint8_t off;
	/* A reader's side. */
	bool shared;
	/* Of LOCK_TRY: the result is not 0 when the lock was taken. False: it is 0 then, as of mutex_lock_interruptible(). */
	bool nonzero;
	/* Which argument is the lock or the object, from 0 to 5, or LOCK_ARG_VARIABLE. */
	uint8_t arg;
	/* The offset of the lock in what the argument points to, in bytes. */
	int32_t offset;
	/* With LOCK_ARG_VARIABLE, the variable's name. */
	char variable[64];
	/*
	 * Of LOCK_TAKE and LOCK_TRY: functions with '|' between them. A kernel without any of them inlines what gives the lock
	 * back, and nobody sees that. "": not said.
	 */
	char given_by[128];
	/* The line of the user's list that it is from. 0: it is the program's own. */
	unsigned line;
};

struct lock_functions;

/* The list that is a part of the program. NULL with EXIT_INTERNAL in `err`. */
struct lock_functions *lock_functions_new(struct err *err);

/* NULL is allowed. */
void lock_functions_free(struct lock_functions *l);

/*
 * Add the lines of the user's file `path`, which replace those of the same name. Returns 0, or -1 with EXIT_INPUT in `err`,
 * which says file, line and what is wrong with it: then nothing of the file was added. A file may name a function once only.
 */
int lock_functions_load(struct lock_functions *l, const char *path, struct err *err);

size_t lock_functions_count(const struct lock_functions *l);

/* Line number `i`, below lock_functions_count(), in the order of their names. It is the list's. */
const struct lock_function *lock_functions_get(const struct lock_functions *l, size_t i);

#endif
