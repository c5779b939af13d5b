/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two functions that take turns by a word in memory: what each of them does with the word, and what only behind a look at the
 * word or only before a store to it. On x86 the CPU keeps the order of loads, and the order of stores (SDM vol. 3, 9.2.2), so
 * the order of the machine code is the order that the other side sees. Only the pruner's rules use this header.
 */
#ifndef OUTRIDER_PRUNER_TURNS_H
#define OUTRIDER_PRUNER_TURNS_H

#include "pruner/flow/influence.h"
#include "pruner/flow/where.h"
#include "pruner/view.h"

/* One of the two functions, and what its instructions access. */
struct turns_end {
	const struct view_side *side;
	/* The GVA of what each instruction accesses, or 0 when it is not known or there is no access. */
	uint64_t gva[RACE_CODE_MAX];
	bool is_word[RACE_CODE_MAX]; /* The instruction accesses a word by which the functions take turns. */
	bool is_data[RACE_CODE_MAX]; /* The instruction accesses what is handed over. */
};

/* Look at a side whose access was followed. */
void turns_look(const struct view_side *s, struct turns_end *out);

/* Whether instruction `i` accesses a part of the `size` bytes at `gva` in this way (enum insn_rw bits, of which one is enough).
 */
bool turns_accesses(const struct turns_end *end, unsigned i, uint64_t gva, unsigned size, uint8_t rw);

/* Add to *out what depends on all loads of the `size` bytes at `gva`. */
void turns_influence(const struct turns_end *end, uint64_t gva, unsigned size, struct flow_influence *out);

/*
 * Whether instruction `i` is only reached by one certain answer of each jump in `jumps` that is asked last before it, from the
 * function's start, or from behind the instruction `from` when this is not WAYS_FROM_START. An instruction that is not reached
 * at all counts too.
 */
bool turns_guarded(const struct turns_end *end, const bool jumps[RACE_CODE_MAX], int from, unsigned i);

/*
 * Whether instruction `i` is only reached, from the function's start, by one certain answer of a jump in `jumps`: that a word
 * of 8 bytes is 0, or with `zero` false that it is not.
 */
bool turns_guarded_by_zero(const struct turns_end *end, const bool jumps[RACE_CODE_MAX], bool zero, unsigned i);

/* Whether the record has a race of an is_data instruction of one of the two functions. */
bool turns_data_raced(const struct view *v, const struct turns_end *a, const struct turns_end *b);

/*
 * Whether a race of the record shows that the two functions do not keep to their turns: a race of an is_data instruction, or a
 * race of the two functions where neither is at an is_word instruction.
 */
bool turns_broken(const struct view *v, const struct turns_end *a, const struct turns_end *b);

/* Whether the record has a race of a store to `gva` by any other function than that of `writer`, or of two stores. */
bool turns_other_writer(const struct view *v, uint64_t gva, const struct turns_end *writer);

/* Whether the record has a race of two stores to `gva`. */
bool turns_two_stores(const struct view *v, uint64_t gva);

/* Whether the record has a race of two stores of which one is by an instruction of at[], in any run and to any address. */
bool turns_two_stores_by(const struct view *v, const struct view_side *writer, const unsigned at[], unsigned count);

#endif
