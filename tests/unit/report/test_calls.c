// SPDX-License-Identifier: GPL-2.0-or-later
/* What people read of call stacks: contexts, guesses, where a stack was not followed further, and words that may be addresses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hv/report/words.h"
#include "tests/unit/report/report_text_of.h"

static int name_one(void *ctx, uint64_t addr, struct guest_symbol *out)
{
	unsigned *asked = ctx;

	++*asked;
	if (addr != 0xffffffff81200033 && addr != 0xffffffff81200000)
		return -1;
	*out = (struct guest_symbol){.name = "generic_bar", .addr = 0xffffffff81200000};
	return 0;
}

static void calls_by_context(void **state)
{
	struct observation o;
	char *text;

	(void)state;
	sample_observation(&o, 0);
	text = text_of_race(&o, &plain);
	has(text, "             calls  hardirq  ext4_foo+0x1c [ext4]\n"
		  "                             asm_sysvec_apic_timer_interrupt+0x16\n"
		  "                    task     ext4_bar+0x9 [ext4]\n"
		  "                             entry_SYSCALL_64_after_hwframe+0x64\n"
		  "                             from a system call\n");
	assert_null(strstr(text, "?"));
	assert_null(strstr(text, "on the stack:"));
	free(text);
}

static void guessed_calls_are_marked(void **state)
{
	struct observation o;
	struct guest_calls *calls = &o.sides[1].calls;
	char *text;

	(void)state;
	sample_observation(&o, 0);
	calls->guessed = true;
	calls->why = UNWIND_NO_RULE;
	calls->frames[2].reliable = calls->frames[3].reliable = false;
	calls->frames[2].symbol.name[0] = '\0';
	text = text_of_race(&o, &plain);
	has(text, "                    task     ? 0xffffffff81000109\n"
		  "                             ? entry_SYSCALL_64_after_hwframe+0x64\n"
		  "                             from a system call\n"
		  "                             (guessed from ? on: the kernel has no unwind rule for an address)\n");
	free(text);
}

static void calls_that_end_somewhere_say_why(void **state)
{
	struct observation o;
	struct guest_calls *calls = &o.sides[1].calls;
	char *text;

	(void)state;
	sample_observation(&o, 0);
	calls->origin = GUEST_ORIGIN_UNKNOWN;
	calls->why = calls->end = UNWIND_NO_MEMORY;
	text = text_of_race(&o, &plain);
	has(text, "                             (not followed further: it leads to memory that is no captured stack)\n");
	free(text);
}

static void every_end_has_its_words(void **state)
{
	struct guest_calls calls = {.count = 1};

	(void)state;
	for (int why = UNWIND_USER; why <= UNWIND_TOO_DEEP; why++) {
		calls.why = (enum unwind_end)why;
		assert_string_not_equal(trouble_phrase(&calls), "unknown");
	}
	assert_null(origin_word(GUEST_ORIGIN_UNKNOWN));
	for (int origin = GUEST_ORIGIN_SYSCALL; origin <= GUEST_ORIGIN_IDLE; origin++) {
		calls.origin = (enum guest_origin)origin;
		assert_non_null(origin_word(calls.origin));
		assert_null(trouble_phrase(&calls));
	}
	assert_null(origin_word((enum guest_origin)(GUEST_ORIGIN_IDLE + 1)));
}

static void stack_words_get_names(void **state)
{
	unsigned asked = 0;
	const struct text_style style = {.symbol_at = name_one, .ctx = &asked};
	struct observation o;
	char *text;

	(void)state;
	sample_observation(&o, 0);
	/* A pointer to a function is no return address. */
	memcpy(o.sides[1].stack + 16, &o.sides[1].symbol.addr, sizeof(uint64_t));
	for (int i = 0; i < 2; i++)
		o.sides[i].calls = (struct guest_calls){.frames = o.sides[i].calls.frames, .count = 1, .why = UNWIND_NO_RULE};
	text = text_of_race(&o, &style);
	has(text, "(not followed further: the kernel has no unwind rule for an address)\n");
	has(text, "on the stack:  generic_bar+0x33\n");
	/* The words that can be text; not the others of each side. */
	assert_int_equal(asked, 3);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_by_context),
		cmocka_unit_test(guessed_calls_are_marked),
		cmocka_unit_test(calls_that_end_somewhere_say_why),
		cmocka_unit_test(every_end_has_its_words),
		cmocka_unit_test(stack_words_get_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
