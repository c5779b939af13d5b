// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Following locks: the calls of lock functions become hooks, each context's locks are known at its accesses, and who was there
 * at the same time. The test is the CPUs, and reads the ring as the follower does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/detect/core/hook.h"
#include "hv/detect/core/state.h"
#include "hv/detect/locks/lock_follower.h"
#include "hv/detect/locks/lock_hooks.h"
#include "hv/detect/locks/locks.h"
#include "hv/detect/window/hook_hit.h"
#include "tests/unit/detect/detect_rig.h"

/* In the subject's function: lock, access, unlock, and the end of an object by a tail jump. */
#define SUBJECT 0x0u
#define LOCK_CALL 0x0u
#define ACCESS 0x5u
#define UNLOCK_CALL 0x8u
#define TRY_CALL 0xdu
#define FREE_JUMP 0x12u
#define OTHER 0x100u
#define SPIN_LOCK 0x400u
#define SPIN_UNLOCK 0x500u
#define SPIN_TRYLOCK 0x600u
#define KFREE 0x700u
#define KMALLOC 0x800u
#define END_REQUEST 0x900u
#define SIZE 0x100u
#define REUSE 0x140u /* a jump to blk_mq_end_request() */
#define DATA 0x180u  /* what looks like a call and is no text */
/* A function of the subject that looks at the results of its calls. */
#define RESULTS 0x40u
#define TESTED_TRY_CALL 0x40u
#define TRY_TEST 0x45u
#define NEW_CALL 0x47u
#define NEW_TEST 0x4cu
/* A function of the subject that has an unlock inlined, and another store of 0. */
#define INLINED 0x60u
#define INLINED_UNLOCK 0x65u
#define OTHER_STORE 0x6cu
/* A function of the subject with two critical sections, and one in which a branch comes before them. */
#define STEPS 0x90u
#define FIRST_CALL 0x90u
#define FIRST_UNLOCK 0x95u
#define SECOND_CALL 0x9au
#define SECOND_UNLOCK 0x9fu
#define BRANCH 0xb0u /* mov %rdi,%rbx; je */
#define BRANCH_FIRST 0xb5u
#define BRANCH_UNLOCK 0xbau
#define BRANCH_SECOND 0xbfu
#define BRANCH_LAST 0xc4u
/* A function of the subject that calls one with a section, tests its result, and jumps to another one with a section. */
#define CALLER 0xe00u
#define CALLER_BACK 0xe05u
#define CALLER_JUMP 0xe09u
#define CHECK 0xe20u
#define CHECK_UNLOCK 0xe25u
#define ACT 0xe40u
#define ACT_UNLOCK 0xe45u
/* A function of the subject that releases a socket's lock by a call, and tests a register after it; then by a jump. */
#define SOCKET 0xe60u
#define RELEASE_CALL 0xe65u
#define RELEASED 0xe6au
#define RELEASE_JUMP 0xe6du
#define PACKET_CALL 0x1c0u /* in a function that tests the result */
#define PACKET_TEST 0x1c5u
#define ALLOC_SKB 0xd00u
#define QUEUE_TAIL_CALL 0x1a0u /* in a function of its own */
#define QUEUE_TAIL 0xc00u
#define LOCK_SOCK 0xa00u
#define RELEASE_SOCK 0xb00u
#define NOTHING UINT64_MAX

struct fixture {
	struct rig *r;
	struct lock_functions *list;
};

