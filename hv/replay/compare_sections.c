// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compares the states at the ends of three orders of two functions: A then B, B then A (the serial orders), and B between two
 * critical sections of A. A word counts as evidence only if one of its bytes differs from both serial orders. Bytes that each
 * equal one serial order are no evidence: the word may have several fields, each written in a different section.
 */
#include "hv/replay/compare_sections.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/order.h"

#define WORD 8u
#define RUNS (2 * SECTION_ORDERS)

/* How the state after B in between differs from the states after the serial orders. */
struct differing {
	bool from_a_first, from_b_first;
	struct section_replay_instance *out;
};

struct words {
	const uint8_t *at[SECTION_ORDERS];
};

static bool is_new(const struct words *w, unsigned byte)
{
	uint8_t between = w->at[SECTION_ORDER_BETWEEN][byte];

	return between != w->at[SECTION_ORDER_A_FIRST][byte] && between != w->at[SECTION_ORDER_B_FIRST][byte];
}

/* Note from which serial orders the word differs. Returns whether the word has a byte that neither serial order gives. */
static bool note(struct differing *d, const struct words *w)
{
	bool any = false;

	d->from_a_first |= memcmp(w->at[SECTION_ORDER_BETWEEN], w->at[SECTION_ORDER_A_FIRST], WORD) != 0;
	d->from_b_first |= memcmp(w->at[SECTION_ORDER_BETWEEN], w->at[SECTION_ORDER_B_FIRST], WORD) != 0;
	for (unsigned byte = 0; byte < WORD; byte++)
		any |= is_new(w, byte);
	return any;
}

/*
 * Record the difference: the smallest aligned part of the word that contains all bytes that neither serial order gives. Returns
 * the record, or NULL if there is no room.
 */
static struct replay_difference *record(struct differing *d, const struct words *w)
{
	unsigned from = 0, to = WORD, len = 1;
	struct section_difference *in;

	d->out->difference_count++;
	if (d->out->kept == SECTION_REPLAY_DIFFERENCES_MAX)
		return NULL;
	in = &d->out->differences[d->out->kept++];
	while (!is_new(w, from))
		from++;
	while (!is_new(w, to - 1))
		to--;
	while (from / len != (to - 1) / len)
		len *= 2;
	from -= from % len;
	*in = (struct section_difference){.serial = {.len = (uint8_t)len, .gpa = from}};
	memcpy(in->serial.bytes[0], w->at[SECTION_ORDER_A_FIRST] + from, len);
	memcpy(in->serial.bytes[1], w->at[SECTION_ORDER_B_FIRST] + from, len);
	memcpy(in->between, w->at[SECTION_ORDER_BETWEEN] + from, len);
	return &in->serial;
}

static bool is_dead(const struct compare_sections *c, uint64_t gpa)
{
	for (unsigned i = 0; i < RUNS; i++) {
		const struct compare_run *run = c->runs[i / 2][i % 2];

		if (run && !compare_dead(run, gpa))
			return false;
	}
	return true;
}

static const uint8_t *page_of(const struct compare_sections *c, unsigned order, unsigned run, uint64_t gpa)
{
	const uint8_t *page = compare_written(c->runs[order][run], gpa);

	return page ? page : c->before(c->ctx, gpa);
}

static void compare_page(const struct compare_sections *c, uint64_t gpa, struct differing *d)
{
	const uint8_t *page[SECTION_ORDERS][2] = {{NULL}};

	for (unsigned i = 0; i < RUNS; i++) {
		if (!c->runs[i / 2][i % 2])
			continue;
		page[i / 2][i % 2] = page_of(c, i / 2, i % 2, gpa);
		if (!page[i / 2][i % 2])
			return;
	}
	for (unsigned at = 0; at < X86_PAGE_SIZE; at += WORD) {
		struct words w;
		struct replay_difference *in;
		bool noise = false;

		for (unsigned order = 0; order < SECTION_ORDERS; order++) {
			w.at[order] = page[order][0] + at;
			noise |= page[order][1] && memcmp(w.at[order], page[order][1] + at, WORD) != 0;
		}
		if (noise || is_dead(c, gpa + at) || !note(d, &w))
			continue;
		in = record(d, &w);
		if (in)
			in->gpa += gpa + at;
	}
}

/*
 * Compare the result of a side's function, which has returned: RAX. The other registers need no comparison, because a function
 * must restore them or may change them.
 */
static void compare_result(const struct compare_sections *c, unsigned side, struct differing *d)
{
	uint64_t value[SECTION_ORDERS];
	struct replay_difference *in;
	struct words w;

	if (c->result_unused[side])
		return;
	for (unsigned order = 0; order < SECTION_ORDERS; order++) {
		value[order] = c->runs[order][0]->order.regs[side].gpr[X86_RAX];
		w.at[order] = (const uint8_t *)&value[order];
		if (c->runs[order][1] && c->runs[order][1]->order.regs[side].gpr[X86_RAX] != value[order])
			return;
	}
	in = note(d, &w) ? record(d, &w) : NULL;
	if (!in)
		return;
	in->is_register = true;
	in->gpa = 0;
	in->side = (uint8_t)side;
	snprintf(in->name, sizeof(in->name), "rax");
}

static int by_gpa(const void *a, const void *b)
{
	return order_u64(*(const uint64_t *)a, *(const uint64_t *)b);
}

/*
 * Compare each page that at least one run has written, once. Skip the lock's page, which compare_section_orders() compares
 * first.
 */
static void compare_memory(const struct compare_sections *c, uint64_t *pages, struct differing *d)
{
	size_t n = 0;

	for (unsigned i = 0; i < RUNS; i++) {
		const struct compare_run *run = c->runs[i / 2][i % 2];

		for (uint32_t k = 0; run && k < run->page_count; k++)
			pages[n++] = run->page_gpa[k];
	}
	qsort(pages, n, sizeof(*pages), by_gpa);
	for (size_t i = 0; i < n; i++) {
		if ((!i || pages[i] != pages[i - 1]) && pages[i] != c->lock / X86_PAGE_SIZE * X86_PAGE_SIZE)
			compare_page(c, pages[i], d);
	}
}

void compare_section_orders(const struct compare_sections *c, struct section_replay_instance *out)
{
	uint64_t *pages = calloc((size_t)RUNS * COMPARE_PAGES_MAX, sizeof(*pages));
	struct differing d = {.out = out};

	if (!pages) {
		snprintf(out->why, sizeof(out->why), "out of memory");
		return;
	}
	compare_page(c, c->lock / X86_PAGE_SIZE * X86_PAGE_SIZE, &d);
	for (unsigned side = 0; side < 2; side++)
		compare_result(c, side, &d);
	compare_memory(c, pages, &d);
	free(pages);
	if (out->difference_count)
		out->outcome = SECTION_OUTCOME_CONFIRMED;
	else if (d.from_a_first && d.from_b_first)
		out->outcome = SECTION_OUTCOME_MIXED;
	else if (d.from_b_first)
		out->outcome = SECTION_OUTCOME_AS_A_FIRST;
	else
		out->outcome = d.from_a_first ? SECTION_OUTCOME_AS_B_FIRST : SECTION_OUTCOME_SAME;
}
