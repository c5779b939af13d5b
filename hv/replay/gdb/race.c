// SPDX-License-Identifier: GPL-2.0-or-later
/* Steps, continues and stops one order of a race, as a machine for gdb. */
#include "hv/replay/gdb/race.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Steps between two tests of whether the client wants the machine to stop. */
#define STEPS_UNTIL_ASKED 32

static bool is_breakpoint(const struct gdb_point *p)
{
	return p->kind == RSP_SOFTWARE || p->kind == RSP_HARDWARE;
}

/* Returns the side that runs on a CPU, or -1. */
static int side_of(const struct race *r, unsigned cpu)
{
	for (int i = 0; i < 2; i++)
		if (r->order.sides[i].cpu == cpu)
			return i;
	return -1;
}

/* ---- points, while the order is run by steps ---- */

static const struct gdb_point *breakpoint_at(const struct race *r, uint64_t rip)
{
	for (size_t i = 0; i < r->point_count; i++)
		if (is_breakpoint(&r->points[i]) && r->points[i].gva == rip)
			return &r->points[i];
	return NULL;
}

static void look_before(struct race *r, unsigned cpu)
{
	for (size_t i = 0; i < r->point_count; i++)
		if (r->points[i].kind == RSP_WATCH_WRITE)
			r->copy->read(r->copy->ctx, cpu, r->points[i].gva, r->before[i], r->points[i].len);
}

/*
 * Returns the watchpoint that the last step of the CPU has hit: a watchpoint for writes whose datum the step has changed,
 * otherwise the watchpoint that the debug registers report. NULL: none was hit.
 */
static const struct gdb_point *hit_watchpoint(const struct race *r, unsigned cpu)
{
	uint8_t now[RACE_WATCH_MAX];
	int hit = r->copy->hit(r->copy->ctx);

	for (size_t i = 0; i < r->point_count; i++) {
		const struct gdb_point *p = &r->points[i];

		if (p->kind == RSP_WATCH_WRITE && r->copy->read(r->copy->ctx, cpu, p->gva, now, p->len) == p->len &&
		    memcmp(now, r->before[i], p->len) != 0)
			return p;
	}
	return hit >= 0 && (size_t)hit < r->point_count && !is_breakpoint(&r->points[hit]) ? &r->points[hit] : NULL;
}

static bool watch(struct race *r, const struct gdb_point *points, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (points[i].kind == RSP_WATCH_WRITE && points[i].len > RACE_WATCH_MAX)
			return false;
	/* While the order is run by steps, breakpoints are compared with RIP and need no debug registers. */
	return r->copy->watch(r->copy->ctx, points, count, r->free);
}

static bool set_points(void *ctx, const struct gdb_point *points, size_t count)
{
	struct race *r = ctx;

	if (!watch(r, points, count))
		return false;
	r->points = points;
	r->point_count = count;
	return true;
}

/* ---- stops ---- */

static bool stop_at(struct gdb_stop *stop, enum gdb_reason reason, unsigned cpu)
{
	*stop = (struct gdb_stop){.reason = reason, .cpu = cpu};
	return true;
}

static bool stop_at_point(struct gdb_stop *stop, unsigned cpu, const struct gdb_point *p)
{
	*stop = (struct gdb_stop){.reason = GDB_POINT, .cpu = cpu, .point = *p};
	return true;
}

static const char *end_of(const struct region *region)
{
	switch (region->end) {
	case REPLAY_END_NOT_RUN:
		return "is not at its end";
	case REPLAY_END_RETURN:
		return "has returned from its function";
	case REPLAY_END_BLOCKED:
		return "is about to sleep";
	case REPLAY_END_LIMIT:
		return "has reached the limit of instructions for its region";
	case REPLAY_END_FAULT:
		return "ran into a fault";
	case REPLAY_ENDS:
		break;
	}
	return "";
}

