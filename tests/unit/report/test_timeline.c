// SPDX-License-Identifier: GPL-2.0-or-later
/* The events around a race: which there are, in which order, and how exactly their times are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "hv/race/store.h"
#include "hv/report/timeline.h"
#include "tests/unit/replay/replay_made.h"
#include "tests/unit/report/sample.h"

#define SHOWN_MAX 8192

static void no_locks(struct observation *o)
{
	for (unsigned i = 0; i < 2; i++)
		o->sides[i].locks = (struct race_locks){.known = true, .complete = true};
}

/* A frame in the middle of nothing: the side's CPU ran only this context. */
static void no_interrupt(struct observation *o)
{
	for (unsigned i = 0; i < 2; i++)
		o->sides[i].calls.count = 1;
}

/* Write each event of the race on a line: "1: lane, when [order]: text". */
static void show(const struct race *race, char out[SHOWN_MAX])
{
	char lane[TIMELINE_LANE_MAX], when[TIMELINE_WHEN_MAX], *text = malloc(TIMELINE_TEXT_MAX);
	struct timeline timeline;
	size_t len = 0;

	assert_non_null(text);
	timeline_make(race, &timeline);
	assert_in_range(timeline.count, 1, TIMELINE_EVENTS_MAX);
	for (unsigned i = 0; i < timeline.lane_count; i++) {
		timeline_lane(race, &timeline, i, lane);
		len += (size_t)snprintf(out + len, SHOWN_MAX - len, "%s\n", lane);
	}
	for (unsigned i = 0; i < timeline.count; i++) {
		const struct timeline_event *e = &timeline.events[i];

		assert_in_range(e->lane, 0, timeline.lane_count - 1);
		assert_in_range(e->from_ns, 0, timeline.end_ns);
		assert_in_range(e->to_ns, 0, timeline.end_ns);
		timeline_when(e, when);
		timeline_text(race, &timeline, e, text);
		len += (size_t)snprintf(out + len, SHOWN_MAX - len, "%u %s%s: %s\n", e->lane, when,
					timeline_timed(e) ? "" : ", order only", text);
	}
	free(text);
}

struct shown {
	const char *shows;
	/* NULL: nothing to change. */
	void (*change)(struct observation *o);
	const char *events;
};

static void check(const struct shown *s, const struct replay_instance *replay)
{
	struct race_store *store = race_store_new(NULL);
	struct observation *o = malloc(sizeof(*o));
	char *text = malloc(SHOWN_MAX);
	struct race *race;
	bool is_new;

	sample_observation(o, 0);
	if (s->change)
		s->change(o);
	race = race_store_add(store, o, &is_new, NULL);
	assert_non_null(race);
	if (replay) {
		assert_int_equal(race_have_replay(race), 0);
		replay_count(race->replay, replay);
	}
	show(race, text);
	assert_string_equal(text, s->events);
	race_store_free(store);
	free(text);
	free(o);
}

static void bare(struct observation *o)
{
	no_locks(o);
	no_interrupt(o);
	o->window.returns = 0;
}

static void older(struct observation *o)
{
	bare(o);
	o->window = (struct race_window){0};
}

static void met_at_points(struct observation *o)
{
	bare(o);
	o->how = RACE_BY_POINT;
}

static void one_return(struct observation *o)
{
	bare(o);
	o->window.returns = 1;
}

static void many_returns(struct observation *o)
{
	bare(o);
	o->window.returns = 900;
	for (unsigned i = 0; i < RACE_RETURNS_MAX; i++)
		o->window.return_ns[i] = (i + 1) * 100000;
}

/* The times of a file may be anything. */
static void beyond_the_end(struct observation *o)
{
	bare(o);
	o->window.watched_ns = UINT64_MAX;
	o->window.returns = 1;
	o->window.return_ns[0] = UINT64_MAX;
}

static void on_the_held_cpu(struct observation *o)
{
	no_locks(o);
	no_interrupt(o);
	o->sides[1].cpu = o->sides[0].cpu;
	o->sides[1].context.kind = GUEST_HARDIRQ;
}

static void point_on_the_held_cpu(struct observation *o)
{
	on_the_held_cpu(o);
	o->how = RACE_BY_POINT;
}

static void another_task_on_the_held_cpu(struct observation *o)
{
	bare(o);
	o->sides[1].cpu = o->sides[0].cpu;
	o->sides[1].context.pid++;
}

/* The kernel enters the interrupt: the task that it interrupted is still what the CPU runs. */
static void entry_code_on_the_held_cpu(struct observation *o)
{
	another_task_on_the_held_cpu(o);
	o->sides[1].context.pid--;
}

static void unseen(struct observation *o)
{
	bare(o);
	o->how = RACE_BY_REREAD;
	o->sides[1] = (struct race_side){0};
}

static void unseen_without_watchpoints(struct observation *o)
{
	unseen(o);
	o->window.watched_ns = 0;
}

