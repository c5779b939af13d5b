// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Every access of these cases holds the lock, or one of two locks that each writer holds together, so that none of them has a
 * data race. Faulty cases do in two critical sections what must be one step. Right cases look alike, and something makes their
 * second section independent of the first one.
 *
 * Side 0 has the two sections; side 1 accesses the same data in one section.
 */
#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "gt.h"

/* A side that is busy must end when the other side has ended. */
#define GT_ATOMIC_WAIT (HZ / 50)
#define GT_ATOMIC_MAX 7
#define GT_ATOMIC_WORDS 8
#define GT_ATOMIC_ROWS 4

/* What a function does between its two sections: without the lock, so that the other side's section can come in between. */
#define gt_atomic_gap() udelay(20)

/* Every other round, this is the most that there may be: then a check that was made before does not hold any longer. */
#define gt_atomic_fill(round) ((round)&1 ? GT_ATOMIC_MAX : (round) % GT_ATOMIC_MAX)

/* What the cases compute: no sum, because data to which all sides only add are a statistic. */
#define gt_atomic_mix(v, round) ((((v) ^ (round)) * 3) | 1)

struct gt_atomic {
	spinlock_t lock;
	u64 value ____cacheline_aligned;
	u64 flag;
	u64 words[GT_ATOMIC_WORDS];
};

#define GT_ATOMIC(name) static struct gt_atomic name gt_datum = {.lock = __SPIN_LOCK_UNLOCKED(name.lock)}

#define GT_ATOMIC_IN(group_name, case_name, first, second, ...)                                           \
	const struct gt_case gt_case_##case_name = {                                                      \
		.name = #case_name,                                                                       \
		.group = group_name,                                                                      \
		.side = {{#first, gt_##case_name##_##first, 0}, {#second, gt_##case_name##_##second, 1}}, \
		__VA_ARGS__}

static void gt_atomic_free(struct gt_atomic **objects, unsigned int n)
{
	while (n--)
		kfree(objects[n]);
}

/* Make `n` objects. Returns 0 or -ENOMEM. */
static int gt_atomic_make(struct gt_atomic **objects, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		objects[i] = kzalloc(sizeof(*objects[i]), GFP_KERNEL);
		if (!objects[i]) {
			gt_atomic_free(objects, i);
			return -ENOMEM;
		}
	}
	return 0;
}

/* The faulty cases and the right ones are in different groups, so that a run can give them different times. */
#define GT_ATOMIC_CASE(...) GT_ATOMIC_IN("atomic", __VA_ARGS__)
#define GT_ATOMIC_RIGHT(...) GT_ATOMIC_IN("atomicright", __VA_ARGS__)
/* Right cases for which the run must follow the datum through both sections, which takes longer. */
#define GT_ATOMIC_FATE(...) GT_ATOMIC_IN("atomicfate", __VA_ARGS__)

/* ---- faulty: check-then-act ---- */

/* The shape of sch_prio's qlen: the limit is checked in one section, and the length grows in another. */
GT_ATOMIC(gt_actlen);

static gt_fn void gt_actlen_enqueue(u64 round)
{
	bool full;

	spin_lock(&gt_actlen.lock);
	full = gt_actlen.value >= GT_ATOMIC_MAX;
	spin_unlock(&gt_actlen.lock);
	if (full)
		return;
	gt_atomic_gap();
	spin_lock(&gt_actlen.lock);
	gt_actlen.value++;
	spin_unlock(&gt_actlen.lock);
}

static gt_fn void gt_actlen_change(u64 round)
{
	spin_lock(&gt_actlen.lock);
	gt_actlen.value = gt_atomic_fill(round);
	spin_unlock(&gt_actlen.lock);
}

GT_ATOMIC_CASE(actlen, enqueue, change);

/* A mutex, and a section after an early return, as in packet_set_ring(). */
static struct {
	struct mutex lock;
	u64 state ____cacheline_aligned;
} gt_actmutex gt_datum = {.lock = __MUTEX_INITIALIZER(gt_actmutex.lock)};

static gt_fn void gt_actmutex_bind(u64 round)
{
	mutex_lock(&gt_actmutex.lock);
	if (gt_actmutex.state == 1) {
		mutex_unlock(&gt_actmutex.lock);
		return;
	}
	mutex_unlock(&gt_actmutex.lock);
	gt_atomic_gap();
	mutex_lock(&gt_actmutex.lock);
	gt_actmutex.state = round;
	mutex_unlock(&gt_actmutex.lock);
}

static gt_fn void gt_actmutex_close(u64 round)
{
	mutex_lock(&gt_actmutex.lock);
	gt_actmutex.state = round & 1;
	mutex_unlock(&gt_actmutex.lock);
}

GT_ATOMIC_CASE(actmutex, bind, close);