/* Counts them, where `ctx` is not NULL. */
static void on_moment(void *ctx, const struct lock_moment *m)
{
	unsigned *count = ctx;

	(void)m;
	if (count)
		++*count;
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

/* The functions of the rig: those of the subject, and the lock functions that they call. */
static const struct symbol functions[] = {
	{.name = "subject", .addr = RIG_TEXT + SUBJECT, .size = FREE_JUMP + 5, .type = 't'},
	{.name = "subject_alias", .addr = RIG_TEXT + SUBJECT, .size = FREE_JUMP + 5, .type = 't'},
	{.name = "subject_results", .addr = RIG_TEXT + RESULTS, .size = 0xf, .type = 't'},
	{.name = "subject_inlined", .addr = RIG_TEXT + INLINED, .size = 0x10, .type = 't'},
	{.name = "subject_steps", .addr = RIG_TEXT + STEPS, .size = 0x14, .type = 't'},
	{.name = "subject_branch", .addr = RIG_TEXT + BRANCH, .size = 0x19, .type = 't'},
	{.name = "subject_caller", .addr = RIG_TEXT + CALLER, .size = 0xf, .type = 't'},
	{.name = "subject_check", .addr = RIG_TEXT + CHECK, .size = 0xb, .type = 't'},
	{.name = "subject_act", .addr = RIG_TEXT + ACT, .size = 0xb, .type = 't'},
	{.name = "subject_socket", .addr = RIG_TEXT + SOCKET, .size = 0x12, .type = 't'},
	{.name = "subject_packet", .addr = RIG_TEXT + PACKET_CALL, .size = 8, .type = 't'},
	{.name = "subject_queue", .addr = RIG_TEXT + QUEUE_TAIL_CALL, .size = 5, .type = 't'},
	{.name = "subject_reuse", .addr = RIG_TEXT + REUSE, .size = 5, .type = 't'},
	{.name = "subject_data", .addr = RIG_TEXT + DATA, .size = 5, .type = 'd'},
	{.name = "other", .addr = RIG_TEXT + OTHER, .size = 5, .type = 't'},
	{.name = "_raw_spin_lock", .addr = RIG_TEXT + SPIN_LOCK, .size = SIZE, .type = 'T'},
	{.name = "_raw_spin_unlock", .addr = RIG_TEXT + SPIN_UNLOCK, .size = SIZE, .type = 'T'},
	{.name = "_raw_spin_trylock", .addr = RIG_TEXT + SPIN_TRYLOCK, .size = SIZE, .type = 'T'},
	{.name = "kfree", .addr = RIG_TEXT + KFREE, .size = SIZE, .type = 'T'},
	{.name = "__kmalloc", .addr = RIG_TEXT + KMALLOC, .size = SIZE, .type = 'T'},
	{.name = "blk_mq_end_request", .addr = RIG_TEXT + END_REQUEST, .size = SIZE, .type = 'T'},
	{.name = "__alloc_skb", .addr = RIG_TEXT + ALLOC_SKB, .size = SIZE, .type = 'T'},
	{.name = "skb_queue_tail", .addr = RIG_TEXT + QUEUE_TAIL, .size = SIZE, .type = 'T'},
	{.name = "lock_sock_nested", .addr = RIG_TEXT + LOCK_SOCK, .size = SIZE, .type = 'T'},
	{.name = "release_sock", .addr = RIG_TEXT + RELEASE_SOCK, .size = SIZE, .type = 'T'},
};

static void write_text(struct rig *r)
{
	branch(r, 0xe8, LOCK_CALL, SPIN_LOCK);
	rig_code(r, ACCESS, WRITE_8);
	branch(r, 0xe8, UNLOCK_CALL, SPIN_UNLOCK);
	branch(r, 0xe8, TRY_CALL, SPIN_TRYLOCK);
	branch(r, 0xe9, FREE_JUMP, KFREE);
	branch(r, 0xe9, REUSE, END_REQUEST);
	branch(r, 0xe8, OTHER, SPIN_LOCK);
	branch(r, 0xe8, TESTED_TRY_CALL, SPIN_TRYLOCK);
	rig_code(r, TRY_TEST, INSN("\x85\xc0"));
	branch(r, 0xe8, NEW_CALL, KMALLOC);
	rig_code(r, NEW_TEST, INSN("\x48\x85\xc0"));
	branch(r, 0xe8, INLINED, SPIN_LOCK);
	rig_code(r, INLINED_UNLOCK, INSN("\xc6\x07\x00\x0f\x1f\x40\x00"));
	rig_code(r, OTHER_STORE, INSN("\xc6\x07\x00\xc3"));
	rig_code(r, SPIN_UNLOCK, INSN("\xc6\x07\x00\x0f\x1f\x40\x00"));
	branch(r, 0xe8, DATA, SPIN_LOCK);
	branch(r, 0xe8, FIRST_CALL, SPIN_LOCK);
	branch(r, 0xe8, FIRST_UNLOCK, SPIN_UNLOCK);
	branch(r, 0xe8, SECOND_CALL, SPIN_LOCK);
	branch(r, 0xe8, SECOND_UNLOCK, SPIN_UNLOCK);
	rig_code(r, BRANCH, INSN("\x48\x89\xfb\x74\x05"));
	branch(r, 0xe8, BRANCH_FIRST, SPIN_LOCK);
	branch(r, 0xe8, BRANCH_UNLOCK, SPIN_UNLOCK);
	branch(r, 0xe8, BRANCH_SECOND, SPIN_LOCK);
	branch(r, 0xe8, BRANCH_LAST, SPIN_UNLOCK);
	branch(r, 0xe8, CALLER, CHECK);
	rig_code(r, CALLER_BACK, INSN("\x84\xc0\x75\x05"));
	branch(r, 0xe9, CALLER_JUMP, ACT);
	branch(r, 0xe8, CHECK, SPIN_LOCK);
	branch(r, 0xe8, CHECK_UNLOCK, SPIN_UNLOCK);
	branch(r, 0xe8, ACT, SPIN_LOCK);
	branch(r, 0xe8, ACT_UNLOCK, SPIN_UNLOCK);
	branch(r, 0xe8, PACKET_CALL, ALLOC_SKB);
	rig_code(r, PACKET_TEST, INSN("\x48\x85\xc0"));
	branch(r, 0xe8, QUEUE_TAIL_CALL, QUEUE_TAIL);
	branch(r, 0xe8, SOCKET, LOCK_SOCK);
	branch(r, 0xe8, RELEASE_CALL, RELEASE_SOCK);
	rig_code(r, RELEASED, INSN("\x48\x85\xc0"));
	branch(r, 0xe9, RELEASE_JUMP, RELEASE_SOCK);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct err err = {0};
	uint32_t locked = 1;

	*state = f;
	f->r = rig_new(2, 4);
	f->list = lock_functions_new(&err);
	if (!f->r || !f->list)
		return -1;
	f->r->config.locks = f->list;
	f->r->config.sample = "subject*";
	f->r->sink = (struct detect_sink){.race = on_race, .moment = on_moment};
	rig_remake(f->r);
	write_text(f->r);
	f->r->guest.pointer_offset = 8;
	/* No function changes RSP. */
	f->r->guest.frame = 8;
	rig_functions(f->r, functions, sizeof(functions) / sizeof(*functions));
	f->r->guest.context = (struct guest_context){.known = true, .pid = 7, .kind = GUEST_TASK};
	lock_hooks_text_came(f->r->d, "", guest_symtab(&f->r->guest), RIG_TEXT, RIG_TEXT + 0x1000);
	locks_planted(f->r->d->locks, true, 0);
	/* The lock at RDI + 0x40 is taken as long as its word is not 0. */
	rig_store(f->r, 0x40, &locked, sizeof(locked));
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	rig_free(f->r);
	lock_functions_free(f->list);
	free(f);
	return 0;
}

/* `cpu` comes to a call in the task `pid`, with the lock as its argument, and makes it. */
static void call(struct fixture *f, unsigned cpu, int32_t pid, uint64_t at)
{
	struct x86_regs regs = rig_regs(f->r, cpu, at);

	f->r->guest.context.pid = pid;
	regs.gpr[X86_RDI] = RIG_DATA + 0x40;
	assert_int_equal(rig_hit(f->r, cpu, &regs).kind, TARGET_RESUME_REGS);
	assert_int_not_equal(regs.rip, RIG_TEXT + at);
}

static struct target_action access(struct fixture *f, unsigned cpu, int32_t pid)
{
	struct x86_regs regs = rig_regs(f->r, cpu, ACCESS);
	struct target_action action;

	f->r->guest.context.pid = pid;
	if (!rig_has_point(f->r, ACCESS))
		rig_plant(f->r, ACCESS, WRITE_8);
	action = rig_hit(f->r, cpu, &regs);
	return action;
}

/* The next moment of this kind. The ones before it are passed over. */
static struct raw_moment next(struct fixture *f, enum lock_moment_kind kind)
{
	struct lock_ring *ring = locks_ring(f->r->d->locks);

	for (struct raw_moment *raw; (raw = lock_ring_next(ring));) {
		struct raw_moment copy = *raw;

		lock_ring_give_back(ring);
		if (copy.kind == kind)
			return copy;
	}
	fail_msg("there is no such moment");
	abort();
}

static void only_the_subjects_calls_are_followed(void **state)
{
	struct fixture *f = *state;

	assert_true(rig_has_point(f->r, LOCK_CALL));
	assert_true(rig_has_point(f->r, UNLOCK_CALL));
	assert_true(rig_has_point(f->r, TRY_CALL));
	assert_true(rig_has_point(f->r, FREE_JUMP));
	assert_false(rig_has_point(f->r, OTHER));
	assert_false(rig_has_point(f->r, DATA));
}

static void call_is_made_and_its_point_stays(void **state)
{
	struct fixture *f = *state;
	struct x86_regs regs = rig_regs(f->r, 0, LOCK_CALL);

	assert_int_equal(rig_hit(f->r, 0, &regs).kind, TARGET_RESUME_REGS);
	assert_int_equal(regs.rip, RIG_TEXT + SPIN_LOCK);
	assert_true(rig_has_point(f->r, LOCK_CALL));
}

static void access_has_the_locks_of_its_context(void **state)
{
	struct fixture *f = *state;
	struct raw_moment m;

	access(f, 0, 7);
	m = next(f, LOCK_MOMENT_ACCESS);
	assert_int_equal(m.locks.count, 0);
	assert_int_equal(m.data_count, 1);
	assert_int_equal(m.data[0].gva, RIG_DATA);
	assert_int_equal(m.data[0].rw, INSN_WRITE);
	call(f, 1, 8, LOCK_CALL);
	m = next(f, LOCK_MOMENT_TAKE);
	assert_int_equal(m.lock.gva, RIG_DATA + 0x40);
	assert_int_equal(m.lock.kind, LOCK_SPIN);
	access(f, 1, 8);
	m = next(f, LOCK_MOMENT_ACCESS);
	assert_int_equal(m.locks.count, 1);
	assert_int_equal(m.locks.held[0].gva, RIG_DATA + 0x40);
	assert_int_equal(m.locks.held[0].taken_at, RIG_TEXT + LOCK_CALL);
	assert_false(m.locks.held[0].maybe);
	call(f, 1, 8, UNLOCK_CALL);
	access(f, 1, 8);
	assert_int_equal(next(f, LOCK_MOMENT_ACCESS).locks.count, 0);
}

/* What each side of a conflict holds is kept as it was then. */
static void race_has_the_locks_of_both_sides(void **state)
{
	struct fixture *f = *state;
	struct observation *o;

	access(f, 0, 7); /* held */
	call(f, 1, 8, LOCK_CALL);
	access(f, 1, 8);
	call(f, 1, 8, UNLOCK_CALL);
	o = queue_next(&f->r->d->hit.observations);
	assert_non_null(o);
	assert_true(o->sides[0].locks.known);
	assert_int_equal(o->sides[0].locks.set.count, 0);
	assert_true(o->sides[1].locks.known);
	assert_int_equal(o->sides[1].locks.set.count, 1);
	assert_int_equal(o->sides[1].locks.set.held[0].gva, RIG_DATA + 0x40);
	assert_int_equal(o->sides[1].locks.set.held[0].kind, LOCK_SPIN);
	queue_give_back(&f->r->d->hit.observations, o);
}

/* A set of which something may be missing is none. */
static void race_has_no_locks_that_are_not_known(void **state)
{
	struct fixture *f = *state;
	struct observation *o;

	locks_planted(f->r->d->locks, true, UINT64_MAX);
	access(f, 0, 7);
	call(f, 1, 8, LOCK_CALL);
	access(f, 1, 8);
	o = queue_next(&f->r->d->hit.observations);
	assert_non_null(o);
	for (unsigned i = 0; i < 2; i++) {
		assert_false(o->sides[i].locks.known);
		assert_int_equal(o->sides[i].locks.set.count, 0);
	}
	queue_give_back(&f->r->d->hit.observations, o);
}

static void inlined_unlock_gives_the_lock_back(void **state)
{
	struct fixture *f = *state;

	assert_true(rig_has_point(f->r, INLINED_UNLOCK));
	assert_false(rig_has_point(f->r, OTHER_STORE));
	/* A lock function's own code is no inlined lock function. */
	assert_false(rig_has_point(f->r, SPIN_UNLOCK));
	access(f, 0, 7); /* From here on CPU 0 is held. CPU 1 is the last running CPU, so it is never held. */
	next(f, LOCK_MOMENT_ACCESS);
	call(f, 1, 8, INLINED);
	access(f, 1, 8);
	assert_int_equal(next(f, LOCK_MOMENT_ACCESS).locks.count, 1);
	call(f, 1, 8, INLINED_UNLOCK);
	assert_int_equal(next(f, LOCK_MOMENT_GIVE).lock.gva, RIG_DATA + 0x40);
	access(f, 1, 8);
	assert_int_equal(next(f, LOCK_MOMENT_ACCESS).locks.count, 0);
}

static void lock_that_is_free_was_given_back_elsewhere(void **state)
{
	struct fixture *f = *state;
	uint32_t unlocked = 0;

	call(f, 0, 7, LOCK_CALL);
	rig_store(f->r, 0x40, &unlocked, sizeof(unlocked));
	access(f, 0, 7);
	assert_int_equal(next(f, LOCK_MOMENT_ACCESS).locks.count, 0);
}

static void trylock_is_a_maybe(void **state)
{
	struct fixture *f = *state;
	struct raw_moment m;

	call(f, 0, 7, TRY_CALL);
	access(f, 0, 7);
	m = next(f, LOCK_MOMENT_ACCESS);
	assert_int_equal(m.locks.count, 1);
	assert_true(m.locks.held[0].maybe);
}

/* The call before `at` has returned `result`, which the instruction at `at` tests. */
static void returned(struct fixture *f, unsigned cpu, int32_t pid, uint64_t at, uint64_t result)
{
	struct x86_regs regs = rig_regs(f->r, cpu, at);

	f->r->guest.context.pid = pid;
	regs.gpr[X86_RAX] = result;
	assert_int_equal(rig_hit(f->r, cpu, &regs).kind, TARGET_RESUME_REGS);
	assert_int_equal(regs.rip, RIG_TEXT + at + (at == TRY_TEST ? 2 : 3));
}

/* Returns how many locks the task holds. */
static unsigned holds(struct fixture *f, int32_t pid)
{
	struct lockset set;

	f->r->guest.context.pid = pid;
	assert_true(locks_held(f->r->d->locks, 1, &f->r->guest.context, &set));
	return set.count;
}

/*
 * release_sock() calls the protocol before it releases the lock: the lock is held until the call returns. A jump to it at the
 * function's end does not return, so the lock counts as released there.
 */
static void lock_is_held_until_the_call_returns(void **state)
{
	struct fixture *f = *state;

	call(f, 1, 8, SOCKET);
	assert_int_equal(holds(f, 8), 1);
	call(f, 1, 8, RELEASE_CALL);
	assert_int_equal(holds(f, 8), 1);
	/* Another task's call returns there. */
	returned(f, 1, 9, RELEASED, 0);
	assert_int_equal(holds(f, 8), 1);
	returned(f, 1, 8, RELEASED, 0);
	assert_int_equal(holds(f, 8), 0);
	call(f, 1, 8, SOCKET);
	assert_int_equal(holds(f, 8), 1);
	call(f, 1, 8, RELEASE_JUMP);
	assert_int_equal(holds(f, 8), 0);
	/* The return was missed: the lock is not held twice. */
	call(f, 1, 8, SOCKET);
	call(f, 1, 8, RELEASE_CALL);
	call(f, 1, 8, SOCKET);
	assert_int_equal(holds(f, 8), 1);
	call(f, 1, 8, RELEASE_JUMP);
	assert_int_equal(holds(f, 8), 0);
}

static void result_of_a_trylock_is_seen(void **state)
{
	struct fixture *f = *state;
	struct raw_moment m;

	call(f, 0, 7, TESTED_TRY_CALL);
	returned(f, 0, 7, TRY_TEST, 0);
	access(f, 0, 7);
	assert_int_equal(next(f, LOCK_MOMENT_ACCESS).locks.count, 0);
	call(f, 1, 8, TESTED_TRY_CALL);
	returned(f, 1, 8, TRY_TEST, 1);
	access(f, 1, 8);
	m = next(f, LOCK_MOMENT_ACCESS);
	assert_int_equal(m.locks.count, 1);
	assert_false(m.locks.held[0].maybe);
}

static void beginnings_of_objects_are_told(void **state)
{
	struct fixture *f = *state;

	assert_false(rig_has_point(f->r, NEW_CALL));
	returned(f, 0, 7, NEW_TEST, 0);
	returned(f, 0, 7, NEW_TEST, (uint64_t)-12); /* an error */
	returned(f, 0, 7, NEW_TEST, RIG_DATA + 0x200);
	assert_int_equal(next(f, LOCK_MOMENT_FREE).lock.gva, RIG_DATA + 0x200);
}

/* A packet's bytes are an object that is allocated with it. */
static void beginnings_of_two_objects_are_told(void **state)
{
	struct fixture *f = *state;
	uint64_t bytes = RIG_DATA + 0x800;

	rig_store(f->r, 0x208, &bytes, sizeof(bytes));
	returned(f, 0, 7, PACKET_TEST, RIG_DATA + 0x200);
	assert_int_equal(next(f, LOCK_MOMENT_FREE).lock.gva, RIG_DATA + 0x200);
	assert_int_equal(next(f, LOCK_MOMENT_FREE).lock.gva, bytes);
}

/* CPUs were in the text when its calls got their points, or one of them could not get one. */
static void set_that_is_not_known_is_no_set(void **state)
{
	static const struct {
		bool complete;
		uint64_t sure_from_ns;
		bool known;
	} cases[] = {{true, 0, true}, {true, UINT64_MAX, false}, {true, 0, true}, {false, 0, false}, {true, 0, false}};
	struct fixture *f = *state;

	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct x86_regs regs = rig_regs(f->r, 0, ACCESS);

		locks_planted(f->r->d->locks, cases[i].complete, cases[i].sure_from_ns);
		access(f, 0, 7);
		assert_int_equal(next(f, LOCK_MOMENT_ACCESS).locks.overflow, !cases[i].known);
		rig_hold_end(f->r, 0, &regs);
	}
}

