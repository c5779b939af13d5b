/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is a race, seen by a watchpoint or at another sample point, and, as important, what is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "hv/detect/core/queue.h"
#include "tests/unit/detect/detect_rig.h"

#define OTHER 0x40 /* where a second sample point is in the text */

static int setup(void **state)
{
	*state = rig_new(4, 4);
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	struct rig *r = *state;

	assert_int_equal(r->ft->misuses, 0);
	rig_free(r);
	return 0;
}

/* Hold CPU 0 before an instruction at offset 0 that accesses RIG_DATA + at. */
static struct x86_regs hold(struct rig *r, uint64_t at, const void *code, size_t len)
{
	struct x86_regs regs = rig_regs(r, 0, 0);

	regs.gpr[X86_RDI] += at;
	rig_plant(r, 0, code, len);
	assert_int_equal(rig_hit(r, 0, &regs).kind, TARGET_HOLD);
	return regs;
}

/* CPU 1 comes to a point at OTHER that accesses `gva`. */
static enum target_action_kind other_hit(struct rig *r, uint64_t gva, const void *code, size_t len)
{
	struct x86_regs regs = rig_regs(r, 1, OTHER);

	regs.gpr[X86_RDI] = gva;
	rig_plant(r, OTHER, code, len);
	return rig_hit(r, 1, &regs).kind;
}

static void expect_closed(struct rig *r)
{
	assert_false(rig_window_is_open(r, 0));
	assert_int_not_equal(rig_text_byte(r, 0), X86_INT3);
	assert_false(rig_has_point(r, 0));
	assert_int_equal(r->ft->releases[0], 1);
}

static void expect_open(struct rig *r)
{
	assert_true(rig_window_is_open(r, 0));
	assert_int_equal(rig_text_byte(r, 0), X86_INT3);
	assert_int_equal(r->ft->releases[0], 0);
	assert_null(rig_observation(r));
	assert_int_equal(rig_stats(r).conflicts, 0);
}

/* ---- seen by a watchpoint ---- */

static void check_sampled_side(const struct rig *r, const struct race_side *side, const struct x86_regs *regs)
{
	assert_true(side->kind == RACE_SIDE_CPU);
	assert_int_equal(side->cpu, 0);
	assert_int_equal(side->pc, RIG_TEXT);
	assert_int_equal(side->gva, RIG_DATA + 8);
	assert_int_equal(side->size, 8);
	assert_int_equal(side->rw, INSN_WRITE);
	assert_memory_equal(&side->regs, regs, sizeof(*regs));
	assert_int_equal(side->context.pid, r->guest.context.pid);
	assert_int_equal(side->stack_len, FAKE_STACK_SIZE / 2);
	assert_memory_equal(side->stack, "sampled", 7);
}

static void test_watch(void **state)
{
	struct rig *r = *state;
	struct x86_regs sampled = hold(r, 8, WRITE_8), other = rig_regs(r, 2, 0x123);
	const struct observation *o;

	/* Both stacks say whose they are. CPU 2's stack ends 16 bytes above its stack pointer. */
	fake_write(r->ft, RIG_STACKS_GPA + FAKE_STACK_SIZE / 2, "sampled", 7);
	fake_write(r->ft, RIG_STACKS_GPA + 3 * FAKE_STACK_SIZE - 16, "the other", 9);
	other.gpr[X86_RSP] += FAKE_STACK_SIZE / 2 - 16;
	rig_store(r, 8, "\1\2\3\4\5\6\7\10", 8);
	assert_int_equal(rig_watch_hit(r, 2, &other, rig_cookie(r, 0)).kind, TARGET_RESUME);

	o = rig_observation(r);
	assert_non_null(o);
	assert_int_equal(o->how, RACE_BY_WATCH);
	assert_int_equal(o->gpa, RIG_DATA_GPA + 8);
	assert_int_equal(o->data_len, 8);
	assert_memory_equal(o->before, "\0\0\0\0\0\0\0\0", 8);
	assert_memory_equal(o->after, "\1\2\3\4\5\6\7\10", 8);
	check_sampled_side(r, &o->sides[0], &sampled);
	assert_true(o->sides[1].kind == RACE_SIDE_CPU);
	assert_int_equal(o->sides[1].cpu, 2);
	assert_int_equal(o->sides[1].pc, 0); /* not attributed yet */
	assert_memory_equal(&o->sides[1].regs, &other, sizeof(other));
	assert_int_equal(o->sides[1].stack_len, 16);
	assert_memory_equal(o->sides[1].stack, "the other", 9);

	expect_closed(r);
	assert_int_equal(fake_watch_count(r->ft), 0);
	assert_int_equal(rig_hold_end(r, 0, &sampled).kind, TARGET_RESUME);
	assert_null(rig_observation(r));
	assert_int_equal(rig_stats(r).conflicts, 1);
}