/* Readers of a rw_semaphore cannot become its writer, so the check was made by another holder. */
static struct {
	struct rw_semaphore lock;
	u64 key ____cacheline_aligned;
} gt_actrwsem gt_datum = {.lock = __RWSEM_INITIALIZER(gt_actrwsem.lock)};

static gt_fn void gt_actrwsem_lookup(u64 round)
{
	bool there;

	down_read(&gt_actrwsem.lock);
	there = gt_actrwsem.key > 5;
	up_read(&gt_actrwsem.lock);
	if (there)
		return;
	gt_atomic_gap();
	down_write(&gt_actrwsem.lock);
	gt_actrwsem.key = round % 5;
	up_write(&gt_actrwsem.lock);
}

static gt_fn void gt_actrwsem_remove(u64 round)
{
	down_write(&gt_actrwsem.lock);
	gt_actrwsem.key = gt_atomic_fill(round);
	up_write(&gt_actrwsem.lock);
}

GT_ATOMIC_CASE(actrwsem, lookup, remove);

/* The index is checked in one section and used in another. It stays in its bounds, so that the guest survives the case. */
GT_ATOMIC(gt_checkuse);

static gt_fn void gt_checkuse_user(u64 round)
{
	bool usable;

	spin_lock(&gt_checkuse.lock);
	usable = gt_checkuse.value < GT_ATOMIC_MAX;
	spin_unlock(&gt_checkuse.lock);
	if (!usable)
		return;
	gt_atomic_gap();
	spin_lock(&gt_checkuse.lock);
	gt_checkuse.words[gt_checkuse.value % GT_ATOMIC_WORDS] = round;
	spin_unlock(&gt_checkuse.lock);
}

static gt_fn void gt_checkuse_resize(u64 round)
{
	spin_lock(&gt_checkuse.lock);
	gt_checkuse.value = gt_atomic_fill(round);
	spin_unlock(&gt_checkuse.lock);
}

GT_ATOMIC_CASE(checkuse, user, resize);

/* The other side is an interrupt on another CPU. */
GT_ATOMIC(gt_actirq);

static gt_fn void gt_actirq_task(u64 round)
{
	bool full;

	spin_lock_irq(&gt_actirq.lock);
	full = gt_actirq.value >= GT_ATOMIC_MAX;
	spin_unlock_irq(&gt_actirq.lock);
	if (full)
		return;
	gt_atomic_gap();
	spin_lock_irq(&gt_actirq.lock);
	gt_actirq.value++;
	spin_unlock_irq(&gt_actirq.lock);
}

static gt_fn void gt_actirq_timer(u64 round)
{
	spin_lock(&gt_actirq.lock);
	gt_actirq.value = gt_atomic_fill(round);
	spin_unlock(&gt_actirq.lock);
}

const struct gt_case gt_case_actirq = {
	.name = "actirq",
	.group = "atomic",
	.side = {{"task", gt_actirq_task, 0}, {"timer", gt_actirq_timer, 1, GT_TIMER}},
};

/* Both sides are the same function: every other round of a side gives back what a round before took. */
GT_ATOMIC(gt_actboth);

static gt_fn void gt_actboth_get(u64 round)
{
	bool taken;

	if (round & 1) {
		spin_lock(&gt_actboth.lock);
		gt_actboth.value &= ~1ull;
		spin_unlock(&gt_actboth.lock);
		return;
	}
	spin_lock(&gt_actboth.lock);
	taken = gt_actboth.value & 1;
	spin_unlock(&gt_actboth.lock);
	if (taken)
		return;
	gt_atomic_gap();
	spin_lock(&gt_actboth.lock);
	gt_actboth.value += 2 * round + 1;
	spin_unlock(&gt_actboth.lock);
}

const struct gt_case gt_case_actboth = {
	.name = "actboth",
	.group = "atomic",
	.side = {{"first", gt_actboth_get, 0}, {"second", gt_actboth_get, 1}},
};

/* The lock and the data are in an object of a slab cache. */
static struct gt_atomic *gt_actheap_object;

static gt_fn void gt_actheap_open(u64 round)
{
	struct gt_atomic *object = gt_actheap_object;
	bool full;

	spin_lock(&object->lock);
	full = object->value >= GT_ATOMIC_MAX;
	spin_unlock(&object->lock);
	if (full)
		return;
	gt_atomic_gap();
	spin_lock(&object->lock);
	object->value += 2;
	spin_unlock(&object->lock);
}

static gt_fn void gt_actheap_release(u64 round)
{
	struct gt_atomic *object = gt_actheap_object;

	spin_lock(&object->lock);
	object->value = gt_atomic_fill(round);
	spin_unlock(&object->lock);
}

static int gt_actheap_setup(void)
{
	gt_actheap_object = kzalloc(sizeof(*gt_actheap_object), GFP_KERNEL);
	if (!gt_actheap_object)
		return -ENOMEM;
	spin_lock_init(&gt_actheap_object->lock);
	return 0;
}