/* A hook that is planted later is written again, too. The locksets stay known. */
static void later_hooks_are_written_again(void **state)
{
	struct fixture *f = *state;
	struct guest_hook_site site = {.kind = GUEST_HOOK_LOCK};
	unsigned before;

	f->r->d->sampler.hooks_again_ns = 1;
	lock_hooks_again(f->r->d);
	locks_planted(f->r->d->locks, true, 0);
	call(f, 1, 8, SOCKET);
	assert_int_equal(f->r->d->sampler.hooks_again_ns, 0);
	rig_code(f->r, 0x1e0, INSN("\x48\x85\xc0\x48\x85\xc0"));
	for (unsigned i = 0; i < 2; i++) {
		insn_decode(f->r->d->sampler.decoder, (const uint8_t *)"\x48\x85\xc0", 3, RIG_TEXT + 0x1e0 + 3 * i, &site.insn);
		assert_true(lock_hooks_plant(f->r->d, &site));
		assert_int_not_equal(f->r->d->sampler.hooks_again_ns, 0);
	}
	/* The second hook came when the first one's time was set already. */
	for (unsigned i = 0; i < 2; i++) {
		before = f->r->ft->refetches;
		f->r->d->sampler.hooks_again_ns = 1;
		lock_hooks_again(f->r->d);
		assert_int_equal(f->r->ft->refetches, before + f->r->d->hooks);
		assert_int_equal(f->r->d->sampler.hooks_again_ns != 0, !i);
	}
	assert_int_equal(holds(f, 8), 1);
}