/* The window's course: the watchpoints came after the window opened, and the conflict after them. */
static void test_course_of_the_window(void **state)
{
	struct rig *r = *state;
	struct x86_regs sampled = hold(r, 8, WRITE_8), other = rig_regs(r, 2, 0x123);
	const struct race_window *w;
	const struct observation *o;

	for (unsigned i = 0; i < RACE_RETURNS_MAX + 2; i++)
		assert_int_equal(rig_hit(r, 0, &sampled).kind, TARGET_HOLD);
	rig_watch_hit(r, 2, &other, rig_cookie(r, 0));
	o = rig_observation(r);
	w = &o->window;
	assert_true(w->known);
	assert_int_equal(w->hold_ns, rig_window_ns(r, 0));
	assert_in_range(w->watched_ns, 1, o->held_ns);
	assert_int_equal(w->returns, RACE_RETURNS_MAX + 2);
	assert_in_range(w->return_ns[0], w->watched_ns, o->held_ns);
	for (unsigned i = 1; i < RACE_RETURNS_MAX; i++)
		assert_in_range(w->return_ns[i], w->return_ns[i - 1], o->held_ns);
}

/* What the window before has recorded is not in the next observation. */
static void test_course_is_of_its_own_window(void **state)
{
	struct rig *r = *state;
	struct x86_regs sampled = hold(r, 0, WRITE_8);
	const struct observation *o;

	rig_hit(r, 0, &sampled);
	rig_hold_end(r, 0, &sampled);
	assert_int_equal(rig_open_windows(r), 0);
	hold(r, 0, WRITE_8);
	assert_int_equal(other_hit(r, RIG_DATA, READ_8), TARGET_RESUME);
	o = rig_observation(r);
	assert_int_equal(o->window.returns, 0);
	assert_int_equal(o->window.return_ns[0], 0);
}

static void on_release(void *ctx, unsigned cpu)
{
	struct rig *r = ctx;

	assert_int_equal(cpu, 0);
	assert_int_not_equal(rig_text_byte(r, 0), X86_INT3);
}

/* Not all that should be the stack is mapped. What is mapped is kept. */
static void test_short_stack(void **state)
{
	struct rig *r = *state;
	struct x86_regs other = rig_regs(r, 1, 0x123);
	const struct observation *o;

	hold(r, 0, WRITE_8);
	fake_unmap(r->ft, r->guest.cr3, 4, RIG_DATA + 0x2000);
	other.gpr[X86_RSP] = RIG_DATA + 0x2000 - 0x20;
	rig_store(r, 0x2000 - 0x20, "other", 5);
	rig_watch_hit(r, 1, &other, rig_cookie(r, 0));
	other.gpr[X86_RSP] = RIG_IO;
	hold(r, 0, WRITE_8);
	rig_watch_hit(r, 1, &other, rig_cookie(r, 0));
	o = rig_observation(r);
	assert_int_equal(o->sides[1].stack_len, 0x20);
	assert_memory_equal(o->sides[1].stack, "other", 5);
	assert_int_equal(rig_observation(r)->sides[1].stack_len, 0);
}

/* The held CPU, once it is let go, executes what stands there, which must not be our INT3 any more. */
static void test_int3_gone_before_release(void **state)
{
	struct rig *r = *state;
	struct x86_regs other = rig_regs(r, 1, 0x123);

	r->ft->on_release = on_release;
	r->ft->hook_ctx = r;
	hold(r, 0, WRITE_8);
	rig_watch_hit(r, 1, &other, rig_cookie(r, 0));
	expect_closed(r);
}

/* A CPU may trip on a watch whose slot was given to another window meanwhile. That is no race of the other window. */
static void test_stale_cookie(void **state)
{
	struct rig *r = *state;
	struct x86_regs first = hold(r, 0, WRITE_8), other = rig_regs(r, 1, 0x123);
	uint32_t stale = rig_cookie(r, 0);

	assert_int_equal(rig_hold_end(r, 0, &first).kind, TARGET_RESUME);
	hold(r, 0x80, WRITE_8);
	assert_int_not_equal(rig_cookie(r, 0), stale);
	assert_int_equal(rig_watch_hit(r, 1, &other, stale).kind, TARGET_NOT_MINE);
	expect_open(r);
	assert_int_equal(rig_watch_hit(r, 1, &other, 0).kind, TARGET_NOT_MINE);
	assert_int_equal(rig_watch_hit(r, 1, &other, ~0u).kind, TARGET_NOT_MINE);
	expect_open(r);
}

