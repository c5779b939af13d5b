// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes the timeline of a race: the events around its first instance, in their order. */
#include "hv/report/timeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "hv/base/clean.h"
#include "hv/report/device.h"
#include "hv/report/words.h"

#define NS_PER_MS 1e6

/* ---- the events ---- */

static void add(struct timeline *t, unsigned side, enum timeline_kind kind, enum timeline_when when, uint64_t from, uint64_t to)
{
	t->events[t->count++] = (struct timeline_event){
		.kind = kind,
		.side = side,
		.lane = side && t->lane_count > 1,
		.when = when,
		.from_ns = from,
		.to_ns = to,
	};
}

static void add_lanes(struct timeline *t, const struct observation *o)
{
	const struct race_side *held = &o->sides[0], *other = &o->sides[1];

	t->lanes[t->lane_count++] = (struct timeline_lane){.kind = RACE_SIDE_CPU, .cpu = held->cpu};
	if (other->kind == RACE_SIDE_CPU && other->cpu == held->cpu)
		return;
	t->lanes[t->lane_count++] = (struct timeline_lane){.kind = other->kind, .cpu = other->cpu};
}

static bool holds_locks(const struct race_side *side)
{
	return side->kind == RACE_SIDE_CPU && side->locks.known && side->locks.set.count;
}

/*
 * Returns `ns`, or the time of the conflict if `ns` is later. Reports round times, so an event before the conflict may seem to
 * come after it.
 */
static uint64_t until_end(const struct timeline *t, uint64_t ns)
{
	return ns < t->end_ns ? ns : t->end_ns;
}

unsigned timeline_returns(const struct race *race, const struct timeline *timeline, uint64_t ns[RACE_RETURNS_MAX])
{
	const struct race_window *w = &race->first.window;
	unsigned n = w->returns < RACE_RETURNS_MAX ? w->returns : RACE_RETURNS_MAX;

	for (unsigned i = 0; i < n; i++)
		ns[i] = until_end(timeline, w->return_ns[i]);
	return n;
}

/* Add the events on the sampled CPU until the conflict: the stop, the watchpoints, and the returns from interrupts. */
static void add_hold(struct timeline *t, const struct race *race)
{
	const struct race_window *w = &race->first.window;
	uint64_t ns[RACE_RETURNS_MAX];
	unsigned n = timeline_returns(race, t, ns);

	add(t, 0, TIMELINE_STOPPED, TIMELINE_AT, 0, 0);
	if (w->watched_ns)
		add(t, 0, TIMELINE_WATCHED, TIMELINE_AT, until_end(t, w->watched_ns), 0);
	if (n == 1)
		add(t, 0, TIMELINE_RETURNED, TIMELINE_AT, ns[0], 0);
	else if (n)
		add(t, 0, TIMELINE_RETURNED, TIMELINE_SPAN, ns[0], ns[n - 1]);
}

/* Returns the last recorded time at which the held context was stopped before its access. */
static uint64_t last_stood(const struct race *race, const struct timeline *t)
{
	uint64_t ns[RACE_RETURNS_MAX];
	unsigned n = timeline_returns(race, t, ns);

	/*
	 * If no interrupt handler returned to the held context during the window, the context stood still from the moment when
	 * the watchpoints were in force. Before that moment, a held CPU takes no interrupt.
	 */
	return n ? ns[n - 1] : until_end(t, race->first.window.watched_ns);
}

/*
 * Returns true if the call stack shows that the side ran in a softirq, an interrupt or an NMI on top of another context. An
 * exception is no context of its own.
 */
static bool came_on_top(const struct race_side *side)
{
	const struct guest_calls *calls = &side->calls;

	return calls->count && calls->frames[0].context != calls->frames[calls->count - 1].context;
}

/* Add the events of the other side: taking its locks, entering its context by an interrupt, and the conflict. */
static void add_other(struct timeline *t, const struct race *race)
{
	const struct race_side *other = &race->first.sides[1];
	const struct race_window *w = &race->first.window;

	if (holds_locks(other))
		add(t, 1, TIMELINE_LOCKS_TAKEN, TIMELINE_BEFORE, 0, t->end_ns);
	if (t->lane_count == 1)
		add(t, 1, TIMELINE_ENTERED, TIMELINE_BETWEEN, last_stood(race, t), t->end_ns);
	else if (other->kind == RACE_SIDE_CPU && came_on_top(other))
		add(t, 1, TIMELINE_ENTERED, TIMELINE_BEFORE, 0, t->end_ns);
	if (race->first.how == RACE_BY_REREAD)
		add(t, 1, TIMELINE_MET, TIMELINE_BETWEEN, until_end(t, w->watched_ns), t->end_ns);
	else if (t->held)
		add(t, 1, TIMELINE_MET, TIMELINE_AT, t->end_ns, 0);
}

