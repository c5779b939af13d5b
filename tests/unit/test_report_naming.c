// SPDX-License-Identifier: GPL-2.0-or-later
/* What the memory raced on is called: by its variable, by the pointer an access went through, or by its object as well. */
#include "tests/unit/dwarf_sample.h"

#include "hv/report/naming/naming.h"

#define SLIDE 0x1c00000ull
#define OBJECT 0xffff888012345680ull
#define OBJECT_SIZE 64
#define ELSEWHERE 0xffff888054321000ull

/* In struct record, */
#define AT_WORD 16
#define AT_PARENT 24
#define AT_VALUES 32
/* in struct outer: in[1].b[2]. */
#define AT_NUMBER 64

struct fixture {
	struct sample sample;
	struct debug_images *images;
	struct insn_decoder *decoder;
	struct naming naming;
	uint8_t id[32];
	struct race race;
};

static void note(void *ctx, const char *line)
{
	(void)ctx;
	fail_msg("%s", line);
}

static int setup(void **state, const char *compiler)
{
	struct fixture *f = calloc(1, sizeof(*f));
	const struct debug_images_sink sink = {.note = note};
	const uint8_t *id;

	assert_non_null(f);
	sample_build(&f->sample, compiler, "-gdwarf-5 " SAMPLE_LINKED);
	f->naming = (struct naming){.slide = SLIDE, .build_id = f->id, .build_id_len = sample_build_id(&f->sample, &id)};
	assert_in_range(f->naming.build_id_len, 1, sizeof(f->id));
	memcpy(f->id, id, f->naming.build_id_len);
	f->naming.images = f->images = debug_images_new(&sink, NULL);
	f->naming.decoder = f->decoder = insn_decoder_new();
	assert_true(f->images && f->decoder);
	assert_int_equal(debug_images_add(f->images, f->sample.path, NULL), 0);
	*state = f;
	return 0;
}

static int setup_gcc(void **state)
{
	return setup(state, "gcc");
}

static int setup_clang(void **state)
{
	return setup(state, "clang");
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	insn_decoder_free(f->decoder);
	debug_images_free(f->images);
	sample_free(&f->sample);
	free(f);
	return 0;
}

/* The tests of a group share one sample: to compile it takes longest. */
static int forget_race(void **state)
{
	struct fixture *f = *state;

	race_names_free(f->race.names);
	memset(&f->race, 0, sizeof(f->race));
	return 0;
}

/* The function's `nth` instruction that accesses memory; its address is the run-time one. */
static struct insn find_access(const struct fixture *f, const char *function, unsigned nth, const uint8_t *code)
{
	struct place p = sample_symbol(&f->sample, function);
	struct insn i;

	for (uint64_t at = 0; at < p.size; at += i.len) {
		assert_true(insn_decode(f->decoder, code + at, p.size - at, p.addr + SLIDE + at, &i));
		if (i.nmem && !nth--)
			return i;
	}
	fail_msg("%s has too few accesses", function);
	return (struct insn){0};
}

/* A side whose code is that access. Its registers are left to the test, which gets the instruction to know them. */
static struct insn set_side(struct fixture *f, unsigned which, const char *function, unsigned nth, uint64_t gva, uint32_t size)
{
	struct race_side *side = &f->race.first.sides[which];
	struct place p = sample_symbol(&f->sample, function);
	const uint8_t *code;
	struct insn i;
	size_t len;

	code = sample_section(&f->sample, p.section, &len);
	assert_non_null(code);
	i = find_access(f, function, nth, code + p.offset);
	*side = (struct race_side){
		.known = true, .rw = INSN_READ, .pc = i.addr, .gva = gva, .size = size, .code_gva = p.addr + SLIDE};
	assert_in_range(p.size, 1, sizeof(side->code));
	side->code_len = (uint32_t)p.size;
	memcpy(side->code, code + p.offset, p.size);
	return i;
}

