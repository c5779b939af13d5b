// SPDX-License-Identifier: GPL-2.0-or-later
/* Races read back: nothing is lost on the way, and what is no race is refused in one line that says where. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "hv/base/clean.h"
#include "hv/report/json/race_json.h"
#include "hv/report/json/race_read.h"
#include "tests/unit/replay/replay_made.h"
#include "tests/unit/report/sample.h"

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
	/* The copy takes all that the race owns. */
	memcpy(copy, race, sizeof(*copy));
	memset(race, 0, sizeof(*race));
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

static void disk_write(struct observation *o)
{
	sample_device(o);
}

static void disk_read(struct observation *o)
{
	sample_device(o);
	o->after[0] = 2;
	o->sides[1].rw = INSN_WRITE;
	o->sides[1].device.write = true;
	o->sides[1].device.request.op = DEVICE_BLK_READ;
}

static void older_version(struct observation *o)
{
	o->window = (struct race_window){0};
}

static void many_interrupts(struct observation *o)
{
	o->window.returns = 12345;
	for (unsigned i = 0; i < RACE_RETURNS_MAX; i++)
		o->window.return_ns[i] = i * 7000;
}

static void never_held(struct observation *o)
{
	o->window = (struct race_window){.known = true};
}

static void strange_device(struct observation *o)
{
	sample_device(o);
	strcpy(o->sides[1].device.request.type, "\x1b[2J\\");
	strcpy(o->sides[1].device.request.thread, "\n\xff");
	o->sides[1].device.request.op = DEVICE_OP_UNKNOWN;
	o->sides[1].device.request.sector = 0;
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
	o->sides[0].locks = (struct race_locks){.known = true, .complete = true};
	o->sides[1].locks = (struct race_locks){0};
}

static void strange_names(struct observation *o)
{
	strcpy(o->sides[0].context.comm, "\x1b[2J\\x\xff");
	strcpy(o->sides[0].symbol.name, "odd\nname");
	strcpy(o->sides[1].locks.name[1], "\x1b[2J\\");
}

static void slab_memory(struct observation *o)
{
	o->memory = (struct guest_memory){.kind = GUEST_MEMORY_SLAB,
					  .cpu = -1,
					  .cache = "task_struct",
					  .merged = GUEST_MERGED_NO,
					  .object = 0xffff888012345640,
					  .object_size = 3264,
					  .offset = 56,
					  .type = "task_struct",
					  .member = "flags"};
}

static void tainted_kernel(struct observation *o)
{
	o->taint = (struct guest_taint){.known = true, .flags = 0x3001};
}

static void preemption_off(struct observation *o)
{
	o->sides[0].context.preempt_off = true;
	o->sides[0].context.preempt_count = 0x201;
	o->sides[1].context.preempt_off = true; /* as in a report of an older version */
}