/* skb_queue_tail() takes the queue's lock and releases it: the caller holds nothing, and both are numbered. */
static void call_takes_and_releases(void **state)
{
	struct fixture *f = *state;
	uint64_t before;

	access(f, 0, 7);
	before = next(f, LOCK_MOMENT_ACCESS).number;
	call(f, 1, 8, QUEUE_TAIL_CALL);
	assert_int_equal(holds(f, 8), 0);
	access(f, 1, 8);
	assert_int_equal(next(f, LOCK_MOMENT_ACCESS).number, before + 3);
}

/*
 * An emulated CPU may miss a hook that was just planted. So all hooks are written again, once, and what the locksets were until
 * then is forgotten.
 */
static void hooks_are_written_again(void **state)
{
	struct fixture *f = *state;
	unsigned before = f->r->ft->refetches;
	struct lockset set;

	assert_int_not_equal(f->r->d->sampler.hooks_again_ns, 0);
	call(f, 1, 8, SOCKET);
	lock_hooks_again(f->r->d);
	assert_int_equal(f->r->ft->refetches, before);
	assert_int_equal(holds(f, 8), 1);
	f->r->d->sampler.hooks_again_ns = 1;
	lock_hooks_again(f->r->d);
	assert_int_equal(f->r->ft->refetches, before + f->r->d->hooks);
	assert_false(locks_held(f->r->d->locks, 1, &f->r->guest.context, &set));
	locks_planted(f->r->d->locks, true, 0);
	assert_int_equal(holds(f, 8), 0);
	lock_hooks_again(f->r->d);
	assert_int_equal(f->r->ft->refetches, before + f->r->d->hooks);
}

