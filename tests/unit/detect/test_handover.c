// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Following hand-overs: a queued work item's function becomes a callback with hooks, and calls, returns, starts and ends order
 * the accesses of a pair that is being confirmed. The test is the CPUs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/detect/core/hook.h"
#include "hv/detect/core/state.h"
#include "hv/detect/locks/callback_hooks.h"
#include "hv/detect/locks/entries.h"
#include "hv/detect/locks/entry_hooks.h"
#include "hv/detect/locks/handover.h"
#include "hv/detect/locks/lock_follower.h"
#include "hv/detect/locks/lock_hooks.h"
#include "hv/detect/locks/locks.h"
#include "hv/detect/steer/confirm.h"
#include "hv/detect/steer/lock_order.h"
#include "tests/unit/detect/detect_rig.h"

/* The subject's function that queues the work and waits for it. */
#define SUBJECT 0x0u
#define ACCESS 0x0u
#define QUEUE_CALL 0x5u
#define FLUSH_CALL 0xau
#define FLUSHED 0xfu
#define WAIT_CALL 0x11u
#define WAITED 0x16u
/* The work function: a no-op for tracing, a push, an access, and a jump to a lock function or a return. */
#define WORK 0x40u
#define WORK_START 0x45u
#define WORK_ACCESS 0x46u
#define COMPLETE_CALL 0x49u
#define WORK_RETURN 0x4eu
#define WORK_TAIL 0x4fu
/* A function of the subject that calls the work function directly, and the indirect call of the kernel's process_one_work(). */
#define DIRECT 0x60u
/* A function of the subject that releases a lock. */
#define UNLOCK 0x68u
#define INDIRECT 0x900u
/* An indirect call by a function that is not on the list. */
#define OTHER_INDIRECT 0x980u
/* A callback whose first instruction overwrites the argument, and one that is not in the subject. */
#define STRANGE 0x80u
#define FOREIGN 0xa0u
#define QUEUE_WORK 0x400u
#define FLUSH_WORK 0x500u
#define FLUSH_ENTRY 0x505u
#define COMPLETE 0x600u
#define WAIT 0x700u
#define SPIN_UNLOCK 0x800u

/* Offsets in the rig's data. */
#define ITEM 0x40u
#define OTHER_ITEM 0x80u
#define FUNC 24u
#define DONE 0xc0u
#define STACK 0x5000u
/* Distance of the stacks of two tasks. */
#define STACK_BYTES 0x100u

#define OWNER 7
#define WORKER 8
#define OTHER 9

struct fixture {
	struct rig *r;
	struct lock_functions *list;
	/* The stack pointer at an entry that is not called by the subject. 0: as if the subject called it. */
	uint64_t entry_rsp;
	/* Accesses are made on the stack of come(), below the frame of the callback. */
	bool in_callback;
	/* The number of the latest lock moment of serial(). */
	uint64_t number;
};

static void on_moment(void *ctx, const struct lock_moment *m)
{
	(void)ctx;
	(void)m;
}

static void on_race(void *ctx, const struct observation *o)
{
	(void)ctx;
	(void)o;
}

static void branch(struct rig *r, uint8_t opcode, uint64_t from, uint64_t to)
{
	int32_t displacement = (int32_t)(to - (from + 5));
	uint8_t code[5] = {opcode};

	memcpy(code + 1, &displacement, sizeof(displacement));
	rig_code(r, from, code, sizeof(code));
}

static void write_code(struct rig *r)
{
	rig_code(r, ACCESS, WRITE_8);
	branch(r, 0xe8, QUEUE_CALL, QUEUE_WORK);
	branch(r, 0xe8, FLUSH_CALL, FLUSH_WORK);
	rig_code(r, FLUSHED, INSN("\x85\xc0"));
	branch(r, 0xe8, WAIT_CALL, WAIT);
	rig_code(r, WAITED, INSN("\x85\xc0\xc3"));
	rig_code(r, WORK, INSN("\x0f\x1f\x44\x00\x00\x53"));
	rig_code(r, WORK_ACCESS, WRITE_8);
	branch(r, 0xe8, COMPLETE_CALL, COMPLETE);
	rig_code(r, WORK_RETURN, INSN("\xc3"));
	branch(r, 0xe9, WORK_TAIL, SPIN_UNLOCK);
	rig_code(r, WORK_TAIL + 5, INSN("\xcc\x0f\x0b")); /* int3, which fills space, and ud2 */
	branch(r, 0xe8, DIRECT, WORK);
	branch(r, 0xe8, UNLOCK, SPIN_UNLOCK);
	rig_code(r, INDIRECT, INSN("\x90\x90\x90\xff\xd0"));
	rig_code(r, OTHER_INDIRECT, INSN("\x90\x90\x90\xff\xd0"));
	rig_code(r, STRANGE, INSN("\x48\x8b\x3f\x53\xc3"));
	rig_code(r, FOREIGN, INSN("\x53\xc3"));
	rig_code(r, FLUSH_WORK, INSN("\x0f\x1f\x44\x00\x00\x55"));
}

static void point_to(struct rig *r, uint64_t item, uint64_t function)
{
	uint64_t gva = RIG_TEXT + function;

	rig_store(r, item + FUNC, &gva, sizeof(gva));
}