/* The copy has come to the access, so that its registers tell nothing of how far it is from where they began. */
static void set_copy_by(struct fixture *f, unsigned which, const char *function, uint8_t rw, uint64_t gva, uint32_t size)
{
	struct insn i = set_side(f, which, function, 0, gva, size);
	struct race_side *side = &f->race.first.sides[which];

	assert_true(i.flags & INSN_STRING);
	side->rw = rw;
	side->regs.gpr[X86_RSI] = side->regs.gpr[X86_RDI] = gva;
}

static void set_copy(struct fixture *f, unsigned which, uint8_t rw, uint64_t gva, uint32_t size)
{
	set_copy_by(f, which, "copy", rw, gva, size);
}

static void set_object(struct fixture *f, const char *type)
{
	f->race.first.memory = (struct guest_memory){
		.kind = GUEST_MEMORY_SLAB, .cpu = -1, .cache = "records", .object = OBJECT, .object_size = OBJECT_SIZE};
	snprintf(f->race.first.memory.type, sizeof(f->race.first.memory.type), "%s", type);
}

static const struct datum_name *name_side(struct fixture *f, unsigned which)
{
	struct err err = {0};

	if (naming_race(&f->naming, &f->race, &err))
		fail_msg("%s", err.text);
	return &f->race.names->datum[which];
}

static void expect_name(struct fixture *f, unsigned which, enum datum_by by, const char *path, bool guess)
{
	const struct datum_name *d = name_side(f, which);

	assert_int_equal(d->by, by);
	assert_string_equal(d->path, path);
	assert_int_equal(d->guess, guess);
}

static void test_copy_is_named_by_object(void **state)
{
	struct fixture *f = *state;

	for (unsigned which = 0; which < 2; which++) {
		forget_race(state);
		set_object(f, "record");
		set_copy(f, which, INSN_READ, OBJECT + AT_PARENT, 8);
		expect_name(f, which, DATUM_BY_REGISTER, "from->parent", false);
		assert_string_equal(f->race.names->datum[which].owner, "struct record");
		assert_int_equal(f->race.names->datum[which].offset, AT_PARENT);
		assert_int_equal(f->race.names->datum[!which].by, DATUM_UNNAMED);
		set_copy(f, which, INSN_READ, OBJECT + AT_WORD, 4);
		expect_name(f, which, DATUM_BY_REGISTER, "from->word.whole", false);
		set_copy(f, which, INSN_WRITE, OBJECT + AT_WORD, 4);
		expect_name(f, which, DATUM_BY_REGISTER, "to->word.whole", false);
		set_copy(f, which, INSN_READ, OBJECT, 8);
		expect_name(f, which, DATUM_BY_REGISTER, "from->link.next", false);
	}
}

static void test_copy_from_inside_of_object(void **state)
{
	struct fixture *f = *state;

	for (unsigned which = 0; which < 2; which++) {
		forget_race(state);
		set_object(f, "record");
		set_copy_by(f, which, "copy_rest", INSN_READ, OBJECT + AT_PARENT, 8);
		expect_name(f, which, DATUM_BY_REGISTER, "from->parent", false);
		assert_int_equal(f->race.names->datum[which].offset, AT_PARENT);
		set_copy_by(f, which, "copy_rest", INSN_READ, OBJECT + AT_WORD, 4);
		expect_name(f, which, DATUM_BY_REGISTER, "from->word.whole", false);
		set_copy_by(f, which, "copy_rest", INSN_WRITE, OBJECT + AT_VALUES + 8, 8);
		expect_name(f, which, DATUM_BY_REGISTER, "to->values[1]", false);
		set_object(f, "outer");
		expect_name(f, which, DATUM_BY_REGISTER, "to->word.whole", true);
	}
}

static void test_copy_of_constant_is_named_by_object(void **state)
{
	struct fixture *f = *state;

	for (unsigned which = 0; which < 2; which++) {
		forget_race(state);
		set_object(f, "record");
		set_copy_by(f, which, "copy_const", INSN_READ, OBJECT + AT_PARENT, 8);
		expect_name(f, which, DATUM_BY_REGISTER, "from->parent", false);
		assert_string_equal(f->race.names->datum[which].owner, "const struct record");
		set_object(f, "outer");
		expect_name(f, which, DATUM_BY_REGISTER, "from->link.next", true);
	}
}