static bool is_task(const struct guest_context *context)
{
	return !context->known || context->kind == GUEST_TASK;
}

/*
 * Returns true if an interrupt on the held CPU made the other access. Such an interrupt ends before the held context goes on.
 * The kernel counts an interrupt (preempt_count) only after its first instructions, and no longer at its last ones. If one of
 * these instructions made the access, the recorded context is the interrupted task, which is the held context itself.
 */
static bool interrupted_held(const struct race *race)
{
	const struct race_side *held = &race->first.sides[0], *other = &race->first.sides[1];

	return other->kind == RACE_SIDE_CPU && other->cpu == held->cpu &&
	       (!is_task(&other->context) || (other->context.pid >= 0 && other->context.pid == held->context.pid));
}

/* Add what follows the conflict. */
static void add_end(struct timeline *t, const struct race *race)
{
	const struct observation *o = &race->first;

	if (t->held)
		/*
		 * If the conflict of two sample points began a rendezvous, the window stayed open for the rendezvous, and
		 * closed some time after the conflict.
		 */
		add(t, 0, TIMELINE_CLOSED, race->replay && o->how == RACE_BY_POINT ? TIMELINE_AFTER : TIMELINE_AT, t->end_ns,
		    0);
	if (o->how == RACE_BY_POINT && interrupted_held(race))
		add(t, 1, TIMELINE_ACCESSED, TIMELINE_AFTER, t->end_ns, 0);
	add(t, 0, TIMELINE_ACCESSED, TIMELINE_AFTER, t->end_ns, 0);
	if (o->how == RACE_BY_POINT && !interrupted_held(race))
		add(t, 1, TIMELINE_ACCESSED, TIMELINE_AFTER, t->end_ns, 0);
	for (unsigned i = 0; i < 2; i++) {
		if (holds_locks(&o->sides[i]))
			add(t, i, TIMELINE_LOCKS_BACK, TIMELINE_AFTER, t->end_ns, 0);
	}
	if (o->sides[1].kind == RACE_SIDE_DEVICE)
		add(t, 1, TIMELINE_SERVED, TIMELINE_AFTER, t->end_ns, 0);
}

/* Add the events of a window that began at the device. */
static void add_device_window(struct timeline *t, const struct race *race)
{
	const struct observation *o = &race->first;

	add(t, 1, TIMELINE_TAKEN, TIMELINE_AT, 0, 0);
	if (o->window.watched_ns)
		add(t, 1, TIMELINE_WATCHED, TIMELINE_AT, until_end(t, o->window.watched_ns), 0);
	if (holds_locks(&o->sides[0]))
		add(t, 0, TIMELINE_LOCKS_TAKEN, TIMELINE_BEFORE, 0, t->end_ns);
	add(t, 0, TIMELINE_MET, TIMELINE_AT, t->end_ns, 0);
	add(t, 1, TIMELINE_CLOSED, TIMELINE_AT, t->end_ns, 0);
	if (holds_locks(&o->sides[0]))
		add(t, 0, TIMELINE_LOCKS_BACK, TIMELINE_AFTER, t->end_ns, 0);
	add(t, 1, TIMELINE_SERVED, TIMELINE_AFTER, t->end_ns, 0);
}

void timeline_make(const struct race *race, struct timeline *out)
{
	const struct observation *o = &race->first;

	*out = (struct timeline){.end_ns = o->held_ns, .held = observation_held(o)};
	add_lanes(out, o);
	if (o->how == RACE_BY_DEVICE_WINDOW) {
		add_device_window(out, race);
		return;
	}
	if (holds_locks(&o->sides[0]))
		add(out, 0, TIMELINE_LOCKS_TAKEN, TIMELINE_BEFORE, 0, 0);
	if (!out->held)
		add(out, 1, TIMELINE_MET, TIMELINE_BEFORE, 0, 0);
	add_hold(out, race);
	add_other(out, race);
	add_end(out, race);
}

bool timeline_timed(const struct timeline_event *event)
{
	return event->when == TIMELINE_AT || event->when == TIMELINE_SPAN;
}

/* ---- the texts ---- */

