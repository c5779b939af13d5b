// SPDX-License-Identifier: GPL-2.0-or-later
/* Every rule on a race that was recorded, and on the same race with the one thing changed that must keep it from matching. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "hv/base/rng.h"
#include "pruner/rules.h"
#include "pruner/statement.h"
#include "tests/unit/prune_races.h"

struct fixture {
	struct report_load load;
	struct prune_rules *rules;
	struct verdict verdict;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct err err = {0};

	*state = f;
	f->rules = prune_rules_new(&err);
	if (!f->rules || report_load(&f->load, PRUNE_RACES, &err) < 0) {
		print_error("%s\n", err.text);
		return -1;
	}
	prune_rules_set_kernel(f->rules, f->load.kernel.banner);
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	report_load_free(&f->load);
	prune_rules_free(f->rules);
	free(f);
	return 0;
}

static struct race *race_of(struct fixture *f, const char *a, const char *b)
{
	struct race *race = recorded(&f->load, a, b);

	if (!race)
		fail_msg("no race of %s and %s was recorded", a, b);
	return race;
}

static void expect(struct fixture *f, const struct race *race, enum verdict_class class, const char *rule)
{
	prune_race(f->rules, race, &f->verdict);
	if (f->verdict.class != class || strcmp(f->verdict.rule, rule) != 0)
		fail_msg("%s, %s: %s", verdict_class_word(f->verdict.class), f->verdict.rule, f->verdict.evidence);
}

/* Not that pattern, nor any other by which it would be pruned. */
static void expect_not(struct fixture *f, const struct race *race, const char *rule)
{
	prune_race(f->rules, race, &f->verdict);
	if (f->verdict.class != VERDICT_HARMFUL || strcmp(f->verdict.rule, rule) == 0)
		fail_msg("%s, %s: %s", verdict_class_word(f->verdict.class), f->verdict.rule, f->verdict.evidence);
}

static void says(const struct fixture *f, const char *text)
{
	if (!strstr(f->verdict.evidence, text))
		fail_msg("\"%s\" does not say \"%s\"", f->verdict.evidence, text);
}

/* ---- statistics counter ---- */

static void test_counter(void **state)
{
	struct fixture *f = *state;
	struct race *race = race_of(f, "gt_statcount_rx", "gt_statcount_tx");

	expect(f, race, VERDICT_BENIGN, "statistics-counter");
	says(f, "over 8 instances it grew from");
	race->kept = 1;
	expect(f, race, VERDICT_UNCLEAR, "statistics-counter");
	says(f, "too few");
	/* Unless it is called what statistics are called. */
	set_datum(race, "dev", "struct net_device_stats", "rx_packets");
	expect(f, race, VERDICT_BENIGN, "statistics-counter");
}

/* What is put back to 0 now and then was not seen to grow, however often it was looked at. */
static void test_counter_put_back(void **state)
{
	struct fixture *f = *state;
	struct race *race = race_of(f, "gt_statcount_rx", "gt_statcount_tx");

	for (unsigned i = 0; i < race->kept; i++) {
		memset(race->instances[i].before, 0, RACE_DATA_MAX);
		memset(race->instances[i].after, 0, RACE_DATA_MAX);
	}
	race->instances[race->kept - 1].after[0] = 1;
	expect(f, race, VERDICT_UNCLEAR, "statistics-counter");
	says(f, "too few");
}

static void test_counter_that_falls(void **state)
{
	struct fixture *f = *state;
	struct race *race = race_of(f, "gt_statcount_rx", "gt_statcount_tx");
	uint8_t last[RACE_DATA_MAX];

	memcpy(last, race->instances[7].after, sizeof(last));
	memset(race->instances[7].before, 0, sizeof(last));
	expect_not(f, race, "statistics-counter");
	memcpy(race->instances[7].before, last, sizeof(last));
	memset(race->instances[7].after, 0, sizeof(last));
	expect_not(f, race, "statistics-counter");
}

/* Two runs begin to count anew, at one address where there is no KASLR. */
static void test_counter_of_two_runs(void **state)
{
	struct fixture *f = *state;
	struct race *race = race_of(f, "gt_statcount_rx", "gt_statcount_tx");

	memmove(&race->instances[4], &race->instances[0], 4 * sizeof(race->instances[0]));
	expect_not(f, race, "statistics-counter");
	for (unsigned i = 4; i < race->kept; i++)
		race->instances[i].run = 1;
	expect(f, race, VERDICT_BENIGN, "statistics-counter");
	says(f, "over 4 instances it grew from");
}

/* A second run that shows what the first did changes nothing of what that told. */
static void test_two_runs_together(void **state)
{
	struct fixture *f = *state;
	struct race_store *store = race_store_new(NULL);
	struct verdict once[64];
	struct report_load again;

	assert_in_range(f->load.count, 1, 64);
	assert_int_equal(report_load(&again, PRUNE_RACES, NULL), 0);
	for (size_t i = 0; i < f->load.count; i++) {
		/* Room for what the second brings. */
		f->load.races[i]->kept = again.races[i]->kept = RACE_INSTANCES_MAX / 2;
		prune_race(f->rules, f->load.races[i], &once[i]);
	}
	assert_int_equal(report_load_into(&f->load, store, NULL), 0);
	assert_int_equal(report_load_into(&again, store, NULL), 0);
	report_load_free(&again);
	for (size_t i = 0; i < race_store_count(store); i++) {
		const struct race *race = race_store_get(store, i);

		assert_int_equal(race->kept, RACE_INSTANCES_MAX);
		assert_int_not_equal(race->instances[0].run, race->instances[RACE_INSTANCES_MAX / 2].run);
		expect(f, race, once[i].class, once[i].rule);
	}
	race_store_free(store);
}

static void test_counter_that_is_taken_down(void **state)
{
	struct fixture *f = *state;
	struct race *race = race_of(f, "gt_statcount_rx", "gt_statcount_tx");

	set_code(race, 0, "\x48\xff\x0f\xc3", 4, 0); /* decq (%rdi); ret */
	expect_not(f, race, "statistics-counter");
	set_code(race, 0, "\x48\x09\x07\xc3", 4, 0); /* or %rax,(%rdi); ret */
	expect_not(f, race, "statistics-counter");
}

static void test_counter_of_references(void **state)
{
	struct fixture *f = *state;
	struct race *race = race_of(f, "gt_statcount_rx", "gt_statcount_tx");

	set_datum(race, "obj", "struct obj", "refcnt");
	expect(f, race, VERDICT_HARMFUL, "reference-count");
}

/* Somebody looks at a counter; or at a counter to count it down. */
static void test_counter_that_is_read(void **state)
{
	struct fixture *f = *state;
	struct race *race = race_of(f, "gt_statcount_rx", "gt_statcount_tx");

	race->rw[0] = INSN_READ;
	set_code(race, 0, "\x48\x8b\x07\xc3", 4, 0); /* mov (%rdi),%rax; ret */
	expect(f, race, VERDICT_BENIGN, "statistics-counter");
	/* mov (%rdi),%rax; sub $1,%rax; mov %rax,(%rdi); ret */
	set_code(race, 0, "\x48\x8b\x07\x48\x83\xe8\x01\x48\x89\x07\xc3", 11, 0);
	expect_not(f, race, "statistics-counter");
	/* The same with add. */
	set_code(race, 0, "\x48\x8b\x07\x48\x83\xc0\x01\x48\x89\x07\x31\xc0\xc3", 13, 0);
	expect(f, race, VERDICT_BENIGN, "statistics-counter");
}

