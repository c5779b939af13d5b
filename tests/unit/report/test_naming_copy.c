// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of copied data. The object gives the name if a string instruction copies, because the registers do not show how far it
 * has come. A CPU's copy of a variable gets its name from the CPU.
 */
#include "tests/unit/report/naming_rig.h"

/* ---- string instructions: only the object shows which member the copy has reached ---- */

struct copy_case {
	const char *shows, *function;
	uint8_t rw;
	const char *type; /* type of the object, if the guest knows it; NULL: the object is not known */
	uint64_t object, gva;
	uint32_t size;
	const char *path;
	bool guess;
	const char *owner; /* NULL: any */
	uint64_t offset;   /* where the owner is given, or 0: any */
};

#define NO_GUESS(path) (path), false
#define GUESS(path) (path), true
#define IN(offset) OBJECT, OBJECT + (offset)

static const struct copy_case copy_cases[] = {
	{"object: a pointer that is read", "copy", INSN_READ, "record", IN(AT_PARENT), 8, NO_GUESS("from->parent"),
	 "struct record", AT_PARENT},
	{"object: a word that is read", "copy", INSN_READ, "record", IN(AT_WORD), 4, NO_GUESS("from->word.whole"), NULL, 0},
	{"object: a word that is written", "copy", INSN_WRITE, "record", IN(AT_WORD), 4, NO_GUESS("to->word.whole"), NULL, 0},
	{"object: the first member", "copy", INSN_READ, "record", IN(0), 8, NO_GUESS("from->link.next"), NULL, 0},

	{"from the middle on: a pointer that is read", "copy_rest", INSN_READ, "record", IN(AT_PARENT), 8,
	 NO_GUESS("from->parent"), NULL, AT_PARENT},
	{"from the middle on: a word that is read", "copy_rest", INSN_READ, "record", IN(AT_WORD), 4,
	 NO_GUESS("from->word.whole"), NULL, 0},
	{"from the middle on: an element that is written", "copy_rest", INSN_WRITE, "record", IN(AT_VALUES + 8), 8,
	 NO_GUESS("to->values[1]"), NULL, 0},
	{"from the middle on: an object of another type", "copy_rest", INSN_WRITE, "outer", IN(AT_VALUES + 8), 8,
	 GUESS("to->word.whole"), NULL, 0},

	{"of a constant: a pointer", "copy_const", INSN_READ, "record", IN(AT_PARENT), 8, NO_GUESS("from->parent"),
	 "const struct record", 0},
	{"of a constant: an object of another type", "copy_const", INSN_READ, "outer", IN(AT_PARENT), 8,
	 GUESS("from->link.next"), NULL, 0},

	{"type: another", "copy", INSN_READ, "outer", IN(AT_PARENT), 8, GUESS("from->link.next"), NULL, 0},
	{"type: the beginning of it", "copy", INSN_READ, "recor", IN(AT_PARENT), 8, GUESS("from->link.next"), NULL, 0},
	{"type: more than it", "copy", INSN_READ, "records", IN(AT_PARENT), 8, GUESS("from->link.next"), NULL, 0},
	{"type: with the word struct", "copy", INSN_READ, "struct record", IN(AT_PARENT), 8, GUESS("from->link.next"), NULL, 0},
	{"type: none", "copy", INSN_READ, "", IN(AT_PARENT), 8, GUESS("from->link.next"), NULL, 0},

	{"no object", "copy", INSN_READ, NULL, IN(AT_PARENT), 8, GUESS("from->link.next"), NULL, 0},
	{"no object, but a type that is left over", "copy", INSN_READ, "record", 0, OBJECT + AT_PARENT, 8,
	 GUESS("from->link.next"), NULL, 0},

	{"outside of the object: before it", "copy", INSN_READ, "record", OBJECT, OBJECT - 8, 8, GUESS("from->link.next"), NULL,
	 0},
	{"outside of the object: behind it", "copy", INSN_READ, "record", IN(OBJECT_SIZE), 8, GUESS("from->link.next"), NULL,
	 0},
	{"outside of the object: elsewhere", "copy", INSN_READ, "record", OBJECT, ELSEWHERE, 8, GUESS("from->link.next"), NULL,
	 0},
};

