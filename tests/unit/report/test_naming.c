// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of the datum of a race: from its variable, or from the pointer that an access went through. The better name of the two
 * sides is the name of the race.
 */
#include "tests/unit/report/naming_rig.h"

/* ---- loads ---- */

/* No operand has the index of the element. Only the registers give it. */
static void test_load_is_named_by_register(void **state)
{
	struct fixture *f = *state;
	unsigned which = f->row.side;
	struct insn i;

	i = set_side(f, which, "read_at", 0, ELSEWHERE + 5 * sizeof(long), sizeof(long));
	assert_false(i.regs_written >> i.mem[0].base & 1);
	f->race.first.sides[which].regs.gpr[i.mem[0].base] = ELSEWHERE;
	expect_name(f, which, DATUM_BY_REGISTER, "vector[5]", false);
}

/*
 * An object may have other data after its struct, as a driver's data after its net_device. The size of the object shows that it
 * has no room for a second struct of the type.
 */
static void test_no_second_struct_where_there_is_no_room(void **state)
{
	struct fixture *f = *state;
	struct insn i = set_side(f, 0, "read_member", 0, OBJECT + 128 + AT_NUMBER, 4);

	f->race.first.sides[0].regs.gpr[i.mem[0].base] = OBJECT;
	expect_name(f, 0, DATUM_BY_REGISTER, "o[1].in[1].b[2]", true);
	set_object(f, "");
	f->race.first.memory.object_size = 1024;
	expect_name(f, 0, DATUM_BY_REGISTER, "o[1].in[1].b[2]", true);
	f->race.first.memory.object_size = 200;
	assert_int_equal(name_side(f, 0)->by, DATUM_UNNAMED);
}

/* If the registers give the whole name, the type and address of the object do not matter. */
static void test_load_does_not_ask_object(void **state)
{
	struct fixture *f = *state;
	struct insn i = set_side(f, 0, "read_member", 0, ELSEWHERE + AT_NUMBER, 4);

	f->race.first.sides[0].regs.gpr[i.mem[0].base] = ELSEWHERE;
	set_object(f, "outer");
	f->race.first.memory.object = ELSEWHERE + AT_WORD;
	expect_name(f, 0, DATUM_BY_REGISTER, "o->in[1].b[2]", false);
}

/* The other side stops after its access, so its register has the loaded value. Only the operand gives the name there. */
static void test_load_over_its_own_base(void **state)
{
	struct fixture *f = *state;
	unsigned which = f->row.side;
	struct insn i;

	i = set_side(f, which, "follow", 0, ELSEWHERE + 2 * sizeof(long), sizeof(long));
	assert_true(i.regs_written >> i.mem[0].base & 1);
	f->race.first.sides[which].regs.gpr[i.mem[0].base] = which ? OBJECT : ELSEWHERE;
	expect_name(f, which, DATUM_BY_REGISTER, "vector[2]", false);
}

/* If the instruction does not write the index register, that register still gives the element. */
static void test_load_by_index_over_its_own_base(void **state)
{
	struct fixture *f = *state;
	unsigned which = f->row.side;
	struct x86_regs *regs = &f->race.first.sides[which].regs;
	struct insn i;

	i = set_side(f, which, "follow_at", 0, ELSEWHERE + 3 * sizeof(long), sizeof(long));
	assert_true(i.regs_written >> i.mem[0].base & 1);
	assert_false(i.regs_written >> i.mem[0].index & 1);
	regs->gpr[i.mem[0].base] = which ? OBJECT : ELSEWHERE;
	regs->gpr[i.mem[0].index] = 3;
	expect_name(f, which, DATUM_BY_REGISTER, "vector[3]", false);
}

/* If the instruction also writes the index register, the other side can name the vector, but not the element. */
static void test_access_over_base_and_index(void **state)
{
	struct fixture *f = *state;
	unsigned which = f->row.side;
	struct x86_regs *regs = &f->race.first.sides[which].regs;
	struct insn i;

	i = set_side(f, which, "multiply_at", 0, ELSEWHERE + 3 * sizeof(long), sizeof(long));
	assert_true(i.regs_written >> i.mem[0].base & 1);
	assert_true(i.regs_written >> i.mem[0].index & 1);
	regs->gpr[i.mem[0].base] = which ? 0 : ELSEWHERE;
	regs->gpr[i.mem[0].index] = which ? 5 : 3;
	expect_name(f, which, DATUM_BY_REGISTER, which ? "*vector" : "vector[3]", which);
}

/*
 * The instruction writes the register, but the held side has not executed it yet. The distance of the address from the register
 * differs from the operand's displacement, and so gives the element.
 */
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
	unsigned guess = f->row.side;
	struct insn i;

	set_copy(f, guess, INSN_READ, OBJECT + AT_NUMBER, 4);
	i = set_side(f, !guess, "read_member", 0, OBJECT + AT_NUMBER, 4);
	f->race.first.sides[!guess].regs.gpr[i.mem[0].base] = OBJECT;
	expect_name(f, guess, DATUM_BY_REGISTER, "from->link.next", true);
	expect_name(f, !guess, DATUM_BY_REGISTER, "o->in[1].b[2]", false);
	assert_int_equal(f->race.names->best, !guess);
}

