// SPDX-License-Identifier: GPL-2.0-or-later
/* The report of a guest that loads modules and races without end stays limited, and can be read back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hv/report/json/load.h"
#include "tests/unit/report/sample.h"

#define MODULES 200u
#define SECTIONS 50u
#define ROUNDS 40u
#define RACES_MAX 8192u

struct fixture {
	char file[64];
	struct observation *o;
	unsigned notes, printed;
	char note[256];
	struct report_config config;
	struct report *r;
	struct report_module loaded[MODULES];
	struct image_section sections[MODULES][SECTIONS];
	uint64_t next_id;
};

static void print(void *ctx, const char *text, size_t len)
{
	struct fixture *f = ctx;

	(void)text;
	(void)len;
	f->printed++;
}

static void note(void *ctx, const char *line)
{
	struct fixture *f = ctx;

	f->notes++;
	snprintf(f->note, sizeof(f->note), "%s", line);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	const struct report_kernel kernel = sample_kernel();
	int fd;

	strcpy(f->file, "/tmp/test_report_limits.XXXXXX");
	fd = mkstemp(f->file);
	f->o = malloc(sizeof(*f->o));
	if (fd < 0 || !f->o)
		return -1;
	close(fd);
	f->config =
		(struct report_config){.json = f->file, .print = print, .message = note, .print_ctx = f, .run = sample_run()};
	f->r = report_new(&f->config, NULL);
	*state = f;
	return f->r ? report_set_kernel(f->r, &kernel, NULL) : -1;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	report_free(f->r);
	unlink(f->file);
	free(f->o);
	free(f);
	return 0;
}

/* Load all modules again, each with its text at the same address as before. */
static void reload(struct fixture *f)
{
	for (unsigned i = 0; i < MODULES; i++) {
		struct report_module *m = &f->loaded[i];

		*m = (struct report_module){.id = ++f->next_id,
					    .base = 0xffffffffc1000000 + i * 0x10000,
					    .size = 0x1000,
					    .sections = f->sections[i],
					    .nsections = SECTIONS};
		snprintf(m->name, sizeof(m->name), "m%u_%llu", i, (unsigned long long)m->id);
		for (unsigned s = 0; s < SECTIONS; s++) {
			snprintf(f->sections[i][s].name, sizeof(f->sections[i][s].name), ".a_long_name_of_section_%u", s);
			f->sections[i][s].addr = m->base + 0x2000 + 0x100 * s;
		}
	}
	assert_int_equal(report_set_modules(f->r, f->loaded, MODULES, NULL), 0);
}

/* Observe a race in a function of its own. One side is in the text of module `in`; RBX points to a section of the next one. */
static void observe(struct fixture *f, unsigned number, unsigned in)
{
	struct observation *o = f->o;

	sample_observation(o, 0);
	snprintf(o->sides[0].symbol.name, sizeof(o->sides[0].symbol.name), "f%u", number);
	o->sides[0].pc = o->sides[0].regs.rip = f->loaded[in].base + 0x20;
	o->sides[0].symbol.addr = f->loaded[in].base;
	o->sides[0].calls.count = 0;
	o->sides[0].regs.gpr[X86_RBX] = f->sections[in + 1][3].addr + 8;
	assert_int_equal(report_observe(f->r, o, NULL), 0);
}

static size_t file_size(const struct fixture *f)
{
	struct stat st;

	assert_int_equal(stat(f->file, &st), 0);
	return (size_t)st.st_size;
}

static void load(const struct fixture *f, struct report_load *l)
{
	struct err err = {0};

	if (report_load(l, f->file, &err) < 0)
		fail_msg("%s", err.text);
}