void timeline_when(const struct timeline_event *event, char out[TIMELINE_WHEN_MAX])
{
	double from = (double)event->from_ns / NS_PER_MS, to = (double)event->to_ns / NS_PER_MS;

	switch (event->when) {
	case TIMELINE_AT:
		snprintf(out, TIMELINE_WHEN_MAX, "%.3f ms", from);
		break;
	case TIMELINE_SPAN:
	case TIMELINE_BETWEEN:
		snprintf(out, TIMELINE_WHEN_MAX, "%.3f to %.3f ms", from, to);
		break;
	case TIMELINE_BEFORE:
		if (event->to_ns)
			snprintf(out, TIMELINE_WHEN_MAX, "before %.3f ms", to);
		else
			snprintf(out, TIMELINE_WHEN_MAX, "earlier");
		break;
	case TIMELINE_AFTER:
		snprintf(out, TIMELINE_WHEN_MAX, "after %.3f ms", from);
		break;
	}
}

void timeline_lane(const struct race *race, const struct timeline *timeline, unsigned lane, char out[TIMELINE_LANE_MAX])
{
	const struct race_side *side = &race->first.sides[lane];
	char comm[CLEAN_MAX(GUEST_COMM_MAX)], name[DEVICE_NAME_MAX], device[CLEAN_MAX(DEVICE_NAME_MAX)];
	const char *role = timeline->lane_count == 1 ? "both sides" : side_word(&race->first, lane);

	switch (timeline->lanes[lane].kind) {
	case RACE_SIDE_CPU:
		clean_text(side->context.comm, sizeof(side->context.comm), comm, sizeof(comm));
		snprintf(out, TIMELINE_LANE_MAX, "CPU %u, %s%s%s", side->cpu, role, comm[0] ? ": " : "", comm);
		break;
	case RACE_SIDE_DEVICE:
		device_name(&side->device.request, name);
		clean_text(name, sizeof(name), device, sizeof(device));
		snprintf(out, TIMELINE_LANE_MAX, "device: %s", device);
		break;
	case RACE_SIDE_UNSEEN:
		snprintf(out, TIMELINE_LANE_MAX, "unseen writer");
		break;
	}
}

/*
 * Returns the word for the kind of a side's access, such as "write". If the first instance does not have the kind, uses the
 * kind of all instances together.
 */
static const char *noun(const struct race *race, unsigned which)
{
	uint8_t rw = race->first.sides[which].rw ? race->first.sides[which].rw : race->rw[which];

	return rw ? access_word(rw) : "access";
}

/* Write what was seen of the other side's access. If a CPU was caught at this access, `cpu` is its number. */
static void met_text(const struct race *race, const struct timeline *timeline, unsigned cpu, char out[TIMELINE_TEXT_MAX])
{
	const struct race_side *other = &race->first.sides[1];
	const char *serves = !timeline->held ? "has begun to serve" : race->first.window.known ? "begins to serve" : "serves";
	char request[DEVICE_TEXT_MAX];

	switch (race->first.how) {
	case RACE_BY_WATCH:
		snprintf(out, TIMELINE_TEXT_MAX, "CPU %u makes its %s in %s, and a watchpoint stops it", cpu, noun(race, 1),
			 race->site[1]);
		break;
	case RACE_BY_POINT:
		snprintf(out, TIMELINE_TEXT_MAX, "CPU %u stops before its %s in %s, a sample point too", cpu, noun(race, 1),
			 race->site[1]);
		break;
	case RACE_BY_REREAD:
		snprintf(out, TIMELINE_TEXT_MAX, "An unseen writer changes the memory, which differs when it is read again");
		break;
	case RACE_BY_DEVICE_WINDOW:
		snprintf(out, TIMELINE_TEXT_MAX, "CPU %u makes its %s in %s, and a watchpoint stops it", cpu, noun(race, 0),
			 race->site[0]);
		break;
	case RACE_BY_DEVICE:
		device_request(&other->device, request);
		snprintf(out, TIMELINE_TEXT_MAX, "The device %s a request that %s this memory (%s)", serves,
			 other->device.write ? "writes" : "reads", request);
		break;
	}
}

/* Write how the context of the other access came to run: by interrupting what its CPU ran before. */
static void entered_text(const struct race *race, const struct timeline *timeline, char out[TIMELINE_TEXT_MAX])
{
	const struct race_side *other = &race->first.sides[1];
	struct guest_context innermost = {.known = true};

	if (timeline->lane_count > 1) {
		innermost.kind = other->calls.frames[0].context;
		snprintf(out, TIMELINE_TEXT_MAX, "CPU %u is interrupted, and runs a %s", other->cpu, context_word(&innermost));
	} else if (!is_task(&other->context)) {
		snprintf(out, TIMELINE_TEXT_MAX, "CPU %u takes an interrupt while it is held, and runs a %s", other->cpu,
			 context_word(&other->context));
	} else {
		snprintf(out, TIMELINE_TEXT_MAX, "CPU %u takes an interrupt while it is held%s", other->cpu,
			 interrupted_held(race) ? "" : ", and then runs another task");
	}
}