/* Set *stop to report the end of the order, and let all CPUs run freely from now on. Returns true. */
static bool stop_at_end(struct race *r, struct gdb_stop *stop, unsigned cpu)
{
	const struct region *regions = r->run.regions;

	stop_at(stop, GDB_NEWS, cpu);
	r->free = true;
	if (r->run.failure != REPLAY_NO_FAILURE)
		snprintf(stop->text, sizeof(stop->text), "The order has failed: %s. From here on all CPUs go on freely.",
			 r->run.why ? r->run.why : "for an unknown reason");
	else
		snprintf(stop->text, sizeof(stop->text),
			 "Both regions are at their ends: CPU %u %s, CPU %u %s. From here on all CPUs go on freely.",
			 r->order.sides[0].cpu, end_of(&regions[0]), r->order.sides[1].cpu, end_of(&regions[1]));
	return true;
}

/* Set *stop to report why the machine has ended or failed. Returns true. */
static bool stop_for_good(struct race *r, struct gdb_stop *stop, unsigned cpu)
{
	stop_at(stop, GDB_ENDED, cpu);
	r->ended = true;
	r->copy->why(r->copy->ctx, stop->text);
	return true;
}

/* ---- steps ---- */

/*
 * Let a CPU make one step that is not part of the order: the order is over, no side runs on the CPU, or the region of its side
 * is at its end. Returns whether the machine must stop.
 */
static bool step_apart(struct race *r, unsigned cpu, struct gdb_stop *stop)
{
	const struct copy_ops *steps = &r->copy->steps;
	struct x86_regs regs;

	steps->regs(steps->ctx, cpu, &regs);
	switch (steps->step(steps->ctx, cpu, &regs)) {
	case COPY_STEPPED:
		return false;
	case COPY_HALTED:
		stop_at(stop, GDB_NEWS, cpu);
		snprintf(stop->text, sizeof(stop->text),
			 "CPU %u waits for an interrupt, and a stepped CPU takes no interrupts.", cpu);
		return true;
	case COPY_LOST:
		stop_at(stop, GDB_NEWS, cpu);
		snprintf(stop->text, sizeof(stop->text),
			 "The instruction of CPU %u did not end: the CPU executes other code, for example the kernel's oops "
			 "handler.",
			 cpu);
		return true;
	case COPY_ENDED:
	case COPY_FAILED:
		break;
	}
	return stop_for_good(r, stop, cpu);
}

/*
 * Let a CPU make one step. If the order is not over, and a side whose region is not at its end runs on the CPU, the step counts
 * as a step of the order. Returns whether the machine must stop.
 */
static bool step_cpu(struct race *r, unsigned cpu, struct gdb_stop *stop)
{
	struct ordering *o = &r->ordering;
	int side = side_of(r, cpu);
	const struct gdb_point *p;
	bool part = !r->free && !order_over(o) && side >= 0 && !region_over(&r->run.regions[side]);

	look_before(r, cpu);
	if (!part) {
		if (step_apart(r, cpu, stop))
			return true;
	} else if (o->side == (unsigned)side) {
		order_step(o);
	} else {
		order_step_out_of_turn(o, (unsigned)side);
	}
	if (part && r->run.failure == REPLAY_CANNOT_LOAD)
		return stop_for_good(r, stop, cpu);
	p = hit_watchpoint(r, cpu);
	if (p)
		return stop_at_point(stop, cpu, p);
	return part && order_over(o) && stop_at_end(r, stop, cpu);
}

/* Returns the CPU of the set `cpus` that makes the next step. */
static unsigned next_cpu(const struct race *r, unsigned cpus)
{
	const struct order_side *sides = r->order.sides;
	unsigned turn = r->ordering.side;

	if (cpus >> sides[turn].cpu & 1)
		return sides[turn].cpu;
	return cpus >> sides[!turn].cpu & 1 ? sides[!turn].cpu : (unsigned)__builtin_ctz(cpus);
}

/*
 * For a side that runs while the other side is stopped: if the last step of the CPU has brought the side to the end of its
 * region, report that and return true. `was_over`: the side was at the end before the step.
 */
static bool stop_alone(const struct race *r, unsigned cpu, bool was_over, struct gdb_stop *stop)
{
	int side = side_of(r, cpu);

	if (side < 0 || was_over || !region_over(&r->run.regions[side]))
		return false;
	stop_at(stop, GDB_NEWS, cpu);
	snprintf(stop->text, sizeof(stop->text),
		 "The region of CPU %u is at its end: the CPU %s. The region of the other side is not at its end.", cpu,
		 end_of(&r->run.regions[side]));
	return true;
}

