/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Results of running two critical sections of one function (A) and a section of another context (B) in copies of the machine,
 * in three orders: the whole function A and then B, B and then the whole function A, and B between the two sections of A. Each
 * order runs both functions to their ends. docs/atomicity.md has the method.
 *
 * Plain data, with pure functions on it. Any thread; no locks.
 */
#ifndef OUTRIDER_RACE_SECTION_REPLAY_H
#define OUTRIDER_RACE_SECTION_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/race/replay.h"

#define SECTION_REPLAY_DIFFERENCES_MAX 4
/* Maximum number of different triples of sections that a run records. */
#define SECTION_REPLAYS_MAX 1024u

/* The three orders. The serial orders are the two in which B does not come between the sections of A. */
enum section_order {
	SECTION_ORDER_BETWEEN, /* A's first section, B, the rest of A */
	SECTION_ORDER_A_FIRST, /* A, B */
	SECTION_ORDER_B_FIRST, /* B, A */
	SECTION_ORDERS,
};

/* The outcome of one copy. */
enum section_outcome {
	/* An order could not be run to the ends of both functions, so nothing is known. */
	SECTION_OUTCOME_UNKNOWN,
	/* The state after B in between is that of both serial orders (SAME), or only of the one that the name says. */
	SECTION_OUTCOME_SAME,
	SECTION_OUTCOME_AS_A_FIRST,
	SECTION_OUTCOME_AS_B_FIRST,
	/*
	 * The whole state after B in between equals that of neither serial order, but each byte has the value that one of the
	 * serial orders gives.
	 */
	SECTION_OUTCOME_MIXED,
	/* B in between led to a value that neither serial order gives, or to trouble that neither serial order has. */
	SECTION_OUTCOME_CONFIRMED,
	SECTION_OUTCOMES,
};

/* Bytes whose values after B in between differ from their values after each of the two serial orders. */
struct section_difference {
	/*
	 * The place, name and length of the difference, and the bytes after the serial order with A first, and with B first. At
	 * most 8 bytes.
	 */
	struct replay_difference serial;
	/* The bytes after B in between. */
	uint8_t between[8];
};

struct section_replay_instance {
	enum section_outcome outcome;
	/* SECTION_OUTCOME_UNKNOWN: why. "" otherwise. */
	char why[REPLAY_TEXT_MAX];
	/* The first line of trouble that only the order with B in between has. "": none. */
	char trouble[REPLAY_TEXT_MAX];
	/*
	 * `difference_count`: number of 8-byte words with bytes that differ from both serial orders. `kept`: number of them
	 * that are recorded.
	 */
	uint64_t difference_count;
	uint32_t kept;
	struct section_difference differences[SECTION_REPLAY_DIFFERENCES_MAX];
};

/* All copies of one triple of sections. */
struct section_replay {
	/* The calls that take the lock: of A's first and second section, and of B's. */
	uint64_t first, second, between;
	/* Copies by outcome. */
	uint64_t count[SECTION_OUTCOMES];
	/*
	 * The instance that says most: the first one of the highest outcome, in the order of enum section_outcome. An instance
	 * with trouble says more than any other.
	 */
	struct section_replay_instance telling;
};

/* The common verdict of all copies of one triple of sections. */
enum section_verdict {
	SECTION_VERDICT_NONE,	       /* not run in copies */
	SECTION_VERDICT_UNKNOWN,       /* no copy has a known outcome, or no copy is confirmed and at least one is mixed */
	SECTION_VERDICT_NOT_CONFIRMED, /* each copy with a known outcome gave the state of a serial order */
	SECTION_VERDICT_CONFIRMED,
	SECTION_VERDICTS,
};

/* Returns the verdict. `replay` may be NULL. */
enum section_verdict section_verdict(const struct section_replay *replay);

/* Returns the number of copies in which B in between had the outcome of a serial order. */
uint64_t section_replay_told(const struct section_replay *replay);

/*
 * Return the word that reports have for a verdict or an outcome. section_verdict_from_word() returns the verdict of a word, or
 * -1 if no verdict has this word.
 */
const char *section_verdict_word(enum section_verdict verdict);
int section_verdict_from_word(const char *word);
const char *section_outcome_word(enum section_outcome outcome);

/* Count one more instance, which must be valid by section_replay_wrong(). */
void section_replay_count(struct section_replay *into, const struct section_replay_instance *instance);

/*
 * Returns a phrase for a message that says which rule of this header the instance breaks, or NULL if the instance breaks none.
 */
const char *section_replay_wrong(const struct section_replay_instance *instance);

/* Make the strings of an instance printable. Strings must be terminated. */
void section_replay_clean(struct section_replay_instance *instance);

/* Returns the triple's entry, or NULL. */
const struct section_replay *section_replay_find(const struct section_replay *list, size_t n, uint64_t first, uint64_t second,
						 uint64_t between);

#endif