/* Two pointers of different types are in the register: what is told of the one is not exact for the other. */
static void test_copy_of_two_types_is_no_other_type(void **state)
{
	struct fixture *f = *state;
	const struct datum_name *d;

	set_object(f, "outer");
	set_copy_by(f, 0, "copy_as_another", INSN_READ, OBJECT + AT_PARENT, 8);
	d = name_side(f, 0);
	assert_true(d->guess || strcmp(d->owner, "struct outer") == 0);
}

static void test_copy_of_another_type_is_a_guess(void **state)
{
	static const char *const types[] = {"outer", "recor", "records", "struct record", ""};
	struct fixture *f = *state;

	for (size_t i = 0; i < 2 * sizeof(types) / sizeof(types[0]); i++) {
		forget_race(state);
		set_object(f, types[i / 2]);
		set_copy(f, i % 2, INSN_READ, OBJECT + AT_PARENT, 8);
		expect_name(f, i % 2, DATUM_BY_REGISTER, "from->link.next", true);
	}
}

static void test_copy_of_no_object_is_a_guess(void **state)
{
	struct fixture *f = *state;

	for (unsigned which = 0; which < 2; which++) {
		forget_race(state);
		set_copy(f, which, INSN_READ, OBJECT + AT_PARENT, 8);
		expect_name(f, which, DATUM_BY_REGISTER, "from->link.next", true);
		/* The type may be left over from where the object is not known. */
		set_object(f, "record");
		f->race.first.memory.object = 0;
		expect_name(f, which, DATUM_BY_REGISTER, "from->link.next", true);
	}
}

static void test_copy_outside_of_object_is_a_guess(void **state)
{
	static const uint64_t outside[] = {OBJECT - 8, OBJECT + OBJECT_SIZE, ELSEWHERE};
	struct fixture *f = *state;

	for (size_t i = 0; i < 2 * sizeof(outside) / sizeof(outside[0]); i++) {
		forget_race(state);
		set_object(f, "record");
		set_copy(f, i % 2, INSN_READ, outside[i / 2], 8);
		expect_name(f, i % 2, DATUM_BY_REGISTER, "from->link.next", true);
	}
}

/* The element's number is in no operand: only the registers tell it. */
static void test_load_is_named_by_register(void **state)
{
	struct fixture *f = *state;

	for (unsigned which = 0; which < 2; which++) {
		struct insn i;

		forget_race(state);
		i = set_side(f, which, "read_at", 0, ELSEWHERE + 5 * sizeof(long), sizeof(long));
		assert_false(i.regs_written >> i.mem[0].base & 1);
		f->race.first.sides[which].regs.gpr[i.mem[0].base] = ELSEWHERE;
		expect_name(f, which, DATUM_BY_REGISTER, "vector[5]", false);
	}
}

/* The allocator's word is not needed where the registers tell all. */
static void test_load_does_not_ask_object(void **state)
{
	struct fixture *f = *state;
	struct insn i = set_side(f, 0, "read_member", 0, ELSEWHERE + AT_NUMBER, 4);

	f->race.first.sides[0].regs.gpr[i.mem[0].base] = ELSEWHERE;
	set_object(f, "outer");
	f->race.first.memory.object = ELSEWHERE + AT_WORD;
	expect_name(f, 0, DATUM_BY_REGISTER, "o->in[1].b[2]", false);
}

