// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs the serial orders, and judges whether a trial ended as they do (serial.h). In a run between two calls, one side is held
 * between two of its system calls, while the other side runs to its end.
 */
#include "hv/explore/serial.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "hv/explore/message.h"
#include "hv/explore/trial.h"
#include "hv/explore/words.h"

#define NS_PER_MS 1000000u
/* Number of further runs of each serial order, before a value counts as one that no serial order gives. */
#define REPEATS 2
/*
 * A place is no longer compared after this number of trials whose value did not come again. Each such trial costs one more run.
 */
#define MISSES_MAX 3

struct trial_looks serial_looks(const struct serial *s)
{
	return (struct trial_looks){.ends = &s->ends, .returns = &s->returns.site, .leaks = &s->leaks};
}

/* Add what a run of a serial order lost, and say so if leaks cannot be judged any more. */
static void add_losses(struct serial *s, const struct lost *lost)
{
	bool judged = s->leaks.guest;

	leaks_add_serial(&s->leaks, lost);
	if (judged && !s->leaks.guest)
		explore_say(s->config, "no longer looking for leaks and double frees: %s",
			    lost->twice.in.gva ? "a serial order already frees an object twice"
					       : "it is unknown which objects a serial order loses");
}

static void run(struct serial *s, unsigned order, struct explore_trial *out)
{
	static const struct lost unknown;
	const struct trial_looks looks = serial_looks(s);
	struct trial_process p;
	struct trial_seen seen;

	*out = (struct explore_trial){.schedule = order ? EXPLORE_SERIAL_BA : EXPLORE_SERIAL_AB};
	trial_start(&p, s->base, s->config, &looks, NULL, out);
	trial_finish(&p, out, &seen);
	add_losses(s, out->outcome == EXPLORE_SAME ? &seen.lost : &unknown);
	if (out->outcome != EXPLORE_SAME)
		return;
	ends_add_serial(&s->ends, order, seen.values);
	returns_add_serial(&s->returns, order, seen.returned);
}

static int check(const struct explore_trial *t, unsigned order, struct err *err)
{
	if (t->outcome == EXPLORE_FAILED)
		return err_set(err, EXIT_INTERNAL, "a copy of the machine could not be run: %s", t->text);
	if (t->outcome == EXPLORE_COMPLAINT)
		return err_set(err, EXIT_INPUT,
			       "the kernel complains already when the programs run one after the other (%s first): %s",
			       order ? "B" : "A", t->text[0] ? t->text : "the machine died");
	if (t->outcome == EXPLORE_HANG)
		return err_set(err, EXIT_INPUT,
			       "the programs do not end within --trial-time when they run one after the other (%s first)",
			       order ? "B" : "A");
	return 0;
}

int serial_run(struct serial *s, const struct base *base, const struct explore_config *config, const struct kernel *kernel,
	       struct explore_result *result, struct err *err)
{
	s->base = base;
	s->config = config;
	s->result = result;
	ends_find(&s->ends, result->candidates, result->candidate_count, kernel);
	/* Leaks are judged only if runs between two calls are possible: is_explained() needs them. */
	if (s->returns.site.pc)
		leaks_find(&s->leaks, kernel);
	if (s->leaks.guest)
		explore_say(config,
			    "looking for leaks and double frees; %zu objects are lost already before the programs start",
			    s->leaks.before_count);
	else
		explore_say(config,
			    "not looking for leaks and double frees: outrider does not understand the kernel's memory or "
			    "system calls, or the guest's RAM ends above 4 GiB");
	for (unsigned order = 0; order < 2; order++) {
		struct explore_trial *t = &result->serial[order];

		run(s, order, t);
		explore_say(config, "serial order %s: exit statuses %d and %d, %" PRIu64 " ms%s%s", order ? "B, A" : "A, B",
			    t->status[0], t->status[1], t->ns / NS_PER_MS, t->text[0] ? ": " : "", t->text);
		if (check(t, order, err) < 0)
			return -1;
	}
	return 0;
}

static bool has_other_statuses(const struct serial *s, const struct explore_trial *t)
{
	for (unsigned order = 0; order < 2; order++)
		if (memcmp(t->status, s->result->serial[order].status, sizeof(t->status)) == 0)
			return false;
	return true;
}

