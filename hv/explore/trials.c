// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs the serial orders and all trials (trials.h). */
#include "hv/explore/trials.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "hv/base/clock.h"
#include "hv/base/rng.h"
#include "hv/explore/message.h"
#include "hv/explore/save.h"
#include "hv/explore/serial.h"
#include "hv/explore/skip.h"
#include "hv/explore/trial.h"
#include "hv/explore/walk.h"
#include "hv/explore/words.h"

#define NS_PER_MS 1000000u
/*
 * A candidate is compared with at most this number of candidates before it (is_repeated()). Without a limit, the candidates of
 * a hostile guest would take hours.
 */
#define REPEATS_LOOKED 4096u

struct trials {
	const struct base *base;
	const struct explore_config *config;
	const struct kernel *kernel;
	const struct recordings *recordings;
	struct explore_result *result;
	struct serial serial;
	/* What the next trial tries. */
	unsigned candidate;
	enum explore_schedule schedule;
	bool late; /* the second pass: go through the candidates again, for the schedules that most likely block */
	bool said_late;
	bool unchained; /* candidates_after() is still to be called */
	struct walk_places places;
	unsigned walks; /* number of random schedules that were planned */
	struct rng rng;
	/* The trials that run have the indices from result->trial_count on, up to `started`. */
	struct trial_process process[EXPLORE_JOBS_MAX];
	unsigned started;
	uint64_t start_ns; /* monotonic_ns() at the start of the first trial */
	sigset_t ends;	   /* signals that end the trials; blocked while trials run */
	bool stopped;	   /* such a signal has come, or the time is over */
	uint64_t other_ns; /* time that scenarios, candidates_after() and serial_judge() took */
};

static bool has_candidate(const struct trials *t)
{
	return t->candidate < t->result->candidate_count && t->started < t->config->trials;
}

static bool has_walk(const struct trials *t)
{
	return t->places.count && t->walks < t->config->walks;
}

/*
 * Block the signals that end the process. Copies inherit this, so a signal to the whole process group does not interrupt the
 * trials in progress.
 */
static void block_ends(struct trials *t)
{
	sigemptyset(&t->ends);
	sigaddset(&t->ends, SIGINT);
	sigaddset(&t->ends, SIGTERM);
	sigaddset(&t->ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &t->ends, NULL);
}

/* Returns whether a signal or the time ends the trials. */
static bool is_stopped(struct trials *t)
{
	const struct timespec now = {0};
	uint64_t most = t->config->trials_ns;

	t->stopped |= (most && monotonic_ns() - t->start_ns >= most) || sigtimedwait(&t->ends, NULL, &now) > 0;
	return t->stopped;
}

/* Returns whether config.skip leaves out the next trial. */
static bool is_skipped(const struct trials *t)
{
	const struct explore_candidate *c = &t->result->candidates[t->candidate];
	char site[2][SITE_NAME_MAX];

	if (!t->config->skip)
		return false;
	for (unsigned side = 0; side < 2; side++)
		explore_site_name(&c->side[side], t->result->slide, site[side]);
	return explore_skips(t->config->skip, t->result->build_id, site, t->schedule);
}

/* Go on to the next schedule, or to the next candidate. */
static void advance(struct trials *t)
{
	if (t->schedule++ == EXPLORE_PAUSE_B) {
		t->schedule = EXPLORE_FLIP_A;
		t->candidate++;
	}
}

/*
 * Returns whether the schedule cannot be forced: the access of the side that runs first was seen only while the other side was
 * held; or both sides would have to stand before their accesses while both hold the same lock.
 */
static bool is_impossible(const struct trials *t)
{
	const struct explore_candidate *c = &t->result->candidates[t->candidate];

	return (c->after >= 0 && explore_first(t->schedule) != c->held) || (c->common_lock && explore_flips(t->schedule));
}

/*
 * Returns whether the schedule is a pause that an earlier candidate has, too. Only the access of the side that is held matters
 * for a pause, and many candidates may share this access. Such a pause is tried again only if another place in memory is to be
 * compared afterwards (ends.h).
 */
static bool is_repeated(const struct trials *t)
{
	const struct explore_candidate *all = t->result->candidates, *c = &all[t->candidate];
	unsigned first = explore_first(t->schedule);
	int place = ends_place_of(&t->serial.ends, c);

	if (!explore_pauses(t->schedule))
		return false;
	for (unsigned i = t->candidate > REPEATS_LOOKED ? t->candidate - REPEATS_LOOKED : 0; i < t->candidate; i++)
		if (!(all[i].after >= 0 && first != all[i].held) && explore_holds_alike(&c->side[first], &all[i].side[first]) &&
		    (place < 0 || place == ends_place_of(&t->serial.ends, &all[i])))
			return true;
	return false;
}

/* Returns whether not to try the next schedule in this pass: it would show nothing new, or it belongs to the other pass. */
static bool is_useless(const struct trials *t)
{
	bool blocked = t->result->candidates[t->candidate].blocked & 1u << t->schedule;

	return blocked != t->late || is_impossible(t) || is_repeated(t);
}

