// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reports read race by race. The reader returns the same races as from the whole document, in any order of its members, and
 * never only a part of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <unistd.h>

#include "hv/base/rng.h"
#include "hv/report/json/stream.h"
#include "hv/report/json/load.h"
#include "hv/report/json/race_json.h"
#include "tests/unit/report/sample.h"

struct fixture {
	char file[64];
	char *races[2]; /* two races as JSON objects */
	const struct document_case *row;
};

static char *race_text(unsigned number)
{
	struct observation *o = malloc(sizeof(*o));
	struct race_store *s = race_store_new(NULL);
	json_t *object;
	bool is_new;
	char *text;

	sample_observation(o, 0);
	o->sides[0].pc += number;
	/* Characters that would end a string or an object early, if the reader did not know that a string contains them. */
	strcpy(o->sides[0].context.comm, "a\"}]\\{[");
	object = race_json(race_store_add(s, o, &is_new, NULL));
	assert_non_null(object);
	text = json_dumps(object, 0);
	json_decref(object);
	race_store_free(s);
	free(o);
	return text;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	int fd;

	f->row = *state;
	strcpy(f->file, "/tmp/test_report_stream.XXXXXX");
	fd = mkstemp(f->file);
	if (fd < 0)
		return -1;
	close(fd);
	for (unsigned i = 0; i < 2; i++)
		f->races[i] = race_text(i);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	unlink(f->file);
	free(f->races[0]);
	free(f->races[1]);
	free(f);
	return 0;
}

static void write_bytes(const struct fixture *f, const char *text, size_t len)
{
	FILE *file = fopen(f->file, "w");

	assert_int_equal(fwrite(text, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
}

/* Write `format` with the two races in place of its two %s. Returns the text. */
static char *write_races(const struct fixture *f, const char *format)
{
	char *text;

	assert_true(asprintf(&text, format, f->races[0], f->races[1]) >= 0);
	write_bytes(f, text, strlen(text));
	return text;
}

static void expect_read(const struct fixture *f)
{
	struct report_load l;
	struct err err = {0};

	report_load(&l, f->file, &err);
	assert_string_equal(err.text, "");
	assert_int_equal(l.count, 2);
	for (size_t i = 0; i < 2; i++) {
		json_t *back = race_json(l.races[i]), *object = json_loads(f->races[i], 0, NULL);

		assert_true(json_equal(back, object));
		json_decref(back);
		json_decref(object);
	}
	assert_int_equal(l.modules.count, 1);
	report_load_free(&l);
}

static void expect_refused(const struct fixture *f, const char *why)
{
	struct report_load l;
	struct err err = {0};

	assert_int_equal(report_load(&l, f->file, &err), -1);
	assert_int_equal(err.code, EXIT_INPUT);
	assert_null(l.races);
	assert_null(l.document);
	if (!strstr(err.text, why) || !strstr(err.text, f->file) || strchr(err.text, '\n'))
		fail_msg("\"%s\" does not say \"%s\"", err.text, why);
}

/* A file of another kind is told by its first bytes, with what to do. Nothing of it is unpacked. */
static void test_files_of_another_kind(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *why;
	} kinds[] = {
		{"", 0, ": empty: "},
		{"\x1f\x8b\x08\0", 4, ": compressed by gzip: unpack it first, or pipe what `zcat` prints"},
		{"\xfd"
		 "7zXZ\0\0\x04",
		 8, ": compressed by xz: "},
		{"\x28\xb5\x2f\xfd\0", 5, ": compressed by zstd: "},
		{"BZh91AY", 7, ": compressed by bzip2: "},
		{"SQLite format 3\0\x10\0", 18, "an SQLite file, for example the store of a campaign"},
		{"SQLite format 3\0\x10\0", 18, "`outrider campaign show --store FILE`"},
		{"\x7f"
		 "ELF\x02\x01",
		 6, "debug files are for --symbols"},
		/* Too short to be one of these: a mistake in JSON. */
		{"\x1f", 1, "line 1, byte 1: '{' expected"},
		{"SQLite format 3", 15, "line 1, byte 1: '{' expected"},
	};
	const struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		write_bytes(f, kinds[i].bytes, kinds[i].len);
		expect_refused(f, kinds[i].why);
	}
}