/* Load these lines into the list. */
static int load(struct lock_functions *list, const char *lines)
{
	char path[] = "/tmp/handover.XXXXXX";
	struct err err = {0};
	int fd = mkstemp(path), rc = -1;
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

	if (file && fputs(lines, file) >= 0 && fclose(file) == 0)
		rc = lock_functions_load(list, path, &err);
	remove(path);
	return rc;
}

static int start_with(void **state, const char *lines)
{
	static const struct symbol functions[] = {
		{.name = "subject", .addr = RIG_TEXT + SUBJECT, .size = WAITED + 3, .type = 't'},
		{.name = "subject_work", .addr = RIG_TEXT + WORK, .size = WORK_TAIL + 8 - WORK, .type = 't'},
		{.name = "subject_direct", .addr = RIG_TEXT + DIRECT, .size = 5, .type = 't'},
		{.name = "subject_unlock", .addr = RIG_TEXT + UNLOCK, .size = 5, .type = 't'},
		{.name = "subject_strange", .addr = RIG_TEXT + STRANGE, .size = 5, .type = 't'},
		{.name = "foreign", .addr = RIG_TEXT + FOREIGN, .size = 2, .type = 't'},
		{.name = "queue_work_on", .addr = RIG_TEXT + QUEUE_WORK, .size = 0x10, .type = 'T'},
		{.name = "flush_work", .addr = RIG_TEXT + FLUSH_WORK, .size = 0x10, .type = 'T'},
		{.name = "complete", .addr = RIG_TEXT + COMPLETE, .size = 0x10, .type = 'T'},
		{.name = "wait_for_completion_timeout", .addr = RIG_TEXT + WAIT, .size = 0x10, .type = 'T'},
		{.name = "_raw_spin_unlock", .addr = RIG_TEXT + SPIN_UNLOCK, .size = 0x10, .type = 'T'},
		{.name = "process_one_work", .addr = RIG_TEXT + INDIRECT, .size = 0x10, .type = 't'},
		{.name = "snd_timer", .addr = RIG_TEXT + OTHER_INDIRECT, .size = 0x10, .type = 't'},
	};
	struct fixture *f = calloc(1, sizeof(*f));
	struct err err = {0};

	*state = f;
	f->r = rig_new(2, 4);
	f->list = lock_functions_new(&err);
	if (!f->r || !f->list || (lines && load(f->list, lines)))
		return -1;
	f->r->config.locks = f->list;
	f->r->config.sample = "subject*";
	f->r->sink = (struct detect_sink){.race = on_race, .moment = on_moment};
	rig_remake(f->r);
	write_code(f->r);
	rig_functions(f->r, functions, sizeof(functions) / sizeof(*functions));
	f->r->guest.context = (struct guest_context){.known = true, .pid = OWNER, .kind = GUEST_TASK};
	lock_hooks_text_came(f->r->d, "", guest_symtab(&f->r->guest), RIG_TEXT, RIG_TEXT + 0x1000);
	locks_planted(f->r->d->locks, true, 0);
	point_to(f->r, ITEM, WORK);
	point_to(f->r, OTHER_ITEM, WORK);
	rig_plant(f->r, ACCESS, WRITE_8);
	rig_plant(f->r, WORK_ACCESS, WRITE_8);
	pthread_mutex_lock(&f->r->d->lock);
	confirm_add(f->r->d->confirmer, RIG_TEXT + ACCESS, RIG_TEXT + WORK_ACCESS);
	pthread_mutex_unlock(&f->r->d->lock);
	return 0;
}

static int setup(void **state)
{
	return start_with(state, NULL);
}

/* In another kernel, the pointer to the function was where this kernel has a pointer to the item itself. */
static int setup_moved(void **state)
{
	const uint64_t item = RIG_DATA + ITEM;
	int rc = start_with(state, "release work queue_work_on arg2 calls:+8|+24\ncaller work process_one_work calls:+8|+24\n");

	if (rc == 0)
		rig_store(((struct fixture *)*state)->r, ITEM + 8, &item, sizeof(item));
	return rc;
}

/* The function that called the work function holds a lock of the first argument. */
static int setup_serial(void **state)
{
	return start_with(state, "caller serial process_one_work\n");
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	rig_free(f->r);
	lock_functions_free(f->list);
	free(f);
	return 0;
}

/* The function that waits for the work also stops it, as cancel_work_sync() does. */
static int setup_stops(void **state)
{
	return start_with(state, "acquire work flush_work arg0 stops\n");
}

/* ---- the CPUs ---- */

/* The task comes to `at` with these registers. Each task has a stack of its own. */
static void come(struct fixture *f, int32_t pid, uint64_t at, uint64_t object, uint64_t result)
{
	struct x86_regs regs = rig_regs(f->r, pid == WORKER, at);

	f->r->guest.context.pid = pid;
	regs.gpr[X86_RDI] = RIG_DATA + object;
	regs.gpr[X86_RDX] = RIG_DATA + object;
	regs.gpr[X86_RAX] = result;
	regs.gpr[X86_RSP] = RIG_DATA + STACK + (uint64_t)pid * STACK_BYTES;
	rig_hit(f->r, pid == WORKER, &regs);
}

static void queue_work(struct fixture *f, uint64_t item)
{
	come(f, OWNER, QUEUE_CALL, item, 0);
	callback_hooks_step(f->r->d);
}