/* An id, an index or a limit is counted up too. */
static void test_counter_that_is_used(void **state)
{
	/* mov (%rdi),%rax; lea 1(%rax),%rdx; mov %rdx,(%rdi); mov %rcx,(%rsi,%rax,8); xor %eax,%eax; xor %edx,%edx; ret */
	static const char index[] = "\x48\x8b\x07\x48\x8d\x50\x01\x48\x89\x17\x48\x89\x0c\xc6\x31\xc0\x31\xd2\xc3";
	struct fixture *f = *state;
	struct race *race = race_of(f, "gt_statcount_rx", "gt_statcount_tx");

	set_code(race, 0, "\x48\xff\x07\x31\xc0\xc3", 6, 0); /* incq (%rdi); xor %eax,%eax; ret */
	expect(f, race, VERDICT_BENIGN, "statistics-counter");
	set_code(race, 0, "\x48\xff\x07\x74\x00\xc3", 6, 0); /* incq (%rdi); je 1f; 1: ret */
	expect(f, race, VERDICT_UNCLEAR, "statistics-counter");
	says(f, "tests it");
	race->rw[0] = INSN_READ;
	/* mov (%rdi),%rax; add $1,%rax; mov %rax,(%rdi); ret: it is returned */
	set_code(race, 0, "\x48\x8b\x07\x48\x83\xc0\x01\x48\x89\x07\xc3", 11, 0);
	expect_not(f, race, "statistics-counter");
	set_code(race, 0, index, sizeof(index) - 1, 0);
	expect_not(f, race, "statistics-counter");
	/* The same, seen at its store. */
	race->rw[0] = INSN_WRITE;
	set_code(race, 0, index, sizeof(index) - 1, 7);
	expect_not(f, race, "statistics-counter");
}

/* ---- safe flag update ---- */

static void test_flags(void **state)
{
	struct fixture *f = *state;

	expect(f, race_of(f, "gt_flagbits_tester", "gt_flagbits_marker"), VERDICT_BENIGN, "safe-flag-update");
	says(f, "looks only at the bits 0x1");
	says(f, "but for the bits 0x2");
}

/* subl $0,(%rdi): what changes nothing is no update. */
static void test_flags_of_nothing(void **state)
{
	struct fixture *f = *state;
	struct race *race = race_of(f, "gt_flagbits_tester", "gt_flagbits_marker");

	set_code(race, side_of(race, "gt_flagbits_marker"), "\x83\x2f\x00\xc3", 4, 0);
	expect_not(f, race, "safe-flag-update");
}

static void test_flags_of_one_bit(void **state)
{
	struct fixture *f = *state;
	struct race *race = race_of(f, "gt_flagbits_tester", "gt_flagbits_marker");

	set_code(race, side_of(race, "gt_flagbits_tester"), "\xf6\x07\x03\xc3", 4, 0); /* testb $3,(%rdi); ret */
	expect_not(f, race, "safe-flag-update");
}

/* The code says one thing and the instances another. */
static void test_flags_seen_to_change(void **state)
{
	struct fixture *f = *state;
	struct race *race = race_of(f, "gt_flagbits_tester", "gt_flagbits_marker");

	race->instances[3].after[0] ^= 1;
	expect_not(f, race, "safe-flag-update");
}

static void test_flags_of_two_writers(void **state)
{
	struct fixture *f = *state;
	struct race *race = race_of(f, "gt_flagbits_tester", "gt_flagbits_marker");
	unsigned tester = side_of(race, "gt_flagbits_tester");

	race->rw[tester] = INSN_READ | INSN_WRITE;
	set_code(race, tester, "\x80\x0f\x01\xc3", 4, 0); /* orb $1,(%rdi); ret */
	expect(f, race, VERDICT_HARMFUL, "lost-update");
	expect(f, race_of(f, "gt_bitfield_status", "gt_bitfield_received"), VERDICT_HARMFUL, "lost-update");
}

static void test_flags_stored_anew(void **state)
{
	struct fixture *f = *state;
	struct race *race = race_of(f, "gt_flagbits_tester", "gt_flagbits_marker");

	set_code(race, side_of(race, "gt_flagbits_marker"), "\x89\x07\xc3", 3, 0); /* mov %eax,(%rdi); ret */
	expect_not(f, race, "safe-flag-update");
}

/* A load of the whole word, of which the source names one bit-field. */
static void test_flags_by_bit_field(void **state)
{
	struct fixture *f = *state;
	struct race *race = race_of(f, "gt_flagbits_tester", "gt_flagbits_marker");
	unsigned tester = side_of(race, "gt_flagbits_tester");

	set_code(race, tester, "\x0f\xb6\x07\xc3", 4, 0); /* movzbl (%rdi),%eax; ret */
	expect_not(f, race, "safe-flag-update");
	race->names->datum[tester].bit_offset = 2;
	race->names->datum[tester].bit_size = 3;
	expect(f, race, VERDICT_BENIGN, "safe-flag-update");
	says(f, "0x1c");
	race->names->datum[tester].bit_offset = 0;
	expect_not(f, race, "safe-flag-update");
}

/* The tester looks at one byte, the third, of the word that the marker rewrites. */
static void test_flags_in_another_byte(void **state)
{
	struct fixture *f = *state;
	struct race *race = race_of(f, "gt_flagbits_tester", "gt_flagbits_marker");
	unsigned tester = side_of(race, "gt_flagbits_tester");

	set_code(race, tester, "\xf6\x07\x10\xc3", 4, 0); /* testb $0x10,(%rdi); ret */
	race->first.sides[tester].gva += 2;
	for (unsigned i = 0; i < race->kept; i++) {
		struct race_instance *instance = &race->instances[i];

		if (instance->data_len == 1) {
			instance->gva += 2;
			instance->before[0] = instance->after[0] = 0;
		}
	}
	expect(f, race, VERDICT_BENIGN, "safe-flag-update");
	says(f, "0x100000");
	/* Whichever side was held, its bits are in their places. */
	race->instances[1].data_len = 1;
	race->instances[1].gva = race->first.sides[tester].gva;
	race->instances[1].before[0] = 0;
	race->instances[1].after[0] = 0x10;
	expect_not(f, race, "safe-flag-update");
	race->instances[1].data_len = 4;
	race->instances[1].gva -= 2;
	race->instances[1].after[0] = 0;
	expect(f, race, VERDICT_BENIGN, "safe-flag-update");
	race->instances[1].after[2] = 0x10;
	expect_not(f, race, "safe-flag-update");
	/* Where neither side fits the instance nobody knows. */
	race->instances[1].after[2] = 0;
	race->instances[1].data_len = 2;
	expect_not(f, race, "safe-flag-update");
}

/* ---- double-checked locking ---- */

