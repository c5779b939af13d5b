/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Event points: they stay, the instruction under them is carried out, and what they tell is acted on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "hv/detect/event.h"
#include "tests/unit/detect_rig.h"

#define MODULE 0x1000 /* offset in the text */

static int setup(void **state)
{
	*state = rig_new(2, 4);
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	struct rig *r = *state;

	assert_int_equal(r->ft->misuses, 0);
	rig_free(r);
	return 0;
}

/* An event point on one instruction, and the only one. */
static void plant_event(struct rig *r, enum guest_event_kind kind, uint64_t offset, const void *code, size_t len)
{
	rig_code(r, offset, code, len);
	r->guest.event_count = 1;
	r->guest.events[0].kind = kind;
	assert_int_equal(insn_decode(r->decoder, code, len, RIG_TEXT + offset, &r->guest.events[0].insn), len);
	event_plant(r->d);
	assert_int_equal(rig_text_byte(r, offset), X86_INT3);
	assert_int_equal(rig_stats(r).armed, 0); /* it is no sample point */

	/* Whatever the guest set before: its registers are looked at now, of every CPU. */
	for (unsigned c = 0; c < 2; c++) {
		assert_int_equal(r->ft->debug_changes[c], 1);
		r->ft->debug_changes[c] = 0;
	}
}

static uint64_t stack_word(struct rig *r, uint64_t gva)
{
	uint64_t value;

	assert_int_equal(guest_read(&r->guest, gva, &value, sizeof(value)), 0);
	return value;
}

static void check_push(struct rig *r, unsigned gpr, const void *code, size_t len)
{
	struct x86_regs regs = rig_regs(r, 0, 0x40), after;

	plant_event(r, GUEST_EVENT_DEBUG_REGS, 0x40, code, len);
	regs.gpr[gpr] = gpr == X86_RSP ? regs.gpr[gpr] : 0x1122334455667788;
	after = regs;
	after.gpr[X86_RSP] -= 8;
	after.rip += len;
	for (unsigned times = 1; times <= 2; times++) {
		struct x86_regs now = regs;

		assert_int_equal(rig_hit(r, 0, &now).kind, TARGET_RESUME_REGS);
		assert_memory_equal(&now, &after, sizeof(after));
		assert_int_equal(stack_word(r, after.gpr[X86_RSP]), regs.gpr[gpr]);
		assert_int_equal(rig_text_byte(r, 0x40), X86_INT3);
	}
	assert_int_equal(r->ft->debug_changes[0], 2);
	assert_int_equal(r->ft->debug_changes[1], 0);
	assert_int_equal(rig_stats(r).hits, 0);
}

static void test_push(void **state)
{
	check_push(*state, X86_RBP, INSN("\x55"));
}

static void test_push_r12(void **state)
{
	check_push(*state, 12, INSN("\x41\x54"));
}

static void test_push_rsp(void **state)
{
	check_push(*state, X86_RSP, INSN("\x54")); /* its value before the push (SDM vol. 2, PUSH) */
}

static void test_ret(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 1, 0x40), before = regs;
	const uint64_t to = RIG_TEXT + 0x777;

	plant_event(r, GUEST_EVENT_DEBUG_REGS, 0x40, INSN("\xc3"));
	assert_int_equal(target_write(&r->ft->target, regs.cr3, 0, regs.gpr[X86_RSP], &to, sizeof(to)), 0);
	assert_int_equal(rig_hit(r, 1, &regs).kind, TARGET_RESUME_REGS);
	before.rip = to;
	before.gpr[X86_RSP] += 8;
	assert_memory_equal(&regs, &before, sizeof(regs));
	assert_int_equal(r->ft->debug_changes[1], 1);
}

static void test_jmp(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 0, 0x40), before = regs;

	plant_event(r, GUEST_EVENT_DEBUG_REGS, 0x40, INSN("\xe9\xf0\xff\xff\xff"));
	assert_int_equal(rig_hit(r, 0, &regs).kind, TARGET_RESUME_REGS);
	before.rip = RIG_TEXT + 0x40 + 5 - 16;
	assert_memory_equal(&regs, &before, sizeof(regs));
}

/* No stack to push to: the guest executes it itself, and is told by its own page fault. */
static void test_no_stack(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 0, 0x40), before;
	struct detect_stats stats;

	plant_event(r, GUEST_EVENT_DEBUG_REGS, 0x40, INSN("\x55"));
	regs.gpr[X86_RSP] = RIG_IO;
	before = regs;
	assert_int_equal(rig_hit(r, 0, &regs).kind, TARGET_RESUME);
	assert_memory_equal(&regs, &before, sizeof(regs));
	assert_int_equal(rig_text_byte(r, 0x40), 0x55);
	detect_stats(r->d, &stats);
	assert_int_equal(stats.armed, 0);
}

/* A module's text is about to be freed: nothing of ours stays in it, and nobody is held in it. */
static void test_module_going(void **state)
{
	struct rig *r = *state;
	struct x86_regs held = rig_regs(r, 0, MODULE + 0x10), regs = rig_regs(r, 1, 0x40);
	struct detect_stats stats;

	plant_event(r, GUEST_EVENT_MODULE_GOING, 0x40, INSN("\x55"));
	for (unsigned i = 0; i < 8; i++)
		rig_plant(r, MODULE + 0x10 * i, READ_8);
	rig_plant(r, MODULE - 0x10, READ_8);
	rig_plant(r, MODULE + 0x80, READ_8);
	assert_int_equal(rig_hit(r, 0, &held).kind, TARGET_HOLD);

	r->guest.going_base = RIG_TEXT + MODULE;
	r->guest.going_size = 0x80;
	assert_int_equal(rig_hit(r, 1, &regs).kind, TARGET_RESUME_REGS);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(rig_text_byte(r, MODULE + 0x10 * i), 0x48);
	assert_int_equal(rig_text_byte(r, MODULE - 0x10), X86_INT3);
	assert_int_equal(rig_text_byte(r, MODULE + 0x80), X86_INT3);
	assert_int_equal(rig_open_windows(r), 0);
	assert_int_equal(fake_watch_count(r->ft), 0);
	assert_int_equal(r->ft->releases[0], 1);
	assert_null(rig_observation(r));
	detect_stats(r->d, &stats);
	assert_int_equal(stats.armed, 2); /* sample points, the event's not counted */
}

static void test_unknown_module_going(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 1, 0x40);

	plant_event(r, GUEST_EVENT_MODULE_GOING, 0x40, INSN("\x55"));
	rig_plant(r, MODULE, READ_8);
	assert_int_equal(rig_hit(r, 1, &regs).kind, TARGET_RESUME_REGS);
	assert_int_equal(rig_text_byte(r, MODULE), X86_INT3);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_push), T(test_push_r12), T(test_push_rsp),     T(test_ret),
		T(test_jmp),  T(test_no_stack), T(test_module_going), T(test_unknown_module_going),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