/* The watched side has the register as the instruction left it, so there only the operand tells. */
static void test_load_over_its_own_base(void **state)
{
	struct fixture *f = *state;

	for (unsigned which = 0; which < 2; which++) {
		struct insn i;

		forget_race(state);
		i = set_side(f, which, "follow", 0, ELSEWHERE + 2 * sizeof(long), sizeof(long));
		assert_true(i.regs_written >> i.mem[0].base & 1);
		f->race.first.sides[which].regs.gpr[i.mem[0].base] = which ? OBJECT : ELSEWHERE;
		expect_name(f, which, DATUM_BY_REGISTER, "vector[2]", false);
	}
}

/* An index that is left tells the element still, */
static void test_load_by_index_over_its_own_base(void **state)
{
	struct fixture *f = *state;

	for (unsigned which = 0; which < 2; which++) {
		struct x86_regs *regs = &f->race.first.sides[which].regs;
		struct insn i;

		forget_race(state);
		i = set_side(f, which, "follow_at", 0, ELSEWHERE + 3 * sizeof(long), sizeof(long));
		assert_true(i.regs_written >> i.mem[0].base & 1);
		assert_false(i.regs_written >> i.mem[0].index & 1);
		regs->gpr[i.mem[0].base] = which ? OBJECT : ELSEWHERE;
		regs->gpr[i.mem[0].index] = 3;
		expect_name(f, which, DATUM_BY_REGISTER, "vector[3]", false);
	}
}

/* and one that is not leaves the vector's name, but not the element's. */
static void test_access_over_base_and_index(void **state)
{
	struct fixture *f = *state;

	for (unsigned which = 0; which < 2; which++) {
		struct x86_regs *regs = &f->race.first.sides[which].regs;
		struct insn i;

		forget_race(state);
		i = set_side(f, which, "multiply_at", 0, ELSEWHERE + 3 * sizeof(long), sizeof(long));
		assert_true(i.regs_written >> i.mem[0].base & 1);
		assert_true(i.regs_written >> i.mem[0].index & 1);
		regs->gpr[i.mem[0].base] = which ? 0 : ELSEWHERE;
		regs->gpr[i.mem[0].index] = which ? 5 : 3;
		expect_name(f, which, DATUM_BY_REGISTER, which ? "*vector" : "vector[3]", which);
	}
}

/* Before the access the register is good, though the instruction writes it: another distance than the operand's tells so. */
static void test_sampled_side_has_registers_before(void **state)
{
	struct fixture *f = *state;
	struct insn i = set_side(f, 0, "follow", 0, ELSEWHERE + 3 * sizeof(long), sizeof(long));

	f->race.first.sides[0].regs.gpr[i.mem[0].base] = ELSEWHERE;
	expect_name(f, 0, DATUM_BY_REGISTER, "vector[3]", false);
}

static void test_best_is_no_guess(void **state)
{
	struct fixture *f = *state;

	for (unsigned guess = 0; guess < 2; guess++) {
		struct insn i;

		forget_race(state);
		set_copy(f, guess, INSN_READ, OBJECT + AT_NUMBER, 4);
		i = set_side(f, !guess, "read_member", 0, OBJECT + AT_NUMBER, 4);
		f->race.first.sides[!guess].regs.gpr[i.mem[0].base] = OBJECT;
		expect_name(f, guess, DATUM_BY_REGISTER, "from->link.next", true);
		expect_name(f, !guess, DATUM_BY_REGISTER, "o->in[1].b[2]", false);
		assert_int_equal(f->race.names->best, !guess);
	}
}

/* A guess is still more than no name at all; of equals, the sampled side's is as good. */
static void test_best_of_what_there_is(void **state)
{
	struct fixture *f = *state;

	set_object(f, "outer");
	set_copy(f, 1, INSN_READ, OBJECT + AT_PARENT, 8);
	expect_name(f, 1, DATUM_BY_REGISTER, "from->link.next", true);
	assert_int_equal(f->race.names->best, 1);
	set_copy(f, 0, INSN_WRITE, OBJECT + AT_PARENT, 8);
	expect_name(f, 0, DATUM_BY_REGISTER, "to->link.next", true);
	assert_int_equal(f->race.names->best, 0);
}