static void merged_memory(struct observation *o)
{
	o->memory = (struct guest_memory){.kind = GUEST_MEMORY_SLAB,
					  .cpu = -1,
					  .cache = "pool_workqueue",
					  .merged = GUEST_MERGED_YES,
					  .object = 0xffff888012345600,
					  .object_size = 256};
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
	{"round trip: a device that reads", disk_write},
	{"round trip: a device that writes", disk_read},
	{"round trip: a report of a version that recorded no window", older_version},
	{"round trip: more interrupts than are recorded", many_interrupts},
	{"round trip: a CPU that was not held", never_held},
	{"round trip: a device with strange names", strange_device},
	{"round trip: a side of which little is known", little_known},
	{"round trip: names with strange characters", strange_names},
	{"round trip: memory of a slab cache", slab_memory},
	{"round trip: a tainted kernel", tainted_kernel},
	{"round trip: preemption counts", preemption_off},
	{"round trip: memory of a merged slab cache", merged_memory},
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

static struct race *replayed(const struct replay_instance *instance)
{
	struct race *race = make_race(NULL);

	assert_int_equal(race_have_replay(race), 0);
	replay_count(race->replay, instance);
	return race;
}

static void test_round_trip_of_replays(void **state)
{
	struct replay_instance oops = replay_made_oops(1);
	const struct replay_instance made[] = {
		replay_made_equal(),
		replay_made_change(),
		replay_made_failure(REPLAY_FAULT),
		replay_made_failure(REPLAY_CANNOT_LOAD),
		replay_made_oops(0),
	};
	struct race *race;

	(void)state;
	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++)
		check_round_trip(replayed(&made[i]));
	/* All that there is room for, with every text full. */
	oops.difference_count = INT64_MAX;
	oops.kept = REPLAY_DIFFERENCES_MAX;
	memset(oops.orders[1].trouble, '!', sizeof(oops.orders[1].trouble) - 1);
	for (uint32_t i = 0; i < oops.kept; i++) {
		oops.differences[i] = (struct replay_difference){.len = REPLAY_BYTES_MAX, .gpa = i, .gva = i << 12};
		memset(oops.differences[i].name, '~', REPLAY_NAME_MAX - 1);
	}
	race = replayed(&oops);
	race->replay->count[REPLAY_FAILURE] = INT64_MAX;
	check_round_trip(race);
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

static json_t *sample_json(void (*change)(struct observation *o))
{
	struct race *race = make_race(change);
	json_t *o = race_json(race);

	race_free(race);
	return o;
}

static json_t *side_json_of(json_t *race)
{
	return json_array_get(json_object_get(race, "sides"), 0);
}

static void too_few_returns(json_t *race)
{
	json_array_clear(json_object_get(json_object_get(race, "window"), "return_us"));
}

static void returns_out_of_order(json_t *race)
{
	json_array_set_new(json_object_get(json_object_get(race, "window"), "return_us"), 0, json_integer(2601));
}

static void wrong_window(json_t *race)
{
	json_object_set_new(json_object_get(race, "window"), "hold_us", json_integer(-1));
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

static json_t *device_side_of(json_t *race)
{
	return json_array_get(json_object_get(race, "sides"), 1);
}

static json_t *device_of(json_t *race)
{
	return json_object_get(device_side_of(race), "device");
}

static void no_device(json_t *race)
{
	json_object_set_new(device_side_of(race), "device", json_string("virtio-blk"));
}

static void no_site_of_device(json_t *race)
{
	json_object_set_new(device_side_of(race), "site", json_string(""));
}

static void device_that_does_nothing(json_t *race)
{
	json_object_set_new(device_of(race), "kind", json_string("unknown"));
}

static void wrong_queue(json_t *race)
{
	json_object_set_new(device_of(race), "queue", json_integer(65536));
}

static void wrong_sector(json_t *race)
{
	json_object_set_new(device_of(race), "sector", json_string("0x2000"));
}

static void half_a_device(json_t *race)
{
	json_t *side = json_array_get(json_object_get(json_array_get(json_object_get(race, "instances"), 0), "sides"), 1);

	json_object_del(json_object_get(side, "device"), "thread");
}

/* What is wrong in the replay of a state change is refused where it stands. */
static const struct wrong_replay {
	const char *pointer[4]; /* the keys that lead to the member, up to NULL; the last one is changed */
	const char *json;
	const char *where;
} wrong_replays[] = {
	{{"replay"}, "[]", "\"replay\""},
	{{"replay", "counts"}, "null", "\"counts\""},
	{{"replay", "telling"}, "7", "\"telling\""},
	{{"replay", "counts", "state_change"}, "0", "there is no instance"},
	{{"replay", "counts", "state_change"}, "-1", "\"state_change\""},
	{{"replay", "counts", "replay_failure"}, "0.5", "\"replay_failure\""},
	{{"replay", "not_run"}, "1", "larger than the number of instances"},
	{{"replay", "one_order_in_trouble"}, "1", "contradict each other"},
	{{"replay", "telling", "outcome"}, "\"benign\"", "\"outcome\""},
	{{"replay", "telling", "outcome"}, "\"no-state-change\"", "differences without a state change"},
	{{"replay", "telling", "outcome"}, "\"replay-failure\"", "a failure has no reason, or another outcome has one"},
	{{"replay", "telling", "why"}, "\"fault\"", "a failure has no reason, or another outcome has one"},
	{{"replay", "telling", "why_text"}, "{}", "\"why_text\""},
	{{"replay", "telling", "orders"}, "[]", "\"regions\""},
	{{"replay", "telling", "orders"}, "[{}, {}, {}]", "\"orders\""},
	{{"replay", "telling", "difference_count"}, "1", "more differences are listed"},
	{{"replay", "telling", "differences"}, "[1]", ""},
	{{"replay", "telling", "differences"},
	 "[{\"physical\": \"0x1\", \"first_order\": \"\", \"second_order\": \"\", \"name\": null}]",
	 "length of a difference"},
	{{"replay", "telling", "differences"},
	 "[{\"physical\": \"0x1\", \"first_order\": \"00\", \"second_order\": \"0000\", \"name\": null}]",
	 "\"second_order\""},
	{{"replay", "telling", "differences"},
	 "[{\"register_of\": 2, \"first_order\": \"00\", \"second_order\": \"01\", \"name\": null}]",
	 "\"register_of\""},
};

static void test_wrong_replay(void **state)
{
	const struct replay_instance change = replay_made_change();
	json_error_t error;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong_replays) / sizeof(wrong_replays[0]); i++) {
		const struct wrong_replay *w = &wrong_replays[i];
		struct race *race = replayed(&change);
		json_t *o = race_json(race), *parent = o, *value = json_loads(w->json, JSON_DECODE_ANY, &error);
		unsigned last = 0;

		race_free(race);
		assert_non_null(value);
		for (; last < 3 && w->pointer[last + 1]; last++)
			parent = json_object_get(parent, w->pointer[last]);
		assert_int_equal(json_object_set_new(parent, w->pointer[last], value), 0);
		expect_refused(o, w->where);
	}
}

