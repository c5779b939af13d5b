// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/pruner/prune_bench.h"
#include "tests/unit/race/side_room.h"

/* What may be in a bench's folder: what it writes itself, and a folder that a test makes. */
#define LIST "list"
#define SOURCE "a.c"
#define INNER "b"

/* Let the tests change the code and the calls of both sides. */
static int give_room(struct race *race)
{
	for (unsigned i = 0; i < 2; i++) {
		struct race_side_room *room = calloc(1, sizeof(*room));

		if (!room)
			return -1;
		side_into_room(&race->first.sides[i], room);
		free(race->side_memory[i]);
		race->side_memory[i] = room;
	}
	return 0;
}

static int setup(void **state, const char *races)
{
	struct bench *b = calloc(1, sizeof(*b));
	struct err err = {0};

	if (!b)
		return -1;
	b->row = *state;
	*state = b;
	b->rules = prune_rules_new(&err);
	if (!b->rules || report_load(&b->load, races, &err) < 0) {
		print_error("%s\n", err.text);
		return -1;
	}
	prune_rules_set_kernel(b->rules, b->load.run.kernel.banner);
	for (size_t i = 0; i < b->load.count; i++) {
		if (give_room(b->load.races[i]) < 0)
			return -1;
	}
	return 0;
}

int bench_setup(void **state)
{
	return setup(state, BENCH_RACES);
}

int bench_setup_ordered(void **state)
{
	return setup(state, BENCH_ORDERED);
}

int bench_teardown(void **state)
{
	static const char *const names[] = {LIST, SOURCE, INNER};
	struct bench *b = *state;

	for (size_t i = 0; i < ROWS(names) && b->folder[0]; i++) {
		snprintf(b->path, sizeof(b->path), "%s/%s", b->folder, names[i]);
		remove(b->path);
	}
	if (b->folder[0])
		rmdir(b->folder);
	report_load_free(&b->load);
	prune_rules_free(b->rules);
	sources_free(b->sources);
	free(b);
	return 0;
}

/* Whether side `side` of the race is of the function `name`. */
static bool is_function(const struct race *race, unsigned side, const char *name)
{
	return strcmp(race->first.sides[side].symbol.name, name) == 0;
}

/* Whether the site "module:function+0x1" of side `side` is `name`, "function+0x1". */
static bool is_site(const struct race *race, unsigned side, const char *name)
{
	const char *colon = strchr(race->site[side], ':');

	return colon && strcmp(colon + 1, name) == 0;
}

static struct bench *bench_find(struct bench *b, bool (*is)(const struct race *race, unsigned side, const char *name),
				const char *reader, const char *writer)
{
	for (size_t i = 0; i < b->load.count; i++) {
		for (unsigned r = 0; r < 2; r++) {
			if (!is(b->load.races[i], r, reader) || !is(b->load.races[i], !r, writer))
				continue;
			b->race = b->load.races[i];
			b->reader = r;
			b->writer = !r;
			return b;
		}
	}
	fail_msg("no race of %s and %s was recorded", reader, writer);
	return NULL;
}

struct bench *bench_of(void **state, const char *reader, const char *writer)
{
	return bench_find(*state, is_function, reader, writer);
}

struct bench *bench_of_sites(void **state, const char *reader, const char *writer)
{
	return bench_find(*state, is_site, reader, writer);
}

struct race_side *bench_side(const struct bench *b, unsigned side)
{
	return &b->race->first.sides[side];
}

void bench_code(const struct bench *b, unsigned side, const void *code, size_t len, uint32_t at)
{
	struct race_side *s = bench_side(b, side);

	assert_in_range(len, 1, RACE_CODE_MAX);
	s->symbol.addr = s->code_gva;
	s->symbol.size = len;
	s->code_len = (uint32_t)len;
	memcpy(s->code, code, len);
	s->pc = s->code_gva + at;
	s->callee_count = 0;
}

void bench_call(const struct bench *b, unsigned side, uint16_t at, const char *function)
{
	struct race_side *s = bench_side(b, side);
	struct race_callee *callee = &s->callees[s->callee_count++];

	*callee = (struct race_callee){.at = at};
	snprintf(callee->name, sizeof(callee->name), "%s", function);
}

void bench_start_not_kept(const struct bench *b, unsigned side)
{
	struct race_side *s = bench_side(b, side);

	s->symbol.addr -= 16;
	s->symbol.size += 16;
}

void bench_function(const struct bench *b, unsigned side, const char *name)
{
	struct race_side *s = bench_side(b, side);

	snprintf(s->symbol.name, sizeof(s->symbol.name), "%s", name);
}