/* The worker is at the start of the work function, called from `caller`, whose call ends after 5 bytes. */
static void start(struct fixture *f, uint64_t item, uint64_t caller)
{
	uint64_t back = RIG_TEXT + caller + 5;

	rig_store(f->r, STACK + WORKER * STACK_BYTES, &back, sizeof(back));
	come(f, WORKER, WORK_START, item, 0);
}

static void flush(struct fixture *f, uint64_t item)
{
	come(f, OWNER, FLUSH_CALL, item, 0);
}

/* The owner is at the entry of flush_work(), where a call has pushed its return address. */
static void enter_flush(struct fixture *f, uint64_t item)
{
	struct x86_regs regs = rig_regs(f->r, 0, FLUSH_ENTRY);

	f->r->guest.context.pid = OWNER;
	regs.gpr[X86_RDI] = RIG_DATA + item;
	regs.gpr[X86_RSP] = f->entry_rsp ? f->entry_rsp : RIG_DATA + STACK + OWNER * STACK_BYTES - 8;
	rig_hit(f->r, 0, &regs);
}

static void flushed(struct fixture *f)
{
	come(f, OWNER, FLUSHED, 0, 1);
}

/*
 * The task accesses the datum, on the stack that the rig gives it: the detector leaves out accesses near the stack pointer. A
 * hold that begins then ends.
 */
static void access(struct fixture *f, int32_t pid)
{
	uint64_t at = pid == WORKER ? WORK_ACCESS : ACCESS;
	unsigned cpu = pid == WORKER;
	struct x86_regs regs = rig_regs(f->r, cpu, at);

	if (!rig_has_point(f->r, at))
		rig_plant(f->r, at, WRITE_8);
	if (f->in_callback)
		regs.gpr[X86_RSP] = RIG_DATA + STACK + (uint64_t)pid * STACK_BYTES - 0x40;
	f->r->guest.context.pid = pid;
	rig_hit(f->r, cpu, &regs);
	if (rig_window_is_open(f->r, cpu))
		rig_hold_end(f->r, cpu, &regs);
}

static void expect(struct fixture *f, uint64_t by_handover, uint64_t none)
{
	struct pair_order order;

	pthread_mutex_lock(&f->r->d->lock);
	assert_true(confirm_order(f->r->d->confirmer, RIG_TEXT + ACCESS, RIG_TEXT + WORK_ACCESS, &order));
	pthread_mutex_unlock(&f->r->d->lock);
	assert_int_equal(order.by_locks, 0);
	assert_int_equal(order.by_handover, by_handover);
	assert_int_equal(order.none, none);
}

/* ---- tests ---- */

static void work_function_gets_hooks(void **state)
{
	struct fixture *f = *state;

	assert_true(rig_has_point(f->r, QUEUE_CALL));
	assert_true(rig_has_point(f->r, FLUSH_CALL));
	assert_true(rig_has_point(f->r, FLUSHED));
	assert_false(rig_has_point(f->r, WORK_START));
	queue_work(f, ITEM);
	assert_true(rig_has_point(f->r, WORK_START));
	assert_true(rig_has_point(f->r, WORK_RETURN));
	assert_true(rig_has_point(f->r, WORK_TAIL));
}

static void function_that_cannot_be_followed_gets_none(void **state)
{
	struct fixture *f = *state;

	point_to(f->r, ITEM, STRANGE);
	queue_work(f, ITEM);
	point_to(f->r, ITEM, FOREIGN);
	queue_work(f, ITEM);
	point_to(f->r, ITEM, WORK_ACCESS); /* no start of a function */
	queue_work(f, ITEM);
	for (unsigned i = 0; i < 5; i++)
		assert_false(rig_has_point(f->r, STRANGE + i));
	assert_false(rig_has_point(f->r, FOREIGN));
	assert_false(rig_has_point(f->r, WORK_START));
}

static void work_is_ordered_after_who_queues_it(void **state)
{
	struct fixture *f = *state;

	queue_work(f, ITEM);
	access(f, OWNER);
	queue_work(f, ITEM);
	start(f, ITEM, INDIRECT);
	access(f, WORKER);
	expect(f, 1, 0);
}

/* The access of who queues the work comes after that. */
static void access_after_queueing_is_not_ordered(void **state)
{
	struct fixture *f = *state;

	queue_work(f, ITEM);
	queue_work(f, ITEM);
	access(f, OWNER);
	start(f, ITEM, INDIRECT);
	access(f, WORKER);
	expect(f, 0, 1);
}

static void other_item_is_no_order(void **state)
{
	struct fixture *f = *state;

	queue_work(f, ITEM);
	access(f, OWNER);
	queue_work(f, OTHER_ITEM);
	start(f, ITEM, INDIRECT);
	access(f, WORKER);
	expect(f, 0, 1);
}

/* The subject may call its work function itself, which acquires nothing. */
static void direct_call_is_no_order(void **state)
{
	struct fixture *f = *state;

	queue_work(f, ITEM);
	access(f, OWNER);
	queue_work(f, ITEM);
	start(f, ITEM, DIRECT);
	access(f, WORKER);
	expect(f, 0, 1);
}

/* Until the callback has its hooks, its hand-overs are missed, and no order is known. */
static void first_queueing_is_unknown(void **state)
{
	struct fixture *f = *state;

	access(f, OWNER);
	come(f, OWNER, QUEUE_CALL, ITEM, 0);
	access(f, WORKER);
	expect(f, 0, 0);
}