static void test_double_check(void **state)
{
	struct fixture *f = *state;
	struct race *race = race_of(f, "gt_dclock_user", "gt_dclock_reset");
	unsigned user = side_of(race, "gt_dclock_user");

	expect(f, race, VERDICT_BENIGN, "double-checked-locking");
	says(f, "_raw_spin_lock");
	/* What was not kept of the function may come to the second look without the lock. */
	race->first.sides[user].symbol.addr -= 16;
	race->first.sides[user].symbol.size += 16;
	expect_not(f, race, "double-checked-locking");
	race->first.sides[user].symbol.addr += 16;
	race->first.sides[user].symbol.size -= 16;
	/* The writer's lock is told by its code then; of which, too, there may be more. */
	race->first.sides[!user].context.preempt_off = false;
	expect(f, race, VERDICT_BENIGN, "double-checked-locking");
	race->first.sides[!user].symbol.addr -= 16;
	race->first.sides[!user].symbol.size += 16;
	expect(f, race, VERDICT_UNCLEAR, "double-checked-locking");
	race->first.sides[!user].symbol.addr += 16;
	race->first.sides[!user].symbol.size -= 16;
	/* Whoever writes without the lock makes the second look as racy as the first. */
	race->first.sides[!user].context.preempt_off = false;
	race->first.sides[!user].callee_count = 0;
	expect(f, race, VERDICT_UNCLEAR, "double-checked-locking");
	race->first.sides[user].callee_count = 0;
	expect_not(f, race, "double-checked-locking");
}

static void test_double_check_once(void **state)
{
	struct fixture *f = *state;
	struct race *race = race_of(f, "gt_dclock_user", "gt_dclock_reset");
	unsigned user = side_of(race, "gt_dclock_user");
	/* mov (%rbx),%eax; test %eax,%eax; jne +12; call; mov 8(%rbx),%eax; test; nop; ret: another word is looked at */
	static const char other[] = "\x8b\x03\x85\xc0\x75\x0a\xe8\x00\x01\x00\x00\x8b\x43\x08\x85\xc0\xc3";

	set_code(race, user, other, sizeof(other) - 1, 0);
	race->first.sides[user].callees[0] = (struct race_callee){.at = 6, .name = "mutex_lock"};
	race->first.sides[user].callee_count = 1;
	expect_not(f, race, "double-checked-locking");
	/* With 0 for 8 it is the same. */
	race->first.sides[user].code[13] = 0;
	expect(f, race, VERDICT_BENIGN, "double-checked-locking");
	/* And unlocked before that it is not. */
	strcpy(race->first.sides[user].callees[0].name, "mutex_unlock");
	expect_not(f, race, "double-checked-locking");
}

static void test_half_lock(void **state)
{
	struct fixture *f = *state;

	expect(f, race_of(f, "gt_halflock_setter", "gt_halflock_watchdog"), VERDICT_HARMFUL, "lock-on-one-side");
	expect(f, race_of(f, "gt_latesize_get_inode", "gt_latesize_write"), VERDICT_HARMFUL, "lock-on-one-side");
}

/* ---- same-value writes ---- */

static void test_same_value(void **state)
{
	struct fixture *f = *state;
	struct race *race = race_of(f, "gt_samevalue_first", "gt_samevalue_second");

	expect(f, race, VERDICT_UNCLEAR, "same-value-writes");
	assert_true(f->verdict.rank >= 55);
	/* It was seen to become something else. */
	race->instances[1].after[0] = 2;
	expect_not(f, race, "same-value-writes");
}

static void test_values_that_differ(void **state)
{
	struct fixture *f = *state;
	struct race *race = race_of(f, "gt_samevalue_first", "gt_samevalue_second");

	set_code(race, 0, "\xc7\x07\x02\0\0\0\xc3", 7, 0); /* movl $2,(%rdi); ret */
	expect_not(f, race, "same-value-writes");
	/* DataCollider's figure 4: what is rewritten is what is there, and still an update can be lost. */
	expect(f, race_of(f, "gt_addtocache", "gt_addtocache"), VERDICT_HARMFUL, "lost-update");
}

/* ---- special variables ---- */

static void test_special(void **state)
{
	struct fixture *f = *state;
	struct race *race = race_of(f, "gt_rwrace_reader", "gt_rwrace_writer");

	set_datum(race, "jiffies_64", "u64", "");
	expect(f, race, VERDICT_BENIGN, "special-variable");
	says(f, "jiffies.h");
	/* A guess at a name is none. */
	race->names->datum[0].guess = race->names->datum[1].guess = true;
	expect_not(f, race, "special-variable");
	set_datum(race, "jiffies_of_mine", "u64", "");
	expect_not(f, race, "special-variable");
}

static void test_special_by_kernel(void **state)
{
	struct fixture *f = *state;
	struct race *race = race_of(f, "gt_rwrace_reader", "gt_rwrace_writer");

	set_datum(race, "watchdog_touch_ts", "unsigned long", "");
	expect_not(f, race, "special-variable");
	prune_rules_set_kernel(f->rules, "Linux version 5.10.0-30-amd64 (x)");
	expect(f, race, VERDICT_BENIGN, "special-variable");
	prune_rules_set_kernel(f->rules, "Linux version 5.17.0");
	expect_not(f, race, "special-variable");
	prune_rules_set_kernel(f->rules, NULL);
	expect(f, race, VERDICT_BENIGN, "special-variable");
}

static void test_special_renamed(void **state)
{
	struct fixture *f = *state;
	struct race *race = race_of(f, "gt_rwrace_reader", "gt_rwrace_writer");
	unsigned reader = side_of(race, "gt_rwrace_reader");

	strcpy(race->first.sides[reader].symbol.name, "lru_add_drain_cpu");
	set_datum(race, "lru_rotate", "struct lru_rotate", "fbatch.nr");
	prune_rules_set_kernel(f->rules, "Linux version 6.1.0-56-cloud-amd64");
	expect(f, race, VERDICT_BENIGN, "special-variable");
	prune_rules_set_kernel(f->rules, "Linux version 6.12.95+deb12-cloud-amd64");
	expect_not(f, race, "special-variable");
	set_datum(race, "fbatches", "struct cpu_fbatches", "lru_move_tail.nr");
	expect(f, race, VERDICT_BENIGN, "special-variable");
	/* The comment that permits it speaks of one batch. */
	set_datum(race, "fbatches", "struct cpu_fbatches", "lru_add.nr");
	expect_not(f, race, "special-variable");
}

/* What was a bug once is not hidden where it still is one. */
static void test_special_since_a_fix(void **state)
{
	struct fixture *f = *state;
	struct race *race = race_of(f, "gt_rwrace_reader", "gt_rwrace_writer");
	unsigned reader = side_of(race, "gt_rwrace_reader");

	strcpy(race->first.sides[reader].symbol.name, "dup_user_cpus_ptr");
	set_datum(race, "src", "struct task_struct", "user_cpus_ptr");
	prune_rules_set_kernel(f->rules, "Linux version 6.1.0-56-cloud-amd64");
	expect(f, race, VERDICT_BENIGN, "special-variable");
	prune_rules_set_kernel(f->rules, "Linux version 6.0.0");
	expect_not(f, race, "special-variable");
}