/* A call in text that is about to be freed gets no point, so a lock may be taken there unseen. */
static void call_without_a_point_makes_sets_unknown(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(hook_remove(f->r->d, RIG_TEXT + LOCK_CALL), 0);
	f->r->guest.gone_base = RIG_TEXT + LOCK_CALL;
	f->r->guest.gone_size = 1;
	lock_hooks_text_came(f->r->d, "", guest_symtab(&f->r->guest), RIG_TEXT, RIG_TEXT + 0x1000);
	locks_planted(f->r->d->locks, true, 0);
	access(f, 0, 7);
	assert_true(next(f, LOCK_MOMENT_ACCESS).locks.overflow);
}

/* A module that is freed while its hooks are planted takes no lock any more. */
static void freed_module_leaves_sets_known(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(hook_remove(f->r->d, RIG_TEXT + LOCK_CALL), 0);
	f->r->guest.gone_base = RIG_TEXT;
	f->r->guest.gone_size = 0x1000;
	lock_hooks_text_came(f->r->d, "mod", guest_symtab(&f->r->guest), RIG_TEXT, RIG_TEXT + 0x1000);
	locks_planted(f->r->d->locks, true, 0);
	access(f, 0, 7);
	assert_false(next(f, LOCK_MOMENT_ACCESS).locks.overflow);
}

/* While a CPU is held, its interrupts were surely there together with what is held, and are over when the next one comes. */
static void interrupt_meets_what_it_interrupts(void **state)
{
	struct fixture *f = *state;
	struct raw_moment held, m;

	assert_int_equal(access(f, 0, 7).kind, TARGET_HOLD);
	held = next(f, LOCK_MOMENT_ACCESS);
	rig_plant(f->r, 0x200, READ_8);
	for (unsigned i = 0; i < 2; i++) {
		struct x86_regs regs = rig_regs(f->r, 0, i ? LOCK_CALL : 0x200);

		f->r->guest.context.kind = GUEST_HARDIRQ;
		regs.gpr[X86_RDI] = RIG_DATA + 0x800;
		rig_hit(f->r, 0, &regs);
		m = next(f, i ? LOCK_MOMENT_TAKE : LOCK_MOMENT_ACCESS);
		assert_int_equal(m.during_count, 1);
		assert_int_equal(m.during[0], held.number);
	}
}

static void who_holds_a_lock_or_is_held_was_there(void **state)
{
	struct fixture *f = *state;
	struct raw_moment taken, held, m;

	call(f, 0, 7, LOCK_CALL);
	taken = next(f, LOCK_MOMENT_TAKE);
	assert_int_equal(access(f, 0, 7).kind, TARGET_HOLD);
	held = next(f, LOCK_MOMENT_ACCESS);
	assert_int_equal(held.during_count, 0);
	call(f, 1, 8, UNLOCK_CALL);
	m = next(f, LOCK_MOMENT_GIVE);
	assert_int_equal(m.during_count, 2);
	assert_int_equal(m.during[0], held.number);
	assert_int_equal(m.during[1], taken.number);
}

static void ends_of_objects_are_told(void **state)
{
	struct fixture *f = *state;

	call(f, 0, 7, FREE_JUMP);
	assert_int_equal(next(f, LOCK_MOMENT_FREE).lock.gva, RIG_DATA + 0x40);
}

static void reuses_of_objects_are_told(void **state)
{
	struct fixture *f = *state;
	struct raw_moment m;

	call(f, 0, 7, REUSE);
	m = next(f, LOCK_MOMENT_FREE);
	assert_int_equal(m.lock.gva, RIG_DATA + 0x40);
	assert_true(m.reused);
}

/* Accesses do not take the last places, which are for the ends of objects. */
static void full_ring_loses_accesses_first(void **state)
{
	struct fixture *f = *state;
	struct x86_regs regs = rig_regs(f->r, 0, ACCESS);

	for (unsigned i = 0; i < LOCK_RING_SIZE; i++) {
		access(f, 0, 7);
		rig_hold_end(f->r, 0, &regs);
	}
	assert_int_equal(locks_ring(f->r->d->locks)->count, LOCK_RING_SIZE - LOCK_RING_KEPT);
	assert_int_equal(rig_stats(f->r).moments_lost, LOCK_RING_KEPT);
	call(f, 0, 7, FREE_JUMP);
	assert_int_equal(locks_ring(f->r->d->locks)->count, LOCK_RING_SIZE - LOCK_RING_KEPT + 1);
}

static void text_that_goes_takes_its_locks_along(void **state)
{
	struct fixture *f = *state;

	call(f, 0, 7, LOCK_CALL);
	detect_enter(f->r->d);
	hook_text_gone(f->r->d, RIG_TEXT, 0x1000);
	detect_leave(f->r->d);
	assert_false(rig_has_point(f->r, UNLOCK_CALL));
	access(f, 0, 7);
	assert_int_equal(next(f, LOCK_MOMENT_ACCESS).locks.count, 0);
}

/* The follower comes to what is in the ring, and ends. Returns how many moments it hands on. */
static unsigned follow(struct fixture *f)
{
	unsigned count = 0;

	f->r->d->sink.ctx = &count;
	f->r->d->life.reporter_stop = true;
	lock_follower_main(f->r->d);
	f->r->d->life.reporter_stop = false;
	f->r->d->sink.ctx = NULL;
	return count;
}

static void moment_whose_text_has_gone_is_lost(void **state)
{
	static const struct symbol others[] = {{.name = "elsewhere", .addr = RIG_TEXT + 0x900, .size = 0x10, .type = 't'}};
	struct fixture *f = *state;

	call(f, 0, 7, LOCK_CALL);
	assert_int_equal(follow(f), 1);
	assert_int_equal(rig_stats(f->r).moments_lost, 0);
	call(f, 0, 7, UNLOCK_CALL);
	call(f, 0, 7, FREE_JUMP);
	rig_functions(f->r, others, 1);
	/* Where an object ends tells nothing of who ended it. */
	assert_int_equal(follow(f), 1);
	assert_int_equal(rig_stats(f->r).moments_lost, 1);
}

