// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Group "ordered": sequence counts, used rightly. Readers and writers race on the data and on the count, and a reader that met
 * a writer reads again. No number that a reader loaded leaves its function before the count was compared.
 */
#include <linux/mutex.h>
#include <linux/seqlock.h>
#include <linux/slab.h>

#include "gt.h"

/* seqlock_t: the writers' lock and the count in one. */
static struct {
	seqlock_t lock;
	u64 a, b;
} gt_seqlock gt_datum = {.lock = __SEQLOCK_UNLOCKED(gt_seqlock.lock)};

static gt_fn void gt_seqlock_writer(u64 round)
{
	write_seqlock(&gt_seqlock.lock);
	gt_seqlock.a = round;
	gt_seqlock.b = ~round;
	write_sequnlock(&gt_seqlock.lock);
}

static gt_fn u64 gt_seqlock_reader(void)
{
	unsigned int seq;
	u64 a, b;

	do {
		seq = read_seqbegin(&gt_seqlock.lock);
		a = gt_seqlock.a;
		b = gt_seqlock.b;
	} while (read_seqretry(&gt_seqlock.lock, seq));
	return a + b;
}

static void gt_seqlock_reader_step(u64 round)
{
	gt_use(gt_seqlock_reader());
}

const struct gt_case gt_case_seqlock = {
	.name = "seqlock",
	.group = "ordered",
	.side = {{"reader", gt_seqlock_reader_step, 0}, {"writer", gt_seqlock_writer, 1}},
};

/* A count in a heap object, whose writers hold a mutex. The functions get the object by a pointer. */
struct gt_seqmutex {
	struct mutex lock;
	seqcount_mutex_t seq;
	u64 from;
	u32 length;
};
static struct gt_seqmutex *gt_seqmutex_object;

static int gt_seqmutex_setup(void)
{
	gt_seqmutex_object = kzalloc(sizeof(*gt_seqmutex_object), GFP_KERNEL);
	if (!gt_seqmutex_object)
		return -ENOMEM;
	/* Not mutex_init(): its empty `__key` would lie where the next case's data are, and have their name. */
	gt_seqmutex_object->lock = (struct mutex)__MUTEX_INITIALIZER(gt_seqmutex_object->lock);
	seqcount_mutex_init(&gt_seqmutex_object->seq, &gt_seqmutex_object->lock);
	return 0;
}

static void gt_seqmutex_teardown(void)
{
	kfree(gt_seqmutex_object);
	gt_seqmutex_object = NULL;
}

static gt_fn void gt_seqmutex_writer(struct gt_seqmutex *o, u64 round)
{
	mutex_lock(&o->lock);
	write_seqcount_begin(&o->seq);
	o->from = round;
	o->length = round & 0xff;
	write_seqcount_end(&o->seq);
	mutex_unlock(&o->lock);
}

static gt_fn u64 gt_seqmutex_reader(struct gt_seqmutex *o)
{
	unsigned int seq;
	u64 end;

	do {
		seq = read_seqcount_begin(&o->seq);
		end = o->from + o->length;
	} while (read_seqcount_retry(&o->seq, seq));
	return end;
}

static void gt_seqmutex_writer_step(u64 round)
{
	gt_seqmutex_writer(gt_seqmutex_object, round);
}

static void gt_seqmutex_reader_step(u64 round)
{
	gt_use(gt_seqmutex_reader(gt_seqmutex_object));
}

const struct gt_case gt_case_seqmutex = {
	.name = "seqmutex",
	.group = "ordered",
	.side = {{"reader", gt_seqmutex_reader_step, 0}, {"writer", gt_seqmutex_writer_step, 1}},
	.setup = gt_seqmutex_setup,
	.teardown = gt_seqmutex_teardown,
};

/* A latch: two copies, of which readers take the one that the writer does not change. */
static struct {
	seqcount_latch_t seq;
	u64 copy[2];
} gt_seqlatch gt_datum = {.seq = SEQCNT_LATCH_ZERO(gt_seqlatch.seq)};

static gt_fn void gt_seqlatch_writer(u64 round)
{
	raw_write_seqcount_latch(&gt_seqlatch.seq);
	gt_seqlatch.copy[0] = round;
	raw_write_seqcount_latch(&gt_seqlatch.seq);
	gt_seqlatch.copy[1] = round;
}

static gt_fn u64 gt_seqlatch_reader(void)
{
	unsigned int seq;
	u64 value;

	do {
		seq = raw_read_seqcount_latch(&gt_seqlatch.seq);
		value = gt_seqlatch.copy[seq & 1];
	} while (read_seqcount_latch_retry(&gt_seqlatch.seq, seq));
	return value;
}

static void gt_seqlatch_reader_step(u64 round)
{
	gt_use(gt_seqlatch_reader());
}

const struct gt_case gt_case_seqlatch = {
	.name = "seqlatch",
	.group = "ordered",
	.side = {{"reader", gt_seqlatch_reader_step, 0}, {"writer", gt_seqlatch_writer, 1}},
};
