// SPDX-License-Identifier: GPL-2.0-or-later
/* Suspicions: which accesses without a common lock are suspected, and which evidence clears the other accesses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pruner/locks/protect.h"
#include "pruner/lists/prune_rules.h"
#include "symbols/insn/insn.h"

#define UPDATE (INSN_READ | INSN_WRITE)
#define NIC 0xff11000004000000u

/* A driver's record. Each of its functions is an operation, and all overlapped in time unless a test says otherwise. */
struct bench {
	struct protection p;
	struct prot_function functions[8];
	struct prot_lock locks[8];
	struct prot_access accesses[2600];
	struct prot_pair pairs[64];
	struct prot_take takes[8];
	struct prune_rules *rules;
	struct suspicions found;
};

enum { CONFIGURE, WATCHDOG, STATS, HANDLER, OPEN, FUNCTIONS };
static const char *const names[FUNCTIONS] = {"e100:e100_configure", "e100:e100_watchdog", "e100:e100_get_stats",
					     "e100:e100_intr", "e100:e100_open"};

enum { CB_LOCK, CMD_LOCK, NICS_LOCK, LOCKS };

/* Replaces protection_concurrent(): a record that a test makes has no index, so search all pairs. */
bool protection_concurrent(const struct protection *p, uint32_t a, uint32_t b)
{
	for (uint32_t i = 0; i < p->pair_count; i++) {
		if ((p->pairs[i].a == a && p->pairs[i].b == b) || (p->pairs[i].a == b && p->pairs[i].b == a))
			return true;
	}
	return false;
}

static struct guest_memory in_nic(uint32_t offset)
{
	return (struct guest_memory){.kind = GUEST_MEMORY_SLAB,
				     .cpu = -1,
				     .cache = "kmalloc-8k",
				     .object = NIC,
				     .object_size = 8192,
				     .offset = offset};
}

static void add_lock(struct bench *b, const char *name, uint8_t kind, uint32_t offset)
{
	struct prot_lock *l = &b->locks[b->p.lock_count++];

	*l = (struct prot_lock){.gva = NIC + offset, .kind = kind, .memory = in_nic(offset)};
	snprintf(l->name, sizeof(l->name), "%s", name);
}

static int setup(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	b->p = (struct protection){.functions = b->functions,
				   .locks = b->locks,
				   .accesses = b->accesses,
				   .pairs = b->pairs,
				   .takes = b->takes,
				   .function_count = FUNCTIONS};
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		snprintf(b->functions[i].name, sizeof(b->functions[i].name), "%s", names[i]);
		for (uint32_t k = 0; k <= i; k++)
			b->pairs[b->p.pair_count++] = (struct prot_pair){.a = k, .b = i, .count = 1};
	}
	add_lock(b, "cb_lock", LOCK_SPIN, 0x100);
	add_lock(b, "cmd_lock", LOCK_SPIN, 0x140);
	add_lock(b, "nics_sem", LOCK_RWSEM, 0x180);
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct bench *b = *state;

	suspicions_fini(&b->found);
	prune_rules_free(b->rules);
	free(b);
	return 0;
}

/* Add ten accesses to nic->flags over one second, by a task that only this function has. */
static struct prot_access *add(struct bench *b, uint32_t function, uint8_t rw)
{
	struct prot_access *a = &b->accesses[b->p.access_count++];

	*a = (struct prot_access){.pc = 0xffffffffc0001000 + 0x100 * function,
				  .gva = NIC + 0x40,
				  .size = 4,
				  .rw = rw,
				  .memory = in_nic(0x40),
				  .name = "nic->flags",
				  .context = GUEST_TASK,
				  .context_known = true,
				  .function = function,
				  .operation = function,
				  .count = 10,
				  .count_shared = 10,
				  .who = 100 + function,
				  .first_ns = 1000000000,
				  .last_ns = 2000000000};
	snprintf(a->site, sizeof(a->site), "%s+0x%x", names[function], 0x10 + rw);
	return a;
}

static struct prot_held *hold(struct prot_access *a, uint32_t lock)
{
	struct prot_held *h = &a->held[a->held_count++];

	*h = (struct prot_held){.lock = lock};
	return h;
}

static size_t judge(struct bench *b)
{
	struct err err = {0};

	suspicions_fini(&b->found);
	assert_int_equal(protect_judge(&b->p, b->rules, &b->found, &err), 0);
	return b->found.count;
}