static bool both_sides(const struct race *r, unsigned cpus)
{
	return cpus >> r->order.sides[0].cpu & 1 && cpus >> r->order.sides[1].cpu & 1;
}

static void go_in_order(struct race *r, const struct gdb_go *go, struct gdb_stop *stop)
{
	const struct copy_ops *steps = &r->copy->steps;

	for (unsigned n = 1;; n++) {
		unsigned cpu = next_cpu(r, go->cpus);
		int side = side_of(r, cpu);
		bool was_over = side >= 0 && region_over(&r->run.regions[side]);
		const struct gdb_point *p;
		struct x86_regs regs;

		if (n % STEPS_UNTIL_ASKED == 0 && go->interrupted(go->arg)) {
			stop_at(stop, GDB_INTERRUPTED, cpu);
			return;
		}
		steps->regs(steps->ctx, cpu, &regs);
		p = breakpoint_at(r, regs.rip);
		if (p) {
			stop_at_point(stop, cpu, p);
			return;
		}
		if (step_cpu(r, cpu, stop) || (!both_sides(r, go->cpus) && stop_alone(r, cpu, was_over, stop)))
			return;
	}
}

/* ---- free running ---- */

/* Run a CPU for a slice. Returns whether the machine must stop. */
static bool slice(struct race *r, unsigned cpu, struct gdb_stop *stop)
{
	int hit;

	switch (r->copy->slice(r->copy->ctx, cpu)) {
	case COPY_STEPPED:
		hit = r->copy->hit(r->copy->ctx);
		return hit >= 0 && (size_t)hit < r->point_count && stop_at_point(stop, cpu, &r->points[hit]);
	case COPY_HALTED:
		return false;
	case COPY_LOST:
	case COPY_ENDED:
	case COPY_FAILED:
		break;
	}
	return stop_for_good(r, stop, cpu);
}

/*
 * Run a slice before asking whether the client wants the machine to stop. Otherwise the machine would make no progress if the
 * client always wants that at once.
 */
static void go_by_slices(struct race *r, const struct gdb_go *go, struct gdb_stop *stop)
{
	do {
		r->next = (r->next + 1) % r->copy->cpus;
		if (go->cpus >> r->next & 1 && slice(r, r->next, stop))
			return;
	} while (!go->interrupted(go->arg));
	stop_at(stop, GDB_INTERRUPTED, r->next);
}

static void go_freely(struct race *r, const struct gdb_go *go, struct gdb_stop *stop)
{
	if (!watch(r, r->points, r->point_count)) {
		stop_at(stop, GDB_NEWS, r->next);
		snprintf(stop->text, sizeof(stop->text),
			 "After the order each breakpoint takes a debug register, and there are not enough registers: delete "
			 "some breakpoints.");
		return;
	}
	if (r->copy->devices && !r->copy->devices(r->copy->ctx, true)) {
		stop_for_good(r, stop, r->next);
		return;
	}
	go_by_slices(r, go, stop);
	if (r->copy->devices)
		r->copy->devices(r->copy->ctx, false);
}

static int go_on(void *ctx, const struct gdb_go *go, struct gdb_stop *stop, struct err *err)
{
	struct race *r = ctx;

	(void)err;
	if (r->ended) {
		stop_for_good(r, stop, r->next);
	} else if (go->step) {
		if (!step_cpu(r, go->cpu, stop))
			stop_at(stop, GDB_STEPPED, go->cpu);
	} else if (!r->free && order_over(&r->ordering)) {
		stop_at_end(r, stop, r->order.sides[r->ordering.side].cpu);
	} else if (r->free) {
		go_freely(r, go, stop);
	} else {
		go_in_order(r, go, stop);
	}
	return 0;
}

/* ---- registers and memory ---- */

static int get(void *ctx, unsigned cpu, struct replay_cpu *out, struct err *err)
{
	const struct race *r = ctx;

	return r->copy->get(r->copy->ctx, cpu, out, err);
}

/* Set a CPU's registers. The order keeps a copy of the registers of its sides, so update that copy, too. */
static int set(void *ctx, unsigned cpu, const struct replay_cpu *in, struct err *err)
{
	struct race *r = ctx;
	int side = side_of(r, cpu);

	if (r->copy->set(r->copy->ctx, cpu, in, err) < 0)
		return -1;
	if (side >= 0)
		r->copy->steps.regs(r->copy->steps.ctx, cpu, &r->run.regs[side]);
	return 0;
}