static void repeat_serial(struct serial *s)
{
	struct explore_trial again;

	if (!s->repeated)
		explore_say(s->config,
			    "a trial ended differently from both serial orders: running each serial order %u more times",
			    REPEATS);
	for (unsigned i = 0; i < 2 * REPEATS && !s->repeated; i++)
		run(s, i % 2, &again);
	s->repeated = true;
}

/*
 * Run the trial once more. Returns whether this run has the outcome EXPLORE_SAME, the same exit statuses as the trial, and a
 * schedule that was forced as far. Only then is *seen valid.
 */
static bool run_again(struct serial *s, const struct explore_candidate *c, const struct explore_trial *t,
		      struct trial_seen *seen)
{
	const struct trial_looks looks = serial_looks(s);
	struct explore_trial again = *t;
	struct trial_process p;

	trial_start(&p, s->base, s->config, &looks, c, t);
	trial_finish(&p, &again, seen);
	return again.outcome == EXPLORE_SAME && again.forced == t->forced &&
	       memcmp(again.status, t->status, sizeof(t->status)) == 0;
}

/*
 * Run the trial once more. Returns whether the place `at` again has a value that no serial order gives. One run without such a
 * value proves little, because both programs run freely after the forced accesses. But after MISSES_MAX trials whose value did
 * not come again, the place is no longer compared, because its value depends on chance.
 */
static bool comes_again(struct serial *s, const struct explore_candidate *c, const struct explore_trial *t, unsigned at)
{
	struct trial_seen seen;

	s->confirmed[at] = run_again(s, c, t, &seen) && ends_differ(&s->ends, at, seen.values[at]);
	if (!s->confirmed[at] && ++s->misses[at] == MISSES_MAX)
		s->ends.unsettled[at] = true;
	return s->confirmed[at];
}

static void set_state(const struct serial *s, struct explore_trial *t, unsigned at, uint64_t value)
{
	const struct ends *e = &s->ends;

	t->outcome = EXPLORE_STATE;
	t->end = (struct explore_end){
		.gva = e->place[at].gva,
		.size = e->place[at].size,
		.value = value,
		.serial = {e->serial[0][at], e->serial[1][at]},
	};
}

/* ---- runs of one side between two system calls of the other ---- */

/*
 * Returns the run in which side `side` makes `calls` system calls, and then the other side runs to its end. Makes this run for
 * the trial `judged` if it was not made before. Returns NULL if the run cannot be made, or did not end as serial_between.ended
 * says. Also returns NULL if `calls` is 0, because the run would be a serial order.
 */
static const struct serial_between *get_between(struct serial *s, const struct explore_trial *judged, unsigned side,
						unsigned calls)
{
	const struct trial_looks looks = serial_looks(s);
	struct explore_trial t = {.number = judged->number, .schedule = side ? EXPLORE_BETWEEN_B : EXPLORE_BETWEEN_A};
	struct serial_between *b;
	struct trial_process p;

	if (!calls || calls >= SERIAL_CALLS_MAX)
		return NULL;
	b = s->between[side][calls];
	if (b)
		return b->ended ? b : NULL;
	b = s->between[side][calls] = calloc(1, sizeof(*b));
	if (!b)
		return NULL;
	explore_say(s->config, "running %c to its end after system call %u of %c", EXPLORE_SIDE_NAMES[!side], calls,
		    EXPLORE_SIDE_NAMES[side]);
	t.calls[side] = calls;
	trial_start(&p, s->base, s->config, &looks, NULL, &t);
	trial_finish(&p, &t, &b->seen);
	if (t.outcome == EXPLORE_COMPLAINT || t.outcome == EXPLORE_HANG)
		explore_say(s->config, "... %s: %s", explore_outcome_word(t.outcome), t.text);
	if (t.outcome == EXPLORE_SAME && b->seen.lost.twice.in.gva)
		explore_say(s->config, "... the kernel frees an object of the cache %s twice", b->seen.lost.twice.cache);
	if (t.outcome == EXPLORE_COMPLAINT && !s->result->has_between) {
		s->result->between = t;
		s->result->between.calls[side] = calls;
		s->result->has_between = true;
	}
	b->ended = t.outcome == EXPLORE_SAME && t.forced == EXPLORE_FORCED;
	memcpy(b->status, t.status, sizeof(b->status));
	return b->ended ? b : NULL;
}