/* Interrupts are taken during the window, and what they do is watched too. */
static void test_watch_on_held_cpu(void **state)
{
	struct rig *r = *state;
	struct x86_regs irq = hold(r, 0, WRITE_8);
	const struct observation *o;

	irq.rip += 0x500;
	irq.gpr[X86_RSP] -= 0x100;
	assert_int_equal(rig_watch_hit(r, 0, &irq, rig_cookie(r, 0)).kind, TARGET_RESUME);
	o = rig_observation(r);
	assert_non_null(o);
	assert_int_equal(o->sides[0].cpu, 0);
	assert_int_equal(o->sides[1].cpu, 0);
	assert_int_equal(o->sides[1].regs.rip, RIG_TEXT + 0x500);
	expect_closed(r);
}

/* Two windows are open on the same datum, both before reads. One write is a race with each. */
static void test_one_access_two_windows(void **state)
{
	struct rig *r = *state;
	const struct target_client *client = detect_client(r->d);
	struct x86_regs other = rig_regs(r, 2, 0x123);
	uint32_t cookies[3];

	hold(r, 0, READ_8);
	assert_int_equal(other_hit(r, RIG_DATA, READ_8), TARGET_HOLD);
	assert_int_equal(fake_watch_count(r->ft), 2);
	for (unsigned i = 0; i < 2; i++)
		cookies[i] = rig_cookie(r, i);
	cookies[2] = cookies[0]; /* two pieces of one datum make one race */
	assert_int_equal(client->on_watch(client->ctx, 2, &other, cookies, 3).kind, TARGET_RESUME);
	assert_int_equal(rig_stats(r).conflicts, 2);
	assert_int_equal(rig_observation(r)->sides[0].cpu, 0);
	assert_int_equal(rig_observation(r)->sides[0].cpu, 1);
	assert_null(rig_observation(r));
	assert_int_equal(rig_open_windows(r), 0);
}

/* ---- seen at a sample point of the other side ---- */

static void test_point(void **state)
{
	struct rig *r = *state;
	const struct observation *o;

	hold(r, 8, WRITE_8);
	assert_int_equal(other_hit(r, RIG_DATA + 12, READ_8), TARGET_RESUME);
	o = rig_observation(r);
	assert_non_null(o);
	assert_int_equal(o->how, RACE_BY_POINT);
	assert_int_equal(o->sides[0].cpu, 0);
	assert_int_equal(o->sides[0].rw, INSN_WRITE);
	assert_int_equal(o->sides[1].cpu, 1);
	assert_int_equal(o->sides[1].pc, RIG_TEXT + OTHER);
	assert_int_equal(o->sides[1].gva, RIG_DATA + 12);
	assert_int_equal(o->sides[1].size, 8);
	assert_int_equal(o->sides[1].rw, INSN_READ);
	expect_closed(r);
	/* The other CPU was about to make its access, and now does. Its point is used up. */
	assert_int_not_equal(rig_text_byte(r, OTHER), X86_INT3);
	assert_null(rig_observation(r));
}

/* The other side accesses the same bytes at another virtual address. */
static void test_point_alias(void **state)
{
	struct rig *r = *state;
	const struct observation *o;

	hold(r, 0xffe, WRITE_8); /* the datum is on two pages */
	assert_int_equal(other_hit(r, RIG_ALIAS + 0x1005, READ_1), TARGET_RESUME);
	o = rig_observation(r);
	assert_non_null(o);
	assert_int_equal(o->sides[0].gva, RIG_DATA + 0xffe);
	assert_int_equal(o->sides[1].gva, RIG_ALIAS + 0x1005);
	expect_closed(r);
}

static void test_two_reads(void **state)
{
	struct rig *r = *state;

	hold(r, 0, READ_8);
	assert_int_equal(other_hit(r, RIG_DATA, READ_8), TARGET_HOLD);
	expect_open(r);
	assert_int_equal(rig_open_windows(r), 2);
}

