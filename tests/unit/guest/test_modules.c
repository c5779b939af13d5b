// SPDX-License-Identifier: GPL-2.0-or-later
/* A module of a made-up guest is loaded and unloaded, and the poller's callbacks are told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "hv/guest/linux_guest.h"
#include "tests/unit/target/fake_target.h"
#include "tests/unit/symbols/btf_maker.h"

#define HEAD 0xffffffff82b00000ull
#define HEAP 0xffffffffc0100000ull
#define TEXT 0xffffffffc0200000ull

enum { STATE = 0, LIST = 8, NAME = 24, CORE_BASE = 80, CORE_LEN = 88, INIT_BASE = 96, STRUCT_SIZE = 128, ROOM = 2 };

struct world {
	struct fake_target *ft;
	struct guest *g;
	uint8_t head[16], heap[ROOM * STRUCT_SIZE];
	char said[64]; /* the callbacks so far: + for loaded, - for gone */
	uint64_t base; /* of the module that came last */
	unsigned reads;
	unsigned cancel_at;	/* the polls are cancelled in this read; 0: never */
	unsigned going_at;	/* in this read, a CPU is at free_module() for the module at place 0; 0: never */
	unsigned freed_at_once; /* and for this many others */
	bool slow;		/* the first read of a poll takes longer than one poll goes on adding modules */
};

static void put(uint8_t *at, uint64_t v)
{
	memcpy(at, &v, sizeof(v));
}

static int read_world(void *ctx, uint64_t gva, void *buf, size_t len)
{
	const struct timespec long_time = {.tv_nsec = 400000000};
	const struct x86_regs regs = {.gpr[X86_RDI] = HEAP}, other = {.gpr[X86_RDI] = HEAP + STRUCT_SIZE};
	struct world *w = ctx;
	uint64_t base, size;

	if (++w->reads == w->cancel_at)
		guest_cancel_polls(w->g);
	if (w->reads == w->going_at)
		guest_module_going(w->g, &regs, &base, &size);
	for (unsigned i = 0; w->reads == w->going_at && i < w->freed_at_once; i++)
		guest_module_going(w->g, &other, &base, &size);
	if (w->slow)
		nanosleep(&long_time, NULL);
	w->slow = false;
	if (gva - HEAD < sizeof(w->head) && len <= sizeof(w->head) - (gva - HEAD))
		memcpy(buf, w->head + (gva - HEAD), len);
	else if (gva - HEAP < sizeof(w->heap) && len <= sizeof(w->heap) - (gva - HEAP))
		memcpy(buf, w->heap + (gva - HEAP), len);
	else
		return -1;
	return 0;
}

static void make_types(struct btf_maker *m)
{
	uint32_t u8 = make_int(m, "u8", 1), u32 = make_int(m, "u32", 4);
	uint32_t ptr = make_type(m, "", BTF_PTR, 0, 0), list, layout, name = make_array(m, u8, 56);

	list = make_list_head(m, ptr);
	layout = make_module_layout(m, ptr, u32);
	make_type(m, "module", BTF_STRUCT, 5, STRUCT_SIZE);
	make_field(m, "state", u32, STATE * 8);
	make_field(m, "list", list, LIST * 8);
	make_field(m, "name", name, NAME * 8);
	make_field(m, "core_layout", layout, CORE_BASE * 8);
	make_field(m, "init_layout", layout, INIT_BASE * 8);
}

static void unlist(struct world *w)
{
	put(w->head, HEAD);
	put(w->head + 8, HEAD);
}

/* Put one module into the list, with its struct at this place. */
static void list(struct world *w, unsigned place, uint32_t state)
{
	uint64_t links = HEAP + place * STRUCT_SIZE + LIST;
	uint8_t *m = w->heap + place * STRUCT_SIZE;

	put(w->head, links);
	put(w->head + 8, links);
	put(m + LIST, HEAD);
	put(m + LIST + 8, HEAD);
	memcpy(m + STATE, &state, sizeof(state));
	memcpy(m + NAME, "one", 4);
	put(m + CORE_BASE, TEXT);
	put(m + CORE_LEN, 0x1000);
}

