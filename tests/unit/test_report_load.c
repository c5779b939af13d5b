// SPDX-License-Identifier: GPL-2.0-or-later
/* Reports read back: nothing is lost on the way, and what is no report is refused in one line that says where. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <unistd.h>

#include "hv/base/rng.h"
#include "hv/base/clean.h"
#include "hv/report/json/load.h"
#include "hv/report/json/race_json.h"
#include "hv/report/json/race_read.h"
#include "tests/unit/test_report_sample.h"

#define MUTATIONS 3000

static struct race *make_race(void (*change)(struct observation *o))
{
	struct race_store *s = race_store_new(NULL);
	struct observation *o = malloc(sizeof(*o));
	struct race *race, *copy = calloc(1, sizeof(*copy));
	bool is_new;

	sample_observation(o, 0);
	if (change)
		change(o);
	race = race_store_add(s, o, &is_new, NULL);
	assert_non_null(race);
	race_store_add(s, o, &is_new, NULL);
	memcpy(copy, race, sizeof(*copy));
	race_store_free(s);
	free(o);
	return copy;
}

static void check_round_trip(struct race *race)
{
	struct err err = {0};
	json_t *first = race_json(race), *second;
	struct race *back;

	assert_non_null(first);
	back = race_read(first, "race", &err);
	assert_string_equal(err.text, "");
	assert_non_null(back);
	second = race_json(back);
	assert_true(json_equal(first, second));
	json_decref(first);
	json_decref(second);
	race_free(back);
	race_free(race);
}

static void test_round_trip(void **state)
{
	(void)state;
	check_round_trip(make_race(NULL));
}

static void unseen_writer(struct observation *o)
{
	o->how = RACE_BY_REREAD;
	o->data_len = 24;
	o->sides[1] = (struct race_side){0};
}

static void little_known(struct observation *o)
{
	o->how = RACE_BY_POINT;
	o->data_len = 0;
	o->sides[1].pc = 0;
	o->sides[1].rw = 0;
	o->sides[1].symbol = (struct guest_symbol){0};
	o->sides[1].calls.guessed = true;
	o->sides[1].calls.frames[1].reliable = false;
	o->sides[1].calls.why = UNWIND_NO_REG;
	o->sides[1].context = (struct guest_context){.pid = -1};
}

static void strange_names(struct observation *o)
{
	strcpy(o->sides[0].context.comm, "\x1b[2J\\x\xff");
	strcpy(o->sides[0].symbol.name, "odd\nname");
}

static void slab_memory(struct observation *o)
{
	o->memory = (struct guest_memory){.kind = GUEST_MEMORY_SLAB,
					  .cpu = -1,
					  .cache = "task_struct",
					  .object = 0xffff888012345640,
					  .object_size = 3264,
					  .offset = 56,
					  .type = "task_struct",
					  .member = "flags"};
}

static void per_cpu_memory(struct observation *o)
{
	o->memory =
		(struct guest_memory){.kind = GUEST_MEMORY_PER_CPU, .cpu = 1, .symbol = {.name = "runqueues", .module = "m"}};
}

static const struct unusual {
	const char *shows;
	void (*change)(struct observation *o);
} unusuals[] = {
	{"round trip: a writer that nobody saw", unseen_writer},
	{"round trip: a side of which little is known", little_known},
	{"round trip: names with strange characters", strange_names},
	{"round trip: memory of a slab cache", slab_memory},
	{"round trip: memory of a per-CPU variable", per_cpu_memory},
};

/* The state is the row. */
static void test_round_trip_of_the_unusual(void **state)
{
	const struct unusual *u = *state;

	check_round_trip(make_race(u->change));
}

static void test_round_trip_of_names(void **state)
{
	struct race *race = make_race(NULL);
	struct source_line *line;

	(void)state;
	race->names = calloc(1, sizeof(*race->names));
	for (uint8_t frame = 0; frame < 3; frame++) {
		line = race_names_add(race->names, NULL);
		*line = (struct source_line){
			.side = 1, .frame = frame, .line = 10u + frame, .function = "f", .file = "fs/inode.c"};
	}
	race->names->datum[1] = (struct datum_name){.by = DATUM_BY_REGISTER,
						    .path = "inode->i_state",
						    .owner = "struct inode",
						    .member = "i_state",
						    .bit_offset = 3,
						    .bit_size = 1,
						    .offset = 152,
						    .before = "1"};
	race->names->best = 1;
	race->modules = calloc(2, sizeof(uint64_t));
	race->modules[0] = 3;
	race->modules[1] = 9;
	race->module_count = 2;
	check_round_trip(race);
}