static void test_neighbours(void **state)
{
	struct rig *r = *state;

	hold(r, 3, WRITE_1);
	assert_int_equal(fake_watch_count(r->ft), 1);
	assert_int_equal(r->ft->watches[0].gva, RIG_DATA + 3);
	assert_int_equal(r->ft->watches[0].len, 1);
	for (unsigned at = 0; at < 8; at++) {
		if (at == 3)
			continue;
		assert_int_equal(other_hit(r, RIG_DATA + at, WRITE_1), TARGET_HOLD);
		expect_open(r);
		assert_int_equal(rig_hold_end(r, 1, &(struct x86_regs){.cr3 = r->guest.cr3}).kind, TARGET_RESUME);
	}
	assert_int_equal(other_hit(r, RIG_DATA + 3, WRITE_1), TARGET_RESUME);
	expect_closed(r);
}

/* Of a long run only the first bytes are looked at, so the rest is no conflict. */
static void test_long_run(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 0, 0);

	regs.gpr[X86_RCX] = 200;
	rig_plant(r, 0, INSN("\xf3\xaa")); /* rep stosb */
	assert_int_equal(rig_hit(r, 0, &regs).kind, TARGET_HOLD);
	assert_int_equal(other_hit(r, RIG_DATA + RACE_DATA_MAX, WRITE_1), TARGET_HOLD);
	expect_open(r);
	rig_hold_end(r, 1, &regs);
	assert_int_equal(other_hit(r, RIG_DATA + RACE_DATA_MAX - 1, READ_1), TARGET_RESUME);
	expect_closed(r);
	assert_int_equal(rig_observation(r)->sides[0].size, 200);
}

/* An interrupt handler on the held CPU comes to another point. A CPU is not held twice. */
static void test_held_once(void **state)
{
	struct rig *r = *state;
	struct x86_regs irq = hold(r, 0, WRITE_8);

	irq.rip = RIG_TEXT + OTHER;
	irq.gpr[X86_RSP] -= 0x200;
	irq.gpr[X86_RDI] = RIG_DATA + 0x40;
	rig_plant(r, OTHER, READ_8);
	assert_int_equal(rig_hit(r, 0, &irq).kind, TARGET_RESUME);
	expect_open(r);
}

static void test_point_on_held_cpu(void **state)
{
	struct rig *r = *state;
	struct x86_regs irq = hold(r, 0, WRITE_8);
	const struct observation *o;

	irq.rip = RIG_TEXT + OTHER;
	irq.gpr[X86_RSP] -= 0x200;
	irq.gpr[X86_RDI] = RIG_DATA;
	rig_plant(r, OTHER, READ_8);
	assert_int_equal(rig_hit(r, 0, &irq).kind, TARGET_RESUME);
	o = rig_observation(r);
	assert_non_null(o);
	assert_int_equal(o->sides[1].cpu, 0);
	expect_closed(r);
}

/* ---- the same INT3 again ---- */

static void test_again_after_interrupt(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = hold(r, 0, WRITE_8);
	struct target_action action = rig_hit(r, 0, &regs);

	assert_int_equal(action.kind, TARGET_HOLD);
	assert_true(action.hold_ns >= 1 && action.hold_ns <= RIG_DELAY_NS);
	expect_open(r);
	assert_int_equal(rig_stats(r).hits, 1);
	assert_int_equal(rig_stats(r).windows, 1);
	assert_int_equal(r->ft->watch_sets, 1);
}

static void test_again_by_another_overlapping(void **state)
{
	struct rig *r = *state;
	struct x86_regs other = rig_regs(r, 1, 0);
	const struct observation *o;

	hold(r, 0, WRITE_8);
	assert_int_equal(rig_hit(r, 1, &other).kind, TARGET_RESUME);
	o = rig_observation(r);
	assert_non_null(o);
	assert_int_equal(o->how, RACE_BY_POINT);
	assert_int_equal(o->sides[0].pc, o->sides[1].pc);
	assert_int_equal(o->sides[1].cpu, 1);
	expect_closed(r);
	assert_int_equal(rig_stats(r).cut_short, 0);
}

/* The access of another context at the window's instruction is emulated, since the INT3 must stay. */
static void test_again_by_another_elsewhere(void **state)
{
	struct rig *r = *state;
	struct x86_regs other = rig_regs(r, 1, 0);
	uint64_t stored = 0;

	other.gpr[X86_RDI] += 8;
	other.gpr[X86_RAX] = 0x1122334455667788;
	hold(r, 0, WRITE_8);
	assert_int_equal(rig_hit(r, 1, &other).kind, TARGET_RESUME_REGS);
	assert_int_equal(other.rip, RIG_TEXT + 3);
	assert_int_equal(target_read_phys(&r->ft->target, RIG_DATA_GPA + 8, &stored, sizeof(stored)), 0);
	assert_int_equal(stored, 0x1122334455667788);
	expect_open(r);
	assert_int_equal(rig_stats(r).emulated, 1);
	assert_int_equal(rig_stats(r).cut_short, 0);
	assert_int_equal(rig_stats(r).hits, 1);
}

