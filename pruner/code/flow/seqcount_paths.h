/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tracks a path through a reader of a sequence count: which registers and flags depend on the count, and which registers hold
 * the data. The reader is a loop: an iteration loads the count, reads the data and loads the count again. Only
 * pruner/code/flow/seqcount_*.c use this header.
 */
#ifndef OUTRIDER_PRUNER_CODE_FLOW_SEQCOUNT_PATHS_H
#define OUTRIDER_PRUNER_CODE_FLOW_SEQCOUNT_PATHS_H

#include "pruner/code/flow/internal.h"
#include "pruner/code/flow/seqcount.h"

/* What a register holds of the count. */
enum seqcount_held {
	SEQCOUNT_NOTHING,
	/* The register holds the count, and the path has loaded no data after the count. */
	SEQCOUNT_LOADED,
	/*
	 * The register holds the count that began the section: even, or with bit 0 cleared. For a latch: the count that chose
	 * the copy.
	 */
	SEQCOUNT_START,
	/* A number computed from bit 0 of the count, which chooses the copy of a latch. */
	SEQCOUNT_INDEX,
};

/* Where execution is, relative to the section. The values are bits: where paths join, several may be set. */
enum seqcount_phase {
	/* The path has loaded no data, or has found the count unchanged after it loaded the data. */
	SEQCOUNT_OUTSIDE = 1,
	/* The path has loaded data, and has not compared the counts yet. */
	SEQCOUNT_INSIDE = 2,
	/* The path found the count changed. The path's data are invalid, and the path must retry. */
	SEQCOUNT_RETRY = 4,
};

/* What ZF means at this point. */
enum seqcount_flags {
	SEQCOUNT_FLAGS_ELSE,
	/* ZF is set when bit 0 of a count is 0. */
	SEQCOUNT_FLAGS_PARITY,
	/* ZF is set when the count equals the count that began the section. */
	SEQCOUNT_FLAGS_SAME,
};

/* The load or register differs between the paths that join here, or there is none. */
#define SEQCOUNT_SEVERAL (-1)

struct path {
	bool reached;
	uint8_t phases; /* enum seqcount_phase bits */
	struct {
		uint8_t kind; /* enum seqcount_held */
		/* Index of the instruction that loaded the count, or SEQCOUNT_SEVERAL. */
		int16_t load;
	} gpr[X86_GPRS];
	/* The registers that hold data or a result computed from data. One bit for each enum x86_gpr. */
	uint16_t data;
	/* The registers that hold data of an iteration that the reader discarded. */
	uint16_t stale;
	/* A part of the data is on the stack. */
	bool on_stack;
	/* The path took a branch that depends on data. */
	bool decided;
	uint8_t flags; /* enum seqcount_flags */
	/* For SEQCOUNT_FLAGS_PARITY: the register that was tested, or SEQCOUNT_SEVERAL. */
	int8_t flags_reg;
	/*
	 * If a test or a comparison of the count set the flags: the index of the instruction that had loaded this count.
	 * SEQCOUNT_SEVERAL: another instruction set the flags, or on the paths that join here different instructions had loaded
	 * the count.
	 */
	int16_t flags_load;
	bool flags_of_data;
};

struct seqcount_walk {
	const struct flow *flow;
	unsigned at; /* The instruction that loads the data. */
	/* The instruction `at` loads the count itself. No data are followed. */
	bool of_count;
	struct place count; /* The place of the count. */
	bool latch;
	struct path *states; /* The state before each instruction. */
	/* The states no longer change. A last pass over the code checks each instruction, and sets the fields below. */
	bool judging;
	bool wrong; /* The code is not a reader's section. */
	/* A path compares the counts after it has loaded the data. */
	bool retry_found;
	bool stores_to_caller; /* See struct seqcount_section. */
	bool clears_odd;       /* See struct seqcount_section. */
	/* Index of the instruction that loads the count for the comparison. */
	unsigned retry_load;
};

/* Returns whether the instruction loads 4 bytes into a register, as a reader loads the count. */
bool seqcount_loads(const struct insn_op *op);

/* Returns whether seqcount_loads() is true, or the instruction compares 4 bytes of memory with a register. */
bool seqcount_reads(const struct insn_op *op);

/*
 * Set *path to the state in which execution enters the code, at the function's start or from unkept code: no register holds the
 * count or data.
 */
void seqcount_enter(struct path *path);

/* Propagate the state before instruction `i` to its successors. Returns whether the state before a successor changed. */
bool seqcount_step(struct seqcount_walk *w, unsigned i);

/*
 * Update which registers of *path hold data after instruction `i`. If w->judging, set w->wrong if the instruction uses the data
 * in a way that a reader must not.
 */
void seqcount_use_data(struct seqcount_walk *w, struct path *path, unsigned i);

/*
 * Update *path to the state after instruction `i`: which registers hold the count, and which test of the count set the flags.
 */
void seqcount_track(struct seqcount_walk *w, struct path *path, unsigned i);

#endif
