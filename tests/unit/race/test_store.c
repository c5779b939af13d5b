// SPDX-License-Identifier: GPL-2.0-or-later
/* What makes two observations one race, and what makes none. */
#include <setjmp.h>
#include <stdarg.h>
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "hv/race/store.h"
#include "tests/unit/report/sample.h"

static int setup(void **state)
{
	*state = race_store_new(NULL);
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	race_store_free(*state);
	return 0;
}

static const struct race *add(struct race_store *s, const struct observation *o, bool expect_new)
{
	struct err err = {0};
	bool is_new = !expect_new;
	const struct race *race = race_store_add(s, o, &is_new, &err);

	assert_non_null(race);
	assert_int_equal(is_new, expect_new);
	assert_int_equal(err.code, EXIT_OK);
	return race;
}

static void counts_instances(void **state)
{
	struct observation o;
	const struct race *race;

	sample_observation(&o, 0);
	add(*state, &o, true);
	o.time_ns = 9000000000;
	race = add(*state, &o, false);
	o.time_ns = 500000000;
	assert_ptr_equal(add(*state, &o, false), race);
	assert_int_equal(race->count, 3);
	assert_int_equal(race->first_ns, 500000000);
	assert_int_equal(race->last_ns, 9000000000);
	assert_int_equal(race->kept, 3);
	assert_int_equal(race->first.time_ns, 1500000000);
	assert_int_equal(race_store_count(*state), 1);
}

/* What was held is not known at once. The first instance that knows it of both sides says it, and later ones do not change it.
 */
static void locks_are_learnt_from_a_later_instance(void **state)
{
	struct observation o;
	const struct race *race;

	sample_observation(&o, 0);
	o.sides[1].locks = (struct race_locks){0};
	race = add(*state, &o, true);
	sample_observation(&o, 0);
	o.sides[0].locks.set.count = 0;
	o.sides[1].locks.name[0][0] = '\x1b';
	add(*state, &o, false);
	assert_true(race->first.sides[1].locks.known);
	assert_int_equal(race->first.sides[0].locks.set.count, 0);
	assert_int_equal(race->first.sides[1].locks.set.count, 2);
	assert_string_equal(race->first.sides[1].locks.name[0], "\\x1bb_sem");
	sample_observation(&o, 0);
	add(*state, &o, false);
	assert_int_equal(race->first.sides[0].locks.set.count, 0);
}

/* What the guest calls things steers no terminal from here on, however long its bytes become. */
static void strings_are_printable(void **state)
{
	static const char hostile[] = "\x1b[2J\n\xc3\xa4", clean[] = "\\x1b[2J\\x0a\\xc3\\xa4";
	struct observation o;
	const struct race *race;

	sample_observation(&o, 0);
	strcpy(o.memory.cache, hostile);
	for (int i = 0; i < 2; i++) {
		strcpy(o.sides[i].context.comm, hostile);
		strcpy(o.sides[i].symbol.name, hostile);
		strcpy(o.sides[i].symbol.module, hostile);
		strcpy(o.sides[i].calls.frames[0].symbol.name, hostile);
	}
	memset(o.memory.symbol.name, '\xff', sizeof(o.memory.symbol.name));
	race = add(*state, &o, true);
	assert_string_equal(race->first.memory.cache, clean);
	assert_int_equal(strlen(race->first.memory.symbol.name), sizeof(o.memory.symbol.name) - 4);
	for (int i = 0; i < 2; i++) {
		assert_string_equal(race->first.sides[i].context.comm, clean);
		assert_string_equal(race->first.sides[i].symbol.name, clean);
		assert_string_equal(race->first.sides[i].symbol.module, clean);
		assert_string_equal(race->first.sides[i].calls.frames[0].symbol.name, clean);
		assert_string_equal(race->instances[0].sides[i].context.comm, clean);
		assert_null(strpbrk(race->site[i], "\x1b\n\xc3\xa4"));
	}
}