static void gt_actheap_teardown(void)
{
	kfree(gt_actheap_object);
}

GT_ATOMIC_CASE(actheap, open, release, .setup = gt_actheap_setup, .teardown = gt_actheap_teardown);

/*
 * Writers hold both locks, so that a reader needs only one of them. The index is checked under one lock, and used under the
 * other.
 */
struct gt_atomic_two {
	spinlock_t outer, inner;
	u64 value ____cacheline_aligned;
	u64 words[GT_ATOMIC_WORDS];
};

#define GT_ATOMIC_TWO(name)                                                                     \
	static struct gt_atomic_two name gt_datum = {.outer = __SPIN_LOCK_UNLOCKED(name.outer), \
						     .inner = __SPIN_LOCK_UNLOCKED(name.inner)}

GT_ATOMIC_TWO(gt_acttwo);

static gt_fn void gt_acttwo_user(u64 round)
{
	bool usable;

	spin_lock(&gt_acttwo.outer);
	usable = gt_acttwo.value < GT_ATOMIC_MAX;
	spin_unlock(&gt_acttwo.outer);
	if (!usable)
		return;
	gt_atomic_gap();
	spin_lock(&gt_acttwo.inner);
	gt_acttwo.words[gt_acttwo.value % GT_ATOMIC_WORDS] = round;
	spin_unlock(&gt_acttwo.inner);
}

static gt_fn void gt_acttwo_resize(u64 round)
{
	spin_lock(&gt_acttwo.outer);
	spin_lock(&gt_acttwo.inner);
	gt_acttwo.value = gt_atomic_fill(round);
	spin_unlock(&gt_acttwo.inner);
	spin_unlock(&gt_acttwo.outer);
}

GT_ATOMIC_CASE(acttwo, user, resize);

/* The two sections are in two functions, and a third function does not act on what the first one says any longer. */
GT_ATOMIC(gt_actcalls);

static gt_fn bool gt_actcalls_full(void)
{
	bool full;

	spin_lock(&gt_actcalls.lock);
	full = gt_actcalls.value >= GT_ATOMIC_MAX;
	spin_unlock(&gt_actcalls.lock);
	return full;
}

static gt_fn void gt_actcalls_add(void)
{
	spin_lock(&gt_actcalls.lock);
	gt_actcalls.value++;
	spin_unlock(&gt_actcalls.lock);
}

static gt_fn void gt_actcalls_enqueue(u64 round)
{
	if (gt_actcalls_full())
		return;
	gt_atomic_gap();
	gt_actcalls_add();
}

static gt_fn void gt_actcalls_change(u64 round)
{
	spin_lock(&gt_actcalls.lock);
	gt_actcalls.value = gt_atomic_fill(round);
	spin_unlock(&gt_actcalls.lock);
}

GT_ATOMIC_CASE(actcalls, enqueue, change);

/* ---- faulty: read-then-update ---- */

GT_ATOMIC(gt_readupd);

static gt_fn void gt_readupd_updater(u64 round)
{
	u64 value;

	spin_lock(&gt_readupd.lock);
	value = gt_readupd.value;
	spin_unlock(&gt_readupd.lock);
	gt_atomic_gap();
	value = gt_atomic_mix(value, round);
	spin_lock(&gt_readupd.lock);
	gt_readupd.value = value;
	spin_unlock(&gt_readupd.lock);
}

static gt_fn void gt_readupd_writer(u64 round)
{
	spin_lock(&gt_readupd.lock);
	gt_readupd.value = gt_atomic_mix(gt_readupd.value, round);
	spin_unlock(&gt_readupd.lock);
}

GT_ATOMIC_CASE(readupd, updater, writer);

/* A reader of the lock computes what the writer of the lock stores. */
static struct {
	rwlock_t lock;
	u64 value ____cacheline_aligned;
} gt_readrw gt_datum = {.lock = __RW_LOCK_UNLOCKED(gt_readrw.lock)};

static gt_fn void gt_readrw_updater(u64 round)
{
	u64 value;

	read_lock(&gt_readrw.lock);
	value = gt_readrw.value;
	read_unlock(&gt_readrw.lock);
	gt_atomic_gap();
	value = gt_atomic_mix(value, round);
	write_lock(&gt_readrw.lock);
	gt_readrw.value = value;
	write_unlock(&gt_readrw.lock);
}

static gt_fn void gt_readrw_writer(u64 round)
{
	write_lock(&gt_readrw.lock);
	gt_readrw.value = round;
	write_unlock(&gt_readrw.lock);
}

GT_ATOMIC_CASE(readrw, updater, writer);

/* What was written in one section is expected to be there in the next. */
GT_ATOMIC(gt_readback);