static void expect_left_out(struct bench *b, enum protect_left_out why)
{
	assert_int_equal(judge(b), 0);
	for (int i = 0; i < PROTECT_LEFT_OUT; i++)
		assert_int_equal(b->found.left_out[i], i == (int)why);
}

static void expect_fine(struct bench *b)
{
	expect_left_out(b, PROTECT_LEFT_OUT);
}

static const struct suspicion *expect_one(struct bench *b)
{
	assert_int_equal(judge(b), 1);
	return &b->found.list[0];
}

/* The writer holds cb_lock, and the reader holds no lock: DILP's Figure 1, and its Figure 7 in e100. */
static void figure_one(struct bench *b)
{
	hold(add(b, CONFIGURE, INSN_WRITE), CB_LOCK);
	add(b, WATCHDOG, INSN_READ);
}

static void test_a_lock_on_one_side(void **state)
{
	struct bench *b = *state;
	const struct suspicion *s;
	char id[RACE_ID_MAX];

	figure_one(b);
	b->accesses[0].count_shared = 412;
	b->accesses[1].count_shared = 6;
	s = expect_one(b);
	assert_int_equal(s->kind, SUSPICION_UNPROTECTED);
	assert_int_equal(s->side[0], 0);
	assert_int_equal(s->side[1], 1);
	assert_int_equal(s->lock, CB_LOCK);
	assert_int_equal(s->held, 412);
	assert_int_equal(s->total, 418);
	assert_true(s->concurrent);
	race_id(b->accesses[0].site, b->accesses[1].site, id);
	assert_string_equal(s->id, id);
	assert_string_equal(s->text,
			    "nic->flags: cb_lock held in 412 of 418 accesses, but not in e100_watchdog(), which ran at the "
			    "same time as e100_configure()");
}

static void test_the_side_without_the_lock_comes_first_in_the_record(void **state)
{
	struct bench *b = *state;
	const struct suspicion *s;

	add(b, WATCHDOG, INSN_WRITE);
	hold(add(b, CONFIGURE, INSN_READ), CB_LOCK);
	s = expect_one(b);
	assert_int_equal(s->side[0], 1);
	assert_int_equal(s->side[1], 0);
}

static void test_operations_are_named(void **state)
{
	struct bench *b = *state;

	figure_one(b);
	b->accesses[0].operation = OPEN;
	b->accesses[1].operation = STATS;
	assert_non_null(strstr(expect_one(b)->text,
			       ", but not in e100_watchdog() (reached from e100_get_stats()), which ran at the "
			       "same time as e100_configure() (reached from e100_open())"));
}

static void test_one_operation_on_two_cpus(void **state)
{
	struct bench *b = *state;

	figure_one(b);
	b->accesses[0].operation = b->accesses[1].operation = OPEN;
	assert_non_null(strstr(expect_one(b)->text,
			       ", but not in e100_watchdog() (reached from e100_open()); e100_open() ran on two "
			       "CPUs at the same time, and leads to e100_configure() too"));
}

static void test_the_same_lock(void **state)
{
	struct bench *b = *state;

	figure_one(b);
	hold(&b->accesses[1], CB_LOCK);
	expect_fine(b);
}

static void test_one_lock_of_several_in_common(void **state)
{
	struct bench *b = *state;

	figure_one(b);
	hold(&b->accesses[0], CMD_LOCK);
	hold(&b->accesses[1], CMD_LOCK);
	expect_fine(b);
}

static void test_two_locks(void **state)
{
	struct bench *b = *state;
	const struct suspicion *s;

	figure_one(b);
	hold(&b->accesses[1], CMD_LOCK);
	b->accesses[1].count_shared = 30;
	s = expect_one(b);
	assert_int_equal(s->lock, CMD_LOCK);
	assert_int_equal(s->side[0], 1);
	assert_int_equal(s->held, 30);
	assert_int_equal(s->total, 40);
	assert_string_equal(s->text,
			    "nic->flags: cmd_lock held in 30 of 40 accesses, but not in e100_configure(), which holds cb_lock "
			    "instead, and ran at the same time as e100_watchdog()");
}

/* If no access holds a lock, there is no evidence that the code expects concurrent accesses. */
static void test_no_locks(void **state)
{
	struct bench *b = *state;

	add(b, CONFIGURE, INSN_WRITE);
	add(b, WATCHDOG, INSN_READ);
	expect_fine(b);
}