static size_t read_memory(void *ctx, unsigned cpu, uint64_t gva, void *out, size_t len)
{
	const struct race *r = ctx;

	return r->copy->read(r->copy->ctx, cpu, gva, out, len);
}

static size_t write_memory(void *ctx, unsigned cpu, uint64_t gva, const void *in, size_t len)
{
	const struct race *r = ctx;

	return r->copy->write(r->copy->ctx, cpu, gva, in, len);
}

/* ---- texts for the user ---- */

static void describe(void *ctx, unsigned cpu, char out[GDB_TEXT_MAX])
{
	const struct race *r = ctx;
	int side = side_of(r, cpu);

	if (side < 0)
		snprintf(out, GDB_TEXT_MAX, "CPU %u, no side of the race", cpu);
	else
		snprintf(out, GDB_TEXT_MAX, "CPU %u, %s, side %d of the race, %s %s", cpu, r->who[side], side + 1,
			 r->order.alone ? "it runs" : "its access comes",
			 (unsigned)side == r->order.first ? "first" : "second");
}

/* In an order without turns, side 1 has made its access before the order begins (replay_config.paused). */
static bool is_made(const struct race *r, unsigned side)
{
	if (r->order.alone && side == 1)
		return true;
	return r->run.regions[side].instructions && r->run.regs[side].rip != r->order.sides[side].pc;
}

static void say_order(const struct race *r, char out[GDB_ANSWER_MAX])
{
	bool alone = r->order.alone;
	int len = snprintf(out, GDB_ANSWER_MAX, "Order %u: %sCPU %u %s, then %sCPU %u.\n", r->order.first + 1,
			   alone ? "" : "the access of ", r->order.sides[r->order.first].cpu,
			   alone ? "runs first, to the end of its region" : "comes first", alone ? "" : "that of ",
			   r->order.sides[!r->order.first].cpu);

	for (unsigned i = 0; i < 2; i++) {
		const struct region *region = &r->run.regions[i];

		len += snprintf(out + len, (size_t)(GDB_ANSWER_MAX - len),
				"CPU %u: its access at %#" PRIx64 " is %s; %" PRIu64 " instructions of its region; it %s.\n",
				r->order.sides[i].cpu, r->order.sides[i].pc, is_made(r, i) ? "made" : "not made",
				region->instructions, end_of(region));
	}
	if (r->free || order_over(&r->ordering))
		snprintf(out + len, (size_t)(GDB_ANSWER_MAX - len), "The order is over: all CPUs go on freely.\n");
	else
		snprintf(out + len, (size_t)(GDB_ANSWER_MAX - len), "The next step is CPU %u's.\n",
			 r->order.sides[r->ordering.side].cpu);
}

static void command(void *ctx, const char *text, char out[GDB_ANSWER_MAX])
{
	const struct race *r = ctx;

	if (strcmp(text, "order") == 0)
		say_order(r, out);
	else if (strcmp(text, "info") == 0)
		snprintf(out, GDB_ANSWER_MAX, "%s", r->intro);
	else if (strcmp(text, "console") == 0)
		r->copy->console(r->copy->ctx, out);
	else
		snprintf(out, GDB_ANSWER_MAX,
			 "monitor order: which order this is, and how far it has come\n"
			 "monitor info: which race this is\n"
			 "monitor console: the guest's console output since the moment before the race\n");
}

void race_begin(struct race *r)
{
	r->run = (struct order_run){0};
	order_begin(&r->ordering, &r->order, &r->copy->steps, &r->run);
	r->free = false;
	r->ended = false;
	r->next = 0;
	r->points = NULL;
	r->point_count = 0;
}

struct gdb_machine race_machine(struct race *r)
{
	return (struct gdb_machine){
		.cpus = r->copy->cpus,
		.first_cpu = r->order.sides[r->order.first].cpu,
		.get = get,
		.set = set,
		.read = read_memory,
		.write = write_memory,
		.points = set_points,
		.go = go_on,
		.describe = describe,
		.command = command,
		.ctx = r,
	};
}
