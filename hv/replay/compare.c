// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares the states at the ends of two orders. */
#include "hv/replay/compare.h"

#include <stdio.h>
#include <string.h>

#define WORD 8u

/* ---- failures that prevent a comparison ---- */

static int fail(struct replay_instance *out, enum replay_failure why, unsigned order, const char *text)
{
	out->outcome = REPLAY_FAILURE;
	out->why = why;
	snprintf(out->why_text, sizeof(out->why_text), "order %u: %.170s", order + 1, text);
	return -1;
}

enum replay_failure compare_failure(const struct compare_run *r, const char **text)
{
	/* Prefer the guest's message of trouble, because it explains more than how the order ended. */
	*text = r->trouble_line;
	if (r->trouble != TROUBLE_NONE)
		return r->trouble == TROUBLE_WARNING ? REPLAY_WARNING : REPLAY_FAULT;
	*text = r->order.why;
	if (r->order.failure != REPLAY_NO_FAILURE)
		return r->order.failure;
	*text = "the two sides write more memory than can be compared";
	return r->too_many ? REPLAY_ENDLESS : REPLAY_NO_FAILURE;
}

static int check_run(const struct compare *c, unsigned order, unsigned run, struct replay_instance *out)
{
	const char *text;
	enum replay_failure why = compare_failure(c->runs[order][run], &text);

	return why == REPLAY_NO_FAILURE ? 0 : fail(out, why, order, text);
}

static enum replay_end end_of(const struct compare *c, unsigned order, unsigned run, unsigned side)
{
	return c->runs[order][run]->order.regions[side].end;
}

static int check_ends(const struct compare *c, struct replay_instance *out)
{
	for (unsigned order = 0; order < 2; order++)
		for (unsigned side = 0; side < 2; side++)
			if (end_of(c, order, 0, side) != end_of(c, order, 1, side))
				return fail(out, REPLAY_CANNOT_LOAD, order, "two runs of this order end in different ways");
	for (unsigned side = 0; side < 2; side++) {
		bool limit[2] = {end_of(c, 0, 0, side) == REPLAY_END_LIMIT, end_of(c, 1, 0, side) == REPLAY_END_LIMIT};

		if (limit[0] != limit[1])
			return fail(out, REPLAY_ENDLESS, limit[0] ? 0 : 1,
				    "a side reaches the end of its region in one order only");
	}
	return 0;
}

static void tell_regions(const struct compare *c, struct replay_instance *out)
{
	for (unsigned order = 0; order < 2; order++)
		for (unsigned side = 0; side < 2; side++) {
			const struct region *r = &c->runs[order][0]->order.regions[side];

			out->orders[order].regions[side] =
				(struct replay_region){.end = r->end, .instructions = r->instructions};
		}
}

/* ---- differences ---- */

static struct replay_difference *next_difference(struct replay_instance *out)
{
	out->outcome = REPLAY_STATE_CHANGE;
	out->difference_count++;
	return out->kept < REPLAY_DIFFERENCES_MAX ? &out->differences[out->kept++] : NULL;
}

/* ---- registers ---- */

/* RIP follows the general registers. */
enum { RIP = X86_GPRS, REGISTERS };

static const char *const register_names[REGISTERS] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8",
						      "r9",  "r10", "r11", "r12", "r13", "r14", "r15", "rip"};

/*
 * Returns the registers that are live at the end of a side's region, as a bit mask. If the function has returned, its result
 * and the registers that it must preserve are live (System V ABI, 3.2.1). A result in RDX is ignored: only structs of two words
 * have one. If the task is about to sleep, only the preserved registers are live: the task has called a function, whose result
 * does not exist yet. At any other end all registers may be live.
 */
static uint32_t live_registers(enum replay_end end, bool result_unused)
{
	const uint32_t kept = 1u << X86_RBX | 1u << X86_RSP | 1u << X86_RBP | 0xf000u;

	if (end == REPLAY_END_RETURN)
		return kept | (result_unused ? 0 : 1u << X86_RAX);
	return end == REPLAY_END_BLOCKED ? kept : (1u << REGISTERS) - 1;
}

static uint64_t register_of(const struct compare *c, unsigned order, unsigned run, unsigned side, unsigned number)
{
	const struct x86_regs *regs = &c->runs[order][run]->order.regs[side];

	return number == RIP ? regs->rip : regs->gpr[number];
}

static void compare_register(const struct compare *c, unsigned side, unsigned number, struct replay_instance *out)
{
	uint64_t value[2] = {register_of(c, 0, 0, side, number), register_of(c, 1, 0, side, number)};
	struct replay_difference *d;

	for (unsigned order = 0; order < 2; order++)
		if (register_of(c, order, 1, side, number) != value[order])
			return;
	if (value[0] == value[1])
		return;
	d = next_difference(out);
	if (!d)
		return;
	*d = (struct replay_difference){.is_register = true, .side = (uint8_t)side, .len = WORD};
	for (unsigned order = 0; order < 2; order++)
		memcpy(d->bytes[order], &value[order], WORD);
	snprintf(d->name, sizeof(d->name), "%s", register_names[number]);
}