/* What one function may look at without the lock is no licence for the others. */
static void test_special_in_one_function(void **state)
{
	struct fixture *f = *state;
	struct race *race = race_of(f, "gt_rwrace_reader", "gt_rwrace_writer");
	unsigned reader = side_of(race, "gt_rwrace_reader");

	set_datum(race, "pipe", "struct pipe_inode_info", "writers");
	expect_not(f, race, "special-variable");
	strcpy(race->first.sides[reader].symbol.name, "pipe_poll");
	expect(f, race, VERDICT_BENIGN, "special-variable");
	says(f, "fs/pipe.c");
	set_datum(race, "pipe", "struct pipe_inode_info", "ring_size");
	expect_not(f, race, "special-variable");
	set_datum(race, "pipe", "struct pipe_inode_info", "writers");
	expect(f, race, VERDICT_BENIGN, "special-variable");
	/* Whoever looks without the lock may not store without it. */
	strcpy(race->first.sides[!reader].symbol.name, "pipe_poll");
	strcpy(race->first.sides[reader].symbol.name, "my_peek");
	expect_not(f, race, "special-variable");
	/* Unless it is the writer who is meant. */
	strcpy(race->first.sides[!reader].symbol.name, "handle_softirqs");
	set_datum(race, "p", "struct task_struct", "flags");
	expect(f, race, VERDICT_BENIGN, "special-variable");
	/* And what is loaded to be stored again is no look: movl (%rdi),%eax; orl $64,%eax; movl %eax,(%rdi); ret */
	set_code(race, reader, "\x8b\x07\x83\xc8\x40\x89\x07\xc3", 8, 0);
	expect_not(f, race, "special-variable");
}

/* What is good for one writer and readers is no reason for a lost store. */
static void test_special_of_two_writers(void **state)
{
	struct fixture *f = *state;
	struct race *race = race_of(f, "gt_wwrace_first", "gt_wwrace_second");

	set_datum(race, "jiffies_64", "u64", "");
	expect_not(f, race, "special-variable");
	set_datum(race, "oops_in_progress", "int", "");
	expect(f, race, VERDICT_BENIGN, "special-variable");
	/* Who was not seen did write. */
	set_datum(race, "jiffies_64", "u64", "");
	race->first.sides[1].known = false;
	race->rw[1] = 0;
	expect_not(f, race, "special-variable");
	race->rw[0] = INSN_READ;
	expect(f, race, VERDICT_BENIGN, "special-variable");
}

/* Inlined code often has no name for what it accesses; the other side's is the datum's too. */
static void test_special_by_the_other_side(void **state)
{
	struct fixture *f = *state;
	struct race *race = race_of(f, "gt_rwrace_reader", "gt_rwrace_writer");
	unsigned reader = side_of(race, "gt_rwrace_reader");

	set_datum(race, "pipe", "struct pipe_inode_info", "writers");
	race->names->datum[reader].by = DATUM_UNNAMED;
	expect_not(f, race, "special-variable");
	strcpy(race->first.sides[reader].symbol.name, "pipe_poll");
	expect(f, race, VERDICT_BENIGN, "special-variable");
	says(f, "pipe.writers: ");
	race->names->datum[!reader].guess = true;
	expect_not(f, race, "special-variable");
}

/* The guest's own tables know variables, and the structs that slab caches and per-CPU variables are made of. */
static void test_special_by_memory(void **state)
{
	struct fixture *f = *state;
	struct race *race = race_of(f, "gt_rwrace_reader", "gt_rwrace_writer");
	struct guest_memory *m = &race->first.memory;

	race_names_free(race->names);
	race->names = NULL;
	*m = (struct guest_memory){.kind = GUEST_MEMORY_KERNEL, .cpu = -1, .symbol.name = "jiffies"};
	expect(f, race, VERDICT_BENIGN, "special-variable");
	strcpy(m->symbol.name, "jiffies_of_mine");
	expect_not(f, race, "special-variable");
	/* What lies behind a number is something else, but within a struct it is not. */
	strcpy(m->symbol.name, "jiffies");
	m->offset = 8;
	expect_not(f, race, "special-variable");
	strcpy(m->symbol.name, "tk_core");
	strcpy(race->first.sides[side_of(race, "gt_rwrace_reader")].symbol.name, "ktime_get");
	expect(f, race, VERDICT_BENIGN, "special-variable");
	*m = (struct guest_memory){.kind = GUEST_MEMORY_SLAB, .cpu = -1, .type = "sock", .member = "sk_err"};
	expect(f, race, VERDICT_BENIGN, "special-variable");
	says(f, "sock.sk_err: ");
	strcpy(m->member, "sk_error_queue.qlen");
	expect_not(f, race, "special-variable");
	*m = (struct guest_memory){.kind = GUEST_MEMORY_SLAB, .cpu = -1, .cache = "sock"};
	expect_not(f, race, "special-variable");
}

/* Whoever is told that a race is by design can look it up. */
static void test_special_has_a_source(void **state)
{
	const struct fixture *f = *state;
	size_t found = 0;

	for (size_t i = 0; i < f->rules->count; i++) {
		const struct list_entry *e = &f->rules->entries[i];

		if (e->kind != LIST_SPECIAL)
			continue;
		if (!e->source || !strpbrk(e->source, "/"))
			fail_msg("\"%s\" has no source", e->reason);
		found++;
	}
	assert_true(found > 30);
}

/* ---- names: approximate, both valid, reference counts, linkage ---- */

static void test_named(void **state)
{
	struct fixture *f = *state;
	struct race *race = race_of(f, "gt_rwrace_reader", "gt_rwrace_writer");

	set_datum(race, "rq", "struct rq", "cfs.avg.load_avg");
	expect(f, race, VERDICT_UNCLEAR, "approximate-computation");
	set_datum(race, "rq", "const volatile struct rq", "cfs.avg.load_avg");
	expect(f, race, VERDICT_UNCLEAR, "approximate-computation");
	set_datum(race, "rq", "struct rq_of_mine", "cfs.avg.load_avg");
	expect_not(f, race, "approximate-computation");
	set_datum(race, "inode", "struct inode", "i_mtime.tv_sec");
	expect(f, race, VERDICT_UNCLEAR, "both-values-valid");
	set_datum(race, "inode", "struct inode", "i_mapping");
	expect_not(f, race, "both-values-valid");
	set_datum(race, "head", "struct list_head", "next");
	expect(f, race, VERDICT_HARMFUL, "dangerous-datum");
	says(f, "list linkage");
	set_datum(race, "plain", "struct plain", "thing");
	expect(f, race, VERDICT_HARMFUL, "no-benign-pattern");
}

static void test_pointer(void **state)
{
	struct fixture *f = *state;
	struct race *race = race_of(f, "gt_wwrace_first", "gt_wwrace_second");

	set_datum(race, "plain", "struct plain", "thing");
	strcpy(race->names->datum[0].type, "struct thing *");
	strcpy(race->names->datum[1].type, "struct thing *");
	expect(f, race, VERDICT_HARMFUL, "pointer");
}

/* ---- marked accesses ---- */

static void inlined(struct race *race, unsigned side, const char *function)
{
	for (size_t i = 0; i < race->names->count; i++) {
		struct source_line *line = &race->names->lines[i];

		if (line->side == side && line->frame == 0) {
			snprintf(line->function, sizeof(line->function), "%s", function);
			return;
		}
	}
	fail_msg("no line of side %u", side);
}

