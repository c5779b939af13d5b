// SPDX-License-Identifier: GPL-2.0-or-later
/* What a run writes can be read again, whatever the guest has put into the record, and how much of it; and reading takes time
 * in proportion to what there is to read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "hv/base/rng.h"
#include "hv/report/json/load.h"
#include "hv/report/json/race_json.h"
#include "hv/report/json/race_read.h"
#include "hv/report/json/stream.h"
#include "tests/unit/report/sample.h"

#define ROUNDS 3000

/* ---- one race ---- */

/* A number that some code may not expect. */
static uint64_t odd_number(struct rng *rng)
{
	switch (rng_below(rng, 6)) {
	case 0:
		return 0;
	case 1:
		return UINT64_MAX;
	case 2:
		return INT64_MAX;
	case 3:
		return (uint64_t)INT64_MAX + 1;
	case 4:
		return UINT64_C(1) << rng_below(rng, 64);
	default:
		return rng_next(rng);
	}
}

static void odd_text(struct rng *rng, char *text, size_t size)
{
	for (size_t i = 0; i + 1 < size; i++)
		text[i] = (char)rng_next(rng);
	text[rng_below(rng, size)] = '\0';
	text[size - 1] = '\0';
}

static void odd_symbol(struct rng *rng, struct guest_symbol *symbol)
{
	odd_text(rng, symbol->module, sizeof(symbol->module));
	odd_text(rng, symbol->name, sizeof(symbol->name));
	symbol->addr = odd_number(rng);
	symbol->size = odd_number(rng);
}

static void odd_side(struct rng *rng, struct race_side *side)
{
	side->cpu = (uint16_t)odd_number(rng);
	side->pc = odd_number(rng);
	side->gva = odd_number(rng);
	side->size = (uint32_t)odd_number(rng);
	for (unsigned i = 0; i < X86_GPRS; i++)
		side->regs.gpr[i] = odd_number(rng);
	side->regs.rip = odd_number(rng);
	side->context.pid = (int32_t)odd_number(rng);
	side->context.rcu_known = true;
	side->context.rcu_nesting = (uint32_t)odd_number(rng);
	odd_text(rng, side->context.comm, sizeof(side->context.comm));
	for (unsigned i = 0; i < side->locks.set.count; i++) {
		side->locks.set.held[i].gva = odd_number(rng);
		odd_text(rng, side->locks.name[i], sizeof(side->locks.name[i]));
	}
	odd_symbol(rng, &side->symbol);
	side->code_gva = odd_number(rng);
	for (unsigned i = 0; i < side->calls.count; i++) {
		side->calls.frames[i].pc = odd_number(rng);
		odd_symbol(rng, &side->calls.frames[i].symbol);
	}
}

static void odd_observation(struct rng *rng, struct observation *o)
{
	sample_observation(o, 0);
	/* Times are of our own clock. */
	o->time_ns = rng_next(rng) >> 2;
	o->held_ns = rng_next(rng) >> 2;
	o->window = (struct race_window){.known = rng_below(rng, 2), .hold_ns = rng_next(rng) >> 2};
	o->window.watched_ns = rng_next(rng) >> 2;
	o->window.returns = (uint32_t)odd_number(rng);
	for (unsigned i = 0; i < RACE_RETURNS_MAX && i < o->window.returns; i++)
		o->window.return_ns[i] = (i ? o->window.return_ns[i - 1] : 0) + rng_below(rng, 1u << 30);
	o->gpa = odd_number(rng);
	o->data_len = (uint32_t)rng_below(rng, RACE_DATA_MAX + 1);
	o->memory = (struct guest_memory){.kind = (uint8_t)rng_below(rng, GUEST_MEMORY_USER + 1),
					  .cpu = (int)rng_below(rng, UINT16_MAX + 1u),
					  .object = odd_number(rng),
					  .object_size = (uint32_t)odd_number(rng),
					  .offset = (uint32_t)odd_number(rng)};
	odd_symbol(rng, &o->memory.symbol);
	odd_text(rng, o->memory.cache, sizeof(o->memory.cache));
	o->taint.known = true;
	o->taint.flags = odd_number(rng);
	odd_side(rng, &o->sides[0]);
	odd_side(rng, &o->sides[1]);
}

/* What debug files say, which a user may have been given by anybody. */
static void odd_names(struct rng *rng, struct race *race)
{
	struct datum_name *datum;
	struct source_line *line;

	race->names = calloc(1, sizeof(*race->names));
	line = race_names_add(race->names, NULL);
	line->line = (unsigned)odd_number(rng);
	line->column = (unsigned)odd_number(rng);
	odd_text(rng, line->file, sizeof(line->file));
	datum = &race->names->datum[0];
	datum->by = DATUM_BY_VARIABLE;
	datum->offset = odd_number(rng);
	datum->bit_size = (unsigned)odd_number(rng);
	datum->bit_offset = (unsigned)odd_number(rng);
	odd_text(rng, datum->path, sizeof(datum->path));
}

/* The object as a file has it. */
static json_t *written(const struct race *race)
{
	json_t *object = race_json(race), *read;
	char *text = json_dumps(object, JSON_REAL_PRECISION(12));
	json_error_t error;

	assert_non_null(text);
	read = json_loads(text, 0, &error);
	if (!read)
		fail_msg("%s", error.text);
	free(text);
	json_decref(object);
	return read;
}