/* The subject may be several modules. */
static void expect_pair(struct fixture *f, unsigned count, uint64_t first, uint64_t second, uint64_t between)
{
	struct section_pair pairs[4];

	assert_int_equal(detect_section_pairs(f->r->d, pairs, 4), 1);
	assert_int_equal(pairs[0].first, RIG_TEXT + first);
	assert_int_equal(pairs[0].second, RIG_TEXT + second);
	assert_int_equal(pairs[0].count, count);
	assert_int_equal(pairs[0].between[0].count, between != NOTHING);
	if (between != NOTHING)
		assert_int_equal(pairs[0].between[0].taken_at, RIG_TEXT + between);
}

/* The first call that takes the lock begins an activation. */
static void sections_follow_each_other(void **state)
{
	struct fixture *f = *state;

	for (unsigned round = 0; round < 2; round++) {
		call(f, 0, 7, FIRST_CALL);
		call(f, 0, 7, FIRST_UNLOCK);
		if (round) {
			call(f, 1, 8, LOCK_CALL);
			call(f, 1, 8, UNLOCK_CALL);
		}
		call(f, 0, 7, SECOND_CALL);
		call(f, 0, 7, SECOND_UNLOCK);
	}
	expect_pair(f, 2, FIRST_CALL, SECOND_CALL, LOCK_CALL);
	/* The lock hooks rest: the pairs stay, and what was in progress is forgotten. */
	call(f, 0, 7, FIRST_CALL);
	call(f, 0, 7, FIRST_UNLOCK);
	locks_rest(f->r->d->locks);
	call(f, 0, 7, SECOND_CALL);
	expect_pair(f, 2, FIRST_CALL, SECOND_CALL, LOCK_CALL);
}

/* A section that a trylock has begun comes in between, and one that it did not begin does not. */
static void a_trylock_begins_a_section(void **state)
{
	struct fixture *f = *state;

	for (unsigned taken = 0; taken < 2; taken++) {
		call(f, 0, 7, FIRST_CALL);
		call(f, 0, 7, FIRST_UNLOCK);
		call(f, 1, 8, TESTED_TRY_CALL);
		returned(f, 1, 8, TRY_TEST, taken);
		call(f, 1, 8, UNLOCK_CALL);
		call(f, 0, 7, SECOND_CALL);
		call(f, 0, 7, SECOND_UNLOCK);
		expect_pair(f, 1 + taken, FIRST_CALL, SECOND_CALL, taken ? TESTED_TRY_CALL : NOTHING);
	}
}

/* The task 7 comes to a lock hook on CPU 0, `depth` calls below the caller, and goes on. */
static void come_to(struct fixture *f, uint64_t at, unsigned depth)
{
	struct x86_regs regs = rig_regs(f->r, 0, at);

	f->r->guest.context.pid = 7;
	regs.gpr[X86_RDI] = RIG_DATA + 0x40;
	regs.gpr[X86_RSP] -= 8 * depth;
	assert_int_equal(rig_hit(f->r, 0, &regs).kind, TARGET_RESUME_REGS);
}

/*
 * The emulated call leaves its return address on the stack, by which the caller is found. A function that was reached by a jump
 * has the caller's frame.
 */
static void sections_of_called_functions_follow_each_other(void **state)
{
	struct fixture *f = *state;
	struct section_pair pairs[2];

	for (unsigned round = 1; round < 3; round++) {
		come_to(f, CALLER, 0);
		come_to(f, CHECK, 1);
		come_to(f, CHECK_UNLOCK, 1);
		if (round == 2) {
			call(f, 1, 8, LOCK_CALL);
			call(f, 1, 8, UNLOCK_CALL);
		}
		come_to(f, CALLER_JUMP, 0);
		come_to(f, ACT, 0);
		come_to(f, ACT_UNLOCK, 0);
		expect_pair(f, round, CHECK, ACT, round == 2 ? LOCK_CALL : NOTHING);
		assert_int_equal(detect_section_pairs(f->r->d, pairs, 2), 1);
		assert_int_equal(pairs[0].caller, RIG_TEXT + CALLER);
		assert_true(pairs[0].caller_decides);
	}
}

/* The function with the first section was not called by the followed caller. */
static void a_call_from_elsewhere_is_not_of_the_caller(void **state)
{
	struct fixture *f = *state;
	struct section_pair pair;

	come_to(f, CALLER, 0);
	come_to(f, CHECK, 2);
	come_to(f, CHECK_UNLOCK, 2);
	come_to(f, CALLER_JUMP, 0);
	come_to(f, ACT, 0);
	come_to(f, ACT_UNLOCK, 0);
	assert_int_equal(detect_section_pairs(f->r->d, &pair, 1), 0);
	/* The caller has returned, and did not jump to the function that has its frame's place now. */
	come_to(f, CALLER, 0);
	come_to(f, CHECK, 1);
	come_to(f, CHECK_UNLOCK, 1);
	come_to(f, ACT, 0);
	come_to(f, ACT_UNLOCK, 0);
	assert_int_equal(detect_section_pairs(f->r->d, &pair, 1), 0);
}

/* The task 7 has ended its first section, and the task 8 has had a section of the same lock lately. */
static void come_to_a_gap(struct fixture *f)
{
	for (unsigned round = 0; round < 2; round++) {
		call(f, 0, 7, FIRST_CALL);
		call(f, 0, 7, FIRST_UNLOCK);
		if (round)
			return;
		call(f, 0, 7, SECOND_CALL);
		call(f, 0, 7, SECOND_UNLOCK);
		call(f, 1, 8, LOCK_CALL);
		call(f, 1, 8, UNLOCK_CALL);
	}
}

/* The task comes to its second section. */
static struct target_action second(struct fixture *f, unsigned cpu, struct x86_regs *regs)
{
	*regs = rig_regs(f->r, 0, SECOND_CALL);
	regs->gpr[X86_RDI] = RIG_DATA + 0x40;
	f->r->guest.context.pid = 7;
	return rig_hit(f->r, cpu, regs);
}

