/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hooks stay where they are, the instruction under them is carried out, and what they tell is acted on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/detect/core/hook.h"
#include "tests/unit/detect/detect_rig.h"

#define MODULE 0x1000 /* the module's offset in the text */

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

/* Write one instruction, and make an hook site of it. */
static struct guest_hook_site site_on(struct rig *r, enum guest_hook_kind kind, uint64_t offset, const void *code, size_t len)
{
	struct guest_hook_site site = {.kind = kind};

	rig_code(r, offset, code, len);
	assert_int_equal(insn_decode(r->decoder, code, len, RIG_TEXT + offset, &site.insn), len);
	return site;
}

static int add(struct rig *r, uint64_t offset, const void *code, size_t len)
{
	const struct guest_hook_site site = site_on(r, GUEST_HOOK_DEBUG_REGS, offset, code, len);

	return hook_add(r->d, &site);
}

/* Plant a hook on one instruction. It must be the only point so far. */
static void plant_hook(struct rig *r, enum guest_hook_kind kind, uint64_t offset, const void *code, size_t len)
{
	const struct guest_hook_site site = site_on(r, kind, offset, code, len);

	r->guest.hook_count = 1;
	r->guest.hooks = &site;
	hook_plant_all(r->d);
	r->guest.hooks = NULL;
	assert_int_equal(rig_text_byte(r, offset), X86_INT3);
	assert_int_equal(rig_stats(r).armed, 0); /* it is no sample point */

	/* The debug registers of every CPU are looked at now, for what the guest set before. */
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

	plant_hook(r, GUEST_HOOK_DEBUG_REGS, 0x40, code, len);
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
	check_push(*state, X86_RSP, INSN("\x54")); /* RSP is pushed as it was before (SDM vol. 2, PUSH) */
}

static void test_ret(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 1, 0x40), before = regs;
	const uint64_t to = RIG_TEXT + 0x777;

	plant_hook(r, GUEST_HOOK_DEBUG_REGS, 0x40, INSN("\xc3"));
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

	plant_hook(r, GUEST_HOOK_DEBUG_REGS, 0x40, INSN("\xe9\xf0\xff\xff\xff"));
	assert_int_equal(rig_hit(r, 0, &regs).kind, TARGET_RESUME_REGS);
	before.rip = RIG_TEXT + 0x40 + 5 - 16;
	assert_memory_equal(&regs, &before, sizeof(regs));
}

static void test_short_jmp(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 0, 0x40), before = regs;

	plant_hook(r, GUEST_HOOK_DEBUG_REGS, 0x40, INSN("\xeb\xf0"));
	assert_int_equal(rig_hit(r, 0, &regs).kind, TARGET_RESUME_REGS);
	before.rip = RIG_TEXT + 0x40 + 2 - 16;
	assert_memory_equal(&regs, &before, sizeof(regs));
}

static void test_call(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 0, 0x40), before = regs;

	plant_hook(r, GUEST_HOOK_DEBUG_REGS, 0x40, INSN("\xe8\xf0\x00\x00\x00"));
	assert_int_equal(rig_hit(r, 0, &regs).kind, TARGET_RESUME_REGS);
	before.rip = RIG_TEXT + 0x40 + 5 + 0xf0;
	before.gpr[X86_RSP] -= 8;
	assert_memory_equal(&regs, &before, sizeof(regs));
	assert_int_equal(stack_word(r, regs.gpr[X86_RSP]), RIG_TEXT + 0x45);
}

/* What gives a spinlock back where that is inlined. */
static void test_clear_byte(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 0, 0x40), before;
	uint64_t word = 0x11223344556677ff;

	plant_hook(r, GUEST_HOOK_DEBUG_REGS, 0x40, INSN("\xc6\x07\x00"));
	rig_store(r, 0, &word, sizeof(word));
	before = regs;
	assert_int_equal(rig_hit(r, 0, &regs).kind, TARGET_RESUME_REGS);
	before.rip += 3;
	assert_memory_equal(&regs, &before, sizeof(regs));
	assert_int_equal(stack_word(r, regs.gpr[X86_RDI]), 0x1122334455667700);
	/* Where nothing is mapped, the guest's own page fault says so. */
	regs = rig_regs(r, 0, 0x40);
	regs.gpr[X86_RDI] = RIG_IO;
	assert_int_equal(rig_hit(r, 0, &regs).kind, TARGET_RESUME);
	assert_int_equal(rig_text_byte(r, 0x40), 0xc6);
}