#define SCHEMA "\"schema\": \"outrider-races/1\""
#define MODULES \
	"\"modules\": [{\"id\": 1, \"name\": \"m\", \"base\": \"0x0\", \"size\": 1, \"build_id\": null, \"sections\": {}}]"

/* A document in which the two races take the place of %s. */
struct document_case {
	const char *shows, *format, *why; /* why: part of the error; NULL: the reader accepts it */
};

static const struct document_case document_cases[] = {
	{"order: the races before the modules", "{" SCHEMA ", \"races\": [%s, %s], " MODULES "}", NULL},
	{"order: the races first, and no blanks", "{\"races\":[%s,%s]," MODULES "," SCHEMA "}", NULL},
	{"order: the races last, with other races within something else, and all blanks there are",
	 "\n{ " MODULES "\r\n,\t" SCHEMA " ,\"later\" : {\"races\": [1]}, \"races\"\n:\n[\n%s\n,\n%s\n] }\n\n", NULL},
	{"wrong: two lists of races", "{" SCHEMA ", \"races\": [%s], \"races\": [%s]}", "second list of races"},
	{"wrong: something behind the document", "{" SCHEMA ", \"races\": [%s, %s]} {}", "end of file"},
	{"wrong: no comma between races", "{" SCHEMA ", \"races\": [%s %s]}", "',' or ']'"},
	{"wrong: a comma behind the last race", "{" SCHEMA ", \"races\": [%s, %s,]}", "unexpected token near ']'"},
	{"wrong: a comma behind the last member", "{" SCHEMA ", \"races\": [%s, %s],}", "unexpected token near '}'"},
	{"wrong: no comma behind the races", "{" SCHEMA ", \"races\": [%s, %s] " MODULES "}", "',' or '}'"},
	{"wrong: a race in a list of its own", "{" SCHEMA ", \"races\": [%s, [%s]]}", "race 2: \"id\""},
};

static void test_races(void **state)
{
	const struct fixture *f = *state;

	free(write_races(f, f->row->format));
	if (f->row->why)
		expect_refused(f, f->row->why);
	else
		expect_read(f);
}

static void test_keys_with_escapes(void **state)
{
	const struct fixture *f = *state;

	free(write_races(f, "{\"a\\\"]}\": \"\\\\\", " SCHEMA ", " MODULES ", \"r\\u0061ces\": [%s, %s]}"));
	expect_read(f);
}

/* Whole documents that the reader refuses. */
static const struct document_case text_cases[] = {
	{"wrong: races that are no list", "{" SCHEMA ", \"races\": {}}", "\"races\""},
	{"wrong: a key that is a number", "{" SCHEMA ", 1: 2}", "a key"},
	{"wrong: a key without a colon", "{" SCHEMA ", \"races\" [1]}", "a key and ':'"},
	{"wrong: another schema behind the races", "{\"races\": [1, 2], \"schema\": \"outrider-races/2\"}", "outrider-races/2"},
	{"wrong: no schema", "{\"races\": [1, 2]}", "no \"schema\""},
	{"wrong: races that are numbers, before the schema", "{\"races\": [1, 2], " SCHEMA "}", "race 1: \"id\""},
	/* The reader stops at the schema of another version, because it may not understand the rest. */
	{"wrong: another schema before what is no JSON", "{\"schema\": \"outrider-races/2\", #", "outrider-races/2"},
	/* Without a schema before them, the reader checks races only at the end. */
	{"where: in a member of a race", "{\n\"races\": [\n1,\n2,\n{\"a\": \"b\",\n \"c\": x}]}", "line 6, byte 37: "},
	{"where: between races", "{\n\"races\": [\n1,\n2\n{}", "line 5, byte 19: "},
};