static void a_cpu_is_held_between_sections(void **state)
{
	struct fixture *f = *state;
	struct x86_regs regs;

	come_to_a_gap(f);
	assert_int_equal(second(f, 0, &regs).kind, TARGET_HOLD);
	assert_int_equal(rig_open_windows(f->r), 1);
	/* Back from an interrupt, the hold goes on. */
	assert_int_equal(second(f, 0, &regs).kind, TARGET_HOLD);
	assert_int_equal(rig_stats(f->r).section_holds, 1);
	call(f, 1, 8, LOCK_CALL);
	assert_true(rig_window_is_open(f->r, 0));
	call(f, 1, 8, UNLOCK_CALL);
	assert_false(rig_window_is_open(f->r, 0));
	assert_int_equal(rig_stats(f->r).section_holds_met, 1);
	assert_true(rig_has_point(f->r, SECOND_CALL));
	assert_int_equal(second(f, 0, &regs).kind, TARGET_RESUME_REGS);
	expect_pair(f, 2, FIRST_CALL, SECOND_CALL, LOCK_CALL);
	assert_int_equal(locks_sections(f->r->d->locks)->pairs[0].between[0].by_hold, 1);
}

/* Nothing came: the task goes on when the time is over, and its call is made once. */
static void a_hold_between_sections_ends(void **state)
{
	struct fixture *f = *state;
	struct x86_regs regs;

	come_to_a_gap(f);
	assert_int_equal(second(f, 0, &regs).kind, TARGET_HOLD);
	assert_int_equal(rig_hold_end(f->r, 0, &regs).kind, TARGET_RESUME);
	assert_false(rig_window_is_open(f->r, 0));
	assert_int_equal(second(f, 0, &regs).kind, TARGET_RESUME_REGS);
	assert_int_equal(locks_sections(f->r->d->locks)->pairs[0].holds, 1);
	assert_int_equal(locks_sections(f->r->d->locks)->pairs[0].count, 2);
	assert_int_equal(locks_sections(f->r->d->locks)->pairs[0].between[0].count, 0);
}

/* Sections that a rendezvous was asked for, and how it was asked. */
static unsigned begun;

static bool on_sections_wanted(void *ctx, uint64_t first, uint64_t second, uint64_t between, bool begin)
{
	(void)ctx;
	assert_int_equal(first, RIG_TEXT + FIRST_CALL);
	assert_int_equal(second, RIG_TEXT + SECOND_CALL);
	begun += begin;
	return between == RIG_TEXT + LOCK_CALL;
}

static void on_no_rendezvous(void *ctx, const struct rendezvous *m)
{
	(void)ctx;
	(void)m;
}

/* The context whose stack is that of CPU `stack` is at a call on `cpu`. */
static struct target_action hit_stack(struct fixture *f, unsigned cpu, unsigned stack, int pid, uint64_t at)
{
	struct x86_regs regs = rig_regs(f->r, stack, at);

	regs.gpr[X86_RDI] = RIG_DATA + 0x40;
	f->r->guest.context.pid = pid;
	return rig_hit(f->r, cpu, &regs);
}

static struct target_action hit_call(struct fixture *f, unsigned cpu, int pid, uint64_t at)
{
	return hit_stack(f, cpu, cpu, pid, at);
}

/* No thread serves the rendezvous, so both CPUs stay until the test ends it. */
static void two_cpus_meet_before_sections(void **state)
{
	struct fixture *f = *state;
	struct rendezvous_server *server = calloc(1, 4096); /* only its condition variable is used */
	struct x86_regs regs = rig_regs(f->r, 1, LOCK_CALL);
	const struct rendezvous_sections *s = &f->r->d->hit.rendezvous.sections;

	call(f, 0, 7, FIRST_CALL);
	call(f, 0, 7, FIRST_UNLOCK);
	call(f, 0, 7, SECOND_CALL);
	call(f, 0, 7, SECOND_UNLOCK);
	call(f, 1, 8, LOCK_CALL);
	call(f, 1, 8, UNLOCK_CALL);
	begun = 0;
	f->r->d->sink.sections_wanted = on_sections_wanted;
	f->r->d->sink.rendezvous = on_no_rendezvous;
	f->r->d->hit.rendezvous_server = server;
	assert_int_equal(hit_call(f, 0, 7, FIRST_CALL).kind, TARGET_HOLD);
	assert_int_equal(begun, 0);
	/* Back from an interrupt, the hold goes on. */
	assert_int_equal(hit_call(f, 0, 7, FIRST_CALL).kind, TARGET_HOLD);
	assert_int_equal(hit_call(f, 1, 8, LOCK_CALL).kind, TARGET_HOLD);
	assert_int_equal(begun, 1);
	assert_true(f->r->d->hit.rendezvous.under_way);
	assert_int_equal(s->lock, RIG_DATA + 0x40);
	assert_int_equal(s->between, RIG_TEXT + LOCK_CALL);
	assert_int_equal(s->gpr, X86_RDI);
	assert_int_equal(hit_call(f, 1, 8, LOCK_CALL).kind, TARGET_HOLD);
	f->r->d->hit.rendezvous.deadline_ns = 0;
	assert_int_equal(rig_hold_end(f->r, 1, &regs).kind, TARGET_RESUME);
	assert_int_equal(rig_open_windows(f->r), 0);
	assert_true(rig_has_point(f->r, LOCK_CALL));
	/* Each makes its call now, once. */
	assert_int_equal(hit_call(f, 0, 7, FIRST_CALL).kind, TARGET_RESUME_REGS);
	assert_int_equal(hit_call(f, 1, 8, LOCK_CALL).kind, TARGET_RESUME_REGS);
	f->r->d->hit.rendezvous_server = NULL;
	free(server);
}

/* The task moves to another CPU while it is held before its first section: it makes its call there. */
static void a_task_that_waits_for_another_may_migrate(void **state)
{
	struct fixture *f = *state;
	struct rendezvous_server *server = calloc(1, 4096);

	call(f, 0, 7, FIRST_CALL);
	call(f, 0, 7, FIRST_UNLOCK);
	call(f, 0, 7, SECOND_CALL);
	call(f, 0, 7, SECOND_UNLOCK);
	call(f, 1, 8, LOCK_CALL);
	call(f, 1, 8, UNLOCK_CALL);
	f->r->d->sink.sections_wanted = on_sections_wanted;
	f->r->d->hit.rendezvous_server = server;
	assert_int_equal(hit_call(f, 0, 7, FIRST_CALL).kind, TARGET_HOLD);
	assert_int_equal(hit_stack(f, 1, 0, 7, FIRST_CALL).kind, TARGET_RESUME_REGS);
	assert_int_equal(rig_open_windows(f->r), 0);
	f->r->d->hit.rendezvous_server = NULL;
	free(server);
}