static void test_marked(void **state)
{
	struct fixture *f = *state;
	struct race *race = race_of(f, "gt_rwrace_reader", "gt_rwrace_writer");

	inlined(race, 0, "arch_atomic_read");
	expect(f, race, VERDICT_HARMFUL, "one-side-marked");
	says(f, "arch_atomic_read() in gt_rwrace_");
	inlined(race, 1, "arch_atomic_set");
	expect(f, race, VERDICT_SYNCHRONISATION, "marked-accesses");
	inlined(race, 1, "my_atomic_set");
	expect(f, race, VERDICT_HARMFUL, "one-side-marked");
	inlined(race, 1, "atomic_notifier_chain_register");
	expect(f, race, VERDICT_HARMFUL, "one-side-marked");
}

static void test_marked_by_the_instruction(void **state)
{
	struct fixture *f = *state;
	struct race *race = race_of(f, "gt_wwrace_first", "gt_wwrace_second");

	race->first.sides[0].locked = true;
	expect(f, race, VERDICT_HARMFUL, "one-side-marked");
	says(f, "a LOCKed instruction");
}

/* A mark says that an access is whole; two unlocked list_del_rcu() are a bug all the same. */
static void test_marked_of_two_writers(void **state)
{
	struct fixture *f = *state;
	struct race *race = race_of(f, "gt_wwrace_first", "gt_wwrace_second");

	inlined(race, 0, "list_del_rcu");
	inlined(race, 1, "arch_atomic_set");
	expect(f, race, VERDICT_UNCLEAR, "marked-accesses");
	says(f, "a store of one may undo the other's");
	race->first.sides[0].locked = true;
	expect(f, race, VERDICT_UNCLEAR, "marked-accesses");
	race->first.sides[1].locked = true;
	expect(f, race, VERDICT_SYNCHRONISATION, "marked-accesses");
}

/* READ_ONCE(), a subtraction, WRITE_ONCE(): each whole, but not together. */
static void test_marked_update_in_parts(void **state)
{
	struct fixture *f = *state;
	struct race *race = race_of(f, "gt_rwrace_reader", "gt_rwrace_writer");
	unsigned reader = side_of(race, "gt_rwrace_reader");

	inlined(race, reader, "arch_atomic_read");
	inlined(race, !reader, "arch_atomic_set");
	/* movl (%rdi),%eax; subl $1,%eax; movl %eax,(%rdi); xorl %eax,%eax; ret */
	set_code(race, reader, "\x8b\x07\x83\xe8\x01\x89\x07\x31\xc0\xc3", 10, 0);
	expect(f, race, VERDICT_UNCLEAR, "marked-accesses");
	/* movl (%rdi),%eax; lea 1(%rax),%edx; lock cmpxchg %edx,(%rdi); xorl %eax,%eax; ret: it notices */
	set_code(race, reader, "\x8b\x07\x8d\x50\x01\xf0\x0f\xb1\x17\x31\xc0\xc3", 12, 0);
	expect(f, race, VERDICT_SYNCHRONISATION, "marked-accesses");
}

/* A look at what only LOCKed instructions change leaves no mark in machine code. */
static void test_marked_by_the_datum(void **state)
{
	struct fixture *f = *state;
	struct race *race = race_of(f, "gt_rwrace_reader", "gt_rwrace_writer");
	unsigned reader = side_of(race, "gt_rwrace_reader");

	set_datum(race, "p", "struct task_struct", "thread_info.flags");
	expect_not(f, race, "marked-accesses");
	race->first.sides[!reader].locked = true;
	expect(f, race, VERDICT_SYNCHRONISATION, "marked-accesses");
	says(f, "a look at p.thread_info.flags");
	/* task_struct has other flags, which are plain. */
	set_datum(race, "p", "struct task_struct", "flags");
	expect_not(f, race, "marked-accesses");
	set_datum(race, "p", "struct thing", "refs.counter");
	expect(f, race, VERDICT_SYNCHRONISATION, "marked-accesses");
	race->first.sides[!reader].locked = false;
	expect_not(f, race, "marked-accesses");
}

/* A folder with one file of source: line 2 is that of both sides. */
static void write_source(char folder[64], const char *line)
{
	char path[96];
	FILE *file;

	strcpy(folder, "/tmp/test_prune_rules.XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/a.c", folder);
	file = fopen(path, "w");
	assert_non_null(file);
	fprintf(file, "/* READ_ONCE(owner) in another line */\n%s\n", line);
	fclose(file);
}

/* Both sides are in that line of that file. */
static void set_lines(struct race *race, const char *file, unsigned line)
{
	for (size_t i = 0; i < race->names->count; i++) {
		strcpy(race->names->lines[i].file, file);
		race->names->lines[i].line = line;
	}
}

static void expect_by_source(struct fixture *f, struct race *race, const char *line, enum verdict_class class)
{
	char folder[64], path[96];

	write_source(folder, line);
	assert_int_equal(prune_rules_set_sources(f->rules, folder, NULL), 0);
	prune_race(f->rules, race, &f->verdict);
	if (f->verdict.class != class)
		fail_msg("%s: %s", line, f->verdict.evidence);
	snprintf(path, sizeof(path), "%s/a.c", folder);
	unlink(path);
	rmdir(folder);
}

/* READ_ONCE() is around what is accessed, not around what leads there or is handed to something else. */
static void test_marked_operand(void **state)
{
	static const struct {
		const char *text;
		enum verdict_class class;
	} around[] = {
		{"READ_ONCE(a->owner.name)", VERDICT_SYNCHRONISATION},
		{"READ_ONCE((a->owner))", VERDICT_SYNCHRONISATION},
		{"READ_ONCE(((struct a *)p)->owner)", VERDICT_SYNCHRONISATION},
		{"READ_ONCE(b[a->owner].owner)", VERDICT_SYNCHRONISATION},
		{"READ_ONCE(get(b)->owner)", VERDICT_SYNCHRONISATION},
		{"smp_load_acquire(&a->owner)", VERDICT_SYNCHRONISATION},
		{"smp_load_acquire(this_cpu_ptr(&a.owner))", VERDICT_SYNCHRONISATION},
		{"smp_load_acquire(this_cpu_ptr(a.owner))", VERDICT_HARMFUL},
		{"smp_load_acquire(get(&a.owner))", VERDICT_HARMFUL},
		{"READ_ONCE(a->owner[i])", VERDICT_HARMFUL},
		{"READ_ONCE(a->owner->name)", VERDICT_HARMFUL},
		{"READ_ONCE(a->owner [i] ->name)", VERDICT_HARMFUL},
		{"READ_ONCE((a->owner)->name)", VERDICT_HARMFUL},
		{"READ_ONCE(*a->owner)", VERDICT_HARMFUL},
		{"READ_ONCE((*a->owner).name)", VERDICT_HARMFUL},
		{"READ_ONCE(b[a->owner])", VERDICT_HARMFUL},
		{"READ_ONCE(get(a->owner)->name)", VERDICT_HARMFUL},
		{"READ_ONCE(*per_cpu_ptr(a->owner, cpu))", VERDICT_HARMFUL},
		{"rcu_dereference_check(b->p, a->owner)", VERDICT_HARMFUL},
		{"rcu_dereference_protected(a->owner, true)", VERDICT_HARMFUL},
		{"smp_cond_load_acquire(&b->p, VAL == a->owner)", VERDICT_HARMFUL},
		{"READ_ONCE(((((((((((((((((((((((((((((((((((a->owner)))))))))))))))))))))))))))))))))))", VERDICT_HARMFUL},
	};
	struct fixture *f = *state;
	struct race *race = race_of(f, "gt_rwrace_reader", "gt_rwrace_writer");
	unsigned reader = side_of(race, "gt_rwrace_reader");

	set_datum(race, "gt_wwrace", "struct gt_wwrace", "owner");
	set_lines(race, "a.c", 2);
	race->first.sides[!reader].locked = true;
	for (size_t i = 0; i < sizeof(around) / sizeof(around[0]); i++)
		expect_by_source(f, race, around[i].text, around[i].class);
	/* Of an array it is an element that is accessed, and of a pointer what it points to. */
	strcpy(race->names->datum[reader].path, "a->owner[2]");
	expect_by_source(f, race, "\tx = READ_ONCE(a->owner[i]);", VERDICT_SYNCHRONISATION);
	expect_by_source(f, race, "\tx = READ_ONCE(a->owner[i]->name);", VERDICT_HARMFUL);
	strcpy(race->names->datum[reader].path, "*owner");
	expect_by_source(f, race, "\tx = READ_ONCE(*owner);", VERDICT_SYNCHRONISATION);
	set_datum(race, "gt_wwrace", "struct gt_wwrace", "owner");
	/* But for what is around all of them. */
	expect_by_source(f, race, "\tx = data_race(a->owner->name);", VERDICT_SYNCHRONISATION);
}