static void test_wrong_text(void **state)
{
	const struct fixture *f = *state;

	write_bytes(f, f->row->format, strlen(f->row->format));
	expect_refused(f, f->row->why);
}

static void test_truncated_anywhere(void **state)
{
	const struct fixture *f = *state;
	char *text = write_races(f, "{" SCHEMA ", \"races\": [%s,\n%s], " MODULES "}");

	for (size_t len = 1; len < strlen(text); len += 1 + len % 7) {
		write_bytes(f, text, len);
		expect_refused(f, "line ");
	}
	free(text);
}

static void test_too_deep(void **state)
{
	const struct fixture *f = *state;
	FILE *file = fopen(f->file, "w");

	fputs("{" SCHEMA ", \"races\": [", file);
	for (int i = 0; i < 3000; i++)
		putc('[', file);
	fclose(file);
	expect_refused(f, "maximum parsing depth");
}

static void test_value_that_is_too_long(void **state)
{
	const struct fixture *f = *state;
	FILE *file = fopen(f->file, "w");

	fputs("{" SCHEMA ",\n\"x\": \"", file);
	for (unsigned i = 0; i <= JSON_STREAM_VALUE_MAX / 16 + 64; i++)
		fputs("0123456789abcdef", file);
	fputs("\", \"races\": []}", file);
	fclose(file);
	expect_refused(f, "line 2, byte 37: a value too long");
}

static void test_folder(void **state)
{
	struct report_load l;
	struct err err = {0};

	(void)state;
	assert_int_equal(report_load(&l, "/", &err), -1);
	assert_string_equal(err.text, "/: Is a directory");
}

static void test_file_that_is_not_there(void **state)
{
	struct report_load l;
	struct err err = {0};

	(void)state;
	assert_int_equal(report_load(&l, "/nonexistent/races.json", &err), -1);
	assert_string_equal(err.text, "/nonexistent/races.json: No such file or directory");
}

/* Blanks, numbers, short and long strings: every way for a value to lie across the ends of the buffer and of what jansson
 * takes. */
static void put_random(FILE *file, struct rng *rng)
{
	uint64_t kind = rng_below(rng, 6);

	for (uint64_t n = rng_below(rng, 3) ? 0 : rng_below(rng, 3000); n; n--)
		putc(" \n\t"[n % 3], file);
	if (kind == 0) {
		fprintf(file, "%d", (int)rng_below(rng, 1000000));
	} else if (kind == 1) {
		fputs("-1.5e3", file);
	} else if (kind == 2) {
		fputs("{\"{\": [true, null, \"}\\\"\"]}", file);
	} else {
		uint64_t n = rng_below(rng, kind == 3 ? 200000 : 2000);

		putc('"', file);
		for (; n; n--)
			fputs(n % 5 ? "x" : n % 3 ? "\\\"" : "\xc3\xa9", file);
		putc('"', file);
	}
}

static void test_same_as_from_the_whole(void **state)
{
	const struct fixture *f = *state;
	FILE *file = fopen(f->file, "w");
	struct rng rng = {7};
	struct json_stream *s;
	json_t *whole;

	for (int i = 0; i < 1000; i++) {
		putc(i ? ',' : '[', file);
		put_random(file, &rng);
	}
	fputs("]\n", file);
	fclose(file);
	whole = json_load_file(f->file, 0, NULL);
	assert_int_equal(json_array_size(whole), 1000);
	s = json_stream_open(f->file, NULL);
	for (size_t i = 0; i < 1000; i++) {
		json_t *value;

		assert_true(json_stream_take(s, i ? ',' : '['));
		value = json_stream_value(s, NULL);
		assert_true(json_equal(value, json_array_get(whole, i)));
		json_decref(value);
	}
	assert_false(json_stream_take(s, ','));
	assert_true(json_stream_take(s, ']'));
	assert_true(json_stream_at_end(s));
	json_stream_close(s);
	json_decref(whole);
}