static void compare_registers(const struct compare *c, unsigned side, struct replay_instance *out)
{
	enum replay_end end[2] = {end_of(c, 0, 0, side), end_of(c, 1, 0, side)};
	/*
	 * If the two orders end a side's region in different ways, report only RIP: the reason why the other registers differ
	 * is the same.
	 */
	uint32_t live = end[0] == end[1] ? live_registers(end[0], c->result_unused[side]) : 1u << RIP;

	for (unsigned number = 0; number < REGISTERS; number++)
		if (live >> number & 1)
			compare_register(c, side, number, out);
}

/* ---- memory ---- */

const uint8_t *compare_written(const struct compare_run *run, uint64_t gpa)
{
	uint32_t low = 0, high = run->page_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (run->page_gpa[middle] == gpa)
			return run->page[middle];
		if (run->page_gpa[middle] < gpa)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static const uint8_t *page_of(const struct compare *c, const struct compare_run *run, uint64_t gpa)
{
	const uint8_t *page = compare_written(run, gpa);

	return page ? page : c->before(c->ctx, gpa);
}

static bool in_range(const struct compare_range *r, uint64_t gpa, uint64_t len)
{
	return gpa >= r->gpa && gpa - r->gpa < r->len && len <= r->len - (gpa - r->gpa);
}

bool compare_dead(const struct compare_run *run, uint64_t gpa)
{
	for (uint32_t i = 0; i < run->dead_count; i++)
		if (in_range(&run->dead[i], gpa, WORD))
			return true;
	return false;
}

/* Returns true if the memory is dead at the end of all four runs, two of each order. */
static bool is_dead(const struct compare *c, uint64_t gpa)
{
	return compare_dead(c->runs[0][0], gpa) && compare_dead(c->runs[0][1], gpa) && compare_dead(c->runs[1][0], gpa) &&
	       compare_dead(c->runs[1][1], gpa);
}

static bool touches_datum(const struct compare *c, uint64_t gpa)
{
	return c->datum.len && gpa < c->datum.gpa + c->datum.len && gpa + WORD > c->datum.gpa;
}

/* Add a difference: the smallest aligned part of the word that contains all differing bytes. */
static void add_word(uint64_t gpa, const uint8_t *first, const uint8_t *second, struct replay_instance *out)
{
	unsigned from = 0, to = WORD, len = 1;
	struct replay_difference *d = next_difference(out);

	if (!d)
		return;
	while (first[from] == second[from])
		from++;
	while (first[to - 1] == second[to - 1])
		to--;
	while (from / len != (to - 1) / len)
		len *= 2;
	from -= from % len;
	*d = (struct replay_difference){.len = (uint8_t)len, .gpa = gpa + from};
	memcpy(d->bytes[0], first + from, len);
	memcpy(d->bytes[1], second + from, len);
}

static void compare_page(const struct compare *c, uint64_t gpa, bool datum, struct replay_instance *out)
{
	const uint8_t *page[2][2];

	for (unsigned order = 0; order < 2; order++)
		for (unsigned run = 0; run < 2; run++) {
			page[order][run] = page_of(c, c->runs[order][run], gpa);
			if (!page[order][run])
				return;
		}
	for (unsigned at = 0; at < X86_PAGE_SIZE; at += WORD) {
		const uint8_t *first = page[0][0] + at, *second = page[1][0] + at;
		bool noise = memcmp(first, page[0][1] + at, WORD) != 0 || memcmp(second, page[1][1] + at, WORD) != 0;

		if (memcmp(first, second, WORD) != 0 && !noise && touches_datum(c, gpa + at) == datum && !is_dead(c, gpa + at))
			add_word(gpa + at, first, second, out);
	}
}

/* Compare, in ascending order of GPA, each page that at least one of the four runs (two of each order) has written. */
static void compare_memory(const struct compare *c, bool datum, struct replay_instance *out)
{
	uint32_t at[2][2] = {{0}};

	for (;;) {
		uint64_t least = UINT64_MAX;

		for (unsigned i = 0; i < 4; i++) {
			const struct compare_run *run = c->runs[i / 2][i % 2];

			if (at[i / 2][i % 2] < run->page_count && run->page_gpa[at[i / 2][i % 2]] < least)
				least = run->page_gpa[at[i / 2][i % 2]];
		}
		if (least == UINT64_MAX)
			return;
		for (unsigned i = 0; i < 4; i++) {
			const struct compare_run *run = c->runs[i / 2][i % 2];
			uint32_t *next = &at[i / 2][i % 2];

			if (*next < run->page_count && run->page_gpa[*next] == least)
				++*next;
		}
		compare_page(c, least, datum, out);
	}
}

void compare_orders(const struct compare *c, struct replay_instance *out)
{
	tell_regions(c, out);
	for (unsigned order = 0; order < 2; order++)
		for (unsigned run = 0; run < 2; run++)
			if (check_run(c, order, run, out) < 0)
				return;
	if (check_ends(c, out) < 0)
		return;
	out->outcome = REPLAY_NO_STATE_CHANGE;
	out->why = REPLAY_NO_FAILURE;
	compare_memory(c, true, out);
	for (unsigned side = 0; side < 2; side++)
		compare_registers(c, side, out);
	compare_memory(c, false, out);
}
