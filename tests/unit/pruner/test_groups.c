// SPDX-License-Identifier: GPL-2.0-or-later
/* Which races are one group, which race leads it, and what its id is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pruner/groups.h"
#include "symbols/insn/insn.h"

/* A race of two functions of the kernel. Without `variable` its datum has no name, and without `place` no place. */
struct made {
	const char *function[2];
	unsigned offset[2];
	uint8_t rw[2];
	const char *variable, *member, *place;
	enum verdict_class class;
	int rank;
	bool section;
	const char *suppressed;
};

static struct race *race_of(const struct made *m)
{
	struct race *race = race_new();

	assert_non_null(race);
	for (unsigned i = 0; i < 2; i++) {
		struct race_side *side = &race->first.sides[i];

		side->kind = RACE_SIDE_CPU;
		snprintf(side->symbol.name, sizeof(side->symbol.name), "%s", m->function[i]);
		snprintf(race->site[i], sizeof(race->site[i]), "%s+0x%x", m->function[i], m->offset[i]);
		race->rw[i] = m->rw[i] ? m->rw[i] : INSN_WRITE;
	}
	race_id(race->site[0], race->site[1], race->id);
	race->count = 10;
	if (m->place)
		snprintf(race->first.memory.symbol.name, sizeof(race->first.memory.symbol.name), "%s", m->place);
	if (!m->variable)
		return race;
	race->names = calloc(1, sizeof(*race->names));
	assert_non_null(race->names);
	race->names->datum[0].by = DATUM_BY_VARIABLE;
	snprintf(race->names->datum[0].variable, sizeof(race->names->datum[0].variable), "%s", m->variable);
	snprintf(race->names->datum[0].member, sizeof(race->names->datum[0].member), "%s", m->member ? m->member : "");
	return race;
}

/* Verdicts on some races, and their groups. */
struct fixture {
	struct judged list[8];
	struct verdicts verdicts;
	struct groups groups;
};

static void setup(struct fixture *f, const struct made *made, size_t count)
{
	struct err err = {0};

	*f = (struct fixture){0};
	for (size_t i = 0; i < count; i++) {
		f->list[i] = (struct judged){.race = race_of(&made[i]), .found = i, .suppressed = made[i].suppressed};
		f->list[i].verdict = (struct verdict){.class = made[i].class, .rank = made[i].rank, .section = made[i].section};
	}
	f->verdicts = (struct verdicts){f->list, count};
	assert_int_equal(groups_find(&f->groups, &f->verdicts, &err), 0);
}

static void teardown(struct fixture *f)
{
	for (size_t i = 0; i < f->verdicts.count; i++)
		race_free((struct race *)f->list[i].race);
	groups_free(&f->groups);
}

#define SETUP(f, ...) \
	setup(f, (const struct made[]){__VA_ARGS__}, sizeof((const struct made[]){__VA_ARGS__}) / sizeof(struct made))

/* Returns the number of groups that two races make. */
static size_t groups_of_two(const struct made *a, const struct made *b)
{
	struct fixture f;
	size_t n;

	SETUP(&f, *a, *b);
	n = f.groups.count;
	teardown(&f);
	return n;
}

static const struct made plain = {{"f", "g"}, {4, 8}, .variable = "nodes", .member = "count"};

static void kinds_and_offsets_do_not_count(void **state)
{
	struct made other = plain;

	(void)state;
	other.offset[0] = 12;
	other.rw[1] = INSN_READ;
	assert_int_equal(groups_of_two(&plain, &other), 1);
	other = (struct made){{"g.isra.0", "f"}, {8, 4}, .variable = "nodes", .member = "count"};
	assert_int_equal(groups_of_two(&plain, &other), 1);
}

static void another_function_or_datum_is_another_group(void **state)
{
	struct made other = plain;

	(void)state;
	other.function[1] = "h";
	assert_int_equal(groups_of_two(&plain, &other), 2);
	other = plain;
	other.member = "first";
	assert_int_equal(groups_of_two(&plain, &other), 2);
	other = plain;
	other.variable = "edges";
	assert_int_equal(groups_of_two(&plain, &other), 2);
}

static void a_place_is_a_datum_too(void **state)
{
	struct made a = {{"f", "g"}, {4, 8}, .place = "nodes"}, b = {{"f", "g"}, {4, 12}, .rw = {INSN_READ}, .place = "nodes"};

	(void)state;
	assert_int_equal(groups_of_two(&a, &b), 1);
	b.place = "edges";
	assert_int_equal(groups_of_two(&a, &b), 2);
}

static void without_a_datum_the_identity_counts(void **state)
{
	struct made a = {.function = {"f", "g"}, .offset = {4, 8}}, b = {.function = {"f", "g"}, .offset = {4, 12}},
		    c = {{"f", "g"}, {4, 12}, .rw = {INSN_READ}};

	(void)state;
	assert_int_equal(groups_of_two(&a, &b), 1);
	assert_int_equal(groups_of_two(&a, &c), 2);
}