static void device_comes(struct observation *o)
{
	bare(o);
	sample_device(o);
}

static void device_was_there(struct observation *o)
{
	device_comes(o);
	o->held_ns = 0;
	o->window = (struct race_window){.known = true};
}

static void device_is_held(struct observation *o)
{
	device_comes(o);
	o->how = RACE_BY_DEVICE_WINDOW;
	o->sides[0].locks.set.count = 0;
}

static void device_of_an_older_report(struct observation *o)
{
	device_comes(o);
	o->window = (struct race_window){0};
}

#define TWO_CPUS "CPU 0, held: worker\nCPU 1, meanwhile: worker\n"
#define STOPS "0 0.000 ms: CPU 0 stops before its write in ext4:ext4_foo+0x1c; the window opens, for at most 10.000 ms\n"
#define WATCHED "0 0.045 ms: Watchpoints on the memory are in force on all other CPUs\n"
#define READ_SEEN "1 3.200 ms: CPU 1 makes its read in generic_bar+0x33, and a watchpoint stops it\n"
#define CLOSES "0 3.200 ms: The window closes\n"
#define WRITES "0 after 3.200 ms, order only: CPU 0 makes its write\n"

static const struct shown shown[] = {
	{"all that can be recorded", NULL,
	 TWO_CPUS "0 earlier, order only: CPU 0 takes sb_sem (as a reader), perhaps kmalloc-64+0x8\n" STOPS WATCHED
		  "0 1.500 to 2.600 ms: CPU 0 is back at the access, from 2 interrupts\n"
		  "1 before 3.200 ms, order only: CPU 1 takes sb_sem (as a reader), perhaps kmalloc-64+0x8\n"
		  "1 before 3.200 ms, order only: CPU 1 is interrupted, and runs a hardirq\n" READ_SEEN CLOSES WRITES
		  "0 after 3.200 ms, order only: CPU 0 gives sb_sem (as a reader), perhaps kmalloc-64+0x8 back\n"
		  "1 after 3.200 ms, order only: CPU 1 gives sb_sem (as a reader), perhaps kmalloc-64+0x8 back\n"},
	{"neither locks nor interrupts", bare, TWO_CPUS STOPS WATCHED READ_SEEN CLOSES WRITES},
	{"a report of an older version", older,
	 TWO_CPUS "0 0.000 ms: CPU 0 stops before its write in ext4:ext4_foo+0x1c; the window opens\n" READ_SEEN CLOSES WRITES},
	{"two sample points: neither access is made before the window closes", met_at_points,
	 TWO_CPUS STOPS WATCHED
	 "1 3.200 ms: CPU 1 stops before its read in generic_bar+0x33, a sample point too\n" CLOSES
	 "0 after 3.200 ms, order only: CPU 0 makes its write\n"
	 "1 after 3.200 ms, order only: CPU 1 makes its read; which of the two accesses came first is not "
	 "recorded\n"},
	{"one interrupt", one_return,
	 TWO_CPUS STOPS WATCHED "0 1.500 ms: CPU 0 is back at the access, from an interrupt\n" READ_SEEN CLOSES WRITES},
	{"more interrupts than are recorded", many_returns,
	 TWO_CPUS STOPS WATCHED
	 "0 0.100 to 0.800 ms: CPU 0 is back at the access, from 900 interrupts; the times are of the first 8\n" READ_SEEN
		 CLOSES WRITES},
	{"a time after the conflict is the conflict's", beyond_the_end,
	 TWO_CPUS STOPS "0 3.200 ms: Watchpoints on the memory are in force on all other CPUs\n"
			"0 3.200 ms: CPU 0 is back at the access, from an interrupt\n" READ_SEEN CLOSES WRITES},
	{"an interrupt of the held CPU makes the other access, after all that it has returned from", on_the_held_cpu,
	 "CPU 0, both sides: worker\n" STOPS WATCHED "0 1.500 to 2.600 ms: CPU 0 is back at the access, from 2 interrupts\n"
	 "0 2.600 to 3.200 ms, order only: CPU 0 takes an interrupt while it is held, and runs a hardirq\n"
	 "0 3.200 ms: CPU 0 makes its read in generic_bar+0x33, and a watchpoint stops it\n" CLOSES WRITES},
	{"an interrupt of the held CPU makes its access before the held context does", point_on_the_held_cpu,
	 "CPU 0, both sides: worker\n" STOPS WATCHED "0 1.500 to 2.600 ms: CPU 0 is back at the access, from 2 interrupts\n"
	 "0 2.600 to 3.200 ms, order only: CPU 0 takes an interrupt while it is held, and runs a hardirq\n"
	 "0 3.200 ms: CPU 0 stops before its read in generic_bar+0x33, a sample point too\n" CLOSES
	 "0 after 3.200 ms, order only: CPU 0 makes its read\n" WRITES},
	{"another task on the held CPU makes the other access", another_task_on_the_held_cpu,
	 "CPU 0, both sides: worker\n" STOPS WATCHED
	 "0 0.045 to 3.200 ms, order only: CPU 0 takes an interrupt while it is held, and then runs another task\n"
	 "0 3.200 ms: CPU 0 makes its read in generic_bar+0x33, and a watchpoint stops it\n" CLOSES WRITES},
	{"the code that enters an interrupt of the held CPU makes the other access", entry_code_on_the_held_cpu,
	 "CPU 0, both sides: worker\n" STOPS WATCHED
	 "0 0.045 to 3.200 ms, order only: CPU 0 takes an interrupt while it is held\n"
	 "0 3.200 ms: CPU 0 makes its read in generic_bar+0x33, and a watchpoint stops it\n" CLOSES WRITES},
	{"an unseen writer has no time", unseen,
	 "CPU 0, held: worker\nunseen writer\n" STOPS WATCHED
	 "1 0.045 to 3.200 ms, order only: An unseen writer changes the memory, which differs when it is read again\n" CLOSES
		 WRITES},
	{"an unseen writer of memory that no watchpoint was on", unseen_without_watchpoints,
	 "CPU 0, held: worker\nunseen writer\n" STOPS
	 "1 0.000 to 3.200 ms, order only: An unseen writer changes the memory, which differs when it is read again\n" CLOSES
		 WRITES},
#define REQUEST "a request that reads this memory (virtio-blk 1, queue 2: write of sector 8192, descriptor 3, segment 1)\n"
	{"a device comes while the CPU is held", device_comes,
	 "CPU 0, held: worker\ndevice: virtio-blk 1\n" STOPS WATCHED
	 "1 3.200 ms: The device begins to serve " REQUEST CLOSES WRITES
	 "1 after 3.200 ms, order only: The device has accessed the memory, and hands the request back\n"},
	{"a device was there before: no window opens", device_was_there,
	 "CPU 0, not held: worker\ndevice: virtio-blk 1\n"
	 "1 earlier, order only: The device has begun to serve " REQUEST
	 "0 0.000 ms: CPU 0 stops before its write in ext4:ext4_foo+0x1c, and is not held\n"
	 "0 after 0.000 ms, order only: CPU 0 makes its write\n"
	 "1 after 0.000 ms, order only: The device has accessed the memory, and hands the request back\n"},
	{"the device was held", device_is_held,
	 "CPU 0, meanwhile: worker\ndevice: virtio-blk 1\n"
	 "1 0.000 ms: The device takes a request (virtio-blk 1, queue 2: write of sector 8192, descriptor 3, segment 1), and "
	 "is "
	 "held before it reads the memory; the window opens, for at most 10.000 ms from when its watchpoints are in force\n"
	 "1 0.045 ms: Watchpoints on the memory are in force on all CPUs\n"
	 "0 3.200 ms: CPU 0 makes its write in ext4:ext4_foo+0x1c, and a watchpoint stops it\n"
	 "1 3.200 ms: The window closes\n"
	 "1 after 3.200 ms, order only: The device has accessed the memory, and hands the request back\n"},
	{"a device in a report of an older version", device_of_an_older_report,
	 "CPU 0, held: worker\ndevice: virtio-blk 1\n"
	 "0 0.000 ms: CPU 0 stops before its write in ext4:ext4_foo+0x1c; the window opens\n"
	 "1 3.200 ms: The device serves " REQUEST CLOSES WRITES
	 "1 after 3.200 ms, order only: The device has accessed the memory, and hands the request back\n"},
};

