/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds in newly loaded text which functions call functions that take locks (callers.h), and which of them may make critical
 * sections in several functions, so that their activations have to be followed (sections.h).
 *
 * The direct calls, and the jumps from one function to another, are the edges of a graph of functions. A section here is a
 * critical section: it begins with a call that takes a lock or tries to. A function is on the way to a section if it contains
 * such a call, or reaches such a function over fewer than CALLERS_MAX edges.
 */
#ifndef OUTRIDER_DETECT_LOCKS_CALLER_HOOKS_H
#define OUTRIDER_DETECT_LOCKS_CALLER_HOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/insn/insn.h"

struct detect;
struct symbol;

/*
 * An edge: a direct call of a function, a direct jump to a function, or a call that takes a lock or tries to. `target` is 0 for
 * a call that takes a lock or tries to, and the target of the call or jump otherwise.
 */
struct caller_edge {
	uint64_t at, target; /* GVAs */
	uint32_t function;   /* index into functions[] */
	uint8_t len;	     /* bytes of the call */
	bool jump;
	bool decides; /* the code after the call decides by the call's result (decision.h) */
};

/* What caller_hooks_function() collects. All zero: nothing. */
struct caller_graph {
	struct caller_function {
		uint64_t start, size;
		unsigned takes; /* calls in the function that take a lock or try to */
		/*
		 * Least number of edges from this function to a function that takes a lock or tries to. 0: the function does so
		 * itself. CALLERS_MAX + 1: no such function was found.
		 */
		unsigned depth;
		unsigned calls;	     /* calls of and jumps to functions on the way to a section */
		uint64_t first_call; /* GVA of the first such call; 0: none */
		bool sections;	     /* caller_hooks_followed() was called for this function */
	} * functions;
	struct caller_edge *edges;
	size_t function_count, edge_count;
	bool failed; /* memory ran out, or there are too many functions: then nothing is followed */
};

void caller_graph_fini(struct caller_graph *g);

/*
 * Begin with a function of the text. The caller gives the functions in the order of their addresses. caller_hooks_take(),
 * caller_hooks_insn() and caller_hooks_followed() tell more about the function that was given last.
 */
void caller_hooks_function(struct caller_graph *g, const struct symbol *fn);

/* Add this instruction, which takes a lock or tries to, to the function that caller_hooks_function() began last. */
void caller_hooks_take(struct caller_graph *g, const struct insn *insn);

/*
 * The function that was given last has this instruction, which calls no lock function. `rest`: the `len` bytes of the function
 * after the instruction.
 */
void caller_hooks_insn(struct caller_graph *g, struct insn_decoder *decoder, const struct insn *insn, const uint8_t *rest,
		       size_t len);

/* The sections of the function that was given last are followed because of its own calls that take locks. */
void caller_hooks_followed(struct caller_graph *g);

/*
 * All functions of the text were given: fill in the detector's tables of callers. Returns false if memory ran out or the text
 * has too many functions: then no caller is followed. Called on the sampler's thread, without d->lock.
 */
bool caller_hooks_sites(struct detect *d, struct caller_graph *g);

/*
 * Returns whether the function may make two sections, at least one of them in a function that it calls: then its activations
 * are to be followed. Only after caller_hooks_sites().
 */
bool caller_makes_sections(const struct caller_function *f);

/*
 * Returns the first edge, from edges[from] on, that is a jump of functions[function] to a function on the way to a section.
 * NULL: there is none. Only after caller_hooks_sites().
 */
const struct caller_edge *caller_jump(const struct caller_graph *g, size_t function, size_t from);

#endif