static void test_marked_by_the_source(void **state)
{
	struct fixture *f = *state;
	struct race *race = race_of(f, "gt_rwrace_reader", "gt_rwrace_writer");
	unsigned reader = side_of(race, "gt_rwrace_reader");

	set_datum(race, "gt_wwrace", "struct gt_wwrace", "owner");
	set_lines(race, "./a.c", 2);
	race->first.sides[!reader].locked = true;
	expect_by_source(f, race, "\tif (READ_ONCE(gt_wwrace.owner) > 1)", VERDICT_SYNCHRONISATION);
	says(f, "READ_ONCE() at ./a.c:2");
	/* A load is not marked by what marks stores. */
	expect_by_source(f, race, "\trcu_assign_pointer(x->owner, new);", VERDICT_HARMFUL);
	expect_by_source(f, race, "\tx = data_race(a[owner]);", VERDICT_SYNCHRONISATION);
	/* A statement has several lines, */
	expect_by_source(f, race, "\tx = max(READ_ONCE(a->owner),\n\t\ty);", VERDICT_SYNCHRONISATION);
	expect_by_source(f, race, "\tx = max(y,\n\t\tREAD_ONCE(a->owner));", VERDICT_SYNCHRONISATION);
	expect_by_source(f, race, "\tx =\n\t\tREAD_ONCE(a->owner);", VERDICT_SYNCHRONISATION);
	/* and the next is another. */
	expect_by_source(f, race, "\tif (x)\n\t\tREAD_ONCE(a->owner);", VERDICT_HARMFUL);
	expect_by_source(f, race, "\tx = y;\n\tREAD_ONCE(a->owner);", VERDICT_HARMFUL);
	/* Comments and texts are no code, nor are their parentheses. */
	expect_by_source(f, race, "\tif (a->owner && /* READ_ONCE(a->owner) is for others */", VERDICT_HARMFUL);
	expect_by_source(f, race, "\tshow(\"READ_ONCE(owner)\", a->owner); // READ_ONCE(owner)", VERDICT_HARMFUL);
	expect_by_source(f, race, "\tx = '\"' + READ_ONCE(a->owner);", VERDICT_SYNCHRONISATION);
	expect_by_source(f, race, "#define x READ_ONCE(a->owner)", VERDICT_HARMFUL);
	/* Of something else, a part of a word, no call, no such word. */
	expect_by_source(f, race, "\tx->owner = READ_ONCE(y->other);", VERDICT_HARMFUL);
	expect_by_source(f, race, "\tREAD_ONCE(gt_wwrace.owner_id);", VERDICT_HARMFUL);
	expect_by_source(f, race, "\tREAD_ONCE + owner;", VERDICT_HARMFUL);
	expect_by_source(f, race, "\tMY_READ_ONCE(owner);", VERDICT_HARMFUL);
	for (size_t i = 0; i < race->names->count; i++)
		race->names->lines[i].line = 3;
	expect_by_source(f, race, "\tx = max(READ_ONCE(a->owner),\n\t\ty);", VERDICT_SYNCHRONISATION);
	expect_by_source(f, race, "\tif (READ_ONCE(a->owner) == 0)\n\t\ta->owner = 1;", VERDICT_HARMFUL);
	expect_by_source(f, race, "\tx = READ_ONCE(a->owner);\n\ta->owner = 1;", VERDICT_HARMFUL);
	expect_by_source(f, race, "\tputs(\" (\", READ_ONCE(a->owner));\n\ta->owner = 1;", VERDICT_HARMFUL);
	expect_by_source(f, race, "\tx = 1;", VERDICT_HARMFUL);
	/* A store is not marked by what marks loads. */
	race->first.sides[!reader].locked = false;
	inlined(race, reader, "arch_atomic_read");
	expect_by_source(f, race, "\n\tx->owner = READ_ONCE(y->owner);", VERDICT_HARMFUL);
	expect_by_source(f, race, "\n\trcu_assign_pointer(x->owner, new);", VERDICT_SYNCHRONISATION);
	race->first.sides[!reader].locked = true;
	inlined(race, reader, "gt_rwrace_reader");
	for (size_t i = 0; i < race->names->count; i++)
		race->names->lines[i].line = 2;
	/* A report must not have other files read. */
	for (size_t i = 0; i < race->names->count; i++)
		strcpy(race->names->lines[i].file, "b/../a.c");
	expect_by_source(f, race, "\tREAD_ONCE(owner)", VERDICT_HARMFUL);
}

static void test_marked_by_the_kernel(void **state)
{
	struct fixture *f = *state;
	struct race *race = race_of(f, "gt_rwrace_reader", "gt_rwrace_writer");
	unsigned reader = side_of(race, "gt_rwrace_reader");
	static const char of_old[] = "[marked]\nword = old_once\nkernel = ..5.10\n";
	char path[] = "/tmp/outrider-rules-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, of_old, sizeof(of_old) - 1), sizeof(of_old) - 1);
	close(fd);
	assert_int_equal(prune_rules_add(f->rules, path, NULL), 0);
	unlink(path);
	set_lines(race, "a.c", 2);
	set_datum(race, "thing", "struct thing", "word");
	race->first.sides[!reader].locked = true;
	expect_by_source(f, race, "\tx = old_once(t->word);", VERDICT_HARMFUL);
	prune_rules_set_kernel(f->rules, "Linux version 5.10.0");
	expect_by_source(f, race, "\tx = old_once(t->word);", VERDICT_SYNCHRONISATION);
}

