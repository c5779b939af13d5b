/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compare the states at the ends of two orders. The functions have no side effects.
 *
 * Each order is run twice. A difference between two runs of the same order does not come from the order, but mostly from
 * clocks: such a difference is noise. If a byte is noise, so is the whole aligned word of eight bytes around the byte, because
 * the higher bytes of a clock may be equal in the two runs of one order, and still differ between the orders. Memory below the
 * stack pointers is dead, and so are registers that a function may change by the calling convention. All other differences are
 * differences between the orders.
 */
#ifndef OUTRIDER_REPLAY_COMPARE_H
#define OUTRIDER_REPLAY_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/race/replay.h"
#include "hv/replay/order.h"
#include "hv/replay/trouble.h"

/* Maximum number of pages that a run may write until its end. A run that writes more is not compared. */
#define COMPARE_PAGES_MAX 1024
/*
 * Maximum number of ranges of a run's dead memory: the pages of two kernel stacks, and what KVM shares with each of 16 vCPUs.
 */
#define COMPARE_DEAD_MAX 90

/* The bytes [gpa, gpa + len). */
struct compare_range {
	uint64_t gpa, len;
};

/* The state at the end of one run. */
struct compare_run {
	struct order_run order;
	/* The trouble that the guest reported before the ends of the regions, and its first line. */
	enum trouble trouble;
	char trouble_line[REPLAY_TEXT_MAX];
	/* `dead_count` ranges: memory below the stack pointers of the two sides, and memory that KVM itself writes. */
	struct compare_range dead[COMPARE_DEAD_MAX];
	uint32_t dead_count;
	/*
	 * Number of pages that the run wrote. page_gpa[] has their GPAs in ascending order, page[] their contents at the end of
	 * the run.
	 */
	uint32_t page_count;
	/* The run wrote more than COMPARE_PAGES_MAX pages. */
	bool too_many;
	uint64_t page_gpa[COMPARE_PAGES_MAX];
	uint8_t page[COMPARE_PAGES_MAX][X86_PAGE_SIZE];
};

struct compare {
	/* runs[i][j] is run j of the order in which the access of side i goes first. */
	const struct compare_run *runs[2][2];
	/* Returns the 4096 bytes that were at a page's GPA before all runs, or NULL when the GPA is not in RAM. */
	const uint8_t *(*before)(void *ctx, uint64_t gpa);
	void *ctx;
	/* The datum of the race. Differences in the datum come first in the result. */
	struct compare_range datum;
	/* Whether the function of each side is known to return no value. */
	bool result_unused[2];
};

/*
 * Returns the reason why the end of a run cannot be compared, or REPLAY_NO_FAILURE. *text becomes the reason as a text for the
 * user. The text may contain any bytes from the guest. Without a failure, *text has no meaning.
 */
enum replay_failure compare_failure(const struct compare_run *r, const char **text);

/* Returns the page that the run has written at this GPA, or NULL. */
const uint8_t *compare_written(const struct compare_run *run, uint64_t gpa);

/* Returns whether the 8 bytes at the GPA are dead at the end of the run. */
bool compare_dead(const struct compare_run *run, uint64_t gpa);

/*
 * Compare the runs. Sets in `out` the outcome, the reason of a failure, the regions of both orders, and the differences.
 * Differences in memory get no GVA and no name here. The other members stay unchanged.
 */
void compare_orders(const struct compare *c, struct replay_instance *out);

#endif