/* The worker comes to a call of a lock function, called from `caller`, and the follower unwinds its stack. */
static void follow_stack(struct fixture *f, uint64_t caller)
{
	uint64_t back = RIG_TEXT + caller + 5;

	rig_store(f->r, STACK + WORKER * STACK_BYTES, &back, sizeof(back));
	come(f, WORKER, WORK_TAIL, ITEM, 0);
	f->r->d->life.reporter_stop = true;
	lock_follower_main(f->r->d);
	f->r->d->life.reporter_stop = false;
	callback_hooks_step(f->r->d);
}

/* The item was queued before the run began, so no call of queue_work_on() shows its function. */
static void callback_is_learned_from_the_stack(void **state)
{
	struct fixture *f = *state;

	follow_stack(f, DIRECT);
	assert_false(rig_has_point(f->r, WORK_START));
	follow_stack(f, INDIRECT);
	assert_true(rig_has_point(f->r, WORK_START));
	start(f, ITEM, INDIRECT);
	access(f, WORKER);
	flush(f, ITEM);
	come(f, WORKER, WORK_RETURN, ITEM, 0);
	flushed(f);
	access(f, OWNER);
	expect(f, 1, 0);
}

/* If a callback's text cannot have hooks yet, the follower learns of it when it sees the callback again. */
static void callback_in_changing_text_is_learned_later(void **state)
{
	struct fixture *f = *state;

	atomic_store(&f->r->guest.gone_base, RIG_TEXT + WORK);
	atomic_store(&f->r->guest.gone_size, 1);
	follow_stack(f, INDIRECT);
	assert_false(rig_has_point(f->r, WORK_START));
	atomic_store(&f->r->guest.gone_size, 0);
	follow_stack(f, INDIRECT);
	assert_true(rig_has_point(f->r, WORK_START));
}

/* A callback that is handed over while its text cannot have hooks gets them when it can. */
static void callback_in_changing_text_gets_hooks_later(void **state)
{
	struct fixture *f = *state;

	atomic_store(&f->r->guest.gone_base, RIG_TEXT + WORK);
	atomic_store(&f->r->guest.gone_size, 1);
	queue_work(f, ITEM);
	assert_false(rig_has_point(f->r, WORK_START));
	atomic_store(&f->r->guest.gone_size, 0);
	locks_callbacks_again(f->r->d->locks, RIG_TEXT + WORK, 1);
	callback_hooks_step(f->r->d);
	assert_true(rig_has_point(f->r, WORK_START));
}

/* What came before is in no order that is known, since the hand-overs of the callback were missed. */
static void order_is_unknown_until_learned_callback_has_hooks(void **state)
{
	const struct guest_symbol caller = {.addr = RIG_TEXT + INDIRECT}, work = {.addr = RIG_TEXT + WORK};
	struct fixture *f = *state;

	access(f, OWNER);
	locks_called_back(f->r->d->locks, &caller, &work);
	access(f, WORKER);
	expect(f, 0, 0);
	callback_hooks_step(f->r->d);
	access(f, OWNER);
	access(f, WORKER);
	expect(f, 0, 1);
}

/* Another callback ends by a jump to the work function, with an argument of its own. */
static void function_without_its_item_acquires_nothing(void **state)
{
	struct fixture *f = *state;

	queue_work(f, ITEM);
	access(f, OWNER);
	queue_work(f, ITEM);
	point_to(f->r, ITEM, STRANGE);
	start(f, ITEM, INDIRECT);
	access(f, WORKER);
	expect(f, 0, 1);
}

static void flush_is_ordered_after_the_end(void **state)
{
	static const uint64_t ends[] = {WORK_RETURN, WORK_TAIL};
	struct fixture *f = *state;

	queue_work(f, ITEM);
	for (unsigned i = 0; i < 2; i++) {
		queue_work(f, ITEM);
		start(f, ITEM, INDIRECT);
		access(f, WORKER);
		flush(f, ITEM); /* waits */
		come(f, WORKER, ends[i], ITEM, 0);
		flushed(f);
		access(f, OWNER);
		/* In the second round, the access of who queues the work is before that of the worker, too. */
		expect(f, 1 + 2 * i, 0);
	}
}

static void flush_before_the_end_is_no_order(void **state)
{
	struct fixture *f = *state;

	queue_work(f, ITEM);
	queue_work(f, ITEM);
	start(f, ITEM, INDIRECT);
	access(f, WORKER);
	flush(f, OTHER_ITEM);
	come(f, WORKER, WORK_RETURN, ITEM, 0);
	flushed(f);
	access(f, OWNER);
	expect(f, 0, 1);
}

/* No hook sees the return of a jump, nor of a call before an instruction that cannot be emulated: the next stop shows it. */
static void return_without_a_hook_is_seen_later(void **state)
{
	struct fixture *f = *state;

	hook_remove(f->r->d, RIG_TEXT + FLUSHED);
	queue_work(f, ITEM);
	queue_work(f, ITEM);
	start(f, ITEM, INDIRECT);
	access(f, WORKER);
	flush(f, ITEM);
	come(f, WORKER, WORK_RETURN, ITEM, 0);
	access(f, OWNER);
	expect(f, 1, 0);
}