static void test_two_reads(void **state)
{
	struct bench *b = *state;

	figure_one(b);
	b->accesses[0].rw = INSN_READ;
	expect_fine(b);
}

/* ---- readers' and writers' locks ---- */

static void test_reader_and_writer_of_a_lock(void **state)
{
	struct bench *b = *state;

	hold(add(b, CONFIGURE, INSN_WRITE), NICS_LOCK);
	hold(add(b, WATCHDOG, INSN_READ), NICS_LOCK)->shared = true;
	expect_fine(b);
}

static void test_two_readers_of_a_lock(void **state)
{
	struct bench *b = *state;

	hold(add(b, CONFIGURE, INSN_READ), NICS_LOCK)->shared = true;
	hold(add(b, WATCHDOG, INSN_READ), NICS_LOCK)->shared = true;
	expect_fine(b);
}

static void test_a_write_under_the_readers_side(void **state)
{
	struct bench *b = *state;
	const struct suspicion *s;

	hold(add(b, CONFIGURE, UPDATE), NICS_LOCK)->shared = true;
	hold(add(b, WATCHDOG, INSN_READ), NICS_LOCK)->shared = true;
	s = expect_one(b);
	assert_int_equal(s->side[1], 0);
	assert_int_equal(s->held, 10);
	assert_int_equal(s->total, 20);
	assert_non_null(strstr(s->text, "not in e100_configure(), which holds it only as a reader and yet writes, and ran"));
}

static void test_two_tasks_that_write_under_the_readers_side(void **state)
{
	struct bench *b = *state;
	const struct suspicion *s;

	hold(add(b, CONFIGURE, UPDATE), NICS_LOCK)->shared = true;
	expect_fine(b);
	b->accesses[0].several = true;
	s = expect_one(b);
	assert_int_equal(s->lock, NICS_LOCK);
	assert_int_equal(s->held, 0);
	assert_non_null(strstr(s->text, "and ran on two CPUs at the same time"));
}

/* ---- incomplete facts ---- */

static void test_a_lock_that_may_be_held_clears(void **state)
{
	struct bench *b = *state;

	figure_one(b);
	hold(&b->accesses[1], CB_LOCK)->maybe = true;
	expect_left_out(b, PROTECT_MAYBE);
}

static void test_a_lock_that_may_be_held_accuses_nobody(void **state)
{
	struct bench *b = *state;

	hold(add(b, CONFIGURE, INSN_WRITE), CB_LOCK)->maybe = true;
	add(b, WATCHDOG, INSN_READ);
	expect_left_out(b, PROTECT_MAYBE);
}

static void test_another_lock_that_may_be_held_clears_nobody(void **state)
{
	struct bench *b = *state;

	figure_one(b);
	hold(&b->accesses[1], CMD_LOCK)->maybe = true;
	assert_int_equal(expect_one(b)->lock, CB_LOCK);
}

static void test_more_locks_than_fit(void **state)
{
	struct bench *b = *state;

	figure_one(b);
	b->accesses[1].held_overflow = true;
	expect_left_out(b, PROTECT_MAYBE);
}

/* ---- what needs no lock ---- */

static void test_an_object_that_only_its_creator_has_touched(void **state)
{
	struct bench *b = *state;

	figure_one(b);
	b->accesses[1].count_shared = 0;
	expect_left_out(b, PROTECT_UNPUBLISHED);
}

static void test_a_reader_in_an_rcu_section(void **state)
{
	struct bench *b = *state;

	figure_one(b);
	b->accesses[1].in_rcu = true;
	expect_left_out(b, PROTECT_RCU);
}

/* The kernel does not count RCU sections. A load of a pointer's size may then be in an RCU section. */
static void test_a_reader_that_may_be_in_an_rcu_section(void **state)
{
	struct bench *b = *state;

	figure_one(b);
	b->accesses[0].size = b->accesses[1].size = 8;
	b->accesses[1].rcu_unknown = true;
	expect_left_out(b, PROTECT_RCU);
	b->accesses[0].size = b->accesses[1].size = 4;
	expect_one(b);
}

static void test_a_writer_in_an_rcu_section_is_no_reader(void **state)
{
	struct bench *b = *state;

	figure_one(b);
	b->accesses[1].in_rcu = true;
	b->accesses[1].rw = INSN_WRITE;
	expect_one(b);
}

