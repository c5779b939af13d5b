/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Results of running a race in both orders (replay classification, PLDI'07). From a rendezvous (hv/race/rendezvous.h), a copy
 * of the machine is run twice: order 0 lets the access of side 0 go first, order 1 that of side 1. The states after both
 * regions are compared. After that, each order runs on freely for a while.
 *
 * Plain data, with pure functions on it. Any thread; no locks.
 */
#ifndef OUTRIDER_RACE_REPLAY_H
#define OUTRIDER_RACE_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REPLAY_BYTES_MAX 16	  /* bytes recorded of a difference */
#define REPLAY_DIFFERENCES_MAX 16 /* differences recorded per instance */
#define REPLAY_NAME_MAX 128	  /* bytes of a difference's name, including the NUL */
#define REPLAY_TEXT_MAX 192	  /* bytes of any other text, including the NUL */

/* The result of one instance. */
enum replay_outcome {
	/* Both orders led to the same state. */
	REPLAY_NO_STATE_CHANGE,
	/* The two orders led to states that differ in live registers or memory. */
	REPLAY_STATE_CHANGE,
	/* At least one order did not complete both regions. */
	REPLAY_FAILURE,
	REPLAY_OUTCOMES,
};

/* The reason of a REPLAY_FAILURE. */
enum replay_failure {
	/* The outcome is not REPLAY_FAILURE. */
	REPLAY_NO_FAILURE,
	/* A side faulted: the guest's kernel has reported an oops, or is about to. */
	REPLAY_FAULT,
	/* A side reached a warning of the guest's kernel. */
	REPLAY_WARNING,
	/* Both sides spin in loops that neither the other side nor an interrupt nor another CPU ends. */
	REPLAY_DEADLOCK,
	/* A side reached the limit of instructions in one order only; or a copy changed more memory than can be compared. */
	REPLAY_ENDLESS,
	/* The copy could not be made or run. This failure is no evidence about the race. */
	REPLAY_CANNOT_LOAD,
	REPLAY_FAILURES,
};

/* How a side's region ended. The region is the code that the side runs from its access until the states are compared. */
enum replay_end {
	/* The region did not begin. */
	REPLAY_END_NOT_RUN,
	/* The function that made the access returned. */
	REPLAY_END_RETURN,
	/* The task was about to sleep. */
	REPLAY_END_BLOCKED,
	/* The side executed as many instructions as a region may have. This alone is no failure. */
	REPLAY_END_LIMIT,
	/* The side faulted. */
	REPLAY_END_FAULT,
	REPLAY_ENDS,
};

/* State of the machine at the end of the free run of one order. */
enum replay_machine {
	/* There was no free run. */
	REPLAY_MACHINE_NOT_RUN,
	/* Still running when the time was up. */
	REPLAY_MACHINE_RUNS,
	/* Powered off or rebooted in order. */
	REPLAY_MACHINE_OFF,
	/* The kernel panicked. */
	REPLAY_MACHINE_PANIC,
	/* A triple fault: shutdown without a message. */
	REPLAY_MACHINE_TRIPLE_FAULT,
	/* The CPUs of both sides no longer made progress. */
	REPLAY_MACHINE_HANG,
	REPLAY_MACHINES,
};

/* One difference between the final states of the two orders: consecutive bytes of memory, or a register. */
struct replay_difference {
	/* True: a register of a side. False: memory. */
	bool is_register;
	/* The side whose register it is. 0 for memory. */
	uint8_t side;
	/* Bytes recorded per order, 1 to REPLAY_BYTES_MAX. A longer difference is truncated. */
	uint8_t len;
	/* GPA of the first byte. 0 for a register. */
	uint64_t gpa;
	/* GVA of the first byte. 0 for a register, or if unknown. */
	uint64_t gva;
	/* The bytes after each order, in memory order; little-endian for a register. */
	uint8_t bytes[2][REPLAY_BYTES_MAX];
	/*
	 * Name of the place that differs, for example "jiffies_64+0x8", "slab kmalloc-64 object+0x10", "stack of kworker/0:1"
	 * or "rax". "": no name.
	 */
	char name[REPLAY_NAME_MAX];
};

/* The region of one side in one order. */
struct replay_region {
	enum replay_end end;
	/* Instructions that the side executed, including its access. */
	uint64_t instructions;
};

/* One order. */
struct replay_order {
	/* The regions of side 0 and side 1. */
	struct replay_region regions[2];
	enum replay_machine machine;
	/* First line of the guest's message about the trouble: an oops, warning or lockup. "": none. */
	char trouble[REPLAY_TEXT_MAX];
};

/* One instance of a race, run in both orders. */
struct replay_instance {
	enum replay_outcome outcome;
	/* REPLAY_NO_FAILURE unless the outcome is REPLAY_FAILURE. */
	enum replay_failure why;
	/* Details of the failure. "": none. */
	char why_text[REPLAY_TEXT_MAX];
	/* orders[i] is the order in which the access of side i goes first. */
	struct replay_order orders[2];
	/* Number of differences. 0 if the states are equal or were not compared. */
	uint64_t difference_count;
	/* Number of `differences`. */
	uint32_t kept;
	/* The recorded differences, the most informative ones first. */
	struct replay_difference differences[REPLAY_DIFFERENCES_MAX];
	/* The copy existed when the guest's kernel complained (a last moment). Not stored with the instance. */
	bool last_moment;
};

/* Results of all instances of a race that were run in both orders. */
struct race_replay {
	/* Number of instances per outcome. At least one of the numbers is not 0. */
	uint64_t count[REPLAY_OUTCOMES];
	/* Number of failures of kind REPLAY_CANNOT_LOAD, which are no evidence about the race. */
	uint64_t not_run;
	/* Instances in which exactly one order ended in trouble; see replay_troubled_order(). */
	uint64_t one_troubled;
	/* Instances whose copies existed when the guest's kernel complained. */
	uint64_t last_moments;
	/*
	 * The instance that says most about whether the race does harm: the first of the instances with the highest
	 * replay_weight(). From high to low weight: exactly one order ended in trouble; a state change; a failure other than
	 * REPLAY_CANNOT_LOAD; no state change; REPLAY_CANNOT_LOAD.
	 */
	struct replay_instance telling;
};

/*
 * Returns true if an order ended in trouble: the guest reported it, or the machine panicked, hung or triple-faulted. An order
 * without a free run is in trouble only if the guest reported it.
 */
bool replay_in_trouble(const struct replay_order *order);

/*
 * Returns the order, 0 or 1, that ended in trouble while the other order had a free run without trouble, or -1 if there is no
 * such order.
 */
int replay_troubled_order(const struct replay_instance *instance);

/*
 * Returns the weight of an instance: the higher, the more the instance says about whether the race does harm. The comment at
 * race_replay.telling has the order of the weights.
 */
int replay_weight(const struct replay_instance *instance);

/* Returns true if two instances have the same weight, the same failure, and trouble in the same order. */
bool replay_same_outcome(const struct replay_instance *a, const struct replay_instance *b);

/*
 * Returns true if two instances, which must have begun in the same state, ran equally until the ends of their regions: same
 * outcome, same region lengths and ends, same differences at the same places. Ignores names and messages.
 */
bool replay_identical(const struct replay_instance *a, const struct replay_instance *b);

/*
 * Returns a phrase for a message that says which rule of this header the instance breaks, or NULL if the instance breaks none.
 */
const char *replay_instance_wrong(const struct replay_instance *instance);

/*
 * Returns which rule of this header the replay or its instance `telling` breaks, as a phrase for a message; or NULL if none is
 * broken.
 */
const char *replay_wrong(const struct race_replay *replay);

/* Returns the number of all instances, at most INT64_MAX: the largest integer that jansson can store. */
uint64_t replay_instances(const struct race_replay *replay);

/*
 * Returns the outcome of the race as a whole (replay classification, section 5.2.1): REPLAY_STATE_CHANGE if any instance
 * changed state, else REPLAY_FAILURE if any failed, else REPLAY_NO_STATE_CHANGE. Ignores copies that could not be made or run;
 * if there is nothing else, returns REPLAY_FAILURE.
 */
enum replay_outcome replay_outcome(const struct race_replay *replay);

/* The groups of instances that are kept as scenario files. */
enum replay_kept {
	REPLAY_KEPT_NO_STATE_CHANGE,
	REPLAY_KEPT_STATE_CHANGE,
	REPLAY_KEPT_FAILURE,
	/* Exactly one order ended in trouble. */
	REPLAY_KEPT_ORDER_CRASHES,
	/* The copy could not be made or run: not worth keeping. */
	REPLAY_KEPT_NOTHING,
};

/* Returns the group of an instance. */
enum replay_kept replay_kept(const struct replay_instance *instance);

/* Returns the word for a scenario file's name, as in docs/pruning.md: "state-change". Not for REPLAY_KEPT_NOTHING. */
const char *replay_kept_word(enum replay_kept kind);

/* Exchange the two sides of an instance. */
void replay_swap(struct replay_instance *instance);

/* Count one more instance, which must be valid by replay_instance_wrong(). Strings in `into` are made printable. */
void replay_count(struct race_replay *into, const struct replay_instance *instance);

/*
 * Add all instances of another replay of the same race. `swap`: the sides of `from` are in the other order than those of
 * `into`.
 */
void replay_merge(struct race_replay *into, const struct race_replay *from, bool swap);

/* Make the strings of an instance printable (hv/base/clean.h). */
void replay_clean(struct replay_instance *instance);

#endif