static gt_fn void gt_readback_sender(u64 round)
{
	spin_lock(&gt_readback.lock);
	gt_readback.value = round;
	spin_unlock(&gt_readback.lock);
	gt_atomic_gap();
	spin_lock(&gt_readback.lock);
	gt_readback.words[0] = gt_readback.value;
	spin_unlock(&gt_readback.lock);
}

static gt_fn void gt_readback_other(u64 round)
{
	spin_lock(&gt_readback.lock);
	gt_readback.value = round * 3;
	spin_unlock(&gt_readback.lock);
}

GT_ATOMIC_CASE(readback, sender, other);

/* ---- faulty: publish-before-init ---- */

GT_ATOMIC(gt_pubinit);

static gt_fn void gt_pubinit_creator(u64 round)
{
	spin_lock(&gt_pubinit.lock);
	gt_pubinit.flag = 1;
	spin_unlock(&gt_pubinit.lock);
	gt_atomic_gap();
	spin_lock(&gt_pubinit.lock);
	gt_pubinit.value = gt_atomic_mix(round, 5);
	spin_unlock(&gt_pubinit.lock);
	gt_atomic_gap();
	spin_lock(&gt_pubinit.lock);
	gt_pubinit.flag = 0;
	spin_unlock(&gt_pubinit.lock);
}

static gt_fn void gt_pubinit_user(u64 round)
{
	spin_lock(&gt_pubinit.lock);
	if (gt_pubinit.flag)
		gt_pubinit.words[0] = gt_pubinit.value;
	spin_unlock(&gt_pubinit.lock);
}

GT_ATOMIC_CASE(pubinit, creator, user);

/* The value is reset in one section and set in the next. No other side should see what is in between. */
GT_ATOMIC(gt_halfset);

static gt_fn void gt_halfset_setter(u64 round)
{
	spin_lock(&gt_halfset.lock);
	gt_halfset.value = 0;
	spin_unlock(&gt_halfset.lock);
	gt_atomic_gap();
	spin_lock(&gt_halfset.lock);
	gt_halfset.value = round | 1;
	spin_unlock(&gt_halfset.lock);
}

static gt_fn void gt_halfset_getter(u64 round)
{
	spin_lock(&gt_halfset.lock);
	gt_halfset.words[0] = gt_halfset.value;
	spin_unlock(&gt_halfset.lock);
}

GT_ATOMIC_CASE(halfset, setter, getter);

/* ---- right: the second section checks again ---- */

GT_ATOMIC(gt_recheck);

static gt_fn void gt_recheck_enqueue(u64 round)
{
	bool full;

	spin_lock(&gt_recheck.lock);
	full = gt_recheck.value >= GT_ATOMIC_MAX;
	spin_unlock(&gt_recheck.lock);
	if (full)
		return;
	gt_atomic_gap();
	spin_lock(&gt_recheck.lock);
	if (gt_recheck.value < GT_ATOMIC_MAX)
		gt_recheck.value++;
	spin_unlock(&gt_recheck.lock);
}

static gt_fn void gt_recheck_change(u64 round)
{
	spin_lock(&gt_recheck.lock);
	gt_recheck.value = round % (GT_ATOMIC_MAX + 1);
	spin_unlock(&gt_recheck.lock);
}

GT_ATOMIC_RIGHT(recheck, enqueue, change);

/* The same with one lock for the first check, and another one for the second: writers hold both. */
GT_ATOMIC_TWO(gt_checktwo);

static gt_fn void gt_checktwo_user(u64 round)
{
	bool usable;

	spin_lock(&gt_checktwo.outer);
	usable = gt_checktwo.value < GT_ATOMIC_MAX;
	spin_unlock(&gt_checktwo.outer);
	if (!usable)
		return;
	gt_atomic_gap();
	spin_lock(&gt_checktwo.inner);
	if (gt_checktwo.value < GT_ATOMIC_MAX)
		gt_checktwo.words[0] = round;
	spin_unlock(&gt_checktwo.inner);
}

static gt_fn void gt_checktwo_resize(u64 round)
{
	spin_lock(&gt_checktwo.outer);
	spin_lock(&gt_checktwo.inner);
	gt_checktwo.value = gt_atomic_fill(round);
	spin_unlock(&gt_checktwo.inner);
	spin_unlock(&gt_checktwo.outer);
}

GT_ATOMIC_RIGHT(checktwo, user, resize);

/* The same in two functions. */
GT_ATOMIC(gt_checkcalls);

static gt_fn bool gt_checkcalls_full(void)
{
	bool full;

	spin_lock(&gt_checkcalls.lock);
	full = gt_checkcalls.value >= GT_ATOMIC_MAX;
	spin_unlock(&gt_checkcalls.lock);
	return full;
}