static void test_copy(void **state)
{
	struct fixture *f = *state;
	unsigned side = f->row.side;
	const struct copy_case *c = f->row.copy;
	const struct datum_name *d;

	if (c->type) {
		set_object(f, c->type);
		f->race.first.memory.object = c->object;
	}
	set_copy_by(f, side, c->function, c->rw, c->gva, c->size);
	expect_name(f, side, DATUM_BY_REGISTER, c->path, c->guess);
	d = f->race.names->datum;
	if (c->owner)
		assert_string_equal(d[side].owner, c->owner);
	if (c->offset)
		assert_int_equal(d[side].offset, c->offset);
	assert_int_equal(d[!side].by, DATUM_UNNAMED);
}

/* The register may have either of two pointers of different types. A name by one type is then only a guess. */
static void test_copy_of_two_types_is_no_other_type(void **state)
{
	struct fixture *f = *state;
	const struct datum_name *d;

	set_object(f, "outer");
	set_copy_by(f, 0, "copy_as_another", INSN_READ, OBJECT + AT_PARENT, 8);
	d = name_side(f, 0);
	assert_true(d->guess || strcmp(d->owner, "struct outer") == 0);
}

/* ---- another CPU's copy of a variable, accessed through a pointer of unknown type ---- */

/* Let `side` access the copy of another CPU. If the other side runs on that CPU, its GS base gives the CPU's area. */
static void set_copy_of_another_cpu(struct fixture *f, unsigned side, bool other_known, const char *module,
				    const char *variable)
{
	struct guest_memory *m = &f->race.first.memory;
	struct race_side *here = &f->race.first.sides[side];
	uint64_t offset = sample_symbol(&f->sample, "percpu_data").addr, area = ELSEWHERE;

	set_side(f, side, "read_member", 0, area + offset + 4, 4);
	here->code_len = 0;
	here->regs.gs_base = area + 0x40000;
	*m = (struct guest_memory){.kind = GUEST_MEMORY_PER_CPU, .object = area + offset};
	strcpy(m->symbol.name, variable);
	strcpy(m->symbol.module, module);
	if (other_known)
		f->race.first.sides[!side] = (struct race_side){.kind = RACE_SIDE_CPU, .regs = {.gs_base = area}};
}

static void test_copy_of_another_cpu(void **state)
{
	struct fixture *f = *state;

	set_copy_of_another_cpu(f, f->row.side, true, "", "percpu_data");
	expect_name(f, f->row.side, DATUM_BY_VARIABLE, "percpu_data.counter", false);
}

static void test_copy_of_another_cpu_that_was_not_seen(void **state)
{
	struct fixture *f = *state;

	set_copy_of_another_cpu(f, f->row.side, false, "", "percpu_data");
	expect_name(f, f->row.side, DATUM_UNNAMED, "", false);
}

static void test_copy_of_another_cpu_of_no_such_variable(void **state)
{
	struct fixture *f = *state;

	set_copy_of_another_cpu(f, f->row.side, true, "", "percpu_dat");
	expect_name(f, f->row.side, DATUM_UNNAMED, "", false);
}

static void test_copy_of_another_cpu_of_another_module(void **state)
{
	struct fixture *f = *state;

	set_copy_of_another_cpu(f, f->row.side, true, "other", "percpu_data");
	expect_name(f, f->row.side, DATUM_UNNAMED, "", false);
}

/* Add a test for each row and each side. */
static void add_copies(struct CMUnitTest *next)
{
	static struct row rows[2 * COUNT(copy_cases)];
	static char names[2 * COUNT(copy_cases)][80];

	for (size_t i = 0; i < COUNT(rows); i++) {
		rows[i] = (struct row){.side = i % 2, .copy = &copy_cases[i / 2]};
		snprintf(names[i], sizeof(names[i]), "%s, %s side", rows[i].copy->shows, i % 2 ? "watched" : "sampled");
		next[i] = (struct CMUnitTest){names[i], test_copy, begin_race, end_race, &rows[i]};
	}
}

int main(void)
{
	const struct CMUnitTest alone[] = {
		TEST(test_copy_of_two_types_is_no_other_type),	   SIDES(test_copy_of_another_cpu),
		SIDES(test_copy_of_another_cpu_that_was_not_seen), SIDES(test_copy_of_another_cpu_of_no_such_variable),
		SIDES(test_copy_of_another_cpu_of_another_module),
	};
	struct CMUnitTest tests[COUNT(alone) + 2 * COUNT(copy_cases)];
	int failed;

	memcpy(tests, alone, sizeof(alone));
	add_copies(tests + COUNT(alone));
	failed = cmocka_run_group_tests_name("gcc", tests, setup_gcc, teardown);
	return failed + cmocka_run_group_tests_name("clang", tests, setup_clang, teardown);
}