/* An error after a long document still has the right line and byte. */
static void test_where_far_in(void **state)
{
	const struct fixture *f = *state;
	struct rng rng = {8};
	FILE *file = fopen(f->file, "w");
	char *text, where[64];
	unsigned lines = 1;
	size_t len;

	fputs("{\"races\": [", file);
	for (int i = 0; i < 200; i++) {
		put_random(file, &rng);
		putc(',', file);
	}
	fputs("1 2", file);
	len = (size_t)ftell(file);
	fclose(file);
	text = malloc(len);
	file = fopen(f->file, "r");
	assert_int_equal(fread(text, 1, len, file), len);
	fclose(file);
	for (size_t i = 0; i < len; i++)
		lines += text[i] == '\n';
	free(text);
	snprintf(where, sizeof(where), "line %u, byte %zu: ',' or ']'", lines, len);
	expect_refused(f, where);
}

static int mark_race(void *ctx, size_t index, json_t *race)
{
	++*(size_t *)ctx;
	return json_object_set_new(race, "mark", json_integer((json_int_t)index));
}

static void test_written_anew(void **state)
{
	const struct fixture *f = *state;
	char *text = write_races(f, "{\"x\": [1.25], " SCHEMA ", \"races\": [%s, %s], \"y\": {}}"), *again;
	struct report_load l;
	json_t *before, *after, *races;
	size_t len, marked = 0;
	FILE *out = open_memstream(&again, &len);

	assert_int_equal(report_load(&l, f->file, NULL), 0);
	assert_int_equal(report_load_write(&l, out, mark_race, &marked, NULL), 0);
	assert_int_equal(marked, 2);
	fclose(out);
	report_load_free(&l);
	assert_memory_equal(again, "{\"x\": [1.25], \"schema\": ", 24);
	before = json_loads(text, 0, NULL);
	after = json_loads(again, 0, NULL);
	races = json_object_get(after, "races");
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(json_integer_value(json_object_get(json_array_get(races, i), "mark")), i);
		json_object_del(json_array_get(races, i), "mark");
	}
	assert_true(json_equal(before, after));
	json_decref(before);
	json_decref(after);
	free(text);
	free(again);
}

static void test_full_disk(void **state)
{
	const struct fixture *f = *state;
	struct report_load l;
	struct err err = {0};
	size_t marked = 0;
	FILE *full = fopen("/dev/full", "w");

	setvbuf(full, NULL, _IONBF, 0);
	free(write_races(f, "{" SCHEMA ", \"races\": [%s, %s]}"));
	assert_int_equal(report_load(&l, f->file, NULL), 0);
	assert_int_equal(report_load_write(&l, full, mark_race, &marked, &err), -1);
	assert_int_equal(err.code, EXIT_OK);
	fclose(full);
	report_load_free(&l);
}

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest alone[] = {
		TEST(test_keys_with_escapes),
		TEST(test_files_of_another_kind),
		TEST(test_truncated_anywhere),
		TEST(test_too_deep),
		TEST(test_value_that_is_too_long),
		TEST(test_folder),
		TEST(test_file_that_is_not_there),
		TEST(test_same_as_from_the_whole),
		TEST(test_where_far_in),
		TEST(test_written_anew),
		TEST(test_full_disk),
	};
	struct CMUnitTest tests[COUNT(alone) + COUNT(document_cases) + COUNT(text_cases)], *next = tests;

	for (size_t i = 0; i < COUNT(alone); i++)
		*next++ = alone[i];
	for (size_t i = 0; i < COUNT(document_cases); i++)
		*next++ = (struct CMUnitTest){document_cases[i].shows, test_races, setup, teardown, (void *)&document_cases[i]};
	for (size_t i = 0; i < COUNT(text_cases); i++)
		*next++ = (struct CMUnitTest){text_cases[i].shows, test_wrong_text, setup, teardown, (void *)&text_cases[i]};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