/* Returns the number of candidates at which a trial that has ended let one side run to its end while the other one was held. */
static unsigned count_chainable(const struct trials *t)
{
	const struct explore_result *r = t->result;
	unsigned count = 0, last = 0;

	/* In the first pass, the trials of one candidate are next to each other. So `last` shows whether it was counted. */
	for (unsigned i = 0; i < r->trial_count; i++)
		if (explore_lets_run(&r->trials[i]) && r->trials[i].candidate < t->candidate &&
		    (!count || r->trials[i].candidate != last)) {
			last = r->trials[i].candidate;
			count++;
		}
	return count;
}

/*
 * Returns whether to look for chains before the next trial: enough candidates at which a program can be held were tried, or all
 * candidates were. Returns false if config->trials trials were started already, because new candidates could not be tried.
 */
static bool wants_chains(const struct trials *t)
{
	const struct explore_result *r = t->result;

	if (!t->unchained || t->late || t->schedule != EXPLORE_FLIP_A || r->first >= 0 || t->started >= t->config->trials)
		return false;
	return t->candidate >= r->candidate_count || count_chainable(t) >= t->config->chains;
}

/* Returns whether chain() must wait until the trials that run have ended, because it uses their results. */
static bool is_waiting(const struct trials *t)
{
	return wants_chains(t) && t->started > t->result->trial_count;
}

/*
 * Look for candidates that show only while a program is held, if it is time to. If this fails, the exploration goes on without
 * such candidates.
 */
static void chain(struct trials *t)
{
	struct err err = {0};
	uint64_t start;

	if (!wants_chains(t) || is_waiting(t) || is_stopped(t))
		return;
	t->unchained = false;
	start = monotonic_ns();
	if (candidates_after(t->base, t->recordings, t->config, t->kernel, t->candidate, t->result, &err) < 0)
		explore_say(t->config, "cannot look for candidates that show only while a program is held: %s", err.text);
	t->other_ns += monotonic_ns() - start;
}

/* Begin the second pass, if the first one has ended. Returns whether it has a candidate. */
static bool begin_late(struct trials *t)
{
	if (t->late || t->candidate < t->result->candidate_count)
		return false;
	t->late = true;
	t->candidate = 0;
	t->schedule = EXPLORE_FLIP_A;
	return has_candidate(t);
}

/*
 * Go on to the next schedule that is to be tried. Returns true if no trial may start now: there is none, or the trials that run
 * must end first, or a finding, a signal or the time ends the trials.
 */
static bool is_over(struct trials *t)
{
	for (chain(t); has_candidate(t) || (!is_waiting(t) && begin_late(t)); chain(t)) {
		bool useless = is_useless(t);

		if (!useless && !is_skipped(t))
			break;
		t->result->skipped += !useless;
		advance(t);
	}
	if (is_waiting(t) || (!has_candidate(t) && !has_walk(t)))
		return true;
	return (t->result->first >= 0 && !t->config->keep_going) || is_stopped(t);
}

/* Plan the next trial. To be called after is_over() has returned false. */
static void plan_next(struct trials *t, struct explore_trial *plan)
{
	*plan = (struct explore_trial){.number = t->started + 1, .candidate = t->candidate, .schedule = t->schedule};
	if (!has_candidate(t)) {
		plan->schedule = EXPLORE_WALK;
		walk_choose(&t->places, t->config->depth, &t->rng, &plan->walk);
		t->walks++;
	} else {
		if (t->late && !t->said_late)
			explore_say(t->config,
				    "now the schedules in which one program most likely waits for a lock of the other");
		t->said_late = t->late;
		plan->split = explore_splits(&t->result->candidates[t->candidate], t->schedule);
		advance(t);
	}
}

static void start_next(struct trials *t)
{
	struct explore_trial *plan = &t->result->trials[t->started];
	const struct trial_looks looks = serial_looks(&t->serial);
	bool walks;

	plan_next(t, plan);
	walks = plan->schedule == EXPLORE_WALK;
	trial_start(&t->process[t->started % EXPLORE_JOBS_MAX], t->base, t->config, &looks,
		    walks ? NULL : &t->result->candidates[plan->candidate], plan);
	t->started++;
}

/* Save a scenario of a finding. */
static void save(struct trials *t, struct explore_trial *found)
{
	uint64_t start = monotonic_ns();
	struct err err = {0};

	if (explore_harms_memory(found))
		explore_say(t->config,
			    "trial %u: no scenario is saved: a replay does not look for objects that are lost or freed twice",
			    found->number);
	else if (found->split)
		explore_say(t->config, "trial %u: no scenario: a replay cannot split the read-modify-write of %c",
			    found->number, EXPLORE_SIDE_NAMES[explore_first(found->schedule)]);
	else if (save_finding(t->base, t->config, t->kernel, &t->result->candidates[found->candidate], found, &err) < 0)
		explore_say(t->config, "trial %u: no scenario: %s", found->number, err.text);
	else
		explore_say(t->config, "trial %u: scenario %s: its first order %s", found->number, found->scenario,
			    found->again ? "ends in trouble, too" : "ends without trouble");
	t->other_ns += monotonic_ns() - start;
}