static void say(struct world *w, const char *what)
{
	assert_true(strlen(w->said) + 2 < sizeof(w->said));
	strcat(w->said, what);
}

static void loaded(void *ctx, const struct guest_module *m)
{
	struct world *w = ctx;

	assert_string_equal(m->name, "one");
	/* Hooks are planted now. */
	assert_int_equal(guest_text_state(w->g, m->base), GUEST_TEXT_FINAL);
	w->base = m->base;
	say(w, "+");
}

static void gone(void *ctx, const struct guest_module *m)
{
	assert_string_equal(m->name, "one");
	say(ctx, "-");
}

static void poll_modules(struct world *w)
{
	const struct guest_module_events events = {.loaded = loaded, .gone = gone, .ctx = w};

	guest_poll_modules(w->g, &events);
}

static int setup(void **state)
{
	static const struct symbol symbols[] = {{.name = "modules", .addr = HEAD, .size = 16, .type = 'd'}};
	struct world *w = calloc(1, sizeof(*w));
	struct btf_maker types = {0};
	struct blob blob;

	*state = w;
	w->ft = fake_target_new(1, 1);
	w->g = w->ft ? guest_new(&w->ft->target, NULL, NULL, NULL) : NULL;
	if (!w->g)
		return -1;
	make_types(&types);
	blob = make_btf(&types);
	w->g->btf = btf_parse(blob.bytes, blob.len, NULL);
	blob_free(&blob);
	make_free(&types);
	w->g->symtab = symtab_from_array(symbols, 1, NULL);
	w->g->reader = (struct guest_reader){.read = read_world, .ctx = w};
	unlist(w);
	return w->g->btf && w->g->symtab ? 0 : -1;
}

static int teardown(void **state)
{
	struct world *w = *state;

	guest_free(w->g);
	fake_target_free(w->ft);
	free(w);
	return 0;
}

static void count_module(void *ctx, const struct guest_module *m)
{
	unsigned *count = ctx;

	(void)m;
	++*count;
}

static unsigned known(struct world *w)
{
	unsigned count = 0;

	guest_each_module(w->g, count_module, &count);
	return count;
}

static void test_comes_and_goes(void **state)
{
	struct world *w = *state;

	poll_modules(w);
	/* While its init function runs, the module is known, but not loaded, and its text must not be changed. */
	list(w, 0, MODULE_COMING);
	poll_modules(w);
	assert_int_equal(known(w), 1);
	assert_int_equal(guest_text_state(w->g, TEXT + 8), GUEST_TEXT_COMING);
	assert_string_equal(w->said, "");
	list(w, 0, MODULE_LIVE);
	poll_modules(w);
	assert_int_equal(known(w), 1);
	poll_modules(w);
	assert_string_equal(w->said, "+");
	list(w, 0, MODULE_GOING);
	poll_modules(w);
	assert_string_equal(w->said, "+-");
	assert_int_equal(guest_text_state(w->g, TEXT + 8), GUEST_TEXT_GOING);
	unlist(w);
	poll_modules(w);
	assert_string_equal(w->said, "+-");
}

/* A module whose init function fails is never reported, neither as loaded nor as gone. */
static void test_init_fails(void **state)
{
	struct world *w = *state;

	list(w, 0, MODULE_COMING);
	poll_modules(w);
	list(w, 0, MODULE_GOING);
	poll_modules(w);
	unlist(w);
	poll_modules(w);
	assert_int_equal(known(w), 0);
	assert_string_equal(w->said, "");
	/* The next try succeeds. */
	list(w, 0, MODULE_COMING);
	poll_modules(w);
	list(w, 0, MODULE_GOING);
	poll_modules(w);
	list(w, 0, MODULE_LIVE);
	poll_modules(w);
	assert_int_equal(known(w), 1);
	assert_string_equal(w->said, "+");
}