/* set_current_state(x) is smp_store_mb(current->__state, x): the line does not say what it stores to. */
static void test_marked_by_a_macro_of_its_own(void **state)
{
	struct fixture *f = *state;
	struct race *race = race_of(f, "gt_rwrace_reader", "gt_rwrace_writer");
	unsigned reader = side_of(race, "gt_rwrace_reader");

	set_lines(race, "a.c", 2);
	set_datum(race, "current_task", "struct task_struct", "__state");
	inlined(race, reader, "arch_atomic_read");
	expect_by_source(f, race, "\t__set_current_state(TASK_RUNNING);", VERDICT_SYNCHRONISATION);
	says(f, "__set_current_state() at a.c:2");
	inlined(race, reader, "gt_rwrace_reader");
	race->first.sides[!reader].locked = true;
	expect_by_source(f, race, "\tif (task_is_running(p))", VERDICT_SYNCHRONISATION);
	expect_by_source(f, race, "\tif (task_is_stopped(p))", VERDICT_HARMFUL);
	expect_by_source(f, race, "\tp->__state = set_current_state;", VERDICT_HARMFUL);
	set_datum(race, "current_task", "struct task_struct", "exit_state");
	expect_by_source(f, race, "\t__set_current_state(TASK_RUNNING);", VERDICT_HARMFUL);
}

/* ---- only shown ---- */

static void test_shown(void **state)
{
	struct fixture *f = *state;
	struct race *race = race_of(f, "gt_rwrace_reader", "gt_rwrace_writer");
	unsigned reader = side_of(race, "gt_rwrace_reader");
	struct race_side *s = &race->first.sides[reader], *writer = &race->first.sides[!reader];

	set_datum(race, "plain", "struct plain", "thing");
	strcpy(race->names->datum[0].type, "int");
	strcpy(race->names->datum[1].type, "int");
	/* movl (%rdi),%esi; call 1f; 1: xorl %eax,%eax; ret */
	set_code(race, reader, "\x8b\x37\xe8\x00\x00\x00\x00\x31\xc0\xc3", 10, 0);
	expect_not(f, race, "only-shown");
	s->callees[0] = (struct race_callee){.at = 2, .name = "seq_printf"};
	s->callee_count = 1;
	expect(f, race, VERDICT_BENIGN, "only-shown");
	says(f, "is to show it to people");
	/* A function like any other; */
	strcpy(s->callees[0].name, "seq_open");
	expect_not(f, race, "only-shown");
	strcpy(s->callees[0].name, "seq_printf");
	/* what is shown of a pointer may be what it points to; */
	strcpy(race->names->datum[race->names->best].type, "char *");
	expect_not(f, race, "only-shown");
	strcpy(race->names->datum[race->names->best].type, "int");
	strcpy(race->names->datum[race->names->best].type, "int (*)(void)");
	expect_not(f, race, "only-shown");
	/* nor does a typedef say so, but its values do; */
	strcpy(race->names->datum[race->names->best].type, "initcall_t");
	race->instances[0].data_len = 8;
	memcpy(race->instances[0].before, "\0\x10\x20\x81\xff\xff\xff\xff", 8);
	memset(race->instances[0].after, 0, 8);
	expect_not(f, race, "only-shown");
	race->instances[0].data_len = 4;
	strcpy(race->names->datum[race->names->best].type, "int");
	/* by a length an array may be shown; */
	set_datum(race, "d", "struct dentry", "d_name.len");
	expect_not(f, race, "only-shown");
	set_datum(race, "plain", "struct plain", "thing");
	/* a part of a number is none; */
	writer->gva += 2;
	expect_not(f, race, "only-shown");
	writer->gva -= 2;
	/* and what is freed must not be read at all. movl $1,(%rdi); call 1f; 1: ret */
	set_code(race, !reader, "\xc7\x07\x01\x00\x00\x00\xe8\x00\x00\x00\x00\xc3", 12, 0);
	expect(f, race, VERDICT_BENIGN, "only-shown");
	writer->callees[0] = (struct race_callee){.at = 6, .name = "kfree"};
	writer->callee_count = 1;
	expect_not(f, race, "only-shown");
}

/* What is left in registers where an overrun stack was found goes nowhere: that call does not come back. */
static void test_shown_with_a_stack_check(void **state)
{
	struct fixture *f = *state;
	struct race *race = race_of(f, "gt_rwrace_reader", "gt_rwrace_writer");
	unsigned reader = side_of(race, "gt_rwrace_reader");
	struct race_side *s = &race->first.sides[reader];

	set_datum(race, "plain", "struct plain", "thing");
	/* movl (%rdi),%ebx; movl %ebx,%esi; call 1f; 1: testl %edi,%edi; jne 2f; popq %rbx; ret; 2: call 3f; 3: */
	set_code(race, reader, "\x8b\x1f\x89\xde\xe8\0\0\0\0\x85\xff\x75\x02\x5b\xc3\xe8\0\0\0\0", 20, 0);
	s->callees[0] = (struct race_callee){.at = 4, .name = "seq_printf"};
	s->callees[1] = (struct race_callee){.at = 15, .name = "__stack_chk_fail"};
	s->callee_count = 2;
	expect(f, race, VERDICT_BENIGN, "only-shown");
	strcpy(s->callees[1].name, "seq_putc");
	expect_not(f, race, "only-shown");
}

/* ---- user-built synchronisation ---- */

static void test_spin(void **state)
{
	struct fixture *f = *state;
	struct race *race = race_of(f, "gt_halflock_setter", "gt_halflock_watchdog");
	unsigned reader = side_of(race, "gt_halflock_watchdog");

	/* 1: testb $1,(%rdi); jne 2f; pause; jmp 1b; 2: ret */
	set_code(race, reader, "\xf6\x07\x01\x75\x04\xf3\x90\xeb\xf7\xc3", 10, 0);
	expect(f, race, VERDICT_UNCLEAR, "user-built-synchronisation");
	/* incl (%rsi) in the loop, in place of pause */
	set_code(race, reader, "\xf6\x07\x01\x75\x04\xff\x06\xeb\xf7\xc3", 10, 0);
	expect_not(f, race, "user-built-synchronisation");
}

/* ---- the rest of what raises ---- */

static void test_raises(void **state)
{
	struct fixture *f = *state;

	expect(f, race_of(f, "gt_refput_owner", "gt_refput_user"), VERDICT_HARMFUL, "reference-count");
	says(f, "may call kvfree_call_rcu afterwards");
	expect(f, race_of(f, "gt_irqsame_task", "gt_irqsame_timer"), VERDICT_HARMFUL, "lost-update");
	says(f, "one side is an interrupt");
	expect(f, race_of(f, "gt_straddle_reader", "gt_straddle_writer"), VERDICT_HARMFUL, "torn");
	expect(f, race_of(f, "gt_alias_reader", "gt_alias_writer"), VERDICT_HARMFUL, "no-benign-pattern");
	expect(f, race_of(f, "gt_rwrace_reader", "gt_rwrace_writer"), VERDICT_HARMFUL, "no-benign-pattern");
}

static void test_unseen_writer(void **state)
{
	struct fixture *f = *state;

	expect(f, race_of(f, "gt_alias_reader", ""), VERDICT_HARMFUL, "no-benign-pattern");
	says(f, "who writes was not seen");
}