static void locks_text(const struct race_side *side, const char *before, const char *after, char out[TIMELINE_TEXT_MAX])
{
	char locks[SIDE_LOCKS_TEXT_MAX];

	side_locks_text(&side->locks, locks);
	snprintf(out, TIMELINE_TEXT_MAX, "CPU %u %s %s%s", side->cpu, before, locks, after);
}

static void stopped_text(const struct race *race, const struct timeline *timeline, char out[TIMELINE_TEXT_MAX])
{
	const struct race_window *w = &race->first.window;
	unsigned cpu = race->first.sides[0].cpu;
	const char *access = noun(race, 0), *site = race->site[0];

	if (!timeline->held)
		snprintf(out, TIMELINE_TEXT_MAX, "CPU %u stops before its %s in %s, and is not held", cpu, access, site);
	else if (w->known)
		snprintf(out, TIMELINE_TEXT_MAX, "CPU %u stops before its %s in %s; the window opens, for at most %.3f ms", cpu,
			 access, site, (double)w->hold_ns / NS_PER_MS);
	else
		snprintf(out, TIMELINE_TEXT_MAX, "CPU %u stops before its %s in %s; the window opens", cpu, access, site);
}

static void taken_text(const struct race *race, char out[TIMELINE_TEXT_MAX])
{
	const struct device_access *device = &race->first.sides[1].device;
	char request[DEVICE_TEXT_MAX];

	device_request(device, request);
	snprintf(out, TIMELINE_TEXT_MAX,
		 "The device takes a request (%s), and is held before it %s the memory; the window opens, for at most "
		 "%.3f ms from when its watchpoints are in force",
		 request, device->write ? "writes" : "reads", (double)race->first.window.hold_ns / NS_PER_MS);
}

static void returned_text(const struct race *race, char out[TIMELINE_TEXT_MAX])
{
	uint32_t n = race->first.window.returns;
	unsigned cpu = race->first.sides[0].cpu;

	if (n == 1)
		snprintf(out, TIMELINE_TEXT_MAX, "CPU %u is back at the access, from an interrupt", cpu);
	else if (n <= RACE_RETURNS_MAX)
		snprintf(out, TIMELINE_TEXT_MAX, "CPU %u is back at the access, from %" PRIu32 " interrupts", cpu, n);
	else
		snprintf(out, TIMELINE_TEXT_MAX,
			 "CPU %u is back at the access, from %" PRIu32 " interrupts; the times are of the first %d", cpu, n,
			 RACE_RETURNS_MAX);
}

/*
 * Write that the side makes its access. If both sides had stopped before their accesses, the text for side 1 adds that the
 * order of the two accesses was not recorded.
 */
static void accessed_text(const struct race *race, unsigned which, char out[TIMELINE_TEXT_MAX])
{
	snprintf(out, TIMELINE_TEXT_MAX, "CPU %u makes its %s%s", race->first.sides[which].cpu, noun(race, which),
		 which && !interrupted_held(race) ? "; which of the two accesses came first is not recorded" : "");
}

void timeline_text(const struct race *race, const struct timeline *timeline, const struct timeline_event *event,
		   char out[TIMELINE_TEXT_MAX])
{
	const struct race_side *side = &race->first.sides[event->side];

	switch (event->kind) {
	case TIMELINE_LOCKS_TAKEN:
		locks_text(side, "takes", "", out);
		break;
	case TIMELINE_TAKEN:
		taken_text(race, out);
		break;
	case TIMELINE_STOPPED:
		stopped_text(race, timeline, out);
		break;
	case TIMELINE_WATCHED:
		snprintf(out, TIMELINE_TEXT_MAX, "Watchpoints on the memory are in force on all %sCPUs",
			 race->first.how == RACE_BY_DEVICE_WINDOW ? "" : "other ");
		break;
	case TIMELINE_RETURNED:
		returned_text(race, out);
		break;
	case TIMELINE_ENTERED:
		entered_text(race, timeline, out);
		break;
	case TIMELINE_MET:
		met_text(race, timeline, side->cpu, out);
		break;
	case TIMELINE_CLOSED:
		snprintf(out, TIMELINE_TEXT_MAX, "The window closes%s",
			 event->when == TIMELINE_AFTER ? ", perhaps only after copies of the machine were made" : "");
		break;
	case TIMELINE_ACCESSED:
		accessed_text(race, event->side, out);
		break;
	case TIMELINE_LOCKS_BACK:
		locks_text(side, "gives", " back", out);
		break;
	case TIMELINE_SERVED:
		snprintf(out, TIMELINE_TEXT_MAX, "The device has accessed the memory, and hands the request back");
		break;
	}
}
