// SPDX-License-Identifier: GPL-2.0-or-later
/* A module has names while its init function runs. It is reported as loaded when the init function has returned. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "hv/guest/linux_guest.h"
#include "tests/unit/symbols/modules_world.h"
#include "tests/unit/target/fake_target.h"

/* The module whose init function runs is the second one of the list. */
#define COMING 1
#define CORE_FUNCTION (TEXT + 0x10010)
#define INIT_FUNCTION (TEXT + 0x80030)

struct guests {
	struct world *w;
	struct fake_target *ft;
	struct guest *g;
	unsigned loaded, gone;
};

/* Give the table's first two functions these addresses. */
static void move_functions(struct world *w)
{
	static const uint64_t to[] = {CORE_FUNCTION, INIT_FUNCTION};
	const size_t first = KALLSYMS_SIZE + sizeof(Elf64_Sym);

	for (unsigned i = 0; i < 2; i++)
		put(w->tables.bytes + first + i * sizeof(Elf64_Sym) + offsetof(Elf64_Sym, st_value), to[i]);
}

static int setup(void **state)
{
	struct guests *s = calloc(1, sizeof(*s));

	*state = s;
	s->w = make_world(false);
	s->ft = fake_target_new(1, 1);
	s->g = s->ft ? guest_new(&s->ft->target, NULL, NULL, NULL) : NULL;
	if (!s->g)
		return -1;
	move_functions(s->w);
	s->g->btf = s->w->btf;
	s->g->symtab = s->w->kernel;
	s->g->reader = s->w->reader;
	return 0;
}

static int teardown(void **state)
{
	struct guests *s = *state;

	/* The guest owns both. */
	s->w->btf = NULL;
	s->w->kernel = NULL;
	guest_free(s->g);
	fake_target_free(s->ft);
	free_world(s->w);
	free(s);
	return 0;
}

static void on_loaded(void *ctx, const struct guest_module *m)
{
	struct guests *s = ctx;

	(void)m;
	s->loaded++;
}

static void on_gone(void *ctx, const struct guest_module *m)
{
	struct guests *s = ctx;

	(void)m;
	s->gone++;
}

static bool poll_modules(struct guests *s)
{
	const struct guest_module_events events = {.loaded = on_loaded, .gone = on_gone, .ctx = s};

	return guest_poll_modules(s->g, &events);
}

static void expect_name(struct guests *s, uint64_t addr, const char *module, const char *name)
{
	struct guest_symbol symbol = {0};

	assert_int_equal(guest_symbol_at(s->g, addr, &symbol), 0);
	assert_string_equal(symbol.name, name);
	assert_string_equal(symbol.module, module);
}

static void set_state(struct guests *s, enum module_state state)
{
	const uint32_t value = state;

	memcpy(module_at(s->w, COMING) + STATE, &value, sizeof(value));
}

/* Functions that the kernel frees when the init function has returned have no names: other text may be there at any moment. */
static void names_before_and_after(void **state)
{
	struct guests *s = *state;
	struct guest_symbol symbol;

	assert_true(poll_modules(s));
	assert_int_equal(s->loaded, MODULES - 1);
	expect_name(s, CORE_FUNCTION, "second", "race_writer");
	assert_int_equal(guest_text_state(s->g, CORE_FUNCTION), GUEST_TEXT_COMING);
	assert_int_equal(guest_symbol_at(s->g, INIT_FUNCTION, &symbol), -1);
	set_state(s, MODULE_LIVE);
	assert_true(poll_modules(s));
	assert_int_equal(s->loaded, MODULES);
	expect_name(s, CORE_FUNCTION, "second", "race_writer");
	assert_int_equal(guest_text_state(s->g, CORE_FUNCTION), GUEST_TEXT_FINAL);
	assert_int_equal(guest_symbol_at(s->g, INIT_FUNCTION, &symbol), -1);
	assert_int_equal(s->gone, 0);
}

static void never_loaded(void **state)
{
	struct guests *s = *state;
	struct guest_symbol symbol;

	assert_true(poll_modules(s));
	expect_name(s, CORE_FUNCTION, "second", "race_writer");
	/* The init function fails, and the list has the other two modules only. */
	put(module_at(s->w, 0) + LIST, list_gva(2));
	put(module_at(s->w, 2) + LIST + 8, list_gva(0));
	assert_true(poll_modules(s));
	assert_int_equal(guest_symbol_at(s->g, CORE_FUNCTION, &symbol), -1);
	assert_int_equal(s->loaded, MODULES - 1);
	assert_int_equal(s->gone, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(names_before_and_after, setup, teardown),
		cmocka_unit_test_setup_teardown(never_loaded, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