static gt_fn void gt_checkcalls_add(void)
{
	spin_lock(&gt_checkcalls.lock);
	if (gt_checkcalls.value < GT_ATOMIC_MAX)
		gt_checkcalls.value++;
	spin_unlock(&gt_checkcalls.lock);
}

static gt_fn void gt_checkcalls_enqueue(u64 round)
{
	if (gt_checkcalls_full())
		return;
	gt_atomic_gap();
	gt_checkcalls_add();
}

static gt_fn void gt_checkcalls_change(u64 round)
{
	spin_lock(&gt_checkcalls.lock);
	gt_checkcalls.value = gt_atomic_fill(round);
	spin_unlock(&gt_checkcalls.lock);
}

GT_ATOMIC_RIGHT(checkcalls, enqueue, change);

/* A version says whether the value is still the one that was read. */
GT_ATOMIC(gt_version);

static gt_fn void gt_version_updater(u64 round)
{
	u64 value, version;

	spin_lock(&gt_version.lock);
	value = gt_version.value;
	version = gt_version.flag;
	spin_unlock(&gt_version.lock);
	gt_atomic_gap();
	value = gt_atomic_mix(value, round);
	spin_lock(&gt_version.lock);
	if (gt_version.flag == version) {
		gt_version.value = value;
		gt_version.flag++;
	}
	spin_unlock(&gt_version.lock);
}

static gt_fn void gt_version_writer(u64 round)
{
	spin_lock(&gt_version.lock);
	gt_version.value = gt_atomic_mix(gt_version.value, round);
	gt_version.flag++;
	spin_unlock(&gt_version.lock);
}

GT_ATOMIC_RIGHT(version, updater, writer);

/* The same in a loop, until nothing came in between. */
GT_ATOMIC(gt_retry);

static gt_fn void gt_retry_updater(u64 round)
{
	u64 value, version;
	bool same;

	do {
		spin_lock(&gt_retry.lock);
		value = gt_retry.value;
		version = gt_retry.flag;
		spin_unlock(&gt_retry.lock);
		gt_atomic_gap();
		value = gt_atomic_mix(value, round);
		spin_lock(&gt_retry.lock);
		same = gt_retry.flag == version;
		if (same)
			gt_retry.value = value;
		spin_unlock(&gt_retry.lock);
	} while (!same);
}

static gt_fn void gt_retry_writer(u64 round)
{
	spin_lock(&gt_retry.lock);
	gt_retry.value = gt_atomic_mix(gt_retry.value, round);
	gt_retry.flag = round;
	spin_unlock(&gt_retry.lock);
}

GT_ATOMIC_RIGHT(retry, updater, writer);

/* What was not there is looked up once more before it is made, since the lock was released to get memory. */
GT_ATOMIC(gt_lookup);

static gt_fn void gt_lookup_maker(u64 round)
{
	u64 found;

	spin_lock(&gt_lookup.lock);
	found = gt_lookup.value;
	spin_unlock(&gt_lookup.lock);
	if (found)
		return;
	gt_atomic_gap();
	spin_lock(&gt_lookup.lock);
	found = gt_lookup.value;
	if (!found)
		gt_lookup.value = round;
	spin_unlock(&gt_lookup.lock);
	gt_use(found);
}

static gt_fn void gt_lookup_remover(u64 round)
{
	spin_lock(&gt_lookup.lock);
	gt_lookup.value = 0;
	spin_unlock(&gt_lookup.lock);
}

GT_ATOMIC_RIGHT(lookup, maker, remover);

/* The second section stores only if the value is still the one that was read. */
static struct {
	spinlock_t lock;
	atomic64_t value ____cacheline_aligned;
	u64 last;
} gt_cmpxchg gt_datum = {.lock = __SPIN_LOCK_UNLOCKED(gt_cmpxchg.lock)};

static gt_fn void gt_cmpxchg_updater(u64 round)
{
	s64 value;

	spin_lock(&gt_cmpxchg.lock);
	value = gt_cmpxchg.value.counter;
	spin_unlock(&gt_cmpxchg.lock);
	gt_atomic_gap();
	spin_lock(&gt_cmpxchg.lock);
	gt_use(atomic64_cmpxchg(&gt_cmpxchg.value, value, gt_atomic_mix(value, round)));
	gt_cmpxchg.last = round;
	spin_unlock(&gt_cmpxchg.lock);
}

static gt_fn void gt_cmpxchg_writer(u64 round)
{
	spin_lock(&gt_cmpxchg.lock);
	gt_cmpxchg.value.counter = round;
	spin_unlock(&gt_cmpxchg.lock);
}

GT_ATOMIC_RIGHT(cmpxchg, updater, writer);

/* ---- right: each section is a step of its own ---- */

/* What is in flight is counted: each section adds to whatever there is. */
GT_ATOMIC(gt_inflight);