/* RCU does not protect a reader from a writer without a lock, even if the reader holds a lock. */
static void test_a_writer_without_a_lock_against_an_rcu_reader(void **state)
{
	struct bench *b = *state;

	add(b, CONFIGURE, INSN_WRITE);
	hold(add(b, WATCHDOG, INSN_READ), CB_LOCK);
	b->accesses[1].in_rcu = true;
	expect_one(b);
}

static void test_per_cpu_data(void **state)
{
	struct bench *b = *state;

	figure_one(b);
	b->accesses[0].memory.kind = b->accesses[1].memory.kind = GUEST_MEMORY_PER_CPU;
	expect_left_out(b, PROTECT_PER_CPU);
}

static void test_locked_instructions(void **state)
{
	struct bench *b = *state;

	figure_one(b);
	b->accesses[0].rw = UPDATE;
	b->accesses[0].locked = true;
	expect_one(b);
	b->accesses[1].rw = UPDATE;
	b->accesses[1].locked = true;
	expect_left_out(b, PROTECT_MARKED);
}

static void test_data_handed_over(void **state)
{
	struct bench *b = *state;

	figure_one(b);
	b->accesses[1].first_ns = 2000000000;
	b->accesses[1].last_ns = 3000000000;
	expect_left_out(b, PROTECT_HANDED);
	b->accesses[1].first_ns = 0;
	b->accesses[1].last_ns = 1000000000;
	expect_left_out(b, PROTECT_HANDED);
	b->accesses[1].last_ns = 1000000001;
	expect_one(b);
}

/* One task writes. One task reads before it, and another one after it. */
static void test_data_of_one_task_after_the_other(void **state)
{
	struct bench *b = *state;
	struct prot_access *reads = &b->accesses[0], *writes = &b->accesses[1];

	figure_one(b);
	reads->spans[0] = (struct prot_span){.who = 100, .first_ns = 1000000000, .last_ns = 1400000000};
	reads->spans[1] = (struct prot_span){.who = 102, .first_ns = 1600000000, .last_ns = 2000000000};
	reads->span_count = 2;
	writes->spans[0] = (struct prot_span){.who = 101, .first_ns = 1500000000, .last_ns = 1500000000};
	writes->span_count = 1;
	expect_left_out(b, PROTECT_HANDED);
	/* The writer writes again while a reader is active. */
	writes->spans[0].last_ns = 1700000000;
	expect_one(b);
	/* One reader reads before and after the only write. */
	writes->spans[0].last_ns = 1500000000;
	reads->spans[0].last_ns = 1500000001;
	expect_one(b);
	/* There were more tasks than the record can have spans. */
	reads->spans[0].last_ns = 1400000000;
	reads->span_count = 0;
	expect_one(b);
}

/* ---- what never happens at the same time ---- */

static void test_operations_that_are_never_concurrent(void **state)
{
	struct bench *b = *state;

	figure_one(b);
	b->p.pair_count = 0;
	expect_left_out(b, PROTECT_APART);
}

static void test_an_operation_that_is_not_known(void **state)
{
	struct bench *b = *state;

	figure_one(b);
	b->accesses[1].operation = PROTECTION_NONE;
	expect_left_out(b, PROTECT_APART);
}

static void test_one_task(void **state)
{
	struct bench *b = *state;

	figure_one(b);
	b->accesses[1].who = b->accesses[0].who;
	expect_left_out(b, PROTECT_APART);
	b->accesses[1].several = true;
	expect_one(b);
}

static void test_one_cpu_that_does_one_after_the_other(void **state)
{
	struct bench *b = *state;

	figure_one(b);
	b->accesses[0].cpu = b->accesses[1].cpu = 1;
	expect_one(b);
	b->accesses[0].preempt_off = b->accesses[1].irqs_off = true;
	expect_left_out(b, PROTECT_APART);
	b->accesses[1].several_cpus = true;
	expect_one(b);
	b->accesses[1].several_cpus = false;
	b->accesses[1].cpu = 0;
	expect_one(b);
}

/* A task with a spinlock that leaves interrupts on, and an interrupt that takes no lock. */
static void task_and_interrupt(struct bench *b, uint8_t kind)
{
	struct prot_access *task = add(b, CONFIGURE, UPDATE), *interrupt = add(b, HANDLER, UPDATE);

	hold(task, CB_LOCK);
	task->preempt_off = true;
	interrupt->context = kind;
	interrupt->who = -1;
	b->p.pair_count = 0;
}