/* The flush that returned unseen waited for a run that was queued before, even if it began later. */
static void return_seen_later_is_after_what_was_queued(void **state)
{
	struct fixture *f = *state;

	hook_remove(f->r->d, RIG_TEXT + FLUSHED);
	queue_work(f, ITEM);
	flush(f, ITEM);
	start(f, ITEM, INDIRECT);
	access(f, WORKER);
	come(f, WORKER, WORK_RETURN, ITEM, 0);
	access(f, OWNER);
	expect(f, 1, 0);
}

/* A run that was not queued before the flush may have begun after the unseen return: no order is known. */
static void return_seen_later_may_be_before_a_later_run(void **state)
{
	struct fixture *f = *state;

	hook_remove(f->r->d, RIG_TEXT + FLUSHED);
	queue_work(f, ITEM);
	start(f, ITEM, INDIRECT);
	come(f, WORKER, WORK_RETURN, ITEM, 0);
	flush(f, ITEM);
	start(f, ITEM, INDIRECT);
	access(f, WORKER);
	come(f, WORKER, WORK_RETURN, ITEM, 0);
	access(f, OWNER);
	expect(f, 0, 0);
}

/* Entries of functions get hooks when the subject has a callback that they wait for. */
static void entry_gets_a_hook_for_its_kind(void **state)
{
	struct fixture *f = *state;

	entry_hooks_step(f->r->d);
	assert_false(rig_has_point(f->r, FLUSH_ENTRY));
	queue_work(f, ITEM);
	entry_hooks_step(f->r->d);
	assert_true(rig_has_point(f->r, FLUSH_ENTRY));
	assert_false(rig_has_point(f->r, FLUSH_WORK));
}

/* Code that is not followed flushes the work before it calls the subject. */
static void flush_by_foreign_code_is_an_order(void **state)
{
	static const uint64_t items[] = {ITEM, OTHER_ITEM};
	struct fixture *f = *state;

	queue_work(f, ITEM);
	entry_hooks_step(f->r->d);
	/* The helper that waits may have returned before a deeper function of the subject is called. */
	f->entry_rsp = rig_regs(f->r, 0, ACCESS).gpr[X86_RSP] + 0x40;
	for (unsigned i = 0; i < 2; i++) {
		queue_work(f, ITEM);
		start(f, ITEM, INDIRECT);
		access(f, WORKER);
		enter_flush(f, items[i]);
		come(f, WORKER, WORK_RETURN, ITEM, 0);
		access(f, OWNER);
		/* In the second round, only the access of who queues the work is ordered. */
		expect(f, 1 + i, i);
	}
}

/* A call that has a hook, and its entry, are one wait. */
static void call_and_entry_are_one(void **state)
{
	struct fixture *f = *state;

	queue_work(f, ITEM);
	entry_hooks_step(f->r->d);
	queue_work(f, ITEM);
	start(f, ITEM, INDIRECT);
	access(f, WORKER);
	flush(f, ITEM);
	enter_flush(f, ITEM);
	come(f, WORKER, WORK_RETURN, ITEM, 0);
	flushed(f);
	access(f, OWNER);
	expect(f, 1, 0);
}

/* Calls for objects of the subject are work of the subject, and do not count. */
static void entry_that_is_hot_loses_its_hook(void **state)
{
	struct fixture *f = *state;

	queue_work(f, ITEM);
	entry_hooks_step(f->r->d);
	for (unsigned i = 0; i < 50; i++)
		enter_flush(f, OTHER_ITEM);
	for (unsigned i = 0; i < 50; i++)
		enter_flush(f, ITEM);
	locks_entries(f->r->d->locks)->checked_ns = 0;
	entry_hooks_step(f->r->d);
	assert_true(rig_has_point(f->r, FLUSH_ENTRY));
	for (unsigned i = 0; i < 51; i++)
		enter_flush(f, OTHER_ITEM);
	locks_entries(f->r->d->locks)->checked_ns = 0;
	entry_hooks_step(f->r->d);
	assert_false(rig_has_point(f->r, FLUSH_ENTRY));
	entry_hooks_step(f->r->d);
	assert_false(rig_has_point(f->r, FLUSH_ENTRY));
}

/* ---- callbacks that are stopped ---- */

/* Learn the work function, and stop this item. */
static void stop(struct fixture *f, uint64_t item)
{
	f->in_callback = true;
	queue_work(f, ITEM);
	flush(f, item);
	flushed(f);
}

/* What released the item when the worker came again was not seen, so only the stop tells that the owner was alone. */
static void stopped_callback_does_not_run_beside(void **state)
{
	struct fixture *f = *state;

	stop(f, ITEM);
	access(f, OWNER);
	start(f, ITEM, INDIRECT);
	access(f, WORKER);
	expect(f, 1, 0);
}

/* The task that stops the callback ends soon: any of its calls shows that the stop has returned. */
static void stop_that_returned_unseen_is_seen_later(void **state)
{
	struct fixture *f = *state;

	hook_remove(f->r->d, RIG_TEXT + FLUSHED);
	f->in_callback = true;
	queue_work(f, ITEM);
	flush(f, ITEM);
	come(f, OWNER, UNLOCK, DONE, 0);
	access(f, OTHER);
	start(f, ITEM, INDIRECT);
	access(f, WORKER);
	expect(f, 1, 0);
}