/* No watchpoint sees what is carried out, so what a window watches is written by the guest itself. */
static void test_clear_watched_byte(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 0, 0x40), sampled;
	uint64_t word = 0xff;

	plant_hook(r, GUEST_HOOK_DEBUG_REGS, 0x40, INSN("\xc6\x07\x00"));
	rig_store(r, 0, &word, sizeof(word));
	rig_plant(r, 0x80, READ_8);
	sampled = rig_regs(r, 1, 0x80);
	assert_int_equal(rig_hit(r, 1, &sampled).kind, TARGET_HOLD);
	assert_int_equal(rig_hit(r, 0, &regs).kind, TARGET_RESUME);
	assert_int_equal(rig_text_byte(r, 0x40), 0xc6);
	assert_int_equal(stack_word(r, regs.gpr[X86_RDI]), 0xff);
}

static void test_call_without_stack(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 0, 0x40), before;

	plant_hook(r, GUEST_HOOK_DEBUG_REGS, 0x40, INSN("\xe8\xf0\x00\x00\x00"));
	regs.gpr[X86_RSP] = RIG_IO;
	before = regs;
	assert_int_equal(rig_hit(r, 0, &regs).kind, TARGET_RESUME);
	assert_memory_equal(&regs, &before, sizeof(regs));
	assert_int_equal(rig_text_byte(r, 0x40), 0xe8);
}

/* There is no stack to push to. The guest executes the instruction itself, and gets its own page fault. */
static void test_no_stack(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 0, 0x40), before;
	struct detect_stats stats;

	plant_hook(r, GUEST_HOOK_DEBUG_REGS, 0x40, INSN("\x55"));
	regs.gpr[X86_RSP] = RIG_IO;
	before = regs;
	assert_int_equal(rig_hit(r, 0, &regs).kind, TARGET_RESUME);
	assert_memory_equal(&regs, &before, sizeof(regs));
	assert_int_equal(rig_text_byte(r, 0x40), 0x55);
	detect_stats(r->d, &stats);
	assert_int_equal(stats.armed, 0);
}

/* When a module's text is about to be freed, nothing of ours stays in it, and no CPU is held in it. */
static void test_module_going(void **state)
{
	struct rig *r = *state;
	struct x86_regs held = rig_regs(r, 0, MODULE + 0x10), regs = rig_regs(r, 1, 0x40);
	struct detect_stats stats;

	plant_hook(r, GUEST_HOOK_MODULE_GOING, 0x40, INSN("\x55"));
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
	assert_int_equal(stats.armed, 2); /* the hook is not counted */
}

static void test_unknown_module_going(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 1, 0x40);

	plant_hook(r, GUEST_HOOK_MODULE_GOING, 0x40, INSN("\x55"));
	rig_plant(r, MODULE, READ_8);
	assert_int_equal(rig_hit(r, 1, &regs).kind, TARGET_RESUME_REGS);
	assert_int_equal(rig_text_byte(r, MODULE), X86_INT3);
}

/* The hook stands in the text that goes. Its instruction is emulated for the last time. */
static void test_own_module_going(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 1, MODULE + 0x40);

	plant_hook(r, GUEST_HOOK_MODULE_GOING, MODULE + 0x40, INSN("\x55"));
	rig_plant(r, MODULE - 0x10, READ_8);
	r->guest.going_base = RIG_TEXT + MODULE;
	r->guest.going_size = 0x80;
	assert_int_equal(rig_hit(r, 1, &regs).kind, TARGET_RESUME_REGS);
	assert_int_equal(regs.rip, RIG_TEXT + MODULE + 0x41);
	assert_int_equal(rig_text_byte(r, MODULE + 0x40), 0x55);
	assert_int_equal(rig_stats(r).armed, 1);
}

/* ---- planted and taken out while the guest runs ---- */

static void test_add_and_remove(void **state)
{
	struct rig *r = *state;
	struct x86_regs regs = rig_regs(r, 0, 0x40), late = regs;

	assert_int_equal(add(r, 0x40, INSN("\x55")), 0);
	assert_int_equal(rig_text_byte(r, 0x40), X86_INT3);
	assert_int_equal(rig_stats(r).armed, 0);
	assert_int_equal(rig_hit(r, 0, &regs).kind, TARGET_RESUME_REGS);
	assert_int_equal(r->ft->debug_changes[0], 1);

	assert_int_equal(hook_remove(r->d, RIG_TEXT + 0x40), 0);
	assert_int_equal(rig_text_byte(r, 0x40), 0x55);
	assert_int_equal(rig_stats(r).armed, 0);
	/* A CPU had executed the INT3 before it went, and now executes what stands there. */
	regs = late;
	assert_int_equal(rig_hit(r, 0, &late).kind, TARGET_RESUME);
	assert_memory_equal(&late, &regs, sizeof(late));
	assert_int_equal(rig_stats(r).stale_hits, 1);
	assert_int_equal(r->ft->debug_changes[0], 1);
}