static void test_a_task_and_its_interrupt(void **state)
{
	struct bench *b = *state;
	const struct suspicion *s;

	task_and_interrupt(b, GUEST_HARDIRQ);
	s = expect_one(b);
	assert_false(s->concurrent);
	assert_non_null(strstr(s->text, ", but not in e100_intr(), which can interrupt e100_configure()"));
}

static void test_the_task_lacks_the_lock(void **state)
{
	struct bench *b = *state;

	task_and_interrupt(b, GUEST_HARDIRQ);
	b->accesses[0].held_count = 0;
	hold(&b->accesses[1], CB_LOCK);
	assert_non_null(strstr(expect_one(b)->text, ", but not in e100_configure(), which can be interrupted by e100_intr()"));
}

/* A network driver opens its device under a mutex, before the device raises interrupts. */
static void test_a_mutex_keeps_no_interrupt_away(void **state)
{
	struct bench *b = *state;

	task_and_interrupt(b, GUEST_HARDIRQ);
	b->accesses[0].held_count = 0;
	hold(&b->accesses[0], NICS_LOCK);
	expect_left_out(b, PROTECT_APART);
	b->pairs[b->p.pair_count++] = (struct prot_pair){.a = CONFIGURE, .b = HANDLER, .count = 1};
	expect_one(b);
}

static void test_a_task_with_interrupts_off(void **state)
{
	struct bench *b = *state;

	task_and_interrupt(b, GUEST_HARDIRQ);
	b->accesses[0].irqs_off = true;
	expect_left_out(b, PROTECT_APART);
}

static void test_a_task_with_softirqs_off(void **state)
{
	struct bench *b = *state;

	task_and_interrupt(b, GUEST_SOFTIRQ);
	expect_left_out(b, PROTECT_APART);
	b->accesses[0].preempt_off = false;
	expect_one(b);
}

static void test_a_context_that_is_not_known(void **state)
{
	struct bench *b = *state;

	task_and_interrupt(b, GUEST_HARDIRQ);
	b->accesses[0].context_known = false;
	expect_left_out(b, PROTECT_APART);
}

static void test_one_interrupt_on_one_cpu(void **state)
{
	struct bench *b = *state;

	task_and_interrupt(b, GUEST_HARDIRQ);
	b->accesses[0].context = GUEST_HARDIRQ;
	b->accesses[0].who = -1;
	expect_left_out(b, PROTECT_APART);
	b->accesses[0].context = GUEST_SOFTIRQ;
	expect_one(b);
}

/* ---- which accesses are compared, and how they are counted ---- */

static void test_other_bytes_of_the_word(void **state)
{
	struct bench *b = *state;

	figure_one(b);
	b->accesses[1].gva += 4;
	b->accesses[1].memory.offset += 4;
	expect_fine(b);
	b->accesses[0].size = 8;
	expect_one(b);
}

static void test_another_word(void **state)
{
	struct bench *b = *state;

	figure_one(b);
	b->accesses[1].gva += 8;
	b->accesses[1].memory.offset += 8;
	expect_fine(b);
}

static void test_another_life_of_the_object(void **state)
{
	struct bench *b = *state;

	figure_one(b);
	b->accesses[1].life = 1;
	expect_fine(b);
}

static void test_accesses_to_other_bytes_are_not_counted(void **state)
{
	struct bench *b = *state;
	struct prot_access *other;

	figure_one(b);
	other = add(b, STATS, INSN_READ);
	other->gva += 4;
	other->memory.offset += 4;
	assert_int_equal(expect_one(b)->total, 20);
}

/* Each object of the cache has its own lock, and the pair of sites meets in all of them. */
static void many_objects(struct bench *b, unsigned objects, const char *cache, uint8_t merged)
{
	b->p.lock_count = 0;
	for (unsigned i = 0; i < objects; i++) {
		uint64_t object = NIC + i * 0x1000;

		figure_one(b);
		b->locks[b->p.lock_count] = b->locks[0];
		b->locks[b->p.lock_count].gva = object + 0x100;
		b->accesses[2 * i].held[0].lock = b->p.lock_count;
		b->locks[b->p.lock_count].memory.object = object;
		b->locks[b->p.lock_count].memory.merged = merged;
		snprintf(b->locks[b->p.lock_count++].memory.cache, 64, "%s", cache);
		for (unsigned k = 2 * i; k < 2 * i + 2; k++) {
			b->accesses[k].gva = object + 0x40;
			b->accesses[k].memory.object = object;
			snprintf(b->accesses[k].memory.cache, 64, "%s", cache);
			b->accesses[k].memory.merged = merged;
		}
	}
}