/* All contexts are alone while it is stopped, as after `ip link set down` by another task. */
static void stopped_callback_is_stopped_for_all(void **state)
{
	struct fixture *f = *state;

	stop(f, ITEM);
	access(f, OTHER);
	start(f, ITEM, INDIRECT);
	access(f, WORKER);
	expect(f, 1, 0);
}

static void other_stopped_callback_may_run(void **state)
{
	struct fixture *f = *state;

	stop(f, OTHER_ITEM);
	access(f, OWNER);
	start(f, ITEM, INDIRECT);
	access(f, WORKER);
	expect(f, 0, 1);
}

static void started_callback_may_run(void **state)
{
	struct fixture *f = *state;

	stop(f, ITEM);
	queue_work(f, ITEM);
	access(f, OTHER);
	start(f, ITEM, INDIRECT);
	access(f, WORKER);
	expect(f, 0, 1);
}

/* What was queued while the call waited was not stopped by it. */
static void callback_queued_during_the_stop_may_run(void **state)
{
	struct fixture *f = *state;

	queue_work(f, ITEM);
	flush(f, ITEM);
	come(f, OTHER, QUEUE_CALL, ITEM, 0);
	flushed(f);
	access(f, OWNER);
	start(f, ITEM, INDIRECT);
	access(f, WORKER);
	expect(f, 0, 1);
}

/* A stopped callback keeps no two other contexts apart. */
static void others_run_beside_each_other(void **state)
{
	struct fixture *f = *state;

	stop(f, ITEM);
	access(f, OTHER);
	access(f, WORKER);
	expect(f, 0, 1);
}

/* flush_work() of the built-in list waits, but what is queued later by a timer runs without a call. */
static void wait_alone_stops_nothing(void **state)
{
	struct fixture *f = *state;

	stop(f, ITEM);
	access(f, OTHER);
	start(f, ITEM, INDIRECT);
	access(f, WORKER);
	expect(f, 0, 1);
}

static struct lockset callbacks_of(const struct handover *h, int32_t pid)
{
	const struct lock_who who = {.who = pid, .kind = GUEST_TASK};
	struct lockset set = {0};

	handover_add_callbacks(h, &who, 0, &set);
	return set;
}

/* disable_irq() nests, and disable_irq_nosync() alone waits for no handler that runs already. */
static void interrupts_are_stopped_as_often_as_started(void **state)
{
	const struct lock_function nosync = {.op = LOCK_STOP, .kind = HANDOVER_IRQ},
				   wait = {.op = LOCK_ACQUIRE, .kind = HANDOVER_IRQ},
				   enable = {.op = LOCK_RELEASE, .kind = HANDOVER_IRQ};
	struct x86_regs regs = {.gpr[X86_RSP] = 0x1000};
	struct handover_stop now = {.regs = &regs, .who = {.who = OWNER, .kind = GUEST_TASK}, .number = 1};
	struct handover *h = calloc(1, sizeof(*h));
	struct lock_event event;

	(void)state;
	assert_non_null(h);
	assert_false(handover_lines_stopped(h));
	handover_stop(h, &nosync, 11);
	handover_stop(h, &nosync, 11);
	assert_true(handover_lines_stopped(h));
	assert_int_equal(callbacks_of(h, OTHER).count, 0);
	handover_acquire(h, &now, &wait, 11, false);
	assert_true(handover_returned(h, &now.who, 0x1000, true, &event));
	assert_int_equal(callbacks_of(h, OTHER).count, 1);
	assert_true(callbacks_of(h, OTHER).held[0].shared);
	handover_release(h, &now, &enable, 11, 0, &event);
	assert_int_equal(callbacks_of(h, OTHER).count, 1);
	handover_release(h, &now, &enable, 11, 0, &event);
	assert_int_equal(callbacks_of(h, OTHER).count, 0);
	assert_false(handover_lines_stopped(h));
	free(h);
}

/*
 * The subject calls a waiting function, has no hook after the call, and stops next in a function that it calls itself. Then a
 * waiting function outside of the subject has returned. One of the subject may have called the function that stops.
 */
static void call_of_outside_has_returned_at_the_subjects_next_stop(void **state)
{
	const struct lock_function wait = {.op = LOCK_ACQUIRE, .kind = HANDOVER_WORK};
	struct x86_regs regs = {.gpr[X86_RSP] = 0x1000};
	struct handover_stop now = {.regs = &regs, .who = {.who = OWNER, .kind = GUEST_TASK}, .number = 7};
	struct handover *h = calloc(1, sizeof(*h));
	struct lock_event event;

	(void)state;
	assert_non_null(h);
	handover_acquire(h, &now, &wait, 11, false);
	assert_false(handover_returned(h, &now.who, 0xf80, true, &event));
	handover_acquire(h, &now, &wait, 12, true);
	assert_false(handover_returned(h, &now.who, 0xf80, false, &event));
	assert_true(handover_returned(h, &now.who, 0xf80, true, &event));
	assert_int_equal(event.gva, 12);
	assert_int_equal(event.since, 7);
	assert_false(handover_returned(h, &now.who, 0xf80, true, &event));
	free(h);
}