static void order_of_sides_does_not_matter(void **state)
{
	struct observation o;
	const struct race *race;

	sample_observation(&o, 0);
	race = add(*state, &o, true);
	sample_swap(&o);
	o.sides[0].cpu = 5;
	assert_ptr_equal(add(*state, &o, false), race);
	/* The instance is in the race's order: the kernel's read is side 1 in both. */
	assert_int_equal(race->instances[1].sides[1].cpu, 5);
	assert_int_equal(race->instances[1].sides[1].rw, INSN_READ);
	assert_int_equal(race->rw[0], INSN_WRITE);
	assert_int_equal(race->rw[1], INSN_READ);
}

static void id_survives_kaslr(void **state)
{
	struct race_store *other = race_store_new(NULL);
	struct observation o;
	char id[RACE_ID_MAX];

	sample_observation(&o, 0);
	memcpy(id, add(*state, &o, true)->id, sizeof(id));
	assert_int_equal(strlen(id), 12);
	/* The algorithm is published (docs/report-format.md): this id never changes. */
	assert_string_equal(id, "24fe57074e90");
	race_store_set_slide(other, 0x1f000000);
	sample_observation(&o, 0x1f000000);
	o.gpa = 0x77000;
	o.sides[0].gva = 0xffff999900000000;
	assert_string_equal(add(other, &o, true)->id, id);
	race_store_free(other);
}

static void expect_another_race(struct race_store *s, const struct observation *o)
{
	add(s, o, true);
	assert_int_equal(race_store_count(s), 2);
}

static void another_offset_is_another_site(void **state)
{
	struct observation o;

	sample_observation(&o, 0);
	add(*state, &o, true);
	o.sides[0].pc += 4;
	expect_another_race(*state, &o);
}

static void another_module_is_another_site(void **state)
{
	struct observation o;

	sample_observation(&o, 0);
	add(*state, &o, true);
	strcpy(o.sides[0].symbol.module, "btrfs");
	expect_another_race(*state, &o);
}

static void another_function_is_another_site(void **state)
{
	struct observation o;

	sample_observation(&o, 0);
	add(*state, &o, true);
	strcpy(o.sides[1].symbol.name, "generic_baz");
	expect_another_race(*state, &o);
}

static void one_function_may_race_with_itself(void **state)
{
	struct observation o;
	const struct race *race;

	sample_observation(&o, 0);
	o.sides[1] = o.sides[0];
	race = add(*state, &o, true);
	add(*state, &o, false);
	assert_string_equal(race->site[0], race->site[1]);
}

static void two_locked_sides_are_no_race(void **state)
{
	struct observation o;
	struct err err = {0};
	bool is_new = true;

	sample_observation(&o, 0);
	o.sides[0].locked = o.sides[1].locked = true;
	assert_null(race_store_add(*state, &o, &is_new, &err));
	assert_false(is_new);
	assert_int_equal(err.code, EXIT_OK);
	assert_int_equal(race_store_count(*state), 0);
}

/* A CPU was held before it gets a reference, and the other side has put the last one. */
static void a_get_after_the_last_put_is_one(void **state)
{
	struct observation o;
	struct err err = {0};
	bool is_new;

	sample_observation(&o, 0);
	o.sides[0].locked = o.sides[1].locked = true;
	memset(o.before, 0, sizeof(o.before));
	memset(o.after, 0, sizeof(o.after));
	assert_null(race_store_add(*state, &o, &is_new, &err));
	o.before[0] = 1;
	add(*state, &o, true);
}

static void one_locked_side_is_a_race(void **state)
{
	struct observation o;

	sample_observation(&o, 0);
	o.sides[0].locked = true;
	add(*state, &o, true);
}

static void two_reads_are_no_race(void **state)
{
	struct observation o;
	bool is_new;

	sample_observation(&o, 0);
	o.sides[0].rw = INSN_READ;
	assert_null(race_store_add(*state, &o, &is_new, NULL));
}