static const struct wrong {
	const char *shows;
	void (*change)(json_t *race);
	const char *where;
	/* Makes the observation an unusual one, or NULL. */
	void (*observed)(struct observation *o);
} wrongs[] = {
	{"refused: fewer times of returns than returns", too_few_returns, "\"return_us\"", NULL},
	{"refused: a return before the one before it", returns_out_of_order, "\"return_us\"", NULL},
	{"refused: a hold of less than no time", wrong_window, "\"hold_us\"", NULL},
	{"refused: an id that is a path", wrong_id, "\"id\"", NULL},
	{"refused: a value that is too large for its bytes", wrong_value, "\"value_before\"", NULL},
	{"refused: a datum that is too large", wrong_size, "\"size\"", NULL},
	{"refused: a register of more than 64 bits", wrong_register, "\"rax\"", NULL},
	{"refused: a side without its context", no_context, "\"context\"", NULL},
	{"refused: bytes that are no hexadecimal digits", wrong_bytes, "\"bytes\"", NULL},
	{"refused: a device that is no object", no_device, "\"device\"", disk_write},
	{"refused: a device without the name of its site", no_site_of_device, "\"site\"", disk_write},
	{"refused: a device that does nothing to memory", device_that_does_nothing, "\"kind\"", disk_write},
	{"refused: a queue that is too large", wrong_queue, "\"queue\"", disk_write},
	{"refused: a sector that is no number", wrong_sector, "\"sector\"", disk_write},
	{"refused: an instance with half a device", half_a_device, "\"thread\"", disk_write},
};

/* The state is the row. */
static void test_wrong_object(void **state)
{
	const struct wrong *w = *state;
	json_t *race = sample_json(w->observed);

	w->change(race);
	expect_refused(race, w->where);
}

static void test_race_that_is_no_object(void **state)
{
	(void)state;
	expect_refused(json_array(), "\"id\"");
}

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

int main(void)
{
	const struct CMUnitTest alone[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_round_trip_of_names),
		cmocka_unit_test(test_round_trip_of_replays),
		cmocka_unit_test(test_wrong_replay),
		cmocka_unit_test(test_race_that_is_no_object),
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