static void test_unclean_is_the_inverse(void **state)
{
	char clean[CLEAN_MAX(8)], back[8];

	(void)state;
	clean_text("a\\\x01z\xfe", 8, clean, sizeof(clean));
	unclean_text(clean, back, sizeof(back));
	assert_string_equal(back, "a\\\x01z\xfe");
	unclean_text("\\x", back, sizeof(back));
	assert_string_equal(back, "\\x");
	unclean_text("123456789", back, sizeof(back));
	assert_string_equal(back, "1234567");
}

static void expect_refused(json_t *race, const char *where)
{
	struct err err = {0};

	assert_null(race_read(race, "f.json: race 1", &err));
	assert_int_equal(err.code, EXIT_INPUT);
	assert_non_null(strstr(err.text, "f.json: race 1: "));
	if (!strstr(err.text, where))
		fail_msg("\"%s\" does not say \"%s\"", err.text, where);
	json_decref(race);
}

static json_t *sample_json(void)
{
	struct race *race = make_race(NULL);
	json_t *o = race_json(race);

	race_free(race);
	return o;
}

static json_t *side_json_of(json_t *race)
{
	return json_array_get(json_object_get(race, "sides"), 0);
}

static void wrong_id(json_t *race)
{
	json_object_set_new(race, "id", json_string("../../etc"));
}

static void wrong_value(json_t *race)
{
	json_object_set_new(race, "value_before", json_string("0x123456789"));
}

static void wrong_size(json_t *race)
{
	json_object_set_new(json_object_get(race, "datum"), "size", json_integer(65));
}

static void wrong_register(json_t *race)
{
	json_object_set_new(json_object_get(side_json_of(race), "registers"), "rax", json_string("0x11112222333344445"));
}

static void no_context(json_t *race)
{
	json_object_del(side_json_of(race), "context");
}

static void wrong_bytes(json_t *race)
{
	json_object_set_new(json_object_get(side_json_of(race), "code"), "bytes", json_string("zz"));
}

static const struct wrong {
	const char *shows;
	void (*change)(json_t *race);
	const char *where;
} wrongs[] = {
	{"refused: an id that is a path", wrong_id, "\"id\""},
	{"refused: a value that is too large for its bytes", wrong_value, "\"value_before\""},
	{"refused: a datum that is too large", wrong_size, "\"size\""},
	{"refused: a register of more than 64 bits", wrong_register, "\"rax\""},
	{"refused: a side without its context", no_context, "\"context\""},
	{"refused: bytes that are no hexadecimal digits", wrong_bytes, "\"bytes\""},
};

/* The state is the row. */
static void test_wrong_object(void **state)
{
	const struct wrong *w = *state;
	json_t *race = sample_json();

	w->change(race);
	expect_refused(race, w->where);
}

static void test_race_that_is_no_object(void **state)
{
	(void)state;
	expect_refused(json_array(), "\"id\"");
}

/* A document in a file of its own. */
struct fixture {
	char file[64];
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	int fd;

	strcpy(f->file, "/tmp/test_report_load.XXXXXX");
	fd = mkstemp(f->file);
	if (fd < 0)
		return -1;
	close(fd);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	unlink(f->file);
	free(f);
	return 0;
}

static void print_nothing(void *ctx, const char *text, size_t len)
{
	(void)ctx;
	(void)text;
	(void)len;
}

static void write_document(const struct fixture *f)
{
	const struct report_config config = {.json = f->file, .print = print_nothing, .tool_version = "0"};
	const struct report_kernel kernel = sample_kernel();
	const struct report_module module = sample_module();
	struct observation *o = malloc(sizeof(*o));
	struct report *r = report_new(&config, NULL);

	assert_int_equal(report_set_kernel(r, &kernel, NULL), 0);
	assert_int_equal(report_set_modules(r, &module, 1, NULL), 0);
	sample_observation(o, 0);
	assert_int_equal(report_observe(r, o, NULL), 0);
	assert_int_equal(report_finish(r, NULL, "guest powered off", NULL), 0);
	report_free(r);
	free(o);
}