static void test_instances_are_one(void **state)
{
	struct bench *b = *state;
	const struct suspicion *s;

	many_objects(b, 5, "inode_cache", GUEST_MERGED_NO);
	s = expect_one(b);
	assert_int_equal(s->held, 50);
	assert_int_equal(s->total, 100);
}

/* Objects of the same size can have different types. */
static void test_instances_of_unknown_kinds_are_counted_apart(void **state)
{
	struct bench *b = *state;
	const struct suspicion *s;

	for (unsigned i = 0; i < 3; i++) {
		static const struct {
			const char *cache;
			uint8_t merged;
		} cases[] = {{"kmalloc-4k", GUEST_MERGED_NO},
			     {"inode_cache", GUEST_MERGED_YES},
			     {"inode_cache", GUEST_MERGED_UNKNOWN}};

		b->p.access_count = 0;
		many_objects(b, 5, cases[i].cache, cases[i].merged);
		s = expect_one(b);
		assert_int_equal(s->held, 10);
		assert_int_equal(s->total, 20);
	}
}

/* The object in which the two operations overlapped is stronger evidence than objects in which they did not. */
static void test_the_instance_that_met_stands_for_all(void **state)
{
	struct bench *b = *state;
	const struct suspicion *s;

	many_objects(b, 3, "inode_cache", GUEST_MERGED_NO);
	b->p.pair_count = 0;
	b->pairs[b->p.pair_count++] = (struct prot_pair){.a = WATCHDOG, .b = OPEN, .count = 1};
	for (unsigned i = 0; i < 6; i += 2)
		b->accesses[i + 1].context = GUEST_HARDIRQ;
	b->accesses[4].operation = OPEN;
	s = expect_one(b);
	assert_true(s->concurrent);
	assert_int_equal(s->side[0], 4);
}

static void test_the_lock_that_is_held_most(void **state)
{
	struct bench *b = *state;
	const struct suspicion *s;

	figure_one(b);
	hold(&b->accesses[0], CMD_LOCK);
	hold(add(b, STATS, INSN_READ), CMD_LOCK);
	s = expect_one(b);
	assert_int_equal(s->lock, CMD_LOCK);
	assert_int_equal(s->held, 20);
	assert_int_equal(s->total, 30);
}

/* ---- the order ---- */

static int rank(struct bench *b)
{
	return expect_one(b)->rank;
}

static void test_the_more_accesses_have_the_lock_the_worse(void **state)
{
	struct bench *b = *state;
	int half, nearly_all;

	figure_one(b);
	half = rank(b);
	b->accesses[0].count_shared = 1000;
	nearly_all = rank(b);
	assert_true(nearly_all > half);
}

static void test_the_objects_own_lock_is_worse_to_miss(void **state)
{
	struct bench *b = *state;
	int own;

	figure_one(b);
	own = rank(b);
	b->locks[CB_LOCK].memory.object = NIC + 0x10000;
	assert_true(own > rank(b));
}

static void test_statistics_come_last(void **state)
{
	struct bench *b = *state;
	struct err err = {0};
	int flags;

	b->rules = prune_rules_new(&err);
	assert_non_null(b->rules);
	figure_one(b);
	for (unsigned i = 0; i < 2; i++) {
		snprintf(b->accesses[i].memory.type, sizeof(b->accesses[i].memory.type), "nic");
		snprintf(b->accesses[i].memory.member, sizeof(b->accesses[i].memory.member), "flags");
	}
	flags = rank(b);
	for (unsigned i = 0; i < 2; i++)
		snprintf(b->accesses[i].memory.member, sizeof(b->accesses[i].memory.member), "rx_packets");
	assert_true(flags > rank(b));
	for (unsigned i = 0; i < 2; i++) {
		snprintf(b->accesses[i].memory.type, sizeof(b->accesses[i].memory.type), "kref");
		snprintf(b->accesses[i].memory.member, sizeof(b->accesses[i].memory.member), "refcount");
	}
	assert_true(flags < rank(b));
}

