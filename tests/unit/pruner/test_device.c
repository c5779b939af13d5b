// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Races with a device: a CPU that does not wait for the device's transfer, and a page that changes under write-back. No benign
 * pattern of races between CPUs fits them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "hv/race/group_key.h"
#include "pruner/lists/suppress.h"
#include "tests/unit/pruner/prune_bench.h"

#define RULE "device-not-awaited"
#define WRITE_BACK "changed-under-write-back"
#define REQUEST "virtio-blk 0, queue 1: "

/* Let the second side of the race be an access by a disk for this operation. */
static void by_device(struct race *race, enum device_op op, uint8_t rw)
{
	struct race_side *side = &race->first.sides[1];

	*side = (struct race_side){.kind = RACE_SIDE_DEVICE,
				   .rw = rw,
				   .device = {.request = {.type = "virtio-blk",
							  .queue = 1,
							  .head = 3,
							  .op = op,
							  .sector = 8192,
							  .tid = 1,
							  .thread = "q"},
					      .gpa = race->first.gpa,
					      .len = 8,
					      .write = rw & INSN_WRITE,
					      .descriptor = 1}};
	race->first.how = RACE_BY_DEVICE;
	race->rw[1] = rw;
	site_name(side, 0, race->site[1]);
}

/* gt_alias_reader only reads the datum, which lies in one page. */
static struct bench *reader(void **state)
{
	struct bench *b = bench_of(state, "gt_alias_reader", "");

	by_device(b->race, DEVICE_BLK_READ, INSN_WRITE);
	return b;
}

/* movq %rax,(%rdi); ret */
static struct bench *writer(void **state, enum device_op op, uint8_t rw)
{
	struct bench *b = bench_of(state, "gt_alias_reader", "");

	bench_code(b, 0, CODE("\x48\x89\x07\xc3"), 0);
	b->race->rw[0] = bench_side(b, 0)->rw = INSN_WRITE;
	by_device(b->race, op, rw);
	return b;
}

/* ---- the CPU does not wait for the device's transfer ---- */

static void test_buffer_that_is_read_while_it_is_filled(void **state)
{
	struct bench *b = reader(state);

	bench_expect(b, VERDICT_HARMFUL, RULE);
	bench_says(b, "gt_alias_reader reads ");
	bench_says(b, " while the device fills it: ");
	bench_says(b, "may be old, new or a part of each (" REQUEST "read of sector 8192, descriptor 3, segment 1)");
	assert_true(b->verdict.rank >= 69);
}

static void test_buffer_that_is_changed_while_it_is_filled(void **state)
{
	struct bench *b = writer(state, DEVICE_BLK_READ, INSN_WRITE);

	bench_expect(b, VERDICT_HARMFUL, RULE);
	bench_says(b, "gt_alias_reader changes ");
	bench_says(b, " while the device fills it: the request is not done, so the bytes of either side may remain");
}

static void test_buffer_that_is_changed_while_it_is_written_out(void **state)
{
	struct bench *b = writer(state, DEVICE_BLK_WRITE, INSN_READ);

	bench_expect(b, VERDICT_HARMFUL, RULE);
	bench_says(b, " while the device reads it: the request is not done, so the device may read the old or the new value");
	bench_says(b, REQUEST "write of sector 8192");
}

/* movq (%rdi),%rax; incq %rax; movq %rax,(%rdi); ret */
static void test_update_that_undoes_what_the_device_wrote(void **state)
{
	struct bench *b = reader(state);

	bench_code(b, 0, CODE("\x48\x8b\x07\x48\xff\xc0\x48\x89\x07\xc3"), 6);
	b->race->rw[0] = bench_side(b, 0)->rw = INSN_WRITE;
	bench_expect(b, VERDICT_HARMFUL, RULE);
	bench_says(b, "overwrites what virtio-blk (read request) stored in between");
}