/* A guessed name is better than no name. */
static void test_best_is_a_guess_where_there_is_no_more(void **state)
{
	struct fixture *f = *state;

	set_object(f, "outer");
	set_copy(f, 1, INSN_READ, OBJECT + AT_PARENT, 8);
	expect_name(f, 1, DATUM_BY_REGISTER, "from->link.next", true);
	assert_int_equal(f->race.names->best, 1);
}

static void test_best_of_equals_is_the_sampled_sides(void **state)
{
	struct fixture *f = *state;

	set_object(f, "outer");
	set_copy(f, 1, INSN_READ, OBJECT + AT_PARENT, 8);
	set_copy(f, 0, INSN_WRITE, OBJECT + AT_PARENT, 8);
	expect_name(f, 1, DATUM_BY_REGISTER, "from->link.next", true);
	expect_name(f, 0, DATUM_BY_REGISTER, "to->link.next", true);
	assert_int_equal(f->race.names->best, 0);
}

/* The name of a member says more than "what this parameter points to". */
static void test_best_is_a_member(void **state)
{
	struct fixture *f = *state;
	unsigned bare = f->row.side;
	struct insn i;

	i = set_side(f, bare, "read_at", 0, OBJECT + AT_NUMBER, 8);
	f->race.first.sides[bare].regs.gpr[i.mem[0].base] = OBJECT + AT_NUMBER;
	i = set_side(f, !bare, "read_member", 0, OBJECT + AT_NUMBER, 4);
	f->race.first.sides[!bare].regs.gpr[i.mem[0].base] = OBJECT;
	expect_name(f, bare, DATUM_BY_REGISTER, "*vector", false);
	expect_name(f, !bare, DATUM_BY_REGISTER, "o->in[1].b[2]", false);
	assert_int_equal(f->race.names->best, !bare);
}

/* The address is that of a variable, whose name wins although the register, the object and the type agree on another name. */
static void test_variable_comes_first(void **state)
{
	struct fixture *f = *state;
	uint64_t table = sample_symbol(&f->sample, "table").addr + SLIDE;
	unsigned which = f->row.side;

	set_object(f, "record");
	f->race.first.memory.object = table;
	set_copy(f, which, INSN_READ, table + 20, 4);
	expect_name(f, which, DATUM_BY_VARIABLE, "table[1][2]", false);
	assert_string_equal(f->race.names->datum[which].variable, "table");
}

/* ---- source files ---- */

/* The same sample, as if compiled in `folder`. Returns the length of the source line of the access. */
static size_t allowed_by(struct fixture *f, const char *folder, struct sources *sources)
{
	const struct debug_images_sink sink = {.message = note};
	struct naming naming = f->naming;
	struct sample sample;
	char flags[512], cwd[256];
	const uint8_t *id;
	size_t len;

	assert_non_null(getcwd(cwd, sizeof(cwd)));
	snprintf(flags, sizeof(flags), "-gdwarf-5 -fdebug-prefix-map=%s=%s " SAMPLE_LINKED, cwd, folder);
	sample_build(&sample, "gcc", flags);
	naming.build_id_len = sample_build_id(&sample, &id);
	naming.build_id = id;
	naming.images = debug_images_new(&sink, NULL);
	assert_non_null(naming.images);
	assert_int_equal(debug_images_add(naming.images, sample.path, NULL), 0);
	naming.sources = sources;
	set_side(f, 0, "read_member", 0, ELSEWHERE, sizeof(int));
	assert_int_equal(naming_race(&naming, &f->race, NULL), 0);
	assert_true(f->race.names->count > 0);
	assert_string_equal(f->race.names->lines[0].file, "sample.c");
	assert_null(sources_text(sources, "chain.c", &len));
	sources_line(sources, "sample.c", f->race.names->lines[0].line, &len);
	debug_images_free(naming.images);
	sample_free(&sample);
	return len;
}

static void test_source_of_a_debug_file_is_read(void **state)
{
	static const char text[] = "\n1\n2\n\treturn o->in[1].b[2];\n\treturn o->in[1].b[2];\n\treturn o->in[1].b[2];\n";
	char folder[] = "/tmp/test_report_naming.XXXXXX", path[64];
	struct sources *sources = sources_new(NULL, NULL);
	FILE *file;
	size_t len;

	assert_non_null(sources);
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/sample.c", folder);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
	assert_null(sources_text(sources, "sample.c", &len));
	len = allowed_by(*state, folder, sources);
	unlink(path);
	rmdir(folder);
	sources_free(sources);
	assert_int_equal(len, strlen("\treturn o->in[1].b[2];"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SIDES(test_load_is_named_by_register),
		TEST(test_load_does_not_ask_object),
		TEST(test_no_second_struct_where_there_is_no_room),
		SIDES(test_load_over_its_own_base),
		SIDES(test_load_by_index_over_its_own_base),
		SIDES(test_access_over_base_and_index),
		TEST(test_sampled_side_has_registers_before),
		SIDES(test_best_is_no_guess),
		TEST(test_best_is_a_guess_where_there_is_no_more),
		TEST(test_best_of_equals_is_the_sampled_sides),
		SIDES(test_best_is_a_member),
		SIDES(test_variable_comes_first),
		TEST(test_source_of_a_debug_file_is_read),
	};
	int failed = cmocka_run_group_tests_name("gcc", tests, setup_gcc, teardown);

	return failed + cmocka_run_group_tests_name("clang", tests, setup_clang, teardown);
}
