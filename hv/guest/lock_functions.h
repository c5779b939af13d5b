/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions by which the guest's kernel takes and releases locks, hands data over by other means (hv/race/handover.h), and
 * allocates and frees objects: the built-in list linux_locks.conf, and lists of the user. docs/locks.md describes the format.
 *
 * One thread fills a list. After that any thread may read it.
 */
#ifndef OUTRIDER_GUEST_LOCK_FUNCTIONS_H
#define OUTRIDER_GUEST_LOCK_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/race/handover.h"
#include "hv/race/lockset.h"

enum lock_op {
	LOCK_TAKE,
	LOCK_TRY,
	LOCK_GIVE,
	LOCK_FREE,    /* the function frees the object that its argument points to */
	LOCK_NEW,     /* the function returns an object that it has allocated */
	LOCK_OUTER,   /* not a function: a lock that records its owner, and may be taken outside of the subject */
	LOCK_RELEASE, /* the function releases its argument for a hand-over (hv/race/handover.h) */
	LOCK_ACQUIRE, /* the function acquires its argument and, with `stops`, stops the object's callback, before it returns */
	LOCK_SHARE,   /* the function keeps the lock, but only as a reader from now on */
	LOCK_STOP,    /* the function keeps the kernel from beginning the object's callback again; the callback may still run */
	LOCK_CALLER,  /* the function, which the subject does not call, calls callbacks with their object as first argument */
	LOCK_PASS,    /* the function takes a lock of its argument, and releases it before it returns */
	LOCK_REUSE,   /* the function gives its argument back to a pool, from which it is taken again without being freed */
};

/* Where LOCK_RELEASE and LOCK_CALLER find the function that the kernel calls with the object as its first argument. */
enum lock_calls {
	LOCK_CALLS_NOTHING, /* the callback is not known, or there is none */
	LOCK_CALLS_MEMBER,  /* a pointer in the object, `calls_at` or `calls_or_at` bytes from its start, points to the function
			     */
	LOCK_CALLS_ARGUMENT, /* argument number `calls_at` (0 to 5) of the listed function points to the function */
};

/* The argument is the address of a variable, not a register. */
#define LOCK_ARG_VARIABLE 0xff
/* Maximum number of bytes of code that identify an inlined function. */
#define LOCK_CODE_MAX 16u

struct lock_function {
	/* Name of the function; for LOCK_OUTER, of the variable; for inlined code, "code:" and its bytes. */
	char name[64];
	/*
	 * LOCK_GIVE only: the bytes of the inlined function. The first instruction releases the lock; the further instructions
	 * distinguish it from unrelated instructions of the same form. Length 0: the function is not inlined.
	 */
	uint8_t code[LOCK_CODE_MAX];
	uint8_t code_len;
	enum lock_op op;
	/* enum lock_kind; for LOCK_RELEASE, LOCK_ACQUIRE, LOCK_STOP and LOCK_CALLER, enum handover_kind */
	uint8_t kind;
	/*
	 * LOCK_RELEASE and LOCK_CALLER: where to find the callback, which acquires the object at its start and releases it at
	 * its end.
	 */
	enum lock_calls calls;
	int32_t calls_at;
	/*
	 * For LOCK_CALLS_MEMBER: a second offset, which is used if the object has no pointer to a function at `calls_at`. 0:
	 * none.
	 */
	int32_t calls_or_at;
	/* enum lock_off bits: what is disabled while the lock is held. */
	uint8_t off;
	/* The function is for the reader's side of the lock. */
	bool shared;
	/* LOCK_TAKE and LOCK_TRY: although the lock's kind is LOCK_SEMAPHORE, only one context holds it at a time. */
	bool exclusive;
	/* LOCK_ACQUIRE only: the result says whether the object was acquired, as `nonzero` describes. */
	bool tested;
	/* LOCK_ACQUIRE only: the kernel does not begin the object's callback until the object is released again. */
	bool stops;
	/*
	 * LOCK_TRY, and LOCK_ACQUIRE with `tested`. True: a result other than 0 means that the lock was taken. False: the
	 * result 0 means that the lock was taken, as for mutex_lock_interruptible().
	 */
	bool nonzero;
	/*
	 * LOCK_GIVE only: the function calls functions of the subject before it releases the lock. So the lock counts as held
	 * until the call has returned.
	 */
	bool at_return;
	/*
	 * LOCK_NEW only: a second object is allocated with the first one. The pointer `also_member` in the first object, which
	 * is a struct `also_type`, points to it. "": there is none.
	 */
	char also_type[64], also_member[64];
	/* Number of the argument that points to the lock or object, 0 to 5, or LOCK_ARG_VARIABLE. */
	uint8_t arg;
	/* Offset in bytes of the lock from where the argument points. */
	int32_t offset;
	/* For LOCK_ARG_VARIABLE: the variable's name. */
	char variable[64];
	/*
	 * LOCK_TAKE and LOCK_TRY: functions that release the lock, separated by '|'. A kernel that lacks all of them inlines
	 * the release, so the detector does not see it. "": not specified.
	 */
	char given_by[128];
	/* Line number in the user's list. 0: built in. */
	unsigned line;
};

struct lock_functions;

/* Returns the built-in list, or NULL with EXIT_INTERNAL in `err`. */
struct lock_functions *lock_functions_new(struct err *err);

/* `l` may be NULL. */
void lock_functions_free(struct lock_functions *l);

/*
 * Add the lines of the user's file `path`, which replace built-in lines of the same name. Returns 0. Returns -1 with EXIT_INPUT
 * in `err`, which says file, line and fault, and adds nothing. A file may name each function only once.
 */
int lock_functions_load(struct lock_functions *l, const char *path, struct err *err);

size_t lock_functions_count(const struct lock_functions *l);

/* Returns line `i`, below lock_functions_count(), in order of names. Owned by the list. */
const struct lock_function *lock_functions_get(const struct lock_functions *l, size_t i);

#endif