void serial_free(struct serial *s)
{
	leaks_free(&s->leaks);
	for (unsigned side = 0; side < 2; side++)
		for (unsigned i = 0; i < SERIAL_CALLS_MAX; i++)
			free(s->between[side][i]);
}

/* What a trial shows that no serial order does. */
struct oddity {
	enum explore_outcome outcome;
	unsigned at; /* of EXPLORE_STATE: the index of the place */
};

static bool ends_as(const struct serial *s, const struct serial_between *b, const struct oddity *odd,
		    const struct explore_trial *t, const struct trial_seen *seen)
{
	const struct returned *was = b->seen.returned;

	if (odd->outcome == EXPLORE_LEAK)
		return leaks_explain(&b->seen.lost, &t->object);
	if (odd->outcome == EXPLORE_FREED_TWICE)
		return !b->seen.lost.known || b->seen.lost.twice.in.gva;
	if (memcmp(b->status, t->status, sizeof(b->status)) != 0)
		return false;
	if (odd->outcome == EXPLORE_STATE)
		return b->seen.values[odd->at] == seen->values[odd->at];
	if (was[0].count == RETURNS_MAX || was[1].count == RETURNS_MAX)
		return false;
	return odd->outcome == EXPLORE_STATUS || returns_are_same(&s->returns, was, seen->returned);
}

/*
 * Returns whether calls of a side may overlap in time, because the side had more than two processes. The calls of two processes
 * do not overlap, because the first process starts the program, which is the second one, and then only waits. Of more
 * processes, one may be in the middle of a call when another one is between two calls.
 */
static bool has_parallel_calls(const struct returned *of)
{
	unsigned processes = 0;

	for (unsigned i = 0; i < of->count; i++)
		processes += i == 0 || of->call[i].pid != of->call[i - 1].pid;
	return processes > 2;
}

/* Returns whether a signal has come that ends the exploration. trials.c blocks these signals, and takes them. */
static bool is_stopped(void)
{
	sigset_t pending;

	return sigpending(&pending) == 0 &&
	       (sigismember(&pending, SIGINT) > 0 || sigismember(&pending, SIGTERM) > 0 || sigismember(&pending, SIGHUP) > 0);
}

/*
 * To be called if get_between() did not return the run after `calls` calls of the side. Returns whether harm to memory must
 * therefore not be reported, because this run may do the same harm. The run is not needed if the side was in none of its system
 * calls, but at its start or its end.
 */
static bool is_missing(const struct oddity *odd, const struct explore_trial *t, unsigned side, unsigned calls)
{
	return (odd->outcome == EXPLORE_LEAK || odd->outcome == EXPLORE_FREED_TWICE) && calls && t->calls[side] < RETURNS_MAX;
}

/*
 * Returns whether the trial is explained, because a run between two system calls ends as the trial does. A trial also counts as
 * explained in two other cases:
 *  - A signal ends the exploration before all of these runs were made.
 *  - The oddity is memory that is lost or freed twice, which is harm, and one of these runs could not be made.
 */
static bool is_explained(struct serial *s, const struct oddity *odd, const struct explore_trial *t,
			 const struct trial_seen *seen)
{
	/* If it is unknown where system calls end, no run between two calls can be made. */
	if (!s->returns.site.pc)
		return false;
	for (unsigned side = 0; side < 2; side++) {
		bool parallel = has_parallel_calls(&seen->returned[side]);

		for (unsigned more = 0; more < 2; more++) {
			unsigned calls = t->calls[side] + more;
			const struct serial_between *b = is_stopped() || parallel ? NULL : get_between(s, t, side, calls);

			if (is_stopped() || (b ? ends_as(s, b, odd, t, seen) : is_missing(odd, t, side, calls)))
				return true;
		}
	}
	return false;
}

/* ---- the judgement ---- */