static gt_fn void gt_inflight_request(u64 round)
{
	spin_lock(&gt_inflight.lock);
	gt_inflight.value++;
	spin_unlock(&gt_inflight.lock);
	gt_atomic_gap();
	spin_lock(&gt_inflight.lock);
	gt_inflight.value--;
	spin_unlock(&gt_inflight.lock);
}

static gt_fn void gt_inflight_show(u64 round)
{
	spin_lock(&gt_inflight.lock);
	gt_use(gt_inflight.value);
	spin_unlock(&gt_inflight.lock);
}

GT_ATOMIC_RIGHT(inflight, request, show);

/* Each of the two functions is a step of its own: what the first one finds does not matter to the third function. */
GT_ATOMIC(gt_steps);

static gt_fn void gt_steps_count(void)
{
	spin_lock(&gt_steps.lock);
	if (gt_steps.value > GT_ATOMIC_MAX)
		gt_steps.words[0]++;
	spin_unlock(&gt_steps.lock);
}

static gt_fn void gt_steps_reset(u64 round)
{
	spin_lock(&gt_steps.lock);
	gt_steps.value = round % GT_ATOMIC_WORDS;
	spin_unlock(&gt_steps.lock);
}

static gt_fn void gt_steps_both(u64 round)
{
	gt_steps_count();
	gt_atomic_gap();
	gt_steps_reset(round);
}

static gt_fn void gt_steps_change(u64 round)
{
	spin_lock(&gt_steps.lock);
	gt_steps.value = round;
	spin_unlock(&gt_steps.lock);
}

GT_ATOMIC_RIGHT(steps, both, change);

/* A search begins with the entry that was found last. It may find something, or nothing, whatever this entry is. */
GT_ATOMIC(gt_cached);

static gt_fn bool gt_cached_find(u64 key)
{
	u64 last;
	unsigned int i;

	spin_lock(&gt_cached.lock);
	last = gt_cached.value;
	if (last && gt_cached.words[last % GT_ATOMIC_WORDS] == key) {
		spin_unlock(&gt_cached.lock);
		return true;
	}
	for (i = 0; i < GT_ATOMIC_WORDS; i++) {
		if (gt_cached.words[i] == key) {
			spin_unlock(&gt_cached.lock);
			return true;
		}
	}
	spin_unlock(&gt_cached.lock);
	return false;
}

static gt_fn void gt_cached_add(u64 key)
{
	spin_lock(&gt_cached.lock);
	gt_cached.words[key % GT_ATOMIC_WORDS] = key;
	gt_cached.value = key % 3;
	spin_unlock(&gt_cached.lock);
}

static gt_fn void gt_cached_finder(u64 round)
{
	if (gt_cached_find(round / 2))
		return;
	gt_atomic_gap();
	gt_cached_add(round / 2);
}

static gt_fn void gt_cached_change(u64 round)
{
	spin_lock(&gt_cached.lock);
	gt_cached.value = round & 1 ? round : 0;
	spin_unlock(&gt_cached.lock);
}

GT_ATOMIC_RIGHT(cached, finder, change);

/* A statistic is read twice, to show how it grows. */
GT_ATOMIC(gt_snapshot);

static gt_fn void gt_snapshot_show(u64 round)
{
	u64 before, after;

	spin_lock(&gt_snapshot.lock);
	before = gt_snapshot.value;
	spin_unlock(&gt_snapshot.lock);
	gt_atomic_gap();
	spin_lock(&gt_snapshot.lock);
	after = gt_snapshot.value;
	spin_unlock(&gt_snapshot.lock);
	gt_use(after - before);
}

static gt_fn void gt_snapshot_count(u64 round)
{
	spin_lock(&gt_snapshot.lock);
	gt_snapshot.value += round;
	spin_unlock(&gt_snapshot.lock);
}

GT_ATOMIC_RIGHT(snapshot, show, count);

/* A table is walked in batches: the lock is given up after some of its entries. */
GT_ATOMIC(gt_batch);

static gt_fn void gt_batch_walker(u64 round)
{
	unsigned int i;

	spin_lock(&gt_batch.lock);
	for (i = 0; i < GT_ATOMIC_WORDS; i++) {
		gt_batch.words[i] = gt_atomic_mix(gt_batch.words[i], round);
		gt_batch.value ^= gt_batch.words[i];
		if (i % 4 != 3)
			continue;
		spin_unlock(&gt_batch.lock);
		gt_atomic_gap();
		spin_lock(&gt_batch.lock);
	}
	spin_unlock(&gt_batch.lock);
}

static gt_fn void gt_batch_writer(u64 round)
{
	spin_lock(&gt_batch.lock);
	gt_batch.words[round % GT_ATOMIC_WORDS] = round;
	gt_batch.value = round;
	spin_unlock(&gt_batch.lock);
}