static void test_again_by_another_reading(void **state)
{
	struct rig *r = *state;
	struct x86_regs other = rig_regs(r, 1, 0);

	hold(r, 0, READ_8);
	assert_int_equal(rig_hit(r, 1, &other).kind, TARGET_RESUME_REGS);
	expect_open(r);
	assert_int_equal(rig_stats(r).emulated, 1);
}

/* An interrupt of the held CPU passes, and the held context is back. */
static void test_again_by_own_interrupt(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = hold(r, 0, WRITE_8), irq = regs;

	irq.gpr[X86_RSP] -= 0x200;
	irq.gpr[X86_RDI] += 0x20;
	assert_int_equal(rig_hit(r, 0, &irq).kind, TARGET_RESUME_REGS);
	expect_open(r);
	assert_int_equal(rig_hit(r, 0, &regs).kind, TARGET_HOLD);
	expect_open(r);
}

/* What cannot be carried out ends the window, or the other CPU would never get past the INT3. */
static void test_again_by_another_not_carried_out(void **state)
{
	struct rig *r = *state;
	struct x86_regs other = rig_regs(r, 1, 0);

	hold(r, 0, INSN("\x0f\x11\x07")); /* movups %xmm0, (%rdi) */
	other.gpr[X86_RDI] += 0x40;
	assert_int_equal(rig_hit(r, 1, &other).kind, TARGET_RESUME);
	assert_null(rig_observation(r));
	assert_int_equal(rig_stats(r).emulated, 0);
	assert_int_equal(rig_stats(r).cut_short, 1);
	assert_int_equal(rig_stats(r).hits, 2);
	expect_closed(r);
}

static void test_again_costly(void **state)
{
	struct rig *r = *state;
	struct x86_regs other = rig_regs(r, 1, 0);

	r->ft->target.caps.costly_stops = true;
	other.gpr[X86_RDI] += 8;
	hold(r, 0, WRITE_8);
	assert_int_equal(rig_hit(r, 1, &other).kind, TARGET_RESUME);
	assert_int_equal(rig_stats(r).cut_short, 1);
	expect_closed(r);
}

/* Hot code is not slowed for long by one that is held in it. */
static void test_again_too_often(void **state)
{
	struct rig *r = *state;
	unsigned emulated = 0;

	hold(r, 0, READ_8);
	for (;; emulated++) {
		struct x86_regs other = rig_regs(r, 1, 0);
		struct target_action action = rig_hit(r, 1, &other);

		if (action.kind == TARGET_RESUME)
			break;
		assert_int_equal(action.kind, TARGET_RESUME_REGS);
		assert_in_range(emulated, 0, 1000);
	}
	assert_in_range(emulated, 10, 1000);
	assert_int_equal(rig_stats(r).emulated, emulated);
	assert_int_equal(rig_stats(r).cut_short, 1);
	expect_closed(r);
}

/*
 * CPU 2 is held before it writes to the stack of CPU 1. At the point of CPU 0's window, CPU 1 writes to its own stack, which
 * the detector does not sample. The detector must not emulate this write: CPU 2's watchpoint has to see it, or CPU 2's window
 * would blame an unseen writer.
 */
static void test_again_on_watched_stack(void **state)
{
	struct rig *r = *state;
	struct x86_regs other = rig_regs(r, 1, 0), third = rig_regs(r, 2, OTHER);

	hold(r, 0, WRITE_8);
	other.gpr[X86_RDI] = other.gpr[X86_RSP];
	third.gpr[X86_RDI] = other.gpr[X86_RSP];
	rig_plant(r, OTHER, WRITE_8);
	assert_int_equal(rig_hit(r, 2, &third).kind, TARGET_HOLD);
	assert_int_equal(rig_hit(r, 1, &other).kind, TARGET_RESUME);
	assert_int_equal(other.rip, RIG_TEXT);
	assert_int_equal(rig_stats(r).cut_short, 1);
	assert_true(rig_window_is_open(r, 2));
	expect_closed(r);
}

