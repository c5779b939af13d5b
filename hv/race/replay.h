/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What came of running a race in both orders. From the moment at which both sides stood before their accesses, a copy of the
 * machine was run twice: order 0 lets the access of the race's side 0 go first, and order 1 lets that of side 1 go first. What
 * each side ran until its region was at its end was compared, and after that each order ran on freely for a while.
 *
 * Plain data, with pure functions over it. Any thread; no locks.
 */
#ifndef OUTRIDER_RACE_REPLAY_H
#define OUTRIDER_RACE_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REPLAY_BYTES_MAX 16	  /* bytes of a difference that are kept */
#define REPLAY_DIFFERENCES_MAX 16 /* differences of an instance that are kept: the first ones */
#define REPLAY_NAME_MAX 128	  /* bytes of a difference's name with the NUL */
#define REPLAY_TEXT_MAX 192	  /* bytes of any other text with the NUL */

/* What came of one instance. */
enum replay_outcome {
	/* Both orders led to the same state. */
	REPLAY_NO_STATE_CHANGE,
	/* The two orders led to states that differ in what is live. */
	REPLAY_STATE_CHANGE,
	/* One order could not be run to the end of both regions. */
	REPLAY_FAILURE,
	REPLAY_OUTCOMES,
};

/* Why an instance is REPLAY_FAILURE. */
enum replay_failure {
	/* It is none. */
	REPLAY_NO_FAILURE,
	/* A side ran into a fault: it is about to be, or was, reported by the guest's kernel. */
	REPLAY_FAULT,
	/* A side ran into a warning of the guest's kernel. */
	REPLAY_WARNING,
	/* Both sides go round in loops that nothing ends: neither the other side, nor an interrupt, nor another CPU. */
	REPLAY_DEADLOCK,
	/* A region did not come to its end within the limit. */
	REPLAY_ENDLESS,
	/* The copy could not be made, or not be run. Nothing is said of the race then. */
	REPLAY_CANNOT_LOAD,
	REPLAY_FAILURES,
};

/* How the region of one side ended: what it runs behind its access, and is watched for. */
enum replay_end {
	/* It did not begin. */
	REPLAY_END_NOT_RUN,
	/* The function that made the access returned. */
	REPLAY_END_RETURN,
	/* The task was about to sleep. */
	REPLAY_END_BLOCKED,
	/* It ran as many instructions as a region may have. */
	REPLAY_END_LIMIT,
	/* A fault ended it. */
	REPLAY_END_FAULT,
	REPLAY_ENDS,
};

/* How the machine was at the end of the free run of one order. */
enum replay_machine {
	/* There was no free run. */
	REPLAY_MACHINE_NOT_RUN,
	/* It still ran when the time was over. */
	REPLAY_MACHINE_RUNS,
	/* It was powered off or restarted in order. */
	REPLAY_MACHINE_OFF,
	/* Its kernel panicked. */
	REPLAY_MACHINE_PANIC,
	/* It shut down without a word: a triple fault. */
	REPLAY_MACHINE_TRIPLE_FAULT,
	/* The CPUs of both sides made no progress any more. */
	REPLAY_MACHINE_HANG,
	REPLAY_MACHINES,
};

/* One difference between the states in which the two orders ended: a run of bytes, or a register. */
struct replay_difference {
	/* A register of a side. False: memory. */
	bool is_register;
	/* The race's side whose register it is. 0 for memory. */
	uint8_t side;
	/* Bytes that are kept of each order, 1 to REPLAY_BYTES_MAX. A longer run of bytes is cut. */
	uint8_t len;
	/* GPA of the first byte. 0 for a register. */
	uint64_t gpa;
	/* GVA of the first byte. 0: not known, or a register. */
	uint64_t gva;
	/* The bytes in memory order after each order. Those of a register are little-endian. */
	uint8_t bytes[2][REPLAY_BYTES_MAX];
	/* Such as "jiffies_64+0x8", "slab kmalloc-64 object+0x10", "stack of kworker/0:1" or "rax". "": it has no name. */
	char name[REPLAY_NAME_MAX];
};

/* The region of one side in one order. */
struct replay_region {
	enum replay_end end;
	/* Instructions that the side ran, its access included. */
	uint64_t instructions;
};

/* One order. */
struct replay_order {
	/* The regions of the race's side 0 and of its side 1. */
	struct replay_region regions[2];
	enum replay_machine machine;
	/* The first line of trouble in the guest's own words: of an oops, a warning, a lockup and the like. "": there was none.
	 */
	char trouble[REPLAY_TEXT_MAX];
};