static void test_add_again(void **state)
{
	struct rig *r = *state;

	assert_int_equal(add(r, 0x40, INSN("\x55")), 0);
	assert_int_equal(hook_remove(r->d, RIG_TEXT + 0x40), 0);
	assert_int_equal(add(r, 0x40, INSN("\x55")), 0);
	assert_int_equal(rig_text_byte(r, 0x40), X86_INT3);
}

static void test_add_twice(void **state)
{
	struct rig *r = *state;
	const struct guest_hook_site site = site_on(r, GUEST_HOOK_DEBUG_REGS, 0x40, INSN("\x55"));

	assert_int_equal(hook_add(r->d, &site), 0);
	assert_int_equal(hook_add(r->d, &site), -1);
	assert_int_equal(rig_text_byte(r, 0x40), X86_INT3);
	/* The point is there once. */
	assert_int_equal(hook_remove(r->d, site.insn.addr), 0);
	assert_int_equal(rig_text_byte(r, 0x40), 0x55);
	assert_int_equal(hook_remove(r->d, site.insn.addr), -1);
}

static void test_remove_only_hooks(void **state)
{
	struct rig *r = *state;

	rig_plant(r, 0x40, READ_8);
	assert_int_equal(hook_remove(r->d, RIG_TEXT + 0x40), -1);
	assert_int_equal(rig_text_byte(r, 0x40), X86_INT3);
	assert_int_equal(hook_remove(r->d, RIG_TEXT + 0x80), -1);
	assert_int_equal(rig_stats(r).armed, 1);
}

/* A breakpoint on an instruction that cannot be carried out would have to be lifted for each CPU that passes. */
static void test_add_refuses_instructions(void **state)
{
	static const struct {
		const char *code;
		size_t len;
	} refused[] = {
		{INSN("\x48\x8b\x07")},		/* mov (%rdi), %rax */
		{INSN("\xff\x37")},		/* push (%rdi) */
		{INSN("\x66\x50")},		/* push %ax */
		{INSN("\x6a\x01")},		/* push $1 */
		{INSN("\x9c")},			/* pushfq */
		{INSN("\xc2\x08\x00")},		/* ret $8 */
		{INSN("\xf3\xc3")},		/* rep ret */
		{INSN("\xff\xd0")},		/* call *%rax */
		{INSN("\xff\xe0")},		/* jmp *%rax */
		{INSN("\x74\x10")},		/* je */
		{INSN("\x0f\x84\x10\0\0\0")},	/* je */
		{INSN("\xe3\x10")},		/* jrcxz */
		{INSN("\x90")},			/* nop */
		{INSN("\xf3\x0f\x1e\xfa")},	/* endbr64 */
		{INSN("\x0f\x1f\x44\x00\x00")}, /* nopl, which ftrace patches */
		{INSN("\x5d")},			/* pop %rbp */
	};
	struct rig *r = *state;

	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		const struct guest_hook_site site =
			site_on(r, GUEST_HOOK_DEBUG_REGS, 0x10 * i, refused[i].code, refused[i].len);

		assert_int_equal(hook_add(r->d, &site), -1);
		assert_false(rig_has_point(r, 0x10 * i));
		assert_int_equal(rig_text_byte(r, 0x10 * i), (uint8_t)refused[i].code[0]);
	}
}

/* The guest has patched the instruction since it was looked at, or its text is not mapped. */
static void test_add_refuses_other_text(void **state)
{
	struct rig *r = *state;
	struct guest_hook_site site = site_on(r, GUEST_HOOK_DEBUG_REGS, 0x40, INSN("\x41\x54"));

	rig_code(r, 0x41, "\x55", 1);
	assert_int_equal(hook_add(r->d, &site), -1);
	rig_code(r, 0x40, "\x90\x54", 2);
	assert_int_equal(hook_add(r->d, &site), -1);
	assert_int_equal(rig_text_byte(r, 0x40), 0x90);
	site.insn.addr = RIG_TEXT + RIG_TEXT_SIZE;
	assert_int_equal(hook_add(r->d, &site), -1);
}

/* A sample point stands there, on what the text was before. */
static void test_add_at_sample_point(void **state)
{
	struct rig *r = *state;
	const struct guest_hook_site site = site_on(r, GUEST_HOOK_DEBUG_REGS, 0x40, INSN("\x55"));

	rig_plant(r, 0x40, INSN("\xa4"));
	assert_int_equal(hook_add(r->d, &site), -1);
	assert_int_equal(rig_stats(r).armed, 1);
	assert_int_equal(hook_remove(r->d, site.insn.addr), -1);
	assert_int_equal(rig_text_byte(r, 0x40), X86_INT3);
}