static void test_listed_marks(void **state)
{
	struct bench *b = *state;
	struct err err = {0};

	b->rules = prune_rules_new(&err);
	assert_non_null(b->rules);
	figure_one(b);
	b->accesses[0].locked = true;
	expect_one(b);
	for (unsigned i = 0; i < 2; i++) {
		snprintf(b->accesses[i].memory.type, sizeof(b->accesses[i].memory.type), "page");
		snprintf(b->accesses[i].memory.member, sizeof(b->accesses[i].memory.member), "flags");
	}
	expect_left_out(b, PROTECT_MARKED);
}

static void test_the_worst_first_and_the_same_every_time(void **state)
{
	struct bench *b = *state;
	struct suspicions once;

	figure_one(b);
	add(b, STATS, INSN_READ)->operation = PROTECTION_NONE;
	b->accesses[2].context = GUEST_HARDIRQ;
	add(b, HANDLER, INSN_WRITE);
	assert_int_equal(judge(b), 3);
	for (size_t i = 1; i < 3; i++)
		assert_true(b->found.list[i - 1].rank >= b->found.list[i].rank);
	once = b->found;
	b->found = (struct suspicions){0};
	assert_int_equal(judge(b), 3);
	assert_memory_equal(once.list, b->found.list, 3 * sizeof(*once.list));
	suspicions_fini(&once);
}

static void test_an_empty_record(void **state)
{
	expect_fine(*state);
}

/* More pairs of sites than the list keeps: 100 writers with a lock, and 100 readers without one. */
static void test_too_many(void **state)
{
	struct bench *b = *state;

	for (unsigned i = 0; i < 200; i++) {
		struct prot_access *a = add(b, i < 100 ? CONFIGURE : WATCHDOG, i < 100 ? INSN_WRITE : INSN_READ);

		if (i < 100)
			hold(a, CB_LOCK);
		snprintf(a->site, sizeof(a->site), "f+0x%x", i);
	}
	assert_int_equal(judge(b), SUSPICIONS_MAX);
	assert_int_equal(b->found.lost, 100 * 100 - SUSPICIONS_MAX);
}

/* ---- locks that an interrupt waits for forever ---- */

static struct prot_take *take(struct bench *b, uint32_t function, uint8_t context)
{
	struct prot_take *t = &b->takes[b->p.take_count++];

	*t = (struct prot_take){.lock = CB_LOCK, .function = function, .operation = function, .context = context, .count = 10};
	snprintf(t->site, sizeof(t->site), "%s+0x50", names[function]);
	return t;
}

static void test_a_lock_taken_with_interrupts_on(void **state)
{
	struct bench *b = *state;
	const struct suspicion *s;

	take(b, STATS, GUEST_TASK)->irqs_off = true;
	take(b, CONFIGURE, GUEST_TASK);
	take(b, HANDLER, GUEST_HARDIRQ)->irqs_off = true;
	s = expect_one(b);
	assert_int_equal(s->kind, SUSPICION_INTERRUPT);
	assert_int_equal(s->side[0], 1);
	assert_int_equal(s->side[1], 2);
	assert_int_equal(s->held, 10);
	assert_int_equal(s->total, 20);
	assert_string_equal(s->text,
			    "cb_lock: taken with interrupts on in e100_configure(); the interrupt in e100_intr() takes this "
			    "lock too, and waits forever if it comes on a CPU that holds the lock");
}

static void test_a_lock_taken_with_interrupts_off(void **state)
{
	struct bench *b = *state;

	take(b, CONFIGURE, GUEST_TASK)->irqs_off = true;
	take(b, HANDLER, GUEST_HARDIRQ)->irqs_off = true;
	expect_fine(b);
}

static void test_a_lock_of_softirqs(void **state)
{
	struct bench *b = *state;

	take(b, CONFIGURE, GUEST_TASK)->softirqs_off = true;
	take(b, WATCHDOG, GUEST_SOFTIRQ)->softirqs_off = true;
	expect_fine(b);
	b->takes[0].softirqs_off = false;
	assert_non_null(strstr(expect_one(b)->text, "the softirq in e100_watchdog()"));
}

static void test_softirqs_off_do_not_keep_interrupts_away(void **state)
{
	struct bench *b = *state;

	take(b, WATCHDOG, GUEST_SOFTIRQ)->softirqs_off = true;
	take(b, HANDLER, GUEST_HARDIRQ)->irqs_off = true;
	expect_one(b);
}

