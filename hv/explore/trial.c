// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs one schedule in a copy of the base (trial.h). */
#include "hv/explore/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "hv/base/clean.h"
#include "hv/base/clock.h"
#include "hv/explore/drive.h"
#include "hv/explore/walk.h"
#include "hv/replay/run.h"
#include "hv/sandbox/sandbox.h"

#define NS_PER_S UINT64_C(1000000000)
/*
 * Time limit, in seconds, for what a trial's process does besides running the guest: it makes the copy and, at the end, looks
 * through the copy's memory. Many processes may do so at the same time.
 */
#define REST_S 120

struct trial {
	const struct base *base;
	const struct explore_config *config;
	const struct explore_candidate *candidate;
	struct trial_looks looks;
	/* Both are in memory that is shared with the parent. */
	struct explore_trial *out;
	struct trial_seen *seen;
};

static enum drive_end to_access(struct drive *d, const struct trial *t, unsigned side)
{
	return drive_to_access(d, side, &t->candidate->side[side].access, t->base->part_ns);
}

/*
 * `first` is held before its access. The other side makes its own access, then `first` makes it. A single step cannot stop
 * between the read and the write of a split access. So if the access of `first` is split, the bytes get back the values that
 * they had before the other side's access. These are the values that `first` would have read.
 */
static enum explore_forced flip(struct drive *d, const struct trial *t, unsigned first)
{
	const struct explore_access *own = &t->candidate->side[first].access;
	uint8_t before[EXPLORE_SPLIT_MAX], *at = NULL;
	enum drive_end end = to_access(d, t, !first);

	if (end != DRIVE_THERE)
		return EXPLORE_BLOCKED;
	if (t->out->split) {
		at = copy_at(&d->copy, first, own->gva, NULL);
		if (!at)
			return EXPLORE_BLOCKED;
	}
	if (at)
		memcpy(before, at, own->size);
	if (!drive_step(d, !first))
		return EXPLORE_BLOCKED;
	if (at)
		memcpy(at, before, own->size);
	return drive_step(d, first) ? EXPLORE_FORCED : EXPLORE_BLOCKED;
}

/* `first` is held after its access, or after the critical section of the access. The other side runs to its end. */
static enum explore_forced pause_after(struct drive *d, const struct trial *t, unsigned first)
{
	if (!drive_through(d, first, &t->candidate->side[first], t->base->part_ns))
		return EXPLORE_NOT_REACHED;
	return drive_to(d, !first, 0, 0, t->base->part_ns) == DRIVE_DONE ? EXPLORE_FORCED : EXPLORE_BLOCKED;
}

/* `first` makes some of its system calls. Then the other side runs to its end, while `first` is held between two calls. */
static enum explore_forced run_between(struct drive *d, const struct trial *t, unsigned first)
{
	uint64_t ns = t->base->part_ns;
	enum drive_end end = drive_calls(d, first, t->out->calls[first], ns);

	if (end != DRIVE_THERE && end != DRIVE_DONE)
		return EXPLORE_NOT_REACHED;
	return drive_to(d, !first, 0, 0, ns) == DRIVE_DONE ? EXPLORE_FORCED : EXPLORE_BLOCKED;
}

static enum explore_forced force(struct drive *d, const struct trial *t)
{
	enum explore_schedule schedule = t->out->schedule;
	unsigned first = explore_first(schedule);

	if (schedule == EXPLORE_BETWEEN_A || schedule == EXPLORE_BETWEEN_B)
		return run_between(d, t, first);

	if (schedule == EXPLORE_SERIAL_AB || schedule == EXPLORE_SERIAL_BA) {
		d->mark.then_other[schedule == EXPLORE_SERIAL_BA] = true;
		return EXPLORE_FORCED;
	}
	if (schedule == EXPLORE_WALK)
		return walk_force(d, &t->out->walk, t->base->part_ns);
	if (to_access(d, t, first) != DRIVE_THERE)
		return EXPLORE_NOT_REACHED;
	return explore_pauses(schedule) ? pause_after(d, t, first) : flip(d, t, first);
}

static void judge(struct drive *d, struct explore_trial *out)
{
	bool panic = false;
	enum trouble trouble = run_read_console(d->console, out->text, &panic);

	if (panic)
		out->machine = REPLAY_MACHINE_PANIC;
	for (unsigned side = 0; side < 2; side++)
		out->status[side] = atomic_load(&d->mark.status[side]);
	if (trouble != TROUBLE_NONE || out->machine == REPLAY_MACHINE_PANIC || out->machine == REPLAY_MACHINE_TRIPLE_FAULT)
		out->outcome = EXPLORE_COMPLAINT;
	else if (out->machine == REPLAY_MACHINE_NOT_RUN)
		out->outcome = EXPLORE_FAILED;
	else
		out->outcome = atomic_load(&d->mark.over) ? EXPLORE_SAME : EXPLORE_HANG;
}