/* movl (%rdi),%eax; testl %eax,%eax; je 0; ret */
static void test_loop_that_waits_for_a_device(void **state)
{
	struct bench *b = reader(state);

	bench_code(b, 0, CODE("\x8b\x07\x85\xc0\x74\xfa\xc3"), 0);
	bench_expect(b, VERDICT_UNCLEAR, "user-built-synchronisation");
	bench_says(b, "until virtio-blk (read request) stores to it; a device writes in a known order only to its ring");
}

/* ---- lists and marks are about CPUs, and prune no race with a device ---- */

static void test_special_variable(void **state)
{
	struct bench *b = reader(state);

	bench_datum(b, "jiffies_64", "u64", "");
	bench_expect(b, VERDICT_HARMFUL, RULE);
}

static void test_list_of_the_users(void **state)
{
	struct bench *b = reader(state);

	bench_datum(b, "mine", "u64", "");
	bench_list(b, "[both-valid]\nvariable = mine\nreason = either\n");
	bench_expect(b, VERDICT_HARMFUL, RULE);
}

static void test_marked_access(void **state)
{
	struct bench *b = reader(state);

	bench_inlined(b, 0, "atomic_read");
	bench_expect(b, VERDICT_HARMFUL, RULE);
}

static void test_locked_access(void **state)
{
	struct bench *b = writer(state, DEVICE_BLK_READ, INSN_WRITE);

	bench_side(b, 0)->locked = true;
	bench_expect(b, VERDICT_HARMFUL, RULE);
}

/* Only one pattern may fit: a loop that only waits is user-built synchronisation, whether a CPU or a device stores. */
static void expect_not_pruned(struct bench *b)
{
	prune_race(b->rules, b->race, &b->verdict);
	if (b->verdict.rule != RULE_USER_BUILT_SYNCHRONISATION)
		bench_expect(b, VERDICT_HARMFUL, RULE);
	else
		bench_expect(b, VERDICT_UNCLEAR, "user-built-synchronisation");
}

/* Give each recorded race a device that reads or writes. No pattern of CPUs fits, whatever the code of the CPU's side is. */
static void test_no_recorded_code_prunes_a_device(void **state)
{
	struct bench *b = *state;
	unsigned judged = 0;

	for (size_t i = 0; i < b->load.count; i++) {
		b->race = b->load.races[i];
		for (uint8_t rw = INSN_READ; rw <= INSN_WRITE; rw++) {
			if (rw == INSN_READ && !(b->race->rw[0] & INSN_WRITE))
				continue;
			by_device(b->race, rw == INSN_READ ? DEVICE_BLK_WRITE : DEVICE_BLK_READ, rw);
			expect_not_pruned(b);
			judged++;
		}
	}
	assert_true(judged > 25);
}

/* ---- pages that a CPU changes under write-back ---- */

static void put_frame(struct race_side *side, const char *function, enum unwind_kind kind, enum guest_context_kind context)
{
	struct guest_frame *frame = &side->calls.frames[side->calls.count++];

	*frame = (struct guest_frame){.pc = side->pc, .kind = (uint8_t)kind, .context = (uint8_t)context, .reliable = true};
	snprintf(frame->symbol.name, sizeof(frame->symbol.name), "%s", function);
}

/* write(2) to a file of ext4, with the stack of a stock 6.1 kernel. */
static struct bench *write_back(void **state)
{
	static const char *const functions[] = {"copy_user_enhanced_fast_string", "copy_page_from_iter_atomic",
						"generic_perform_write", "ext4_buffered_write_iter", "vfs_write"};
	struct bench *b = writer(state, DEVICE_BLK_WRITE, INSN_READ);
	struct race_side *side = bench_side(b, 0);

	side->calls.count = 0;
	for (unsigned i = 0; i < ROWS(functions); i++)
		put_frame(side, functions[i], i ? UNWIND_CALL : UNWIND_STOPPED, GUEST_TASK);
	b->race->first.memory = (struct guest_memory){.kind = GUEST_MEMORY_PAGE};
	return b;
}

static struct guest_frame *frame(struct bench *b, unsigned i)
{
	return &bench_side(b, 0)->calls.frames[i];
}