/* The task moves to another CPU in an interrupt: it goes on there, and the CPU that was held is free. */
static void a_held_task_may_migrate(void **state)
{
	struct fixture *f = *state;
	struct x86_regs regs;

	come_to_a_gap(f);
	assert_int_equal(second(f, 0, &regs).kind, TARGET_HOLD);
	assert_int_equal(second(f, 1, &regs).kind, TARGET_RESUME_REGS);
	assert_int_equal(rig_open_windows(f->r), 0);
}

static void the_last_cpu_is_not_held_between_sections(void **state)
{
	struct fixture *f = *state;
	struct x86_regs regs;

	come_to_a_gap(f);
	assert_int_equal(access(f, 1, 8).kind, TARGET_HOLD);
	assert_int_equal(second(f, 0, &regs).kind, TARGET_RESUME_REGS);
	assert_int_equal(rig_open_windows(f->r), 1);
}

/* A branch comes before the first call, so an instruction before the branch has a hook. */
static void an_activation_begins_before_a_branch(void **state)
{
	struct fixture *f = *state;

	assert_true(rig_has_point(f->r, BRANCH));
	assert_false(rig_has_point(f->r, BRANCH + 3));
	/* No activation was seen to begin. */
	call(f, 0, 7, BRANCH_FIRST);
	call(f, 0, 7, BRANCH_UNLOCK);
	call(f, 0, 7, BRANCH_SECOND);
	call(f, 0, 7, BRANCH_LAST);
	assert_int_equal(detect_section_pairs(f->r->d, &(struct section_pair){0}, 1), 0);
	call(f, 0, 7, BRANCH);
	call(f, 0, 7, BRANCH_FIRST);
	call(f, 0, 7, BRANCH_UNLOCK);
	call(f, 0, 7, BRANCH_SECOND);
	call(f, 0, 7, BRANCH_LAST);
	expect_pair(f, 1, BRANCH_FIRST, BRANCH_SECOND, NOTHING);
	/* The next call leaves out the first section. */
	call(f, 0, 7, BRANCH);
	call(f, 0, 7, BRANCH_SECOND);
	expect_pair(f, 1, BRANCH_FIRST, BRANCH_SECOND, NOTHING);
}

static void moments_of_all_modules_are_handed_on(void **state)
{
	struct fixture *f = *state;

	f->r->d->config.module = "snd_*,other";
	f->r->guest.text_module = "snd_intel";
	call(f, 0, 7, LOCK_CALL);
	assert_int_equal(follow(f), 1);
	f->r->guest.text_module = "sound";
	call(f, 0, 7, UNLOCK_CALL);
	assert_int_equal(follow(f), 0);
	assert_int_equal(rig_stats(f->r).moments_lost, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(only_the_subjects_calls_are_followed, setup, teardown),
		cmocka_unit_test_setup_teardown(call_is_made_and_its_point_stays, setup, teardown),
		cmocka_unit_test_setup_teardown(access_has_the_locks_of_its_context, setup, teardown),
		cmocka_unit_test_setup_teardown(race_has_the_locks_of_both_sides, setup, teardown),
		cmocka_unit_test_setup_teardown(race_has_no_locks_that_are_not_known, setup, teardown),
		cmocka_unit_test_setup_teardown(inlined_unlock_gives_the_lock_back, setup, teardown),
		cmocka_unit_test_setup_teardown(lock_that_is_free_was_given_back_elsewhere, setup, teardown),
		cmocka_unit_test_setup_teardown(trylock_is_a_maybe, setup, teardown),
		cmocka_unit_test_setup_teardown(result_of_a_trylock_is_seen, setup, teardown),
		cmocka_unit_test_setup_teardown(lock_is_held_until_the_call_returns, setup, teardown),
		cmocka_unit_test_setup_teardown(beginnings_of_objects_are_told, setup, teardown),
		cmocka_unit_test_setup_teardown(beginnings_of_two_objects_are_told, setup, teardown),
		cmocka_unit_test_setup_teardown(set_that_is_not_known_is_no_set, setup, teardown),
		cmocka_unit_test_setup_teardown(hooks_are_written_again, setup, teardown),
		cmocka_unit_test_setup_teardown(later_hooks_are_written_again, setup, teardown),
		cmocka_unit_test_setup_teardown(call_takes_and_releases, setup, teardown),
		cmocka_unit_test_setup_teardown(call_without_a_point_makes_sets_unknown, setup, teardown),
		cmocka_unit_test_setup_teardown(freed_module_leaves_sets_known, setup, teardown),
		cmocka_unit_test_setup_teardown(interrupt_meets_what_it_interrupts, setup, teardown),
		cmocka_unit_test_setup_teardown(who_holds_a_lock_or_is_held_was_there, setup, teardown),
		cmocka_unit_test_setup_teardown(ends_of_objects_are_told, setup, teardown),
		cmocka_unit_test_setup_teardown(reuses_of_objects_are_told, setup, teardown),
		cmocka_unit_test_setup_teardown(full_ring_loses_accesses_first, setup, teardown),
		cmocka_unit_test_setup_teardown(text_that_goes_takes_its_locks_along, setup, teardown),
		cmocka_unit_test_setup_teardown(moment_whose_text_has_gone_is_lost, setup, teardown),
		cmocka_unit_test_setup_teardown(sections_follow_each_other, setup, teardown),
		cmocka_unit_test_setup_teardown(sections_of_called_functions_follow_each_other, setup, teardown),
		cmocka_unit_test_setup_teardown(a_call_from_elsewhere_is_not_of_the_caller, setup, teardown),
		cmocka_unit_test_setup_teardown(a_trylock_begins_a_section, setup, teardown),
		cmocka_unit_test_setup_teardown(a_cpu_is_held_between_sections, setup, teardown),
		cmocka_unit_test_setup_teardown(a_hold_between_sections_ends, setup, teardown),
		cmocka_unit_test_setup_teardown(two_cpus_meet_before_sections, setup, teardown),
		cmocka_unit_test_setup_teardown(a_task_that_waits_for_another_may_migrate, setup, teardown),
		cmocka_unit_test_setup_teardown(a_held_task_may_migrate, setup, teardown),
		cmocka_unit_test_setup_teardown(the_last_cpu_is_not_held_between_sections, setup, teardown),
		cmocka_unit_test_setup_teardown(an_activation_begins_before_a_branch, setup, teardown),
		cmocka_unit_test_setup_teardown(moments_of_all_modules_are_handed_on, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