GT_ATOMIC_RIGHT(batch, walker, writer);

/* One lock for several objects: a loop looks for the largest value, and the next loop stores new ones. */
static DEFINE_SPINLOCK(gt_rows_lock);
static u64 gt_rows_largest;
static struct gt_atomic *gt_rows_objects[GT_ATOMIC_ROWS];

static gt_fn void gt_rows_sorter(u64 round)
{
	unsigned int i;

	/* With this branch, the activation begins before the loop, and not at the lock call in it. */
	if (round % 8 == 0)
		gt_atomic_gap();
	for (i = 0; i < GT_ATOMIC_ROWS; i++) {
		spin_lock(&gt_rows_lock);
		if (gt_rows_objects[i]->value > gt_rows_largest)
			gt_rows_largest = round;
		spin_unlock(&gt_rows_lock);
	}
	gt_atomic_gap();
	for (i = 0; i < GT_ATOMIC_ROWS; i++) {
		spin_lock(&gt_rows_lock);
		gt_rows_objects[i]->value = round;
		spin_unlock(&gt_rows_lock);
	}
}

static gt_fn void gt_rows_writer(u64 round)
{
	spin_lock(&gt_rows_lock);
	gt_rows_objects[round % GT_ATOMIC_ROWS]->value = gt_atomic_fill(round);
	spin_unlock(&gt_rows_lock);
}

static void gt_rows_teardown(void)
{
	gt_atomic_free(gt_rows_objects, GT_ATOMIC_ROWS);
}

static int gt_rows_setup(void)
{
	return gt_atomic_make(gt_rows_objects, GT_ATOMIC_ROWS);
}

GT_ATOMIC_RIGHT(rows, sorter, writer, .setup = gt_rows_setup, .teardown = gt_rows_teardown);

/* The state in between is meant to be seen: the other side asks for it. */
GT_ATOMIC(gt_state);

static gt_fn void gt_state_worker(u64 round)
{
	spin_lock(&gt_state.lock);
	gt_state.flag = 1;
	spin_unlock(&gt_state.lock);
	gt_atomic_gap();
	spin_lock(&gt_state.lock);
	gt_state.flag = 0;
	spin_unlock(&gt_state.lock);
}

static gt_fn void gt_state_poller(u64 round)
{
	spin_lock(&gt_state.lock);
	if (!gt_state.flag)
		gt_state.value++;
	spin_unlock(&gt_state.lock);
}

GT_ATOMIC_RIGHT(state, worker, poller);

/* The first section claims the value, and the other side leaves a claimed value alone. */
GT_ATOMIC(gt_claim);

static gt_fn void gt_claim_owner(u64 round)
{
	u64 value;

	spin_lock(&gt_claim.lock);
	if (gt_claim.flag) {
		spin_unlock(&gt_claim.lock);
		return;
	}
	gt_claim.flag = 1;
	value = gt_claim.value;
	spin_unlock(&gt_claim.lock);
	gt_atomic_gap();
	value = gt_atomic_mix(value, round);
	spin_lock(&gt_claim.lock);
	gt_claim.value = value;
	gt_claim.flag = 0;
	spin_unlock(&gt_claim.lock);
}

static gt_fn void gt_claim_other(u64 round)
{
	spin_lock(&gt_claim.lock);
	if (!gt_claim.flag)
		gt_claim.value = gt_atomic_mix(gt_claim.value, round);
	spin_unlock(&gt_claim.lock);
}

GT_ATOMIC_RIGHT(claim, owner, other);

/* ---- right: what becomes of the datum shows it ---- */

/* A word with flags: the first section checks one, the second section changes another, and the other side a third. */
#define GT_ATOMIC_CLOSED 1
#define GT_ATOMIC_TURN 2
#define GT_ATOMIC_LINK 4
GT_ATOMIC(gt_otherbits);

static gt_fn void gt_otherbits_turner(u64 round)
{
	bool closed;

	spin_lock(&gt_otherbits.lock);
	closed = gt_otherbits.value & GT_ATOMIC_CLOSED;
	spin_unlock(&gt_otherbits.lock);
	if (closed)
		return;
	gt_atomic_gap();
	spin_lock(&gt_otherbits.lock);
	gt_otherbits.value ^= GT_ATOMIC_TURN;
	spin_unlock(&gt_otherbits.lock);
}

static gt_fn void gt_otherbits_linker(u64 round)
{
	spin_lock(&gt_otherbits.lock);
	gt_otherbits.value ^= GT_ATOMIC_LINK;
	spin_unlock(&gt_otherbits.lock);
}

GT_ATOMIC_FATE(otherbits, turner, linker);

/* A hint, as to what was found last: it saves work, but does not decide whether the second section comes. */
GT_ATOMIC(gt_hint);