/* There may be far more hooks than Linux kernels need today. */
static void test_many(void **state)
{
	enum { MANY = 500 };
	struct rig *r = *state;
	struct guest_hook_site *sites = calloc(MANY, sizeof(*sites));

	assert_non_null(sites);
	for (unsigned i = 0; i < MANY; i++)
		sites[i] = site_on(r, GUEST_HOOK_DEBUG_REGS, 0x10 * i, INSN("\x55"));
	r->guest.hooks = sites;
	r->guest.hook_count = MANY;
	hook_plant_all(r->d);
	free(sites);
	assert_int_equal(rig_int3s(r, 0, RIG_TEXT_SIZE), MANY);
	assert_int_equal(rig_stats(r).armed, 0);
	for (unsigned i = 0; i < MANY; i++) {
		struct x86_regs regs = rig_regs(r, 0, 0x10 * i);

		assert_int_equal(rig_hit(r, 0, &regs).kind, TARGET_RESUME_REGS);
		assert_int_equal(hook_remove(r->d, RIG_TEXT + 0x10 * i), 0);
	}
	assert_int_equal(rig_int3s(r, 0, RIG_TEXT_SIZE), 0);
}

/* Where points are few, none is for hooks. */
static void test_few_points(void **state)
{
	struct rig *r = *state;

	r->ft->target.caps.points = 31;
	assert_int_equal(add(r, 0x40, INSN("\x55")), -1);
	r->ft->target.caps.points = 32;
	assert_int_equal(add(r, 0x40, INSN("\x55")), 0);
}

/* But calls of locks have those that a target has for what stays. */
static void test_lasting_points(void **state)
{
	struct guest_hook_site site = {.kind = GUEST_HOOK_LOCK};
	struct rig *r = *state;

	r->ft->target.caps.points = 8;
	r->ft->target.caps.lasting = 2;
	for (unsigned i = 0; i < 3; i++) {
		rig_code(r, 0x40 + 16 * i, INSN("\xe8\x00\x00\x00\x00"));
		assert_int_equal(insn_decode(r->decoder, (const uint8_t *)"\xe8\x00\x00\x00\x00", 5, RIG_TEXT + 0x40 + 16 * i,
					     &site.insn),
				 5);
		assert_int_equal(hook_add(r->d, &site), i < 2 ? 0 : -1);
	}
	assert_int_equal(add(r, 0x80, INSN("\x55")), -1);
}

/* An INT3 in text that is about to be freed would stay in whatever the memory is used for next. */
static void test_add_in_going_text(void **state)
{
	struct rig *r = *state;

	r->guest.gone_base = RIG_TEXT + MODULE;
	r->guest.gone_size = 0x80;
	assert_int_equal(add(r, MODULE + 0x40, INSN("\x55")), -1);
	assert_int_equal(rig_text_byte(r, MODULE + 0x40), 0x55);
	assert_int_equal(add(r, MODULE + 0x80, INSN("\x55")), 0);
	assert_int_equal(rig_text_byte(r, MODULE + 0x80), X86_INT3);
}

/* Nothing is planted any more once the detector has left the guest's text as it was. */
static void test_add_when_stopped(void **state)
{
	struct rig *r = *state;

	assert_int_equal(add(r, 0x40, INSN("\x55")), 0);
	detect_stop(r->d);
	assert_int_equal(rig_text_byte(r, 0x40), 0x55);
	assert_int_equal(hook_remove(r->d, RIG_TEXT + 0x40), -1);
	assert_int_equal(add(r, 0x80, INSN("\x55")), -1);
	assert_int_equal(rig_text_byte(r, 0x80), 0x55);
	assert_int_equal(rig_stats(r).armed, 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_push),
		T(test_push_r12),
		T(test_push_rsp),
		T(test_ret),
		T(test_jmp),
		T(test_no_stack),
		T(test_module_going),
		T(test_unknown_module_going),
		T(test_short_jmp),
		T(test_call),
		T(test_clear_byte),
		T(test_clear_watched_byte),
		T(test_call_without_stack),
		T(test_own_module_going),
		T(test_add_and_remove),
		T(test_add_again),
		T(test_add_twice),
		T(test_remove_only_hooks),
		T(test_add_refuses_instructions),
		T(test_add_refuses_other_text),
		T(test_add_at_sample_point),
		T(test_many),
		T(test_few_points),
		T(test_lasting_points),
		T(test_add_in_going_text),
		T(test_add_when_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