/* One instance of a race that was run in both orders. */
struct replay_instance {
	enum replay_outcome outcome;
	/* REPLAY_NO_FAILURE unless the outcome is REPLAY_FAILURE. */
	enum replay_failure why;
	/* The failure in a few words more. "": none are known. */
	char why_text[REPLAY_TEXT_MAX];
	/* Order i is the one that lets the access of the race's side i go first. */
	struct replay_order orders[2];
	/* How many differences there are. 0 where the states were not compared, or are the same. */
	uint64_t difference_count;
	/* How many of them are kept. */
	uint32_t kept;
	/* The differences that are kept: those that say most to people first. */
	struct replay_difference differences[REPLAY_DIFFERENCES_MAX];
};

/* All that is known of a race's instances that were run in both orders. */
struct race_replay {
	/* Instances of each outcome. At least one of them is not 0. */
	uint64_t count[REPLAY_OUTCOMES];
	/* How many of the replay failures are copies that could not be made or run. They say nothing of the race. */
	uint64_t not_run;
	/* Instances in which exactly one order ended in trouble: replay_troubled_order() says which. */
	uint64_t one_troubled;
	/*
	 * The most telling instance, by replay_weight(): one in which exactly one order ended in trouble, else one with a state
	 * change, else a replay failure that says something of the race, else one without a state change, else a copy that
	 * could not be made or run. Of two of the same weight it is the one that came first.
	 */
	struct replay_instance telling;
};

/*
 * Whether an order ended in trouble: the guest said so, or the machine panicked, hung or shut down without a word. An order
 * without a free run is in trouble only if the guest said so.
 */
bool replay_in_trouble(const struct replay_order *order);

/*
 * The order, 0 or 1, that alone ended in trouble, while the other one had a free run and none. -1: there is no such order.
 */
int replay_troubled_order(const struct replay_instance *instance);

/* How much an instance says of its race. More is more; struct race_replay has the order. */
int replay_weight(const struct replay_instance *instance);

/* Whether two instances of a race have the same outcome: the same weight, the same failure, and trouble in the same order. */
bool replay_same_outcome(const struct replay_instance *a, const struct replay_instance *b);

/*
 * Whether two instances that began in the same state were the same to the end of their regions: the same outcome, regions of as
 * many instructions with the same ends, and differences in the same places with the same bytes. Names and the words of trouble
 * are not looked at.
 */
bool replay_identical(const struct replay_instance *a, const struct replay_instance *b);

/* What is wrong with an instance, as a phrase for a message. NULL: its members fit together as this header says. */
const char *replay_instance_wrong(const struct replay_instance *instance);

/* What is wrong with a replay, its telling instance included, as a phrase for a message. NULL: its members fit together. */
const char *replay_wrong(const struct race_replay *replay);

/* All instances. At most INT64_MAX, which is the largest number that JSON can carry. */
uint64_t replay_instances(const struct race_replay *replay);

/*
 * What came of the race as a whole (replay classification, section 5.2.1): REPLAY_STATE_CHANGE if one instance was one, else
 * REPLAY_FAILURE if one was one, else REPLAY_NO_STATE_CHANGE, which takes that all instances were. Copies that could not be
 * made or run are passed over; if there is nothing else, it is REPLAY_FAILURE.
 */
enum replay_outcome replay_outcome(const struct race_replay *replay);

/* By what instances that are kept as scenarios are told apart. */
enum replay_kept {
	REPLAY_KEPT_NO_STATE_CHANGE,
	REPLAY_KEPT_STATE_CHANGE,
	REPLAY_KEPT_FAILURE,
	/* One order alone ended in trouble. */
	REPLAY_KEPT_ORDER_CRASHES,
	/* The copy could not be made or run: there is nothing that would be worth keeping. */
	REPLAY_KEPT_NOTHING,
};

enum replay_kept replay_kept(const struct replay_instance *instance);

/* The word for a file's name, as docs/pruning.md has it: "state-change". Not for REPLAY_KEPT_NOTHING. */
const char *replay_kept_word(enum replay_kept kind);

/* Make an instance that of the race with its two sides changed over. */
void replay_swap(struct replay_instance *instance);

/* Count one more instance, against which replay_instance_wrong() must have nothing. `into` keeps its strings printable. */
void replay_count(struct race_replay *into, const struct replay_instance *instance);

/* Bring in all instances of another replay of the same race. `swap`: there the race has its sides changed over. */
void replay_merge(struct race_replay *into, const struct race_replay *from, bool swap);

/* Make the strings of an instance printable (hv/base/clean.h). */
void replay_clean(struct replay_instance *instance);

#endif