static void whatever_is_recorded_is_read(void **state)
{
	struct observation *o = malloc(sizeof(*o));
	struct rng rng = {11};
	size_t races = 0;

	(void)state;
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct race_store *store = race_store_new(NULL);
		struct err err = {0};
		struct race *race, *back;
		json_t *object;
		bool is_new;

		odd_observation(&rng, o);
		race = race_store_add(store, o, &is_new, NULL);
		if (race) {
			races++;
			odd_names(&rng, race);
			object = written(race);
			back = race_read(object, "race", &err);
			if (!back)
				fail_msg("round %u: %s", round, err.text);
			if (race->first.sides[0].symbol.name[0])
				assert_int_equal(back->first.sides[0].symbol.addr, race->first.sides[0].symbol.addr);
			race_free(back);
			json_decref(object);
		}
		race_store_free(store);
	}
	assert_true(races > ROUNDS / 4);
	free(o);
}

/* ---- a document ---- */

static void print_nothing(void *ctx, const char *text, size_t len)
{
	(void)ctx;
	(void)text;
	(void)len;
}

/* A module as a guest can make it at worst: as many sections as are looked at, with names that grow when they are cleaned. */
static void worst_module(struct report_module *module, struct image_section *sections, uint64_t id)
{
	*module = (struct report_module){
		.id = id, .base = UINT64_MAX, .size = UINT64_MAX, .build_id_len = 20, .sections = sections, .nsections = 256};
	memset(module->name, 0xff, sizeof(module->name) - 1);
	for (unsigned i = 0; i < 256; i++) {
		sections[i].addr = UINT64_MAX;
		memset(sections[i].name, 0x80, sizeof(sections[i].name) - 1);
		memcpy(sections[i].name, &(char[]){(char)('a' + i / 16), (char)('a' + i % 16)}, 2);
	}
}

/* More than 16 MiB of modules, which are what one JSON value may have. Older versions wrote such lists. */
static void many_modules_are_read(void **state)
{
	enum { MODULES = 1000 };
	char path[] = "/tmp/test_report_readable.XXXXXX";
	static struct image_section sections[256];
	struct run_facts run = sample_run();
	struct report_modules modules = {0};
	struct report_module module;
	struct report_load l;
	struct err err = {0};
	char *head, *tail;
	FILE *file = fdopen(mkstemp(path), "w");

	(void)state;
	for (uint64_t id = 1; id <= MODULES; id++) {
		worst_module(&module, sections, id);
		assert_int_equal(report_modules_add(&modules, &module, &err), 0);
	}
	head = document_head(&run);
	tail = document_tail(&run, &modules, NULL, NULL, NULL);
	assert_true(fprintf(file, "%s%s", head, tail) > (int)JSON_STREAM_VALUE_MAX);
	assert_int_equal(fclose(file), 0);
	free(head);
	free(tail);
	report_modules_free(&modules);
	if (report_load(&l, path, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(l.modules.count, MODULES);
	assert_int_equal(l.modules.list[MODULES - 1].nsections, 256);
	assert_int_equal(l.modules.list[0].size, INT64_MAX);
	report_load_free(&l);
	unlink(path);
}

/* The kernel lets a command line have some MiB. */
static void long_command_line_is_read(void **state)
{
	char file[] = "/tmp/test_report_readable.XXXXXX";
	static char word[100000];
	const char *options[60];
	struct report_config config = {.json = file, .print = print_nothing, .run = sample_run()};
	struct report_load l;
	struct err err = {0};
	struct report *r;

	(void)state;
	memset(word, 0xff, sizeof(word) - 1);
	for (unsigned i = 0; i < 60; i++)
		options[i] = word;
	config.run.options = options;
	config.run.option_count = 60;
	close(mkstemp(file));
	r = report_new(&config, &err);
	assert_non_null(r);
	assert_int_equal(report_finish(r, NULL, "guest powered off", &err), 0);
	report_free(r);
	if (report_load(&l, file, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(l.run.option_count, 11);
	assert_string_equal(l.run.options[10], "...");
	report_load_free(&l);
	unlink(file);
}

/* ---- time ---- */

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The CPU time to add that many modules and to find each, at best of some attempts. */
static double seconds_for(size_t count)
{
	double best = 1e9;

	for (unsigned attempt = 0; attempt < 5; attempt++) {
		struct report_modules modules = {0};
		double start = cpu_seconds();

		for (size_t i = 0; i < count; i++) {
			const struct report_module module = {.id = i * 4096 + 1};

			assert_int_equal(report_modules_add(&modules, &module, NULL), 0);
			assert_int_equal(report_modules_add(&modules, &module, NULL), 0);
		}
		for (size_t i = 0; i < count; i++)
			assert_non_null(report_modules_find(&modules, i * 4096 + 1));
		assert_int_equal(modules.count, count);
		assert_null(report_modules_find(&modules, 2));
		report_modules_free(&modules);
		if (cpu_seconds() - start < best)
			best = cpu_seconds() - start;
	}
	return best;
}

/* Eight times as many modules take about eight times as long. When each was looked for in the whole list it was 64 times. */
static void time_is_in_proportion(void **state)
{
	double few = seconds_for(4000), many = seconds_for(32000);

	(void)state;
	if (many > 24 * few)
		fail_msg("%.4f s for 4000 modules, %.4f s for 32000", few, many);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whatever_is_recorded_is_read),
		cmocka_unit_test(many_modules_are_read),
		cmocka_unit_test(long_command_line_is_read),
		cmocka_unit_test(time_is_in_proportion),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