/*
 * Between two looks the module was freed and loaded again. This is known by the hook, because it was seen going, or by the
 * place of its struct.
 */
static void test_reloaded(void **state)
{
	struct world *w = *state;
	struct x86_regs regs = {.gpr[X86_RDI] = HEAP};
	uint64_t base, size;

	list(w, 0, MODULE_LIVE);
	poll_modules(w);
	assert_true(guest_module_going(w->g, &regs, &base, &size));
	assert_int_equal(base, TEXT);
	assert_int_equal(guest_text_state(w->g, TEXT + 8), GUEST_TEXT_GOING);
	poll_modules(w);
	assert_string_equal(w->said, "+-+");
	assert_int_equal(guest_text_state(w->g, TEXT + 8), GUEST_TEXT_FINAL);

	list(w, 0, MODULE_GOING);
	poll_modules(w);
	list(w, 0, MODULE_LIVE);
	poll_modules(w);
	assert_string_equal(w->said, "+-+-+");

	list(w, 1, MODULE_LIVE);
	poll_modules(w);
	assert_string_equal(w->said, "+-+-+-+");
	regs.gpr[X86_RDI] = HEAP + STRUCT_SIZE;
	assert_true(guest_module_going(w->g, &regs, &base, &size));
}

/* Put two modules into the list. The second one is at place 1 and has its own text. */
static void list_two(struct world *w)
{
	uint64_t first = HEAP + LIST, second = HEAP + STRUCT_SIZE + LIST;

	list(w, 1, MODULE_LIVE);
	list(w, 0, MODULE_LIVE);
	put(w->heap + LIST, second);
	put(w->heap + STRUCT_SIZE + LIST, HEAD);
	put(w->heap + STRUCT_SIZE + LIST + 8, first);
	put(w->heap + STRUCT_SIZE + CORE_BASE, TEXT + 0x10000);
	put(w->head + 8, second);
}

/* Poll, and in the read number `at` a CPU begins to free the module at place 0. */
static void poll_while_freed(struct world *w, unsigned at)
{
	w->reads = 0;
	w->going_at = at;
	poll_modules(w);
	w->going_at = 0;
}

/*
 * If a module is freed while a poll reads the list, which still has the module as live, the poll does not take it for a new one
 * in its place. The one that is reported here is another module, which comes at the same time.
 */
static void test_freed_during_a_poll(void **state)
{
	struct world *w = *state;

	for (unsigned at = 1; at == 1 || w->reads >= at - 1; at++) {
		unlist(w);
		poll_modules(w);
		list(w, 0, MODULE_LIVE);
		poll_modules(w);
		w->said[0] = '\0';
		list_two(w);
		poll_while_freed(w, at);
		assert_string_equal(w->said, "+");
	}
}

/* The module was listed as live, and its text may be gone by the time at which its entry is made. */
static void test_freed_before_it_is_known(void **state)
{
	struct world *w = *state;

	for (unsigned at = 1; at == 1 || w->reads >= at - 1; at++) {
		unlist(w);
		poll_modules(w);
		w->said[0] = '\0';
		list(w, 0, MODULE_LIVE);
		poll_while_freed(w, at);
		assert_string_equal(w->said, w->reads < at ? "+" : "");
	}
}

/* If more modules are freed during a poll than it can remember, it adds none, and the next poll does. */
static void test_many_are_freed(void **state)
{
	struct world *w = *state;

	list(w, 0, MODULE_LIVE);
	w->freed_at_once = FREED_KEPT;
	poll_while_freed(w, 1);
	assert_string_equal(w->said, "");
	poll_modules(w);
	assert_string_equal(w->said, "+");
}