/* Before each race all modules are loaded again. The document keeps only the modules of the races. */
static void only_modules_of_races_are_kept(void **state)
{
	struct fixture *f = *state;
	struct report_load l;

	for (unsigned i = 0; i < ROUNDS; i++) {
		reload(f);
		observe(f, i, i);
	}
	print_message("# %u races, before each of which %u modules were loaded: %zu bytes\n", ROUNDS, MODULES, file_size(f));
	assert_true(file_size(f) < ROUNDS * 64 * 1024);
	assert_int_equal(f->notes, 0);
	assert_int_equal(f->printed, ROUNDS);
	assert_int_equal(report_finish(f->r, NULL, "over", NULL), 0);
	load(f, &l);
	assert_int_equal(l.count, ROUNDS);
	assert_true(l.modules.count <= 3 * ROUNDS);
	for (unsigned i = 0; i < ROUNDS; i++) {
		bool text = false, data = false;

		for (size_t m = 0; m < l.races[i]->module_count; m++) {
			const struct report_module *module = report_modules_find(&l.modules, l.races[i]->modules[m]);

			assert_non_null(module);
			text |= module->id == i * MODULES + i + 1;
			data |= module->id == i * MODULES + i + 2;
		}
		assert_true(text && data);
	}
	report_load_free(&l);
}

/* The document also limits the modules of races. The report says so once, and loses no race. */
static void modules_have_a_limit(void **state)
{
	static struct image_section many[MODULES][1000];
	struct fixture *f = *state;
	unsigned races = 0;
	struct report_load l;

	while (f->notes == 0) {
		assert_true(races < 2000);
		if (races % 100 == 0) {
			reload(f);
			for (unsigned i = 0; i < MODULES; i++) {
				f->loaded[i].sections = many[i];
				f->loaded[i].nsections = 1000;
				for (unsigned s = 0; s < 1000; s++) {
					snprintf(many[i][s].name, sizeof(many[i][s].name), ".s%u", s);
					many[i][s].addr = f->loaded[i].base + 0x2000 + s;
				}
			}
			assert_int_equal(report_set_modules(f->r, f->loaded, MODULES, NULL), 0);
		}
		observe(f, races, races % 100);
		races++;
	}
	print_message("# the limit was reached with race %u: %zu bytes\n", races, file_size(f));
	assert_non_null(strstr(f->note, "the limit on recorded modules is reached"));
	for (unsigned i = 0; i < 20; i++, races++)
		observe(f, races, races % 100);
	assert_int_equal(f->notes, 1);
	assert_int_equal(f->printed, races);
	assert_true(file_size(f) < 64u << 20);
	load(f, &l);
	assert_int_equal(l.count, races);
	for (unsigned i = 0; i < races; i++) {
		for (size_t m = 0; m < l.races[i]->module_count; m++)
			assert_non_null(report_modules_find(&l.modules, l.races[i]->modules[m]));
	}
	report_load_free(&l);
}

/* Races have a limit too. The file has all races that were printed, and the report goes on counting them. */
static void races_have_a_limit(void **state)
{
	struct fixture *f = *state;
	struct report_load l;

	reload(f);
	for (unsigned i = 0; i < RACES_MAX; i++)
		observe(f, i, 0);
	assert_int_equal(f->notes, 0);
	observe(f, RACES_MAX, 0);
	observe(f, RACES_MAX + 1, 0);
	assert_int_equal(f->notes, 1);
	assert_string_equal(f->note, "the limit of 8192 races is reached: further races are not reported");
	assert_int_equal(f->printed, RACES_MAX);
	observe(f, 7, 0);
	assert_int_equal(report_finish(f->r, NULL, "over", NULL), 0);
	load(f, &l);
	assert_int_equal(l.count, RACES_MAX);
	assert_int_equal(l.races[7]->count, 2);
	report_load_free(&l);
}

/* The time to read a report with many modules grows linearly with their number. */
static void many_modules_are_found(void **state)
{
	struct report_modules m = {0};
	struct report_module module = {.name = "m"};
	const unsigned count = 100000;

	(void)state;
	for (unsigned i = 0; i < count; i++) {
		module.id = (uint64_t)i << 32; /* all ids have the same low bits */
		assert_int_equal(report_modules_add(&m, &module, NULL), 0);
	}
	assert_int_equal(m.count, count);
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(report_modules_find(&m, (uint64_t)i << 32)->id, (uint64_t)i << 32);
	assert_null(report_modules_find(&m, 1));
	report_modules_free(&m);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(only_modules_of_races_are_kept),
		TEST(modules_have_a_limit),
		TEST(races_have_a_limit),
		cmocka_unit_test(many_modules_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