/* The task is at the start of a function with this argument, or at its end. The function was called by foreign code. */
static bool serial(struct fixture *f, struct handover *h, int32_t pid, uint64_t object, bool ends, struct lock_event *event)
{
	const struct lock_function caller = {.op = LOCK_CALLER, .kind = HANDOVER_SERIAL};
	struct x86_regs regs = {.rip = RIG_TEXT + WORK_START, .gpr[X86_RDI] = object};
	const uint64_t back = RIG_TEXT + INDIRECT + 5, at = STACK + (uint64_t)pid * STACK_BYTES;
	const struct handover_stop stop = {
		.guest = &f->r->guest, .regs = &regs, .who = {.who = pid, .kind = GUEST_TASK}, .number = ++f->number};

	rig_store(f->r, at, &back, sizeof(back));
	regs.gpr[X86_RSP] = RIG_DATA + at;
	return ends ? handover_leave(h, &stop, &caller, event) : handover_enter(h, &stop, &caller, event);
}

/* Two functions of a driver that the kernel calls under the lock of their first argument. */
static void serial_calls_of_one_object_exclude_each_other(void **state)
{
	struct handover *h = calloc(1, sizeof(*h));
	struct lockset owner, worker, other;
	struct lock_event event;

	assert_non_null(h);
	assert_true(serial(*state, h, OWNER, RIG_DATA + ITEM, false, &event));
	assert_true(serial(*state, h, WORKER, RIG_DATA + ITEM, false, &event));
	assert_true(serial(*state, h, OTHER, RIG_DATA + OTHER_ITEM, false, &event));
	owner = callbacks_of(h, OWNER);
	worker = callbacks_of(h, WORKER);
	other = callbacks_of(h, OTHER);
	assert_true(lockset_excludes(&owner, &worker));
	assert_false(lockset_excludes(&owner, &other));
	assert_false(serial(*state, h, OTHER, 0x1000, false, &event));
	free(h);
}

/* A function of another module is called serially. It gets hooks if each of its ends can have one. */
static void serial_callback_gets_hooks_for_all_ends(void **state)
{
	const struct guest_symbol caller = {.addr = RIG_TEXT + INDIRECT, .module = "snd_pcm"};
	struct guest_symbol work = {.addr = RIG_TEXT + WORK, .module = "snd_pcm"};
	struct fixture *f = *state;

	/* A function of the same module: its caller may hold no lock. */
	locks_called_back(f->r->d->locks, &caller, &work);
	callback_hooks_step(f->r->d);
	assert_false(rig_has_point(f->r, WORK_START));
	work.module[0] = 0;
	locks_called_back(f->r->d->locks, &caller, &work);
	callback_hooks_step(f->r->d);
	assert_true(rig_has_point(f->r, WORK_START));
	assert_true(rig_has_point(f->r, WORK_RETURN));
	assert_true(rig_has_point(f->r, WORK_TAIL));
}

/* The function ends by an indirect jump, too, which gets no hook. */
static void serial_callback_with_an_end_unseen_gets_none(void **state)
{
	const struct guest_symbol caller = {.addr = RIG_TEXT + INDIRECT, .module = "snd_pcm"}, work = {.addr = RIG_TEXT + WORK};
	struct fixture *f = *state;

	rig_code(f->r, COMPLETE_CALL, INSN("\xff\xe0\x90\x90\x90"));
	locks_called_back(f->r->d->locks, &caller, &work);
	callback_hooks_step(f->r->d);
	assert_false(rig_has_point(f->r, WORK_START));
	assert_false(rig_has_point(f->r, WORK_RETURN));
}

/* The worker and the owner are in the function at the same time. Both make an access. */
static void both_are_in_the_function(struct fixture *f, uint64_t caller_of_worker)
{
	uint64_t back = RIG_TEXT + INDIRECT + 5;

	f->in_callback = true;
	start(f, ITEM, caller_of_worker);
	access(f, WORKER);
	rig_store(f->r, STACK + OWNER * STACK_BYTES, &back, sizeof(back));
	come(f, OWNER, WORK_START, ITEM, 0);
	access(f, OWNER);
}

/* Code that is not on the list calls the function, too, without the lock. */
static void serial_call_is_one_of_a_listed_function(void **state)
{
	const struct guest_symbol caller = {.addr = RIG_TEXT + INDIRECT, .module = "snd_pcm"}, work = {.addr = RIG_TEXT + WORK};
	struct fixture *f = *state;

	locks_called_back(f->r->d->locks, &caller, &work);
	callback_hooks_step(f->r->d);
	both_are_in_the_function(f, OTHER_INDIRECT);
	expect(f, 0, 1);
	/* The worker's access is compared with the owner's earlier one, too. */
	both_are_in_the_function(f, INDIRECT);
	expect(f, 2, 1);
}

/*
 * The worker's access is in a serial call. Later, the owner makes such a call, and after it an access without any lock, as a
 * task does that stops a stream and prepares it again.
 */
