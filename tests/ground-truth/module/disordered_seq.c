// SPDX-License-Identifier: GPL-2.0-or-later
/* Group "disordered": sequence counts with one thing wrong. A reader may load half old and half new data, and uses the data
 * all the same. */
#include <linux/seqlock.h>

#include "gt.h"

/* The reader begins a section, and never checks whether to retry. */
static struct {
	seqlock_t lock;
	u64 a, b;
} gt_seqnoretry gt_datum = {.lock = __SEQLOCK_UNLOCKED(gt_seqnoretry.lock)};

static gt_fn void gt_seqnoretry_writer(u64 round)
{
	write_seqlock(&gt_seqnoretry.lock);
	gt_seqnoretry.a = round;
	gt_seqnoretry.b = ~round;
	write_sequnlock(&gt_seqnoretry.lock);
}

static gt_fn u64 gt_seqnoretry_reader(void)
{
	unsigned int seq = read_seqbegin(&gt_seqnoretry.lock);

	gt_use(seq);
	return gt_seqnoretry.a + gt_seqnoretry.b;
}

static void gt_seqnoretry_reader_step(u64 round)
{
	gt_use(gt_seqnoretry_reader());
}

const struct gt_case gt_case_seqnoretry = {
	.name = "seqnoretry",
	.group = "disordered",
	.side = {{"reader", gt_seqnoretry_reader_step, 0}, {"writer", gt_seqnoretry_writer, 1}},
};

/* The reader checks another count than the one that the writer changes. */
static struct {
	seqlock_t lock, other;
	u64 a, b;
} gt_seqother gt_datum = {.lock = __SEQLOCK_UNLOCKED(gt_seqother.lock), .other = __SEQLOCK_UNLOCKED(gt_seqother.other)};

static gt_fn void gt_seqother_writer(u64 round)
{
	write_seqlock(&gt_seqother.lock);
	gt_seqother.a = round;
	gt_seqother.b = ~round;
	write_sequnlock(&gt_seqother.lock);
}

static gt_fn u64 gt_seqother_reader(void)
{
	unsigned int seq;
	u64 a, b;

	do {
		seq = read_seqbegin(&gt_seqother.other);
		a = gt_seqother.a;
		b = gt_seqother.b;
	} while (read_seqretry(&gt_seqother.other, seq));
	return a + b;
}

static void gt_seqother_reader_step(u64 round)
{
	gt_use(gt_seqother_reader());
}

const struct gt_case gt_case_seqother = {
	.name = "seqother",
	.group = "disordered",
	.side = {{"reader", gt_seqother_reader_step, 0}, {"writer", gt_seqother_writer, 1}},
};

/* The reader checks the count, counts that it should retry, and does not retry. */
static struct {
	seqlock_t lock;
	u64 a, b;
} gt_seqignored gt_datum = {.lock = __SEQLOCK_UNLOCKED(gt_seqignored.lock)};
static atomic_t gt_seqignored_missed gt_datum;

static gt_fn void gt_seqignored_writer(u64 round)
{
	write_seqlock(&gt_seqignored.lock);
	gt_seqignored.a = round;
	gt_seqignored.b = ~round;
	write_sequnlock(&gt_seqignored.lock);
}

static gt_fn u64 gt_seqignored_reader(void)
{
	unsigned int seq = read_seqbegin(&gt_seqignored.lock);
	u64 a = gt_seqignored.a, b = gt_seqignored.b;

	if (read_seqretry(&gt_seqignored.lock, seq))
		atomic_inc(&gt_seqignored_missed);
	return a + b;
}

static void gt_seqignored_reader_step(u64 round)
{
	gt_use(gt_seqignored_reader());
}

const struct gt_case gt_case_seqignored = {
	.name = "seqignored",
	.group = "disordered",
	.side = {{"reader", gt_seqignored_reader_step, 0}, {"writer", gt_seqignored_writer, 1}},
};

/* The writer ends its section before it stores. */
static struct {
	seqlock_t lock;
	u64 a, b;
} gt_seqearly gt_datum = {.lock = __SEQLOCK_UNLOCKED(gt_seqearly.lock)};

static gt_fn void gt_seqearly_writer(u64 round)
{
	write_seqlock(&gt_seqearly.lock);
	gt_use(round);
	write_sequnlock(&gt_seqearly.lock);
	gt_seqearly.a = round;
	gt_seqearly.b = ~round;
}

static gt_fn u64 gt_seqearly_reader(void)
{
	unsigned int seq;
	u64 a, b;

	do {
		seq = read_seqbegin(&gt_seqearly.lock);
		a = gt_seqearly.a;
		b = gt_seqearly.b;
	} while (read_seqretry(&gt_seqearly.lock, seq));
	return a + b;
}

static void gt_seqearly_reader_step(u64 round)
{
	gt_use(gt_seqearly_reader());
}

const struct gt_case gt_case_seqearly = {
	.name = "seqearly",
	.group = "disordered",
	.side = {{"reader", gt_seqearly_reader_step, 0}, {"writer", gt_seqearly_writer, 1}},
};

/* The reader uses the loaded index before it checks the count. Here every number is a valid index of the table. */
#define GT_SEQINDEX_PLACES 8u
static struct {
	seqlock_t lock;
	u64 index;
} gt_seqindex gt_datum = {.lock = __SEQLOCK_UNLOCKED(gt_seqindex.lock)};
static u64 gt_seqindex_table[GT_SEQINDEX_PLACES] gt_datum;

static gt_fn void gt_seqindex_writer(u64 round)
{
	write_seqlock(&gt_seqindex.lock);
	gt_seqindex.index = round & (GT_SEQINDEX_PLACES - 1);
	write_sequnlock(&gt_seqindex.lock);
}

static gt_fn u64 gt_seqindex_reader(void)
{
	unsigned int seq;
	u64 found;

	do {
		seq = read_seqbegin(&gt_seqindex.lock);
		found = gt_seqindex_table[gt_seqindex.index];
	} while (read_seqretry(&gt_seqindex.lock, seq));
	return found;
}

static void gt_seqindex_reader_step(u64 round)
{
	gt_use(gt_seqindex_reader());
}

const struct gt_case gt_case_seqindex = {
	.name = "seqindex",
	.group = "disordered",
	.side = {{"reader", gt_seqindex_reader_step, 0}, {"writer", gt_seqindex_writer, 1}},
};