void bench_datum(const struct bench *b, const char *variable, const char *owner, const char *member)
{
	for (unsigned i = 0; i < 2; i++) {
		struct datum_name *d = &b->race->names->datum[i];

		*d = (struct datum_name){.by = DATUM_BY_VARIABLE};
		snprintf(d->path, sizeof(d->path), "%s.%s", variable, member);
		snprintf(d->variable, sizeof(d->variable), "%s", variable);
		snprintf(d->owner, sizeof(d->owner), "%s", owner);
		snprintf(d->member, sizeof(d->member), "%s", member);
	}
}

void bench_type(const struct bench *b, const char *type)
{
	for (unsigned i = 0; i < 2; i++) {
		struct datum_name *d = &b->race->names->datum[i];

		snprintf(d->type, sizeof(d->type), "%s", type);
	}
}

void bench_unnamed(struct race *race)
{
	race_names_free(race->names);
	race->names = NULL;
}

void bench_inlined(const struct bench *b, unsigned side, const char *function)
{
	for (size_t i = 0; i < b->race->names->count; i++) {
		struct source_line *line = &b->race->names->lines[i];

		if (line->side == side && line->frame == 0) {
			snprintf(line->function, sizeof(line->function), "%s", function);
			return;
		}
	}
	fail_msg("no line of side %u", side);
}

void bench_lines(const struct bench *b, const char *file, unsigned line)
{
	for (size_t i = 0; i < b->race->names->count; i++) {
		struct source_line *l = &b->race->names->lines[i];

		snprintf(l->file, sizeof(l->file), "%s", file);
		l->line = line;
	}
}

/* Write the file anew, in a folder of the bench's own; its path goes to b->path. */
static void write_file(struct bench *b, const char *name, const void *text, size_t len)
{
	FILE *file;

	if (!b->folder[0]) {
		strcpy(b->folder, "/tmp/test_prune.XXXXXX");
		assert_non_null(mkdtemp(b->folder));
	}
	snprintf(b->path, sizeof(b->path), "%s/%s", b->folder, name);
	file = fopen(b->path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
}

const char *bench_file(struct bench *b, const void *text, size_t len)
{
	write_file(b, LIST, text, len);
	return b->path;
}

void bench_list(struct bench *b, const char *text)
{
	struct err err = {0};

	if (prune_rules_add(b->rules, bench_file(b, text, strlen(text)), &err) < 0)
		fail_msg("%s", err.text);
}

void bench_source(struct bench *b, const char *text)
{
	char source[512];
	int len = snprintf(source, sizeof(source), "/* READ_ONCE(owner) in another line */\n%s\n", text);

	assert_in_range(len, 1, sizeof(source) - 1);
	write_file(b, SOURCE, source, (size_t)len);
	sources_free(b->sources);
	b->sources = sources_new(NULL, NULL);
	assert_non_null(b->sources);
	assert_int_equal(sources_add(b->sources, b->folder, NULL), 0);
	prune_rules_set_sources(b->rules, b->sources);
}

static void unexpected(const struct bench *b)
{
	fail_msg("%s, %s: %s", verdict_class_word(b->verdict.class), rule_name(b->verdict.rule), b->verdict.evidence);
}

void bench_expect(struct bench *b, enum verdict_class class, const char *rule)
{
	prune_race(b->rules, b->race, &b->verdict);
	if (b->verdict.class != class || strcmp(rule_name(b->verdict.rule), rule) != 0)
		unexpected(b);
}

void bench_expect_not(struct bench *b, const char *rule)
{
	prune_race(b->rules, b->race, &b->verdict);
	if (b->verdict.class != VERDICT_HARMFUL || strcmp(rule_name(b->verdict.rule), rule) == 0)
		unexpected(b);
}

void bench_expect_among(struct bench *b, enum verdict_class class, const char *rule)
{
	struct related *related = related_new(b->load.races, b->load.count);

	assert_non_null(related);
	prune_race_among(b->rules, related, b->race, &b->verdict);
	related_free(related);
	if (b->verdict.class != class || strcmp(rule_name(b->verdict.rule), rule) != 0)
		unexpected(b);
}

void bench_expect_class(struct bench *b, enum verdict_class class)
{
	prune_race(b->rules, b->race, &b->verdict);
	if (b->verdict.class != class)
		unexpected(b);
}

void bench_says(const struct bench *b, const char *text)
{
	if (!strstr(b->verdict.evidence, text))
		fail_msg("\"%s\" does not say \"%s\"", b->verdict.evidence, text);
}