static void a_section_of_a_sequence_count_is_one_group(void **state)
{
	struct made a = {{"f", "g"}, {4, 8}, .variable = "clock", .member = "seconds", .section = true},
		    b = {{"f", "g"}, {12, 16}, .variable = "clock", .member = "shift", .section = true};

	(void)state;
	assert_int_equal(groups_of_two(&a, &b), 1);
	b.section = false;
	assert_int_equal(groups_of_two(&a, &b), 2);
	b.section = true;
	b.variable = "other";
	assert_int_equal(groups_of_two(&a, &b), 2);
	b.variable = "clock";
	b.function[0] = "h";
	assert_int_equal(groups_of_two(&a, &b), 2);
}

/* Whether its writer's code shows a section, which another compiler may change, does not matter for a variable of one word. */
static void a_word_needs_no_section(void **state)
{
	struct made a = {{"f", "g"}, {4, 8}, .variable = "jiffies", .place = "jiffies", .section = true}, b = a;

	(void)state;
	b.section = false;
	b.offset[0] = 12;
	assert_int_equal(groups_of_two(&a, &b), 1);
}

static void the_most_harmful_race_leads(void **state)
{
	struct fixture f;
	struct made made[] = {plain, plain, plain, plain};

	(void)state;
	made[0].class = VERDICT_BENIGN;
	made[0].rank = 12;
	made[1].rank = 70;
	made[2].rank = 80;
	made[2].offset[0] = 20;
	made[3].rank = 99;
	made[3].suppressed = "known";
	SETUP(&f, made[0], made[1], made[2], made[3]);
	assert_int_equal(f.groups.count, 1);
	assert_ptr_equal(f.groups.list[0].lead, &f.list[2]);
	assert_int_equal(f.groups.list[0].members[0], 2);
	assert_int_equal(f.groups.list[0].members[1], 1);
	assert_int_equal(f.groups.list[0].members[2], 0);
	assert_int_equal(f.groups.list[0].members[3], 3);
	assert_int_equal(f.groups.list[0].seen, 40);
	assert_ptr_equal(groups_of(&f.groups, 3), &f.groups.list[0]);
	teardown(&f);
}

static void likely_bugs_come_first(void **state)
{
	struct fixture f;
	struct made made[] = {plain, plain, plain};
	char *said = NULL;
	size_t len;
	FILE *out = open_memstream(&said, &len);

	(void)state;
	assert_non_null(out);
	made[0].class = VERDICT_BENIGN;
	made[0].function[0] = "a";
	made[1].rank = 60;
	made[1].function[0] = "b";
	made[2].rank = 61;
	made[2].function[0] = "c";
	SETUP(&f, made[0], made[1], made[2], made[2]);
	assert_ptr_equal(f.groups.list[0].lead, &f.list[0]);
	groups_sort(&f.groups);
	assert_ptr_equal(f.groups.list[0].lead, &f.list[2]);
	assert_ptr_equal(f.groups.list[2].lead, &f.list[0]);
	assert_ptr_equal(groups_of(&f.groups, 0), &f.groups.list[2]);
	groups_sum(out, &f.groups);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(said, "2 likely bugs (3 races), 0 unclear, 0 synchronisation, 1 benign\n");
	free(said);
	teardown(&f);
}

static void the_alias_is_the_id_without_debug_files(void **state)
{
	struct fixture named, bare;
	struct made a = plain, b = {{"f", "g"}, {4, 8}, .place = "nodes"};

	(void)state;
	a.place = "nodes";
	SETUP(&named, a);
	SETUP(&bare, b);
	assert_string_equal(named.groups.list[0].alias, bare.groups.list[0].id);
	assert_string_equal(bare.groups.list[0].alias, "");
	assert_string_equal(named.groups.list[0].text, "f <-> g on nodes.count");
	assert_string_equal(bare.groups.list[0].text, "f <-> g at nodes+0");
	teardown(&named);
	teardown(&bare);
}

static void no_races_make_no_groups(void **state)
{
	struct groups groups;
	const struct verdicts none = {0};

	(void)state;
	assert_int_equal(groups_find(&groups, &none, NULL), 0);
	assert_int_equal(groups.count, 0);
	groups_free(&groups);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_and_offsets_do_not_count),
		cmocka_unit_test(another_function_or_datum_is_another_group),
		cmocka_unit_test(a_place_is_a_datum_too),
		cmocka_unit_test(without_a_datum_the_identity_counts),
		cmocka_unit_test(a_section_of_a_sequence_count_is_one_group),
		cmocka_unit_test(a_word_needs_no_section),
		cmocka_unit_test(the_most_harmful_race_leads),
		cmocka_unit_test(likely_bugs_come_first),
		cmocka_unit_test(the_alias_is_the_id_without_debug_files),
		cmocka_unit_test(no_races_make_no_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
