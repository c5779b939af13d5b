/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kept code of one side, decoded, and its data flow. For tests of the pruner's code.h and flow.h. */
#ifndef OUTRIDER_TESTS_PRUNE_CODE_H
#define OUTRIDER_TESTS_PRUNE_CODE_H

#include <stdlib.h>
#include <string.h>

#include "pruner/code/flow/flow.h"

#define CODE_ADDR 0xffffffff81000000ull
#define CODE(bytes) (bytes), sizeof(bytes) - 1
#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

struct code_bench {
	struct insn_decoder *decoder;
	struct race_side side;
	struct race_side_room room; /* What `side` points to. */
	struct code code;	    /* Decoded from `side`. */
	struct flow *flow;	    /* Of `code`; NULL until a function below loads some. */
	const void *row;	    /* The table's row, in a test made by CODE_ROW(). */
};

static inline int code_setup(void **state)
{
	struct code_bench *b = calloc(1, sizeof(*b));

	if (!b)
		return -1;
	b->row = *state;
	*state = b;
	b->decoder = insn_decoder_new();
	return b->decoder ? 0 : -1;
}

static inline int code_teardown(void **state)
{
	struct code_bench *b = *state;

	flow_free(b->flow);
	insn_decoder_free(b->decoder);
	free(b);
	return 0;
}

/* For main(): a test, and a test of one row of a table, which has that row's name and finds the row in bench->row. */
#define CODE_TEST(function) cmocka_unit_test_setup_teardown(function, code_setup, code_teardown)
#define CODE_ROW(row_name, function, row_of_table)           \
	((struct CMUnitTest){.name = (row_name),             \
			     .test_func = (function),        \
			     .setup_func = code_setup,       \
			     .teardown_func = code_teardown, \
			     .initial_state = (void *)(row_of_table)})

/* Decode the code in b->side and make its data flow. */
static inline void code_reload(struct code_bench *b)
{
	code_load(&b->code, b->decoder, &b->side);
	flow_free(b->flow);
	b->flow = flow_new(&b->code);
	assert_non_null(b->flow);
}

/* Take a function "f" at `gva` that consists of `code`. The instruction at offset `at` is the access. */
static inline void code_take_at(struct code_bench *b, uint64_t gva, const void *code, size_t len, uint32_t at)
{
	b->side = (struct race_side){.kind = RACE_SIDE_CPU, .pc = gva + at, .code_gva = gva, .code_len = (uint32_t)len};
	race_side_use_room(&b->side, &b->room);
	memcpy(b->side.code, code, len);
	b->side.symbol = (struct guest_symbol){.name = "f", .addr = gva, .size = len};
	code_reload(b);
}

static inline void code_take(struct code_bench *b, const void *code, size_t len, uint32_t at)
{
	code_take_at(b, CODE_ADDR, code, len, at);
}

/* The same kept code, but the function is 0x1000 bytes longer. */
static inline void code_take_part(struct code_bench *b, const void *code, size_t len, uint32_t at)
{
	code_take(b, code, len, at);
	b->side.symbol.size += 0x1000;
	code_reload(b);
}

/* Name the function that the code calls or jumps to at offset `at`. */
static inline void code_callee(struct code_bench *b, uint16_t at, const char *name)
{
	struct race_callee *callee = &b->side.callees[b->side.callee_count++];

	callee->at = at;
	strcpy(callee->name, name);
	code_reload(b);
}

/* The index of the access's instruction. The test fails if the code has none. */
static inline unsigned code_access(const struct code_bench *b)
{
	assert_true(b->code.access >= 0);
	return (unsigned)b->code.access;
}

#endif