static void test_page_changed_under_write_back(void **state)
{
	struct bench *b = write_back(state);

	bench_expect(b, VERDICT_BENIGN, WRITE_BACK);
	bench_says(b,
		   "copy_page_from_iter_atomic copies user data into a page of the page cache that virtio-blk (write request) "
		   "writes to the disk; its caller generic_perform_write waits first");
}

static void test_by_iomap(void **state)
{
	struct bench *b = write_back(state);

	strcpy(frame(b, 2)->symbol.name, "iomap_file_buffered_write");
	bench_expect(b, VERDICT_BENIGN, WRITE_BACK);
}

static void test_by_iov_iter_of_older_kernels(void **state)
{
	struct bench *b = write_back(state);

	strcpy(frame(b, 1)->symbol.name, "iov_iter_copy_from_user_atomic");
	bench_expect(b, VERDICT_BENIGN, WRITE_BACK);
}

static void test_list_of_another_kernels_functions(void **state)
{
	struct bench *b = write_back(state);

	strcpy(frame(b, 1)->symbol.name, "my_copy");
	strcpy(frame(b, 2)->symbol.name, "my_write");
	bench_list(b, "[page-copy]\nfunction = my_copy\n[stable-pages]\nfunction = my_write\n");
	bench_expect(b, VERDICT_BENIGN, WRITE_BACK);
}

/* Each of these changes breaks one condition of the rule. */
static void no_copy(struct bench *b)
{
	strcpy(frame(b, 1)->symbol.name, "memcpy");
}

/* btrfs keeps checksums of its data, and copies with its own function. */
static void no_waiting(struct bench *b)
{
	strcpy(frame(b, 2)->symbol.name, "btrfs_buffered_write");
}

static void wrong_order(struct bench *b)
{
	strcpy(frame(b, 1)->symbol.name, "generic_perform_write");
	strcpy(frame(b, 2)->symbol.name, "copy_page_from_iter_atomic");
}

static void guessed_copy(struct bench *b)
{
	frame(b, 1)->reliable = false;
}

static void guessed_waiting(struct bench *b)
{
	frame(b, 2)->reliable = false;
}

/* The access is made by an interrupt handler that interrupted such a copy. */
static void interrupt(struct bench *b)
{
	frame(b, 0)->context = GUEST_HARDIRQ;
	frame(b, 1)->kind = UNWIND_INTERRUPTED;
}

/* After a page fault or an NMI the recorded context may still be that of the interrupted task. */
static void interrupted(struct bench *b)
{
	frame(b, 1)->kind = UNWIND_INTERRUPTED;
}

static void no_stack(struct bench *b)
{
	bench_side(b, 0)->calls.count = 0;
}

static void slab(struct bench *b)
{
	b->race->first.memory.kind = GUEST_MEMORY_SLAB;
}

static void memory_unknown(struct bench *b)
{
	b->race->first.memory.kind = GUEST_MEMORY_UNKNOWN;
}

static void update(struct bench *b)
{
	b->race->rw[0] = INSN_READ | INSN_WRITE;
}

static void transmission(struct bench *b)
{
	strcpy(bench_side(b, 1)->device.request.type, "virtio-net");
	bench_side(b, 1)->device.request.op = DEVICE_NET_TRANSMIT;
}

static void device_that_fills(struct bench *b)
{
	by_device(b->race, DEVICE_BLK_WRITE, INSN_WRITE);
}

static const struct condition {
	const char *shows;
	void (*change)(struct bench *b);
} conditions[] = {
	{"write-back: the access copies nothing of the user's", no_copy},
	{"write-back: nobody waits for stable pages", no_waiting},
	{"write-back: the function that waits is called by the copy", wrong_order},
	{"write-back: the copy is a guess", guessed_copy},
	{"write-back: the function that waits is a guess", guessed_waiting},
	{"write-back: the access is of an interrupt", interrupt},
	{"write-back: the access is of what came in between", interrupted},
	{"write-back: the stack is not known", no_stack},
	{"write-back: the memory is a slab object", slab},
	{"write-back: what the memory is is not known", memory_unknown},
	{"write-back: the access reads too", update},
	{"write-back: the device is a network card", transmission},
	{"write-back: the device changes the memory", device_that_fills},
};