static void write_text(const struct fixture *f, const char *text, size_t len)
{
	FILE *file = fopen(f->file, "w");

	assert_int_equal(fwrite(text, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
}

static void test_document(void **state)
{
	struct fixture *f = *state;
	struct report_load l;
	struct err err = {0};

	write_document(f);
	assert_int_equal(report_load(&l, f->file, &err), 0);
	assert_int_equal(l.count, 1);
	assert_int_equal(l.modules.count, 1);
	assert_string_equal(l.modules.list[0].sections[1].name, ".data");
	assert_int_equal(l.modules.list[0].sections[1].addr, 0xffffffffc0108000);
	assert_int_equal(l.races[0]->module_count, 1);
	assert_int_equal(l.races[0]->modules[0], 7);
	assert_int_equal(l.kernel.slide, 0x1000000);
	assert_memory_equal(l.kernel.build_id, sample_build_id, 20);
	assert_string_equal(l.kernel.banner, "Linux version 6.1.0 \"quoted\"");
	report_load_free(&l);
}

static void expect_no_document(const struct fixture *f, const char *text, const char *why)
{
	struct report_load l;
	struct err err = {0};

	write_text(f, text, strlen(text));
	assert_int_equal(report_load(&l, f->file, &err), -1);
	assert_int_equal(err.code, EXIT_INPUT);
	if (!strstr(err.text, why) || !strstr(err.text, f->file))
		fail_msg("\"%s\" does not say \"%s\"", err.text, why);
	report_load_free(&l);
}

static void test_empty_file(void **state)
{
	expect_no_document(*state, "", "line 1");
}

static void test_document_that_is_a_list(void **state)
{
	expect_no_document(*state, "[]", "no report");
}

static void test_document_of_another_schema(void **state)
{
	expect_no_document(*state, "{\"schema\": \"outrider-races/9\"}", "outrider-races/9");
}

static void test_document_without_races(void **state)
{
	expect_no_document(*state, "{\"schema\": \"outrider-races/1\"}", "\"races\"");
}

static void test_document_with_a_race_that_is_a_number(void **state)
{
	expect_no_document(*state, "{\"schema\": \"outrider-races/1\", \"races\": [1]}", "race 1");
}

static char *read_text_of(const struct fixture *f, size_t *len)
{
	FILE *file = fopen(f->file, "r");
	char *text = malloc(1 << 20);

	*len = fread(text, 1, 1 << 20, file);
	fclose(file);
	return text;
}

/* Whatever became of the file: a report, or one line; no crash and no read beyond anything (the sanitizers look). */
static void test_mutated_documents(void **state)
{
	struct fixture *f = *state;
	struct rng rng = {1};
	size_t len, refused = 0;
	char *text, *copy;

	write_document(f);
	text = read_text_of(f, &len);
	copy = malloc(len);
	for (int i = 0; i < MUTATIONS; i++) {
		struct report_load l;
		struct err err = {0};

		memcpy(copy, text, len);
		for (uint64_t n = 1 + rng_below(&rng, 3); n; n--)
			copy[rng_below(&rng, len)] = (char)(' ' + rng_below(&rng, 95));
		write_text(f, copy, rng_below(&rng, 10) ? len : rng_below(&rng, len));
		if (report_load(&l, f->file, &err) < 0) {
			assert_int_equal(err.code, EXIT_INPUT);
			refused++;
		}
		report_load_free(&l);
	}
	assert_true(refused > MUTATIONS / 10 && refused < MUTATIONS);
	free(copy);
	free(text);
}

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define WITH_FILE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest alone[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_round_trip_of_names),
		cmocka_unit_test(test_unclean_is_the_inverse),
		cmocka_unit_test(test_race_that_is_no_object),
		WITH_FILE(test_document),
		WITH_FILE(test_empty_file),
		WITH_FILE(test_document_that_is_a_list),
		WITH_FILE(test_document_of_another_schema),
		WITH_FILE(test_document_without_races),
		WITH_FILE(test_document_with_a_race_that_is_a_number),
		WITH_FILE(test_mutated_documents),
	};
	struct CMUnitTest tests[COUNT(alone) + COUNT(unusuals) + COUNT(wrongs)], *next = tests;

	for (size_t i = 0; i < COUNT(alone); i++)
		*next++ = alone[i];
	for (size_t i = 0; i < COUNT(unusuals); i++)
		*next++ = (struct CMUnitTest){.name = unusuals[i].shows,
					      .test_func = test_round_trip_of_the_unusual,
					      .initial_state = (void *)&unusuals[i]};
	for (size_t i = 0; i < COUNT(wrongs); i++)
		*next++ = (struct CMUnitTest){
			.name = wrongs[i].shows, .test_func = test_wrong_object, .initial_state = (void *)&wrongs[i]};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