/* The other context conflicts with a third window. That is closed, and the context comes back to this INT3. */
static void test_again_conflicting_elsewhere(void **state)
{
	struct rig *r = *state;
	struct x86_regs other = rig_regs(r, 2, 0);

	hold(r, 0, WRITE_8);
	assert_int_equal(other_hit(r, RIG_DATA + 0x80, WRITE_8), TARGET_HOLD);
	other.gpr[X86_RDI] = RIG_DATA + 0x80;
	assert_int_equal(rig_hit(r, 2, &other).kind, TARGET_RESUME);
	assert_int_equal(rig_observation(r)->sides[0].cpu, 1);
	assert_int_equal(r->ft->releases[1], 1);
	assert_int_equal(rig_text_byte(r, 0), X86_INT3);
	assert_int_equal(rig_hit(r, 2, &other).kind, TARGET_RESUME_REGS);
	assert_null(rig_observation(r));
	assert_true(rig_window_is_open(r, 0));
}

/* The held task was preempted, and goes on on another CPU. It does not race with itself. */
static void test_migrated(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = hold(r, 0, WRITE_8);

	assert_int_equal(rig_hit(r, 3, &regs).kind, TARGET_RESUME);
	assert_null(rig_observation(r));
	assert_int_equal(rig_stats(r).conflicts, 0);
	expect_closed(r);
	/* Its access trips the watch that CPU 3 still has loaded. */
	assert_int_equal(rig_watch_hit(r, 3, &regs, r->ft->watches[0].cookie).kind, TARGET_NOT_MINE);
	assert_null(rig_observation(r));
}

/* ---- INT3s that are not ours, or not any more ---- */

static void test_int3_of_the_guests(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 0, 0x80);

	rig_code(r, 0x80, "\xcc", 1);
	assert_int_equal(rig_hit(r, 0, &regs).kind, TARGET_NOT_MINE);
	assert_int_equal(rig_stats(r).stale_hits, 0);
	assert_int_equal(rig_stats(r).hits, 0);
}

/* The INT3 was one of ours when the CPU executed it. */
static void test_point_gone(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 0, 0x80);

	rig_code(r, 0x80, "\x90", 1);
	assert_int_equal(rig_hit(r, 0, &regs).kind, TARGET_RESUME);
	assert_int_equal(rig_stats(r).stale_hits, 1);
	assert_int_equal(rig_stats(r).hits, 0);
}

/* The memory at RIP cannot be read, so the stop is the guest's. */
static void test_stopped_nowhere(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 0, 0x80);

	regs.rip = RIG_DATA + RIG_DATA_SIZE;
	assert_int_equal(rig_hit(r, 0, &regs).kind, TARGET_NOT_MINE);
}

/* There are more observations than the reporter can take. They are counted, and the windows close all the same. */
static void test_observations_run_out(void **state)
{
	struct rig *r = *state;
	unsigned kept = 0;

	for (unsigned i = 0; i < QUEUE_MAX + 3; i++) {
		hold(r, 0, WRITE_8);
		assert_int_equal(other_hit(r, RIG_DATA, READ_8), TARGET_RESUME);
		assert_int_equal(rig_open_windows(r), 0);
	}
	assert_int_equal(rig_stats(r).lost, 3);
	while (rig_observation(r))
		kept++;
	assert_int_equal(kept, QUEUE_MAX);
	assert_int_equal(rig_stats(r).conflicts, QUEUE_MAX + 3);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_watch),
		T(test_course_of_the_window),
		T(test_course_is_of_its_own_window),
		T(test_short_stack),
		T(test_int3_gone_before_release),
		T(test_stale_cookie),
		T(test_watch_on_held_cpu),
		T(test_one_access_two_windows),
		T(test_point),
		T(test_point_alias),
		T(test_two_reads),
		T(test_neighbours),
		T(test_long_run),
		T(test_held_once),
		T(test_point_on_held_cpu),
		T(test_again_after_interrupt),
		T(test_again_by_another_overlapping),
		T(test_again_by_another_elsewhere),
		T(test_again_by_another_reading),
		T(test_again_by_own_interrupt),
		T(test_again_by_another_not_carried_out),
		T(test_again_costly),
		T(test_again_too_often),
		T(test_again_on_watched_stack),
		T(test_again_conflicting_elsewhere),
		T(test_migrated),
		T(test_int3_of_the_guests),
		T(test_point_gone),
		T(test_stopped_nowhere),
		T(test_observations_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
