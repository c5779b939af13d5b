/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a way through a reader of a sequence count has of the count and of the data. Only pruner/flow/section_*.c uses this. */
#ifndef OUTRIDER_PRUNER_FLOW_SECTION_WALK_H
#define OUTRIDER_PRUNER_FLOW_SECTION_WALK_H

#include "pruner/flow/internal.h"
#include "pruner/flow/section.h"

/* What a register holds of the count. */
enum section_held {
	SECTION_NOTHING,
	SECTION_LOADED, /* The count. Data that was loaded came before it. */
	SECTION_START,	/* The count, which is even or was made even; of a latch, the count that chose the copy. */
	SECTION_INDEX,	/* Made of bit 0 of the count, which chooses a latch's copy. */
};

/* Where a way is. They are bits, since ways meet. */
enum section_phase {
	SECTION_OUTSIDE = 1, /* No data were loaded, or the count was found unchanged behind them. */
	SECTION_INSIDE = 2,  /* Data were loaded, and the count was not compared yet. */
	SECTION_AGAIN = 4,   /* The count was found changed, so the data are worth nothing. */
};

/* What the flags say. */
enum section_flags {
	SECTION_FLAGS_ELSE,
	SECTION_FLAGS_PARITY, /* ZF: bit 0 of a count is 0. */
	SECTION_FLAGS_SAME,   /* ZF: the count is the one that was loaded before the data. */
};

#define SECTION_SEVERAL (-1) /* A load or a register that is not the same on all ways. */

struct way {
	bool reached;
	uint8_t phases; /* enum section_phase bits */
	struct {
		uint8_t kind; /* enum section_held */
		int16_t load; /* The index of the instruction that loaded the count, or SECTION_SEVERAL. */
	} gpr[X86_GPRS];
	uint16_t data;	    /* Registers that hold the data or something made of them. A bit for each enum x86_gpr. */
	uint16_t stale;	    /* The same of data that were found worth nothing. */
	bool on_stack;	    /* Some of the data is on the stack. */
	bool decided;	    /* A branch was taken by the data. */
	uint8_t flags;	    /* enum section_flags */
	int8_t flags_reg;   /* Of SECTION_FLAGS_PARITY: the register that was tested, or SECTION_SEVERAL. */
	int16_t flags_load; /* The load whose count the flags are of, or SECTION_SEVERAL. */
	bool flags_of_data;
};

struct walk {
	const struct flow *flow;
	unsigned at;	    /* The instruction that loads the data. */
	bool of_count;	    /* That instruction loads the count itself, and no data are followed. */
	struct place count; /* Where the count is. */
	bool latch;
	struct way *states; /* Before each instruction. */
	/* The states are final, and the fields below are being found. */
	bool judging;
	bool wrong;	 /* This is no section. */
	bool asked;	 /* The count is compared on the way out. */
	bool hands_out;	 /* See struct section. */
	bool clears_odd; /* See struct section. */
	unsigned asking; /* The index of the instruction that loads the count to compare it. */
};

/* Whether the instruction loads 4 bytes into a register, as a reader loads the count. */
bool section_loads(const struct insn_op *op);

/* Whether it is such a load, or compares 4 bytes of memory with a register. */
bool section_looks(const struct insn_op *op);

/* The state where a way into the function begins. */
void section_enter(struct way *way);

/* Go on from instruction `i` to those that may follow. Returns whether the state before any of these changed. */
bool section_step(struct walk *w, unsigned i);

/* Note in *w what is wrong with what instruction `i` does with the data, in the state before it. Change what it has of them. */
void section_use(struct walk *w, struct way *way, unsigned i);

/* Change what the state has of the count, and what the flags say, as instruction `i` does. */
void section_count(struct walk *w, struct way *way, unsigned i);

#endif