/* Read what struct trial_looks asks for from the memory of the copy, which has run to its end. */
static void look_at_end(struct drive *d, const struct trial *t)
{
	struct x86_regs *regs = calloc(d->cpus, sizeof(*regs));

	ends_read(t->looks.ends, &d->copy.ram, t->seen->values);
	for (unsigned cpu = 0; regs && cpu < d->cpus; cpu++)
		copy_exit_regs(&d->copy, cpu, &regs[cpu]);
	/* Without the registers, nothing is known to be lost. */
	if (regs)
		leaks_read(t->looks.leaks, regs, d->cpus, &t->seen->lost);
	free(regs);
}

static int run(void *ctx, struct err *err)
{
	const struct trial *t = ctx;
	struct drive d;
	int rc = -1;

	sandbox_thread(SANDBOX_COPY);
	if (drive_open(&d, t->base, err) < 0)
		goto out;
	drive_note_returns(&d, t->looks.returns, t->seen->returned);
	t->out->forced = force(&d, t);
	for (unsigned side = 0; side < 2; side++)
		t->out->calls[side] = atomic_load(&d.mark.status[side]) < 0 ? t->seen->returned[side].count : RETURNS_MAX;
	t->out->machine = drive_freely(&d, t->config->trial_ns);
	judge(&d, t->out);
	if (t->out->outcome == EXPLORE_SAME)
		look_at_end(&d, t);
	rc = 0;
	if (t->out->outcome == EXPLORE_FAILED)
		rc = err_set(err, EXIT_INTERNAL, "%s", d.copy.err.text[0] ? d.copy.err.text : "the copy could not be run");
out:
	drive_close(&d);
	return rc;
}

/* Copy the result of a process that ran a guest, and so is not trusted: replace invalid values, and make the text printable. */
static void take(const struct explore_trial *from, struct explore_trial *out)
{
	out->forced = (unsigned)from->forced <= EXPLORE_BLOCKED ? from->forced : EXPLORE_BLOCKED;
	/* The outcomes after EXPLORE_HANG need the serial orders, which the process does not know. */
	out->outcome = (unsigned)from->outcome <= EXPLORE_HANG ? from->outcome : EXPLORE_FAILED;
	for (unsigned side = 0; side < 2; side++)
		out->calls[side] = from->calls[side] < RETURNS_MAX ? from->calls[side] : RETURNS_MAX;
	out->machine = (unsigned)from->machine < REPLAY_MACHINES ? from->machine : REPLAY_MACHINE_NOT_RUN;
	for (unsigned side = 0; side < 2; side++)
		out->status[side] = from->status[side] >= -1 && from->status[side] <= 255 ? from->status[side] : -1;
	memcpy(out->text, from->text, sizeof(out->text));
	clean_field(out->text, sizeof(out->text));
}

void trial_start(struct trial_process *p, const struct base *base, const struct explore_config *config,
		 const struct trial_looks *looks, const struct explore_candidate *c, const struct explore_trial *plan)
{
	struct trial t = {.base = base, .config = config, .candidate = c, .looks = *looks};
	struct trial_shared *shared;

	*p = (struct trial_process){.start = monotonic_ns()};
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED) {
		err_set(&p->err, EXIT_INTERNAL, "out of memory");
		return;
	}
	t.out = &shared->out;
	t.seen = &shared->seen;
	*t.out = *plan;
	t.out->outcome = EXPLORE_FAILED;
	t.out->status[0] = t.out->status[1] = -1;
	/* The process is a fork, so it has its own copy of `t`. */
	if (process_start(&p->process, run, &t, (time_t)(6 * config->trial_ns / NS_PER_S + REST_S), &p->err) < 0)
		munmap(shared, sizeof(*shared));
	else
		p->shared = shared;
}

/* Copy what a trial's process saw. The process ran a guest, and so is not trusted: replace invalid values. */
static void take_seen(const struct trial_seen *from, struct trial_seen *out)
{
	*out = *from;
	if (out->lost.count > LEAKS_MAX)
		out->lost.count = LEAKS_MAX;
	out->lost.known = from->lost.known == 1 && out->lost.count < LEAKS_MAX;
	for (uint32_t i = 0; i < out->lost.count; i++)
		clean_field(out->lost.object[i].cache, sizeof(out->lost.object[i].cache));
	clean_field(out->lost.twice.cache, sizeof(out->lost.twice.cache));
	for (unsigned side = 0; side < 2; side++) {
		if (out->returned[side].count > RETURNS_MAX)
			out->returned[side].count = RETURNS_MAX;
		returns_sort(&out->returned[side]);
	}
}

void trial_finish(struct trial_process *p, struct explore_trial *out, struct trial_seen *seen)
{
	out->outcome = EXPLORE_FAILED;
	out->status[0] = out->status[1] = -1;
	if (p->shared && process_wait(&p->process, &p->err) == 0)
		take(&p->shared->out, out);
	else
		snprintf(out->text, sizeof(out->text), "%.*s", (int)sizeof(out->text) - 1, p->err.text);
	if (p->shared && out->outcome == EXPLORE_SAME)
		take_seen(&p->shared->seen, seen);
	if (p->shared)
		munmap(p->shared, sizeof(*p->shared));
	p->shared = NULL;
	out->ns = monotonic_ns() - p->start;
}