/* The state is the row. */
static void test_events(void **state)
{
	check(*state, NULL);
}

/* A window may have stayed open for copies of the machine, which the record of the observation does not say. */
static void test_copies_of_the_machine(void **state)
{
	const struct replay_instance replay = replay_made_oops(1);
	const struct shown at_points = {
		NULL, met_at_points,
		TWO_CPUS STOPS WATCHED
		"1 3.200 ms: CPU 1 stops before its read in generic_bar+0x33, a sample point too\n"
		"0 after 3.200 ms, order only: The window closes, perhaps only after copies of the machine were made\n"
		"0 after 3.200 ms, order only: CPU 0 makes its write\n"
		"1 after 3.200 ms, order only: CPU 1 makes its read; which of the two accesses came first is not recorded\n"};
	const struct shown at_watch = {NULL, bare, TWO_CPUS STOPS WATCHED READ_SEEN CLOSES WRITES};

	(void)state;
	check(&at_points, &replay);
	check(&at_watch, &replay);
}

int main(void)
{
	enum { ROWS = sizeof(shown) / sizeof(shown[0]) };
	struct CMUnitTest tests[ROWS + 1];

	for (size_t i = 0; i < ROWS; i++)
		tests[i] = (struct CMUnitTest){
			.name = shown[i].shows, .test_func = test_events, .initial_state = (void *)&shown[i]};
	tests[ROWS] = (struct CMUnitTest)cmocka_unit_test(test_copies_of_the_machine);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
