/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What differs between the states that two orders lead to. Pure functions.
 *
 * Each order was run twice. What differs between two runs of the same order has nothing to do with the order: clocks, mostly.
 * This is noise, and so is the whole aligned word of eight bytes that it is in, since of a clock's bytes the higher ones may
 * well agree in two runs and not in four. Memory below the stack pointers is dead, and so are registers that the calling
 * convention lets a function change. What is left is the difference between the orders.
 */
#ifndef OUTRIDER_REPLAY_COMPARE_H
#define OUTRIDER_REPLAY_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/race/replay.h"
#include "hv/replay/order.h"
#include "hv/replay/trouble.h"

/* Pages that a run may write until its end. One that writes more is not compared. */
#define COMPARE_PAGES_MAX 1024
/* Parts that the dead memory of a run can be in: the pages of two kernel stacks, and what KVM shares with each of 16 vCPUs. */
#define COMPARE_DEAD_MAX 90

/* The bytes [gpa, gpa + len). */
struct compare_range {
	uint64_t gpa, len;
};

/* The end of one run. */
struct compare_run {
	struct order_run order;
	/* What the guest said until the ends of the regions, and the first such line. */
	enum trouble trouble;
	char trouble_line[REPLAY_TEXT_MAX];
	/* Memory below the stack pointers of the two sides, and what KVM itself writes to: `dead_count` parts. */
	struct compare_range dead[COMPARE_DEAD_MAX];
	uint32_t dead_count;
	/* The pages that were written, by rising GPA, and what was in them at the end. */
	uint32_t page_count;
	/* It wrote more pages than there is room for. */
	bool too_many;
	uint64_t page_gpa[COMPARE_PAGES_MAX];
	uint8_t page[COMPARE_PAGES_MAX][X86_PAGE_SIZE];
};

struct compare {
	/* runs[i][j] is run j of the order that lets the access of side i go first. */
	const struct compare_run *runs[2][2];
	/* The 4096 bytes at a page's GPA before all runs. NULL: that is no RAM. */
	const uint8_t *(*before)(void *ctx, uint64_t gpa);
	void *ctx;
	/* The datum that the race is about: its differences come first. */
	struct compare_range datum;
	/* Whether the function of each side is known to return nothing. */
	bool result_unused[2];
};

/*
 * Why the end of a run cannot be compared, or REPLAY_NO_FAILURE. `text` becomes the same for people, which may be the guest's
 * bytes; it is of no use where there is no failure.
 */
enum replay_failure compare_failure(const struct compare_run *r, const char **text);

/*
 * Compare the runs. Sets the outcome of `out`, why it is a failure if it is one, the regions of both orders, and the
 * differences, of which those in memory have no GVA and no name yet. Leaves the other members as they are.
 */
void compare_orders(const struct compare *c, struct replay_instance *out);

#endif