/* Without debug files the code and the instances are still there. */
static void test_without_names(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < f->load.count; i++) {
		race_names_free(f->load.races[i]->names);
		f->load.races[i]->names = NULL;
	}
	expect(f, race_of(f, "gt_statcount_rx", "gt_statcount_tx"), VERDICT_BENIGN, "statistics-counter");
	expect(f, race_of(f, "gt_flagbits_tester", "gt_flagbits_marker"), VERDICT_BENIGN, "safe-flag-update");
	expect(f, race_of(f, "gt_dclock_user", "gt_dclock_reset"), VERDICT_BENIGN, "double-checked-locking");
	expect(f, race_of(f, "gt_samevalue_first", "gt_samevalue_second"), VERDICT_UNCLEAR, "same-value-writes");
	expect(f, race_of(f, "gt_nlink_rename", "gt_nlink_link"), VERDICT_HARMFUL, "lost-update");
	/* Nor code: nothing is pruned. */
	for (size_t i = 0; i < f->load.count; i++) {
		f->load.races[i]->first.sides[0].code_len = f->load.races[i]->first.sides[1].code_len = 0;
		prune_race(f->rules, f->load.races[i], &f->verdict);
		assert_int_equal(f->verdict.class, VERDICT_HARMFUL);
	}
}

/* Every verdict names a rule that --list-rules explains. */
static void test_rules_are_explained(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < f->load.count; i++) {
		const struct prune_rule_help *help = prune_rule_help;

		prune_race(f->rules, f->load.races[i], &f->verdict);
		while (help->name && strcmp(help->name, f->verdict.rule) != 0)
			help++;
		assert_non_null(help->name);
		assert_in_range(f->verdict.rank, 0, 99);
		assert_true(f->verdict.evidence[0] != '\0');
	}
}

static uint64_t any_number(struct rng *rng)
{
	static const uint64_t odd[] = {0, 1, 3, 8, 63, 64, 0x7fffffff, 0xffffffff, 1ull << 63, ~0ull};

	return rng_below(rng, 2) ? odd[rng_below(rng, sizeof(odd) / sizeof(odd[0]))] : rng_next(rng);
}

static void spoil(struct rng *rng, struct race *race)
{
	struct race_side *s = &race->first.sides[rng_below(rng, 2)];
	struct race_instance *instance = &race->instances[rng_below(rng, RACE_INSTANCES_MAX)];

	switch (rng_below(rng, 8)) {
	case 0:
		s->gva = any_number(rng);
		break;
	case 1:
		s->size = (uint32_t)any_number(rng);
		break;
	case 2:
		s->pc = rng_below(rng, 2) ? any_number(rng) : s->code_gva + rng_below(rng, RACE_CODE_MAX);
		break;
	case 3:
		for (size_t i = 0; i < sizeof(s->code); i++)
			s->code[i] = (uint8_t)rng_next(rng);
		s->code_len = (uint32_t)rng_below(rng, RACE_CODE_MAX + 1);
		break;
	case 4:
		instance->gva = any_number(rng);
		instance->data_len = (uint32_t)rng_below(rng, RACE_DATA_MAX + 1);
		break;
	case 5:
		race->kept = (unsigned)rng_below(rng, RACE_INSTANCES_MAX + 1);
		break;
	case 6:
		race->rw[rng_below(rng, 2)] = (uint8_t)rng_below(rng, 4);
		break;
	default:
		race->names->datum[rng_below(rng, 2)].bit_size = (unsigned)rng_below(rng, 4097);
		s->code_gva = any_number(rng);
	}
}

/* A record can be anybody's: whatever is in it, there is a verdict (the sanitizers look). */
static void test_any_record(void **state)
{
	struct fixture *f = *state;
	struct race *race = malloc(sizeof(*race));
	struct race_names *names = malloc(sizeof(*names));
	struct rng rng = {11};

	for (int round = 0; round < 3000; round++) {
		const struct race *from = f->load.races[rng_below(&rng, f->load.count)];

		memcpy(race, from, sizeof(*race));
		memcpy(names, from->names, sizeof(*names));
		race->names = names;
		for (uint64_t n = 1 + rng_below(&rng, 4); n; n--)
			spoil(&rng, race);
		prune_race(f->rules, race, &f->verdict);
		assert_in_range(f->verdict.rank, 0, 99);
	}
	free(names);
	free(race);
}

/* Nor is a source tree anybody's own: whatever is in its files (the sanitizers look). */
static void test_any_source(void **state)
{
	static const char some[] = "\"'/*\\\n\n#() =,;aX";
	struct rng rng = {5};
	char folder[64], path[96], text[STATEMENT_MAX];

	(void)state;
	for (int round = 0; round < 200; round++) {
		unsigned lines = 1;
		FILE *file;

		write_source(folder, "");
		snprintf(path, sizeof(path), "%s/a.c", folder);
		file = fopen(path, "w");
		assert_non_null(file);
		for (uint64_t n = rng_below(&rng, 5000); n; n--) {
			int c = rng_below(&rng, 50) ? some[rng_below(&rng, sizeof(some))] : 'a';

			fputc(c, file);
			lines += c == '\n';
		}
		assert_int_equal(fclose(file), 0);
		for (unsigned line = 0; line < 40; line++) {
			if (statement_at(folder, "a.c", line, text))
				assert_in_range(strlen(text), 0, STATEMENT_MAX - 1);
			else
				assert_true(line == 0 || line >= lines);
		}
		assert_false(statement_at(folder, "b/../a.c", 1, text));
		assert_false(statement_at(folder, "b.c", 1, text));
		unlink(path);
		rmdir(folder);
	}
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_counter),
		T(test_counter_put_back),
		T(test_counter_that_falls),
		T(test_counter_of_two_runs),
		T(test_two_runs_together),
		T(test_counter_that_is_taken_down),
		T(test_counter_of_references),
		T(test_counter_that_is_read),
		T(test_counter_that_is_used),
		T(test_flags),
		T(test_flags_of_nothing),
		T(test_flags_of_one_bit),
		T(test_flags_seen_to_change),
		T(test_flags_of_two_writers),
		T(test_flags_stored_anew),
		T(test_flags_by_bit_field),
		T(test_flags_in_another_byte),
		T(test_double_check),
		T(test_double_check_once),
		T(test_half_lock),
		T(test_same_value),
		T(test_values_that_differ),
		T(test_special),
		T(test_special_by_kernel),
		T(test_special_renamed),
		T(test_special_since_a_fix),
		T(test_special_in_one_function),
		T(test_special_of_two_writers),
		T(test_special_by_the_other_side),
		T(test_special_by_memory),
		T(test_special_has_a_source),
		T(test_named),
		T(test_pointer),
		T(test_marked),
		T(test_marked_by_the_instruction),
		T(test_marked_of_two_writers),
		T(test_marked_update_in_parts),
		T(test_marked_by_the_datum),
		T(test_marked_operand),
		T(test_marked_by_the_source),
		T(test_marked_by_the_kernel),
		T(test_marked_by_a_macro_of_its_own),
		T(test_shown),
		T(test_shown_with_a_stack_check),
		T(test_spin),
		T(test_raises),
		T(test_unseen_writer),
		T(test_without_names),
		T(test_rules_are_explained),
		T(test_any_record),
		T(test_any_source),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