static gt_fn void gt_hint_finder(u64 round)
{
	spin_lock(&gt_hint.lock);
	if (gt_hint.value)
		gt_hint.words[0]++;
	spin_unlock(&gt_hint.lock);
	if (round & 2)
		return;
	gt_atomic_gap();
	spin_lock(&gt_hint.lock);
	gt_hint.value = round & 4 ? round : 0;
	spin_unlock(&gt_hint.lock);
}

static gt_fn void gt_hint_other(u64 round)
{
	spin_lock(&gt_hint.lock);
	gt_hint.value = round & 1 ? round : 0;
	spin_unlock(&gt_hint.lock);
}

GT_ATOMIC_FATE(hint, finder, other);

/* One section looks at several objects under one lock, and the next one changes one of them. */
#define GT_ATOMIC_RING 16
static DEFINE_SPINLOCK(gt_ring_lock);
static struct gt_atomic *gt_ring_objects[GT_ATOMIC_RING];

static gt_fn void gt_ring_looker(u64 round)
{
	unsigned int i;

	spin_lock(&gt_ring_lock);
	for (i = 0; i < GT_ATOMIC_RING; i++) {
		if (gt_ring_objects[i]->value > GT_ATOMIC_MAX / 2)
			gt_use(i);
	}
	spin_unlock(&gt_ring_lock);
	gt_atomic_gap();
	spin_lock(&gt_ring_lock);
	gt_ring_objects[round % GT_ATOMIC_RING]->value = gt_atomic_fill(round / GT_ATOMIC_RING);
	spin_unlock(&gt_ring_lock);
}

static gt_fn void gt_ring_writer(u64 round)
{
	spin_lock(&gt_ring_lock);
	gt_ring_objects[round % GT_ATOMIC_RING]->value = gt_atomic_fill(round);
	spin_unlock(&gt_ring_lock);
}

static void gt_ring_teardown(void)
{
	gt_atomic_free(gt_ring_objects, GT_ATOMIC_RING);
}

static int gt_ring_setup(void)
{
	return gt_atomic_make(gt_ring_objects, GT_ATOMIC_RING);
}

GT_ATOMIC_FATE(ring, looker, writer, .setup = gt_ring_setup, .teardown = gt_ring_teardown);

/* ---- right: another lock makes one step of both sections ---- */

static struct {
	struct mutex outer;
	spinlock_t lock;
	u64 value ____cacheline_aligned;
} gt_outer gt_datum = {.outer = __MUTEX_INITIALIZER(gt_outer.outer), .lock = __SPIN_LOCK_UNLOCKED(gt_outer.lock)};

static gt_fn void gt_outer_enqueue(u64 round)
{
	bool full;

	mutex_lock(&gt_outer.outer);
	spin_lock(&gt_outer.lock);
	full = gt_outer.value >= GT_ATOMIC_MAX;
	spin_unlock(&gt_outer.lock);
	gt_atomic_gap();
	if (!full) {
		spin_lock(&gt_outer.lock);
		gt_outer.value++;
		spin_unlock(&gt_outer.lock);
	}
	mutex_unlock(&gt_outer.outer);
}

static gt_fn void gt_outer_change(u64 round)
{
	mutex_lock(&gt_outer.outer);
	spin_lock(&gt_outer.lock);
	gt_outer.value = round % GT_ATOMIC_MAX;
	spin_unlock(&gt_outer.lock);
	mutex_unlock(&gt_outer.outer);
}

GT_ATOMIC_RIGHT(outer, enqueue, change);

/* ---- right: the function waits until the other side has answered ---- */

static struct {
	spinlock_t lock;
	struct completion go, done;
	u64 value ____cacheline_aligned;
} gt_answer gt_datum = {.lock = __SPIN_LOCK_UNLOCKED(gt_answer.lock)};

static gt_fn void gt_answer_asker(u64 round)
{
	spin_lock(&gt_answer.lock);
	gt_answer.value = round;
	spin_unlock(&gt_answer.lock);
	complete(&gt_answer.go);
	if (!wait_for_completion_timeout(&gt_answer.done, GT_ATOMIC_WAIT))
		return;
	spin_lock(&gt_answer.lock);
	gt_use(gt_answer.value);
	spin_unlock(&gt_answer.lock);
}

static gt_fn void gt_answer_answerer(u64 round)
{
	if (!wait_for_completion_timeout(&gt_answer.go, GT_ATOMIC_WAIT))
		return;
	spin_lock(&gt_answer.lock);
	gt_answer.value = round * 3;
	spin_unlock(&gt_answer.lock);
	complete(&gt_answer.done);
}

static int gt_answer_setup(void)
{
	init_completion(&gt_answer.go);
	init_completion(&gt_answer.done);
	return 0;
}

GT_ATOMIC_RIGHT(answer, asker, answerer, .setup = gt_answer_setup);