/*
 * Returns whether a program was killed by a signal that the kernel sends after an oops or after a fault of the program, and no
 * serial order kills the program by this signal. The agent's exit status of a killed program is 128 plus the signal's number.
 */
static bool is_killed(const struct serial *s, const struct explore_trial *t)
{
	static const int signals[] = {SIGILL, SIGFPE, SIGKILL, SIGSEGV};

	for (unsigned side = 0; side < 2; side++)
		for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
			if (t->status[side] == 128 + signals[i] && s->result->serial[0].status[side] != t->status[side] &&
			    s->result->serial[1].status[side] != t->status[side])
				return true;
	return false;
}

static void judge_statuses(struct serial *s, struct explore_trial *t, const struct trial_seen *seen)
{
	const struct oddity odd = {.outcome = EXPLORE_STATUS};

	if (has_other_statuses(s, t) && !is_explained(s, &odd, t, seen))
		t->outcome = is_killed(s, t) ? EXPLORE_KILLED : EXPLORE_STATUS;
}

static void judge_state(struct serial *s, const struct explore_candidate *c, struct explore_trial *t,
			const struct trial_seen *seen)
{
	int place = c && t->forced == EXPLORE_FORCED ? ends_place_of(&s->ends, c) : -1;
	const struct oddity odd = {.outcome = EXPLORE_STATE, .at = (unsigned)place};

	if (place < 0 || !ends_differ(&s->ends, odd.at, seen->values[odd.at]))
		return;
	repeat_serial(s);
	if (ends_differ(&s->ends, odd.at, seen->values[odd.at]) && (s->confirmed[odd.at] || comes_again(s, c, t, odd.at)) &&
	    !is_explained(s, &odd, t, seen))
		set_state(s, t, odd.at, seen->values[odd.at]);
}

/* Set the trial's outcome to `outcome`, EXPLORE_LEAK or EXPLORE_FREED_TWICE, if the trial has done this harm. */
static void judge_memory(struct serial *s, const struct explore_candidate *c, struct explore_trial *t,
			 const struct trial_seen *seen, enum explore_outcome outcome)
{
	bool (*differs)(const struct leaks *, const struct lost *, const struct lost *, struct explore_object *) =
		outcome == EXPLORE_LEAK ? leaks_differ : leaks_freed_twice;
	const struct oddity odd = {.outcome = outcome};
	struct trial_seen again;

	if (!differs(&s->leaks, &seen->lost, NULL, &t->object))
		return;
	repeat_serial(s);
	if (is_stopped() || !differs(&s->leaks, &seen->lost, NULL, &t->object) || !run_again(s, c, t, &again) ||
	    !differs(&s->leaks, &seen->lost, &again.lost, &t->object) || is_stopped() || is_explained(s, &odd, t, seen))
		return;
	t->outcome = outcome;
}

static void judge_returns(struct serial *s, const struct explore_candidate *c, struct explore_trial *t,
			  const struct trial_seen *seen)
{
	const struct oddity odd = {.outcome = EXPLORE_RETURNS};
	struct trial_seen again;

	if (!returns_differ(&s->returns, seen->returned))
		return;
	repeat_serial(s);
	if (!returns_differ(&s->returns, seen->returned) || is_explained(s, &odd, t, seen) || !run_again(s, c, t, &again) ||
	    !returns_differ(&s->returns, again.returned))
		return;
	t->outcome = EXPLORE_RETURNS;
	returns_describe(&s->returns, seen->returned, t->returns);
}

void serial_judge(struct serial *s, const struct explore_candidate *c, struct explore_trial *t, const struct trial_seen *seen)
{
	if (t->outcome == EXPLORE_SAME)
		judge_statuses(s, t, seen);
	if (t->outcome == EXPLORE_SAME)
		judge_memory(s, c, t, seen, EXPLORE_FREED_TWICE);
	if (t->outcome == EXPLORE_SAME)
		judge_memory(s, c, t, seen, EXPLORE_LEAK);
	if (t->outcome == EXPLORE_SAME)
		judge_state(s, c, t, seen);
	if (t->outcome == EXPLORE_SAME)
		judge_returns(s, c, t, seen);
}