static void test_condition(void **state)
{
	const struct condition *c = ((struct bench *)*state)->row;
	struct bench *b = write_back(state);

	c->change(b);
	bench_expect(b, VERDICT_HARMFUL, RULE);
}

/* ---- suppressions ---- */

static const struct fit_case {
	const char *shows, *site;
	bool fits;
} fit_cases[] = {
	{"suppression: a device and its operation", "virtio-blk:read", true},
	{"suppression: all operations of a device", "virtio-blk:*", true},
	{"suppression: a device's operation is no function", "read", false},
	{"suppression: another operation", "virtio-blk:write", false},
	{"suppression: the CPU's side", "gt_alias_reader", true},
};

static void test_suppression(void **state)
{
	const struct fit_case *c = ((struct bench *)*state)->row;
	struct bench *b = reader(state);
	struct suppressions *s;
	struct err err = {0};
	char text[256];

	snprintf(text, sizeof(text), "[suppress]\nreason = known\nsite = %s\n", c->site);
	s = suppress_read(bench_file(b, text, strlen(text)), 20270115, &err);
	assert_string_equal(err.text, "");
	assert_int_equal(suppress_find(s, b->race, false) != NULL, c->fits);
	suppress_free(s);
}

/* The suppression that --gen-suppressions writes fits the race. */
static void test_written_suppression(void **state)
{
	struct bench *b = reader(state);
	struct suppressions *s;
	struct group_key key;
	struct err err = {0};
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	group_key(b->race, false, &key);
	suppress_write(out, b->race, key.id, key.alias, "harmful candidate: " RULE ", rank 69");
	assert_int_equal(fclose(out), 0);
	assert_non_null(strstr(text, "  <->  virtio-blk:read\n"));
	assert_null(strstr(text, "\nsite = "));
	/* The last field is the reason, which the user fills in. */
	text[strlen(text) - 1] = 'x';
	s = suppress_read(bench_file(b, text, len), 20270115, &err);
	assert_string_equal(err.text, "");
	assert_non_null(suppress_find(s, b->race, false));
	suppress_free(s);
	free(text);
}

int main(void)
{
	const struct CMUnitTest alone[] = {
		BENCH_TEST(test_buffer_that_is_read_while_it_is_filled),
		BENCH_TEST(test_buffer_that_is_changed_while_it_is_filled),
		BENCH_TEST(test_buffer_that_is_changed_while_it_is_written_out),
		BENCH_TEST(test_update_that_undoes_what_the_device_wrote),
		BENCH_TEST(test_loop_that_waits_for_a_device),
		BENCH_TEST(test_special_variable),
		BENCH_TEST(test_list_of_the_users),
		BENCH_TEST(test_marked_access),
		BENCH_TEST(test_locked_access),
		BENCH_TEST(test_no_recorded_code_prunes_a_device),
		ORDERED_TEST(test_no_recorded_code_prunes_a_device),
		BENCH_TEST(test_page_changed_under_write_back),
		BENCH_TEST(test_by_iomap),
		BENCH_TEST(test_by_iov_iter_of_older_kernels),
		BENCH_TEST(test_list_of_another_kernels_functions),
		BENCH_TEST(test_written_suppression),
	};
	struct CMUnitTest tests[ROWS(alone) + ROWS(conditions) + ROWS(fit_cases)], *next = tests;

	for (size_t i = 0; i < ROWS(alone); i++)
		*next++ = alone[i];
	for (size_t i = 0; i < ROWS(conditions); i++)
		*next++ = BENCH_ROW(conditions[i].shows, test_condition, &conditions[i]);
	for (size_t i = 0; i < ROWS(fit_cases); i++)
		*next++ = BENCH_ROW(fit_cases[i].shows, test_suppression, &fit_cases[i]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