static void serial_calls_order_what_is_outside_of_them(void **state)
{
	struct fixture *f = *state;
	struct handover *h = calloc(1, sizeof(*h));
	struct lock_events *events = calloc(1, sizeof(*events));
	struct lock_hit first = {.who = {.who = WORKER, .kind = GUEST_TASK}},
			second = {.number = 100, .who = {.who = OWNER, .kind = GUEST_TASK}};

	assert_non_null(h);
	assert_non_null(events);
	for (unsigned ends = 0; ends < 2; ends++) {
		struct lock_event event;

		assert_true(serial(f, h, WORKER, RIG_DATA + ITEM, ends, &event));
		lock_events_add(events, &event);
		first.number = ends ? first.number : ++f->number;
	}
	assert_int_equal(lock_order(events, &first, &second), LOCK_ORDER_NONE);
	for (unsigned ends = 0; ends < 2; ends++) {
		struct lock_event event;

		assert_true(serial(f, h, OWNER, RIG_DATA + ITEM, ends, &event));
		lock_events_add(events, &event);
	}
	assert_int_equal(lock_order(events, &first, &second), LOCK_ORDER_LOCKS);
	free(events);
	free(h);
}

/* A wait that ends by its timeout acquires nothing. */
static void completion_counts_if_it_came(void **state)
{
	struct fixture *f = *state;

	for (uint64_t result = 0; result <= 0x100; result += 0x100) {
		access(f, WORKER);
		come(f, OWNER, WAIT_CALL, DONE, 0);
		come(f, WORKER, COMPLETE_CALL, DONE, 0);
		come(f, OWNER, WAITED, 0, result);
		access(f, OWNER);
		/* In the second round, nothing orders the worker's access after that of who waited in the first one. */
		expect(f, result != 0, 1 + (result != 0));
	}
}

/* A call that began before the hooks rested has no start any more. */
static void rest_forgets_what_runs(void **state)
{
	struct fixture *f = *state;

	locks_rest(f->r->d->locks);
	locks_load(f->r->d->locks)->rest_until_ns = 0;
	come(f, OWNER, WAIT_CALL, DONE, 0);
	locks_rest(f->r->d->locks);
	locks_load(f->r->d->locks)->rest_until_ns = 0;
	locks_planted(f->r->d->locks, true, 0);
	access(f, WORKER);
	come(f, WORKER, COMPLETE_CALL, DONE, 0);
	come(f, OWNER, WAITED, 0, 1);
	access(f, OWNER);
	expect(f, 0, 1);
}

static void text_that_goes_takes_its_callbacks_along(void **state)
{
	struct fixture *f = *state;

	queue_work(f, ITEM);
	pthread_mutex_lock(&f->r->d->lock);
	locks_text_gone(f->r->d->locks, RIG_TEXT + WORK, 0x20);
	pthread_mutex_unlock(&f->r->d->lock);
	hook_remove(f->r->d, RIG_TEXT + WORK_START);
	queue_work(f, ITEM);
	assert_true(rig_has_point(f->r, WORK_START));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(work_function_gets_hooks),
		T(function_that_cannot_be_followed_gets_none),
		T(work_is_ordered_after_who_queues_it),
		cmocka_unit_test_setup_teardown(work_is_ordered_after_who_queues_it, setup_moved, teardown),
		cmocka_unit_test_setup_teardown(work_function_gets_hooks, setup_moved, teardown),
		T(access_after_queueing_is_not_ordered),
		T(other_item_is_no_order),
		T(direct_call_is_no_order),
		T(first_queueing_is_unknown),
		T(callback_is_learned_from_the_stack),
		T(callback_in_changing_text_is_learned_later),
		T(callback_in_changing_text_gets_hooks_later),
		T(order_is_unknown_until_learned_callback_has_hooks),
		T(function_without_its_item_acquires_nothing),
		T(flush_is_ordered_after_the_end),
		T(flush_before_the_end_is_no_order),
		T(return_without_a_hook_is_seen_later),
		T(return_seen_later_is_after_what_was_queued),
		T(return_seen_later_may_be_before_a_later_run),
		T(entry_gets_a_hook_for_its_kind),
		T(flush_by_foreign_code_is_an_order),
		T(call_and_entry_are_one),
		T(entry_that_is_hot_loses_its_hook),
		cmocka_unit_test_setup_teardown(stopped_callback_does_not_run_beside, setup_stops, teardown),
		cmocka_unit_test_setup_teardown(stop_that_returned_unseen_is_seen_later, setup_stops, teardown),
		cmocka_unit_test_setup_teardown(stopped_callback_is_stopped_for_all, setup_stops, teardown),
		cmocka_unit_test_setup_teardown(other_stopped_callback_may_run, setup_stops, teardown),
		cmocka_unit_test_setup_teardown(started_callback_may_run, setup_stops, teardown),
		cmocka_unit_test_setup_teardown(callback_queued_during_the_stop_may_run, setup_stops, teardown),
		cmocka_unit_test_setup_teardown(others_run_beside_each_other, setup_stops, teardown),
		T(wait_alone_stops_nothing),
		T(interrupts_are_stopped_as_often_as_started),
		T(call_of_outside_has_returned_at_the_subjects_next_stop),
		T(serial_calls_of_one_object_exclude_each_other),
		T(serial_calls_order_what_is_outside_of_them),
		cmocka_unit_test_setup_teardown(serial_callback_gets_hooks_for_all_ends, setup_serial, teardown),
		cmocka_unit_test_setup_teardown(serial_callback_with_an_end_unseen_gets_none, setup_serial, teardown),
		cmocka_unit_test_setup_teardown(serial_call_is_one_of_a_listed_function, setup_serial, teardown),
		T(completion_counts_if_it_came),
		T(rest_forgets_what_runs),
		T(text_that_goes_takes_its_callbacks_along),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