/* What a parameter points to says less than the member that it is. */
static void test_best_is_a_member(void **state)
{
	struct fixture *f = *state;

	for (unsigned bare = 0; bare < 2; bare++) {
		struct insn i;

		forget_race(state);
		i = set_side(f, bare, "read_at", 0, OBJECT + AT_NUMBER, 8);
		f->race.first.sides[bare].regs.gpr[i.mem[0].base] = OBJECT + AT_NUMBER;
		i = set_side(f, !bare, "read_member", 0, OBJECT + AT_NUMBER, 4);
		f->race.first.sides[!bare].regs.gpr[i.mem[0].base] = OBJECT;
		expect_name(f, bare, DATUM_BY_REGISTER, "*vector", false);
		expect_name(f, !bare, DATUM_BY_REGISTER, "o->in[1].b[2]", false);
		assert_int_equal(f->race.names->best, !bare);
	}
}

/* The register, the object and the type agree on another name, and yet the address says all. */
static void test_variable_comes_first(void **state)
{
	struct fixture *f = *state;
	uint64_t table = sample_symbol(&f->sample, "table").addr + SLIDE;

	for (unsigned which = 0; which < 2; which++) {
		forget_race(state);
		set_object(f, "record");
		f->race.first.memory.object = table;
		set_copy(f, which, INSN_READ, table + 20, 4);
		expect_name(f, which, DATUM_BY_VARIABLE, "table[1][2]", false);
		assert_string_equal(f->race.names->datum[which].variable, "table");
	}
}

/* Another CPU's copy, reached by a pointer that nothing is known of: the side that runs there knows where its area is. */
static void test_copy_of_another_cpu(void **state)
{
	struct fixture *f = *state;
	struct guest_memory *m = &f->race.first.memory;
	uint64_t offset = sample_symbol(&f->sample, "percpu_data").addr, area = ELSEWHERE;

	for (unsigned which = 0; which < 2; which++) {
		struct race_side *side = &f->race.first.sides[which], *there = &f->race.first.sides[!which];

		forget_race(state);
		set_side(f, which, "read_member", 0, area + offset + 4, 4);
		side->code_len = 0;
		side->regs.gs_base = area + 0x40000;
		*m = (struct guest_memory){.kind = GUEST_MEMORY_PER_CPU, .object = area + offset};
		strcpy(m->symbol.name, "percpu_data");
		expect_name(f, which, DATUM_UNNAMED, "", false);
		*there = (struct race_side){.known = true, .regs = {.gs_base = area}};
		expect_name(f, which, DATUM_BY_VARIABLE, "percpu_data.counter", false);
		strcpy(m->symbol.name, "percpu_dat");
		expect_name(f, which, DATUM_UNNAMED, "", false);
		strcpy(m->symbol.name, "percpu_data");
		strcpy(m->symbol.module, "other");
		expect_name(f, which, DATUM_UNNAMED, "", false);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, forget_race, forget_race)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_copy_is_named_by_object),
		TEST(test_copy_from_inside_of_object),
		TEST(test_copy_of_constant_is_named_by_object),
		TEST(test_copy_of_two_types_is_no_other_type),
		TEST(test_copy_of_another_type_is_a_guess),
		TEST(test_copy_of_no_object_is_a_guess),
		TEST(test_copy_outside_of_object_is_a_guess),
		TEST(test_load_is_named_by_register),
		TEST(test_load_does_not_ask_object),
		TEST(test_load_over_its_own_base),
		TEST(test_load_by_index_over_its_own_base),
		TEST(test_access_over_base_and_index),
		TEST(test_sampled_side_has_registers_before),
		TEST(test_best_is_no_guess),
		TEST(test_best_of_what_there_is),
		TEST(test_best_is_a_member),
		TEST(test_variable_comes_first),
		TEST(test_copy_of_another_cpu),
	};
	int failed = cmocka_run_group_tests_name("gcc", tests, setup_gcc, teardown);

	return failed + cmocka_run_group_tests_name("clang", tests, setup_clang, teardown);
}
