/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A race whose sides are accesses of the compiled sample, to be named by its debug information. Every test has a race of its
 * own; the tests of a group share the sample, since to compile it takes longest.
 */
#ifndef OUTRIDER_TEST_REPORT_NAMING_RIG_H
#define OUTRIDER_TEST_REPORT_NAMING_RIG_H

#include "tests/unit/symbols/dwarf_sample.h"

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

/* The side that a test is about, and in a test of a table the row. */
struct row {
	unsigned side;
	const struct copy_case *copy;
};

struct fixture {
	struct sample sample;
	struct debug_images *images;
	struct insn_decoder *decoder;
	struct naming naming;
	uint8_t id[32];
	/* Of one test, which begins with a race of which nothing is known. */
	struct race race;
	/* What the race's sides point to. */
	struct race_side_room rooms[2];
	struct row row;
};

/* What the tests of a group share: all but the race. */
static struct fixture *shared;

static inline void note(void *ctx, const char *line)
{
	(void)ctx;
	fail_msg("%s", line);
}

static inline int setup(const char *compiler)
{
	struct fixture *f = calloc(1, sizeof(*f));
	const struct debug_images_sink sink = {.message = note};
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
	shared = f;
	return 0;
}

static inline int setup_gcc(void **state)
{
	(void)state;
	return setup("gcc");
}

static inline int setup_clang(void **state)
{
	(void)state;
	return setup("clang");
}

static inline int teardown(void **state)
{
	(void)state;
	insn_decoder_free(shared->decoder);
	debug_images_free(shared->images);
	sample_free(&shared->sample);
	free(shared);
	return 0;
}

static inline int begin_race(void **state)
{
	const struct row *row = *state;

	memset(&shared->race, 0, sizeof(shared->race));
	shared->row = row ? *row : (struct row){0};
	*state = shared;
	return 0;
}

static inline int end_race(void **state)
{
	struct fixture *f = *state;

	race_names_free(f->race.names);
	return 0;
}

/* The function's `nth` instruction that accesses memory; its address is the run-time one. */
static inline struct insn find_access(const struct fixture *f, const char *function, unsigned nth, const uint8_t *code)
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
static inline struct insn set_side(struct fixture *f, unsigned which, const char *function, unsigned nth, uint64_t gva,
				   uint32_t size)
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
		.kind = RACE_SIDE_CPU, .rw = INSN_READ, .pc = i.addr, .gva = gva, .size = size, .code_gva = p.addr + SLIDE};
	race_side_use_room(side, &f->rooms[which]);
	assert_in_range(p.size, 1, RACE_CODE_MAX);
	side->code_len = (uint32_t)p.size;
	memcpy(side->code, code + p.offset, p.size);
	return i;
}

/* The copy has come to the access, so that its registers tell nothing of how far it is from where they began. */
static inline void set_copy_by(struct fixture *f, unsigned which, const char *function, uint8_t rw, uint64_t gva, uint32_t size)
{
	struct insn i = set_side(f, which, function, 0, gva, size);
	struct race_side *side = &f->race.first.sides[which];

	assert_true(i.flags & INSN_STRING);
	side->rw = rw;
	side->regs.gpr[X86_RSI] = side->regs.gpr[X86_RDI] = gva;
}

static inline void set_copy(struct fixture *f, unsigned which, uint8_t rw, uint64_t gva, uint32_t size)
{
	set_copy_by(f, which, "copy", rw, gva, size);
}

static inline void set_object(struct fixture *f, const char *type)
{
	f->race.first.memory = (struct guest_memory){
		.kind = GUEST_MEMORY_SLAB, .cpu = -1, .cache = "records", .object = OBJECT, .object_size = OBJECT_SIZE};
	snprintf(f->race.first.memory.type, sizeof(f->race.first.memory.type), "%s", type);
}

static inline const struct datum_name *name_side(struct fixture *f, unsigned which)
{
	struct err err = {0};

	if (naming_race(&f->naming, &f->race, &err))
		fail_msg("%s", err.text);
	return &f->race.names->datum[which];
}

static inline void expect_name(struct fixture *f, unsigned which, enum datum_by by, const char *path, bool guess)
{
	const struct datum_name *d = name_side(f, which);

	assert_int_equal(d->by, by);
	assert_string_equal(d->path, path);
	assert_int_equal(d->guess, guess);
}

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct row sampled __attribute__((unused)) = {.side = 0}, watched __attribute__((unused)) = {.side = 1};

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin_race, end_race)
#define SIDES(f)                                                       \
	{#f ", sampled side", f, begin_race, end_race, &sampled},      \
	{                                                              \
#f ", watched side", f, begin_race, end_race, &watched \
	}

#endif
