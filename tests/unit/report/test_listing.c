// SPDX-License-Identifier: GPL-2.0-or-later
/* The nearby instructions of an access: which the report lists, in which syntax, and with which source lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "hv/report/listing.h"

#define BASE 0xffffffff81000100ull

/*
 * The function begins at BASE:
 *   +0x0   push   %rbx            +0xd   add    $1,%eax
 *   +0x1   mov    %rdi,%rbx       +0x10  jne    +0x1
 *   +0x4   call   spin_lock       +0x12  mov    $0xffffffff82345678,%rdi
 *   +0x9   mov    0x10(%rbx),%eax +0x19  ret, then int3
 */
static const uint8_t code[] = {0x53, 0x48, 0x89, 0xfb, 0xe8, 0xf7, 0x0f, 0x00, 0x00, 0x8b, 0x43, 0x10, 0x90, 0x83,
			       0xc0, 0x01, 0x75, 0xef, 0x48, 0xc7, 0xc7, 0x78, 0x56, 0x34, 0x82, 0xc3, 0xcc, 0xcc};
#define ACCESS 0x9

struct fixture {
	struct race race;
	struct race_side_room room;
	struct sources *sources;
	struct listing_maker *maker;
	struct listing listing;
	char folder[64], path[96];
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct race_side *side;
	FILE *file;

	assert_non_null(f);
	*state = f;
	side = &f->race.first.sides[0];
	*side = (struct race_side){.kind = RACE_SIDE_CPU,
				   .pc = BASE + ACCESS,
				   .code_gva = BASE,
				   .code_len = sizeof(code),
				   .callee_count = 1,
				   .symbol = {.name = "foo", .addr = BASE, .size = 0x1a}};
	race_side_use_room(side, &f->room);
	memcpy(side->code, code, sizeof(code));
	side->callees[0] = (struct race_callee){.at = 4, .name = "spin_lock"};
	strcpy(f->folder, "/tmp/test_report_listing.XXXXXX");
	assert_non_null(mkdtemp(f->folder));
	snprintf(f->path, sizeof(f->path), "%s/a.c", f->folder);
	file = fopen(f->path, "w");
	assert_non_null(file);
	assert_true(fputs("int foo(struct a *a)\n{\n\tspin_lock(&a->lock);\n\treturn\ta->count\x1b + 1;  \n", file) >= 0);
	assert_int_equal(fclose(file), 0);
	f->sources = sources_new(NULL, NULL);
	assert_non_null(f->sources);
	assert_int_equal(sources_add(f->sources, f->folder, NULL), 0);
	f->maker = listing_maker_new(f->sources, NULL);
	assert_non_null(f->maker);
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	listing_maker_free(f->maker);
	sources_free(f->sources);
	race_names_free(f->race.names);
	unlink(f->path);
	rmdir(f->folder);
	free(f);
	return 0;
}

static const struct listing *list(struct fixture *f)
{
	listing_make(f->maker, &f->race, 0, &f->listing);
	return &f->listing;
}

static void is(const struct listing_line *line, const char *place, const char *text)
{
	assert_string_equal(line->place, place);
	assert_string_equal(line->text, text);
}

static void test_instructions(void **state)
{
	const struct listing *l = list(*state);

	assert_int_equal(l->count, 9);
	assert_true(l->access_known);
	is(&l->lines[0], "+0x0", "pushq  %rbx");
	is(&l->lines[1], "+0x1", "movq   %rdi, %rbx");
	is(&l->lines[2], "+0x4", "callq  spin_lock");
	is(&l->lines[3], "+0x9", "movl   0x10(%rbx), %eax");
	is(&l->lines[6], "+0x10", "jne    foo+0x1");
	is(&l->lines[7], "+0x12", "movq   $0xffffffff82345678, %rdi");
	/* The padding after the last instruction is no code. */
	is(&l->lines[8], "+0x19", "retq");
	for (unsigned i = 0; i < l->count; i++)
		assert_int_equal(l->lines[i].access, i == 3);
}

static void test_only_nearby_instructions(void **state)
{
	struct fixture *f = *state;
	struct race_side *side = &f->race.first.sides[0];
	const struct listing *l;

	side->code_len = side->symbol.size = 64;
	memset(side->code, 0x90, 64);
	side->pc = BASE + 30;
	l = list(f);
	assert_int_equal(l->count, NEARBY_MAX);
	is(&l->lines[0], "+0x16", "nop");
	assert_true(l->lines[NEARBY_BEFORE].access);
	is(&l->lines[NEARBY_BEFORE], "+0x1e", "nop");
	is(&l->lines[NEARBY_MAX - 1], "+0x23", "nop");
}