/* If a module is freed while a poll finds that its init function has returned, the mark that the module is going is kept. */
static void test_freed_after_init(void **state)
{
	struct world *w = *state;

	for (unsigned at = 1; at == 1 || w->reads >= at - 1; at++) {
		unlist(w);
		poll_modules(w);
		list(w, 0, MODULE_COMING);
		poll_modules(w);
		list(w, 0, MODULE_LIVE);
		poll_while_freed(w, at);
		if (w->reads >= at)
			assert_int_equal(guest_text_state(w->g, TEXT + 8), GUEST_TEXT_GOING);
		w->said[0] = '\0';
	}
}

/* A module whose init function failed left its place to another one, all between two polls. */
static void test_another_in_its_place(void **state)
{
	struct world *w = *state;

	list(w, 0, MODULE_COMING);
	poll_modules(w);
	list(w, 1, MODULE_LIVE);
	poll_modules(w);
	assert_string_equal(w->said, "+");
	assert_int_equal(known(w), 1);
}

/* Loaded again in the same place, and seen before its init function has returned. */
static void test_reloaded_and_coming(void **state)
{
	struct world *w = *state;

	list(w, 0, MODULE_LIVE);
	poll_modules(w);
	list(w, 0, MODULE_COMING);
	poll_modules(w);
	assert_string_equal(w->said, "+-");
	assert_int_equal(guest_text_state(w->g, TEXT + 8), GUEST_TEXT_COMING);
	list(w, 0, MODULE_LIVE);
	poll_modules(w);
	assert_string_equal(w->said, "+-+");
}

/* If reading the modules takes longer than one poll may last, later polls add the rest, although the list no longer changes. */
static void test_takes_its_time(void **state)
{
	struct world *w = *state;

	list_two(w);
	w->slow = true;
	poll_modules(w);
	assert_string_equal(w->said, "+");
	/* The last one in the list was loaded first. The other one may call its functions. */
	assert_int_equal(w->base, TEXT + 0x10000);
	w->slow = true;
	poll_modules(w);
	assert_string_equal(w->said, "++");
	assert_int_equal(w->base, TEXT);
}

/* A poll that is cancelled at any point reads nothing more, and takes no module that it cannot read for gone. */
static void test_cancelled(void **state)
{
	struct world *w = *state;
	unsigned all;

	/* Count the reads that a poll needs to find that one module went and another one came. */
	list(w, 0, MODULE_LIVE);
	poll_modules(w);
	w->reads = 0;
	list(w, 1, MODULE_LIVE);
	poll_modules(w);
	assert_string_equal(w->said, "+-+");
	all = w->reads;
	assert_true(all > 4);
	for (unsigned at = 1; at < all; at++) {
		w->said[0] = '\0';
		list(w, at % 2 ? 0 : 1, MODULE_LIVE);
		w->reads = 0;
		w->cancel_at = at;
		poll_modules(w);
		assert_int_equal(w->reads, at);
		/* It may have found out that the one module went, and not that the other one came. */
		assert_null(strchr(w->said, '+'));
		/* The cancelled poll has lost nothing: the next poll finds the change. */
		atomic_store(&w->g->polls_cancelled, false);
		poll_modules(w);
		assert_string_equal(w->said, "-+");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_comes_and_goes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_init_fails, setup, teardown),
		cmocka_unit_test_setup_teardown(test_another_in_its_place, setup, teardown),
		cmocka_unit_test_setup_teardown(test_reloaded_and_coming, setup, teardown),
		cmocka_unit_test_setup_teardown(test_freed_during_a_poll, setup, teardown),
		cmocka_unit_test_setup_teardown(test_freed_before_it_is_known, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many_are_freed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_freed_after_init, setup, teardown),
		cmocka_unit_test_setup_teardown(test_reloaded, setup, teardown),
		cmocka_unit_test_setup_teardown(test_takes_its_time, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cancelled, setup, teardown),
	};

	return cmocka_run_group_tests_name("guest modules", tests, NULL, NULL);
}