/* An access that could not be told is not a read. */
static void read_and_untold_access_are_a_race(void **state)
{
	struct observation o;

	sample_observation(&o, 0);
	o.sides[0].rw = 0;
	add(*state, &o, true);
}

static void unseen_writer_has_one_site(void **state)
{
	struct observation o;
	const struct race *race;

	sample_observation(&o, 0);
	o.how = RACE_BY_REREAD;
	o.sides[0].rw = INSN_READ;
	o.sides[1] = (struct race_side){.kind = RACE_SIDE_UNSEEN};
	race = add(*state, &o, true);
	assert_string_equal(race->site[0], "ext4:ext4_foo+0x1c");
	assert_string_equal(race->site[1], "unknown");
	assert_false(race->instances[0].sides[1].kind == RACE_SIDE_CPU);
	add(*state, &o, false);
}

static void device_side(struct observation *o, enum device_op op, uint64_t sector, bool write)
{
	o->how = RACE_BY_DEVICE;
	o->sides[1] = (struct race_side){
		.kind = RACE_SIDE_DEVICE,
		.rw = write ? INSN_WRITE : INSN_READ,
		.device = {.request = {.type = "virtio-blk", .op = op, .sector = sector, .tid = 4711, .thread = "disk"},
			   .gpa = o->gpa,
			   .len = 4,
			   .write = write,
			   .descriptor = 1},
	};
}

/* Requests of one kind are one site, whatever sector they are for, and an operation of another kind is another site. */
static void a_device_has_one_site_for_each_operation(void **state)
{
	struct observation o;
	const struct race *race;

	sample_observation(&o, 0);
	o.sides[0].rw = INSN_READ;
	device_side(&o, DEVICE_BLK_READ, 8192, true);
	race = add(*state, &o, true);
	assert_string_equal(race->site[0], "ext4:ext4_foo+0x1c");
	assert_string_equal(race->site[1], "virtio-blk:read");
	assert_int_equal(race->rw[1], INSN_WRITE);
	assert_false(race->first.sides[1].kind == RACE_SIDE_CPU);
	assert_true(race->first.sides[1].kind == RACE_SIDE_DEVICE);
	assert_int_equal(race->first.sides[1].device.request.sector, 8192);
	assert_true(race->instances[0].sides[1].kind == RACE_SIDE_DEVICE);
	assert_int_equal(race->instances[0].sides[1].rw, INSN_WRITE);

	device_side(&o, DEVICE_BLK_READ, 16384, true);
	o.sides[1].device.request.index = 1;
	assert_ptr_equal(add(*state, &o, false), race);
	assert_int_equal(race->instances[1].sides[1].device.request.sector, 16384);

	o.sides[0].rw = INSN_WRITE;
	device_side(&o, DEVICE_BLK_WRITE, 8192, false);
	race = add(*state, &o, true);
	assert_string_equal(race->site[1], "virtio-blk:write");
	assert_int_equal(race->rw[1], INSN_READ);
}

static void two_reads_of_cpu_and_device_are_no_race(void **state)
{
	struct observation o;
	bool is_new;

	sample_observation(&o, 0);
	o.sides[0].rw = INSN_READ;
	device_side(&o, DEVICE_BLK_WRITE, 0, false);
	assert_null(race_store_add(*state, &o, &is_new, NULL));
}

static void strings_of_a_device_are_printable(void **state)
{
	struct observation o;
	const struct race *race;

	sample_observation(&o, 0);
	device_side(&o, DEVICE_BLK_READ, 0, true);
	strcpy(o.sides[1].device.request.type, "\x1b[2J");
	strcpy(o.sides[1].device.request.thread, "\n");
	race = add(*state, &o, true);
	assert_string_equal(race->first.sides[1].device.request.type, "\\x1b[2J");
	assert_string_equal(race->instances[0].sides[1].device.request.thread, "\\x0a");
	assert_string_equal(race->site[1], "\\x1b[2J:read");
}