static void say_trial(const struct explore_config *config, const struct explore_trial *t)
{
	char what[32];

	snprintf(what, sizeof(what), "candidate %u, ", t->candidate + 1);
	explore_say(config, "trial %u: %s%s: %s, %s, exit statuses %d and %d, %" PRIu64 " ms%s%s", t->number,
		    t->schedule == EXPLORE_WALK ? "" : what, explore_schedule_word(t->schedule), explore_forced_word(t->forced),
		    explore_outcome_word(t->outcome), t->status[0], t->status[1], t->ns / NS_PER_MS, t->text[0] ? ": " : "",
		    t->text);
}

static void judge(struct trials *t, struct explore_trial *done, const struct trial_seen *seen)
{
	const struct explore_candidate *c = done->schedule == EXPLORE_WALK ? NULL : &t->result->candidates[done->candidate];
	uint64_t start = monotonic_ns();

	serial_judge(&t->serial, c, done, seen);
	t->other_ns += monotonic_ns() - start;
}

/* Wait for the trial that was started first. */
static void finish_oldest(struct trials *t)
{
	struct explore_result *r = t->result;
	struct explore_trial *done = &r->trials[r->trial_count];
	struct trial_seen seen;

	trial_finish(&t->process[r->trial_count % EXPLORE_JOBS_MAX], done, &seen);
	done->split &= done->forced == EXPLORE_FORCED;
	judge(t, done, &seen);
	say_trial(t->config, done);
	if (explore_found(done) && r->first < 0)
		r->first = (int)r->trial_count;
	if (done->outcome == EXPLORE_STATE && r->first_state < 0)
		r->first_state = (int)r->trial_count;
	if ((done->outcome == EXPLORE_RETURNS || done->outcome == EXPLORE_STATUS) && r->first_returns < 0)
		r->first_returns = (int)r->trial_count;
	r->trial_count++;
	if (explore_found(done) && t->config->saver && done->schedule != EXPLORE_WALK)
		save(t, done);
}

static void run_all(struct trials *t)
{
	struct explore_result *r = t->result;
	block_ends(t);
	t->start_ns = monotonic_ns();
	while (t->started > r->trial_count || !is_over(t)) {
		while (t->started - r->trial_count < t->config->jobs && !is_over(t))
			start_next(t);
		/* If a signal came between the two calls of is_over(), there may be no trial to wait for. */
		if (t->started > r->trial_count)
			finish_oldest(t);
	}
	r->trials_ns = monotonic_ns() - t->start_ns - t->other_ns;
}

/* Count the schedules that can be tried. */
static void count_schedules(struct trials *t)
{
	for (t->candidate = 0; t->candidate < t->result->candidate_count; t->candidate++)
		for (t->schedule = EXPLORE_FLIP_A; t->schedule <= EXPLORE_PAUSE_B; t->schedule++)
			t->result->schedules += !is_impossible(t) && !is_repeated(t);
}

static int find_places(struct trials *t, struct err *err)
{
	struct explore_result *r = t->result;

	if (!t->config->walks)
		return 0;
	if (walk_find_places(&t->places, r->candidates, r->candidate_count) < 0)
		return err_set(err, EXIT_INTERNAL, "out of memory");
	r->places = t->places.count;
	r->probability = r->places ? walk_probability(&t->places, t->config->depth) : 0;
	return 0;
}

/*
 * Returns the longest time, in ns, for one forced part of a schedule. To be called after the serial orders, because it depends
 * on how long they took.
 */
static uint64_t longest_part(const struct explore_config *config, const struct explore_result *r)
{
	uint64_t longest = config->trial_ns / EXPLORE_PARTS;

	for (unsigned order = 0; order < 2; order++)
		if (longest < EXPLORE_PART_SERIALS * r->serial[order].ns)
			longest = EXPLORE_PART_SERIALS * r->serial[order].ns;
	return longest;
}

int trials_run(struct base *base, const struct explore_config *config, const struct kernel *kernel,
	       const struct recordings *recordings, struct explore_result *result, struct err *err)
{
	struct trials t = {.base = base,
			   .config = config,
			   .kernel = kernel,
			   .recordings = recordings,
			   .unchained = config->chains > 0,
			   .result = result,
			   .schedule = EXPLORE_FLIP_A,
			   .rng = {config->seed}};
	int rc = -1;

	returns_find(&t.serial.returns.site, kernel,
		     (const int32_t[]){recordings->side[0]->first_pid, recordings->side[1]->first_pid});
	if (serial_run(&t.serial, base, config, kernel, result, err) < 0 || find_places(&t, err) < 0)
		goto out;
	base->part_ns = longest_part(config, result);
	result->trials = calloc((size_t)config->trials + config->walks, sizeof(*result->trials));
	if (!result->trials) {
		err_set(err, EXIT_INTERNAL, "out of memory");
		goto out;
	}
	run_all(&t);
	count_schedules(&t);
	rc = 0;
out:
	serial_free(&t.serial);
	walk_places_free(&t.places);
	return rc;
}