static void test_an_interrupt_that_only_tries(void **state)
{
	struct bench *b = *state;

	take(b, CONFIGURE, GUEST_TASK);
	take(b, HANDLER, GUEST_HARDIRQ)->tried = true;
	expect_fine(b);
}

static void test_two_readers_wait_for_nobody(void **state)
{
	struct bench *b = *state;

	b->locks[CB_LOCK].kind = LOCK_RWLOCK;
	take(b, CONFIGURE, GUEST_TASK)->shared = true;
	take(b, HANDLER, GUEST_HARDIRQ)->shared = true;
	expect_fine(b);
	b->takes[0].shared = false;
	expect_one(b);
}

static void test_locks_that_sleep_and_other_locks(void **state)
{
	struct bench *b = *state;

	take(b, CONFIGURE, GUEST_TASK);
	take(b, HANDLER, GUEST_HARDIRQ)->lock = CMD_LOCK;
	expect_fine(b);
	b->takes[1].lock = CB_LOCK;
	b->locks[CB_LOCK].kind = LOCK_MUTEX;
	expect_fine(b);
}

static void test_the_lock_of_two_objects_is_said_once(void **state)
{
	struct bench *b = *state;

	take(b, CONFIGURE, GUEST_TASK);
	take(b, HANDLER, GUEST_HARDIRQ);
	take(b, CONFIGURE, GUEST_TASK)->lock = CMD_LOCK;
	take(b, HANDLER, GUEST_HARDIRQ)->lock = CMD_LOCK;
	expect_one(b);
}

#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_a_lock_on_one_side),
		T(test_the_side_without_the_lock_comes_first_in_the_record),
		T(test_operations_are_named),
		T(test_one_operation_on_two_cpus),
		T(test_the_same_lock),
		T(test_one_lock_of_several_in_common),
		T(test_two_locks),
		T(test_no_locks),
		T(test_two_reads),
		T(test_reader_and_writer_of_a_lock),
		T(test_two_readers_of_a_lock),
		T(test_a_write_under_the_readers_side),
		T(test_two_tasks_that_write_under_the_readers_side),
		T(test_a_lock_that_may_be_held_clears),
		T(test_a_lock_that_may_be_held_accuses_nobody),
		T(test_another_lock_that_may_be_held_clears_nobody),
		T(test_more_locks_than_fit),
		T(test_an_object_that_only_its_creator_has_touched),
		T(test_a_reader_in_an_rcu_section),
		T(test_a_reader_that_may_be_in_an_rcu_section),
		T(test_a_writer_in_an_rcu_section_is_no_reader),
		T(test_a_writer_without_a_lock_against_an_rcu_reader),
		T(test_per_cpu_data),
		T(test_locked_instructions),
		T(test_data_handed_over),
		T(test_data_of_one_task_after_the_other),
		T(test_operations_that_are_never_concurrent),
		T(test_an_operation_that_is_not_known),
		T(test_one_task),
		T(test_one_cpu_that_does_one_after_the_other),
		T(test_a_task_and_its_interrupt),
		T(test_the_task_lacks_the_lock),
		T(test_a_mutex_keeps_no_interrupt_away),
		T(test_a_task_with_interrupts_off),
		T(test_a_task_with_softirqs_off),
		T(test_a_context_that_is_not_known),
		T(test_one_interrupt_on_one_cpu),
		T(test_other_bytes_of_the_word),
		T(test_another_word),
		T(test_another_life_of_the_object),
		T(test_accesses_to_other_bytes_are_not_counted),
		T(test_instances_are_one),
		T(test_instances_of_unknown_kinds_are_counted_apart),
		T(test_the_instance_that_met_stands_for_all),
		T(test_the_lock_that_is_held_most),
		T(test_the_more_accesses_have_the_lock_the_worse),
		T(test_the_objects_own_lock_is_worse_to_miss),
		T(test_statistics_come_last),
		T(test_listed_marks),
		T(test_the_worst_first_and_the_same_every_time),
		T(test_an_empty_record),
		T(test_too_many),
		T(test_a_lock_taken_with_interrupts_on),
		T(test_a_lock_taken_with_interrupts_off),
		T(test_a_lock_of_softirqs),
		T(test_softirqs_off_do_not_keep_interrupts_away),
		T(test_an_interrupt_that_only_tries),
		T(test_two_readers_wait_for_nobody),
		T(test_locks_that_sleep_and_other_locks),
		T(test_the_lock_of_two_objects_is_said_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