static void every_operation_has_a_word(void **state)
{
	static const char *const types[] = {"virtio-blk", "virtio-net", "virtio-rng", "virtio-vsock"};

	(void)state;
	for (unsigned op = DEVICE_OP_UNKNOWN + 1; op < DEVICE_OPS; op++) {
		const char *word = device_op_word(op);
		bool found = false;

		for (unsigned t = 0; t < sizeof(types) / sizeof(types[0]); t++)
			found |= device_op_from_word(types[t], word) == op;
		assert_string_not_equal(word, "unknown");
		assert_true(found);
	}
	assert_string_equal(device_op_word(DEVICE_OPS), "unknown");
	assert_int_equal(device_op_from_word("virtio-blk", "fill"), DEVICE_OP_UNKNOWN);
}

static void sites_without_symbol(void **state)
{
	struct observation o;
	const struct race *race;

	race_store_set_slide(*state, 0x2000000);
	sample_observation(&o, 0x2000000);
	o.sides[0].symbol = o.sides[1].symbol = (struct guest_symbol){0};
	o.sides[0].pc = 0;
	o.sides[0].regs.rip = 0xffff888000001234;
	race = add(*state, &o, true);
	assert_string_equal(race->site[0], "stop:raw+0xffff888000001234");
	assert_string_equal(race->site[1], "image+0x1200033");
}

static void keeps_the_first_instances_only(void **state)
{
	struct observation o;
	const struct race *race = NULL;

	sample_observation(&o, 0);
	for (int i = 0; i < 1000; i++) {
		o.time_ns = (uint64_t)i;
		race = add(*state, &o, i == 0);
	}
	assert_int_equal(race->count, 1000);
	assert_int_equal(race->kept, RACE_INSTANCES_MAX);
	assert_int_equal(race->instances[RACE_INSTANCES_MAX - 1].time_ns, RACE_INSTANCES_MAX - 1);
}

static void wrong_lengths_are_cut(void **state)
{
	struct observation o;
	const struct race *race;

	sample_observation(&o, 0);
	o.data_len = UINT32_MAX;
	o.sides[0].stack_len = UINT32_MAX;
	o.sides[0].interrupted[0].len = RACE_STACK_MAX - 1;
	o.sides[0].interrupted[1].len = UINT32_MAX;
	o.sides[0].calls.count = UINT32_MAX;
	o.sides[1].code_len = UINT32_MAX;
	o.sides[1].callee_count = UINT32_MAX;
	race = add(*state, &o, true);
	assert_int_equal(race->first.data_len, RACE_DATA_MAX);
	assert_int_equal(race->first.sides[0].stack_len, RACE_STACK_MAX);
	assert_int_equal(race->first.sides[0].interrupted[0].len, RACE_STACK_MAX - 1);
	assert_int_equal(race->first.sides[0].interrupted[1].len, 1);
	assert_int_equal(race->first.sides[0].calls.count, UNWIND_FRAMES_MAX);
	assert_int_equal(race->first.sides[1].code_len, RACE_CODE_MAX);
	assert_int_equal(race->first.sides[1].callee_count, RACE_CALLEES_MAX);
	assert_int_equal(race->instances[0].data_len, RACE_DATA_MAX);
}

/* Only what is in use is copied; that must be all of it. */
static void stacks_are_kept(void **state)
{
	const struct race *race;
	struct observation o;

	sample_observation(&o, 0);
	race = add(*state, &o, true);
	for (int i = 0; i < 2; i++) {
		const struct race_side *from = &o.sides[i], *kept = &race->first.sides[i];

		assert_int_equal(kept->stack_len, from->stack_len);
		assert_memory_equal(kept->stack, from->stack, from->stack_len);
		assert_memory_equal(kept->interrupted, from->interrupted, sizeof(from->interrupted));
		assert_memory_equal(kept->below, from->below, 16);
		assert_int_equal(kept->calls.count, 4);
		assert_int_equal(kept->calls.origin, GUEST_ORIGIN_SYSCALL);
		assert_memory_equal(kept->calls.frames, from->calls.frames, 4 * sizeof(from->calls.frames[0]));
	}
}