/* The side's instruction is not known. The side stopped before the instruction at RIP. */
static void test_access_not_known(void **state)
{
	struct fixture *f = *state;
	const struct listing *l;

	f->race.first.sides[0].pc = 0;
	f->race.first.sides[0].regs.rip = BASE + 0xc;
	l = list(f);
	assert_false(l->access_known);
	assert_true(l->lines[4].access);
	is(&l->lines[4], "+0xc", "nop");
}

/* Old versions kept code from the middle of an instruction on. */
static void test_code_that_begins_within_an_instruction(void **state)
{
	struct fixture *f = *state;
	struct race_side *side = &f->race.first.sides[0];
	const struct listing *l;

	side->code_gva += 6;
	side->code_len -= 6;
	memmove(side->code, side->code + 6, side->code_len);
	side->callee_count = 0;
	l = list(f);
	assert_true(l->count > 4);
	for (unsigned i = 0; i < l->count; i++)
		assert_int_equal(l->lines[i].access, strcmp(l->lines[i].place, "+0x9") == 0);
}

static void test_no_symbol(void **state)
{
	struct fixture *f = *state;
	const struct listing *l;

	f->race.first.sides[0].symbol = (struct guest_symbol){0};
	l = list(f);
	is(&l->lines[6], "ffffffff81000110", "jne    0xffffffff81000101");
}

static void test_no_code(void **state)
{
	struct fixture *f = *state;

	f->race.first.sides[0].code_len = ACCESS;
	assert_int_equal(list(f)->count, 0);
	f->race.first.sides[0].kind = RACE_SIDE_UNSEEN;
	assert_int_equal(list(f)->count, 0);
}

static void test_names_are_cleaned(void **state)
{
	struct fixture *f = *state;
	const struct listing *l;

	strcpy(f->race.first.sides[0].callees[0].name, "spin\x1b[2J");
	strcpy(f->race.first.sides[0].symbol.name, "f\noo");
	l = list(f);
	is(&l->lines[2], "+0x4", "callq  spin\\x1b[2J");
	is(&l->lines[6], "+0x10", "jne    f\\x0aoo+0x1");
}

/* ---- source lines ---- */

static struct race_names *name(struct fixture *f)
{
	f->race.names = calloc(1, sizeof(*f->race.names));
	assert_non_null(f->race.names);
	return f->race.names;
}

static void test_source_lines(void **state)
{
	struct fixture *f = *state;
	struct race_names *names = name(f);
	const struct listing *l;

	assert_int_equal(race_names_add_code(names, 0, 4, "a.c", 3, NULL), 0);
	assert_int_equal(race_names_add_code(names, 0, 9, "a.c", 4, NULL), 0);
	assert_int_equal(race_names_add_code(names, 0, 0xc, "b.c", 4, NULL), 0);
	assert_int_equal(race_names_add_code(names, 0, 0xd, "b.c", 4, NULL), 0);
	assert_int_equal(race_names_add_code(names, 1, 0x10, "a.c", 4, NULL), 0);
	l = list(f);
	assert_int_equal(l->lines[1].line, 0);
	assert_string_equal(l->lines[2].source, "spin_lock(&a->lock);");
	assert_int_equal(l->lines[3].line, 4);
	assert_string_equal(l->lines[3].file, "a.c");
	assert_string_equal(l->lines[3].source, "return a->count\\x1b + 1;");
	assert_false(l->lines[3].same_line);
	/* Debug files name this line, but the source file is not available. */
	assert_string_equal(l->lines[4].file, "b.c");
	assert_string_equal(l->lines[4].source, "");
	assert_false(l->lines[4].same_line);
	assert_true(l->lines[5].same_line);
	/* The other side's line. */
	assert_int_equal(l->lines[6].line, 0);
}

/* A report whose names come from another host has only the source line of the access. */
static void test_source_line_of_the_access_alone(void **state)
{
	struct fixture *f = *state;
	struct source_line *line = race_names_add(name(f), NULL);
	const struct listing *l;

	assert_non_null(line);
	line->line = 4;
	strcpy(line->file, "a.c");
	l = list(f);
	for (unsigned i = 0; i < l->count; i++)
		assert_int_equal(l->lines[i].line, i == 3 ? 4 : 0);
	assert_string_equal(l->lines[3].source, "return a->count\\x1b + 1;");
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_instructions),
		T(test_only_nearby_instructions),
		T(test_access_not_known),
		T(test_code_that_begins_within_an_instruction),
		T(test_no_symbol),
		T(test_no_code),
		T(test_names_are_cleaned),
		T(test_source_lines),
		T(test_source_line_of_the_access_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