static void memory_is_kept(void **state)
{
	struct observation o;

	sample_observation(&o, 0);
	o.memory = (struct guest_memory){.kind = GUEST_MEMORY_SLAB, .cache = "filp", .object = 0xffff888000001000, .offset = 8};
	assert_memory_equal(&add(*state, &o, true)->first.memory, &o.memory, sizeof(o.memory));
}

/* ---- as many races as there may be ---- */

#define FEW 1000
#define MANY 100000
#define LOOKUPS 20000
#define TRIALS 3

/* Observation `i`: its sites are not those of any other, and it has next to nothing else in it. */
static void make_unlike(struct observation *o, unsigned i)
{
	static struct race_side_room nothing;

	*o = (struct observation){.how = RACE_BY_WATCH, .time_ns = i};
	for (unsigned which = 0; which < 2; which++) {
		o->sides[which] =
			(struct race_side){.kind = RACE_SIDE_CPU, .rw = INSN_WRITE, .pc = 0xffff800000000000 + 2 * i + which};
		race_side_use_room(&o->sides[which], &nothing);
	}
}

static void fill(struct race_store *s, unsigned count)
{
	struct observation o;

	for (unsigned i = 0; i < count; i++) {
		make_unlike(&o, i);
		add(s, &o, true);
	}
	assert_int_equal(race_store_count(s), count);
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* CPU time of LOOKUPS observations of races that are in the store already, from all over it; the best of some trials. */
static uint64_t lookup_ns(struct race_store *s, unsigned count)
{
	uint64_t best = UINT64_MAX;
	struct observation o;

	for (unsigned trial = 0; trial < TRIALS; trial++) {
		uint64_t before = cpu_ns(), took;

		for (unsigned i = 0; i < LOOKUPS; i++) {
			make_unlike(&o, (unsigned)((uint64_t)i * 7919 % count));
			add(s, &o, false);
		}
		took = cpu_ns() - before;
		best = took < best ? took : best;
	}
	return best;
}

/*
 * A race is found among 100,000 as fast as among 1,000: a search that looked at all of them would take 100 times as long. The
 * two are measured in one run, so that the machine's speed does not matter, and caches are allowed their share.
 */
static void many_races_take_no_longer_each(void **state)
{
	struct race_store *few = race_store_new(NULL);
	uint64_t among_few, among_many;

	fill(few, FEW);
	fill(*state, MANY);
	among_few = lookup_ns(few, FEW);
	among_many = lookup_ns(*state, MANY);
	race_store_free(few);
	print_message("# %d lookups: %.1f ms among %d races, %.1f ms among %d\n", LOOKUPS, (double)among_few / 1e6, FEW,
		      (double)among_many / 1e6, MANY);
	assert_true(among_many < 10 * among_few);
}

/* The same of races that come from reports. */
static void many_races_are_put_together(void **state)
{
	struct race_store *from[2] = {race_store_new(NULL), race_store_new(NULL)};
	struct err err = {0};

	for (unsigned run = 0; run < 2; run++) {
		fill(from[run], FEW);
		race_store_begin_run(*state);
		for (unsigned i = 0; i < FEW; i++) {
			const struct race *there = race_store_get(from[run], i);
			struct race *race = race_new();

			/* In the second run the sides are the other way round. */
			memcpy(race->id, there->id, sizeof(race->id));
			memcpy(race->site[run], there->site[0], SITE_NAME_MAX);
			memcpy(race->site[!run], there->site[1], SITE_NAME_MAX);
			race->count = 1;
			assert_non_null(race_add_instance(race));
			race = race_store_put(*state, race, &err);
			assert_ptr_equal(race, race_store_get(*state, i));
		}
		race_store_free(from[run]);
	}
	assert_int_equal(race_store_count(*state), FEW);
	for (unsigned i = 0; i < FEW; i++) {
		const struct race *race = race_store_get(*state, i);

		assert_int_equal(race->count, 2);
		assert_int_equal(race->kept, 2);
		assert_int_equal(race->instances[0].run, 1);
		assert_int_equal(race->instances[1].run, 2);
	}
}

/* ---- what a report can say to do harm ---- */

/* Low bits of FNV-1a that the names below have in common: as many as choose a bucket among a million. */
#define COLLIDING_BITS 20
#define BLOCKS 15
#define HOSTILE (1u << BLOCKS)

static uint32_t low_fnv(uint32_t hash, const char *text)
{
	for (; *text; text++)
		hash = ((hash ^ (uint8_t)*text) * 0x1b3) & ((1u << COLLIDING_BITS) - 1);
	return hash;
}

/* Two texts of four letters that take the hash from `from` to the same value, which is returned. */
static uint32_t find_pair(uint32_t from, char pair[2][9])
{
	static uint32_t seen[1u << COLLIDING_BITS];

	memset(seen, 0, sizeof(seen));
	for (uint32_t i = 0;; i++) {
		uint32_t hash;

		assert_true(i < 1u << 16);
		snprintf(pair[1], sizeof(pair[1]), "%04x", i);
		hash = low_fnv(from, pair[1]);
		if (seen[hash]) {
			snprintf(pair[0], sizeof(pair[0]), "%04x", seen[hash] - 1);
			return hash;
		}
		seen[hash] = i + 1;
	}
}

static void put_named(struct race_store *s, const char *site)
{
	struct race *race = race_new();
	struct err err = {0};

	assert_non_null(race);
	strcpy(race->id, "0123456789ab");
	snprintf(race->site[0], sizeof(race->site[0]), "%s", site);
	strcpy(race->site[1], "unknown");
	race->count = 1;
	assert_ptr_equal(race_store_put(s, race, &err), race);
}

/*
 * Multicollisions (Joux, CRYPTO 2004): with one of two texts at each of BLOCKS places there are HOSTILE names with one hash.
 * They must be put no slower than others are, but for what the machine makes of it.
 */
static void names_made_to_collide(void **state)
{
	struct race_store *harmless = race_store_new(NULL);
	/* Where FNV's offset basis starts. */
	uint32_t hash = (uint32_t)(0xcbf29ce484222325 & ((1u << COLLIDING_BITS) - 1)), end = 0;
	char pairs[BLOCKS][2][9], name[BLOCKS * 4 + 1];
	uint64_t start, hostile_ns, harmless_ns;

	for (unsigned b = 0; b < BLOCKS; b++)
		hash = find_pair(hash, pairs[b]);
	start = cpu_ns();
	for (unsigned i = 0; i < HOSTILE; i++) {
		for (unsigned b = 0; b < BLOCKS; b++)
			memcpy(name + 4 * b, pairs[b][i >> b & 1], 5);
		end = low_fnv((uint32_t)(0xcbf29ce484222325 & ((1u << COLLIDING_BITS) - 1)), name);
		assert_int_equal(end, hash);
		put_named(*state, name);
	}
	hostile_ns = cpu_ns() - start;
	start = cpu_ns();
	for (unsigned i = 0; i < HOSTILE; i++) {
		snprintf(name, sizeof(name), "%060u", i);
		put_named(harmless, name);
	}
	harmless_ns = cpu_ns() - start;
	race_store_free(harmless);
	print_message("# %u races: %.1f ms with names made to collide, %.1f ms with others\n", HOSTILE,
		      (double)hostile_ns / 1e6, (double)harmless_ns / 1e6);
	assert_true(hostile_ns < 5 * harmless_ns);
}

static void counts_do_not_wrap(void **state)
{
	struct err err = {0};

	for (unsigned i = 0; i < 3; i++) {
		struct race *race = race_new();

		strcpy(race->site[0], "a+0x1");
		strcpy(race->site[1], "b+0x1");
		race->count = i < 2 ? INT64_MAX : UINT64_MAX;
		race = race_store_put(*state, race, &err);
		assert_non_null(race);
		assert_int_equal(race->count, INT64_MAX);
	}
}

/* A full store takes no new races, and goes on counting those that it has. */
static void a_full_store_counts_on(void **state)
{
	struct observation o;
	struct err err = {0};
	bool is_new;

	race_store_limit(*state, 2);
	for (unsigned i = 0; i < 4; i++) {
		make_unlike(&o, i);
		assert_int_equal(race_store_add(*state, &o, &is_new, &err) != NULL, i < 2);
		assert_int_equal(is_new, i < 2);
	}
	assert_int_equal(err.code, EXIT_OK);
	assert_int_equal(race_store_left_out(*state), 2);
	make_unlike(&o, 1);
	assert_int_equal(add(*state, &o, false)->count, 2);
}

/* A report may give two pairs of sites one id, and one pair two: these are all races of their own. */
static void an_id_alone_is_no_identity(void **state)
{
	static const char *const races[][3] = {
		{"0123456789ab", "a+0x1", "b+0x2"},
		{"0123456789ab", "a+0x1", "c+0x2"},
		{"ba9876543210", "a+0x1", "b+0x2"},
	};
	struct err err = {0};

	for (unsigned i = 0; i < 3; i++) {
		struct race *race = race_new();

		strcpy(race->id, races[i][0]);
		strcpy(race->site[0], races[i][1]);
		strcpy(race->site[1], races[i][2]);
		assert_ptr_equal(race_store_put(*state, race, &err), race);
	}
	assert_int_equal(race_store_count(*state), 3);
}

/* Of what a side has a race keeps just that: no room for what it might have had. */
static void no_more_room_than_needed(void **state)
{
	const struct race *race;
	struct observation o;

	make_unlike(&o, 0);
	race = add(*state, &o, true);
	assert_true(malloc_usable_size(race->side_memory[0]) < 64);
	sample_observation(&o, 0);
	race = add(*state, &o, true);
	assert_true(malloc_usable_size(race->side_memory[0]) < 2048);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(counts_instances),
		TEST(locks_are_learnt_from_a_later_instance),
		TEST(order_of_sides_does_not_matter),
		TEST(id_survives_kaslr),
		TEST(another_offset_is_another_site),
		TEST(another_module_is_another_site),
		TEST(another_function_is_another_site),
		TEST(one_function_may_race_with_itself),
		TEST(two_locked_sides_are_no_race),
		TEST(a_get_after_the_last_put_is_one),
		TEST(one_locked_side_is_a_race),
		TEST(two_reads_are_no_race),
		TEST(read_and_untold_access_are_a_race),
		TEST(unseen_writer_has_one_site),
		TEST(a_device_has_one_site_for_each_operation),
		TEST(two_reads_of_cpu_and_device_are_no_race),
		TEST(strings_of_a_device_are_printable),
		TEST(every_operation_has_a_word),
		TEST(sites_without_symbol),
		TEST(keeps_the_first_instances_only),
		TEST(wrong_lengths_are_cut),
		TEST(stacks_are_kept),
		TEST(memory_is_kept),
		TEST(many_races_take_no_longer_each),
		TEST(many_races_are_put_together),
		TEST(names_made_to_collide),
		TEST(strings_are_printable),
		TEST(counts_do_not_wrap),
		TEST(a_full_store_counts_on),
		TEST(an_id_alone_is_no_identity),
		TEST(no_more_room_than_needed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
