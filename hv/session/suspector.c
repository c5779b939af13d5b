// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Judges the record of accesses and locks during a run (suspector.h), and follows each suspicion until its race is seen, until
 * it is withdrawn because locks or hand-overs order the accesses, or until confirming it is given up.
 */
#include "hv/session/suspector.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hv/base/clock.h"
#include "hv/sandbox/sandbox.h"

/* Period of judgements: 2 s. Judging may take 1 / JUDGING_PART of a CPU's time. If judging takes more, the period grows. */
#define PERIOD_NS UINT64_C(2000000000)
#define JUDGING_PART 20u
/* Give up confirming a suspicion after each of its two sites was hit this many times without a race. */
#define REACHED_ENOUGH 500u
/*
 * Withdraw a suspicion after this many ordered pairs of accesses. A pair is an access at one of the suspicion's sites and the
 * next access at the other site. It is ordered if a lock or a hand-over put the first access before the second.
 */
#define ORDERED_ENOUGH 16u
/* At the end of the run, one ordered pair of accesses is enough to withdraw a suspicion that was not reported yet. */
#define ORDERED_AT_END 1u
/*
 * A suspicion is checked a last time when the run ends, or when its sites were hit so often that confirming it is given up.
 * Then this many ordered pairs of accesses are enough to withdraw the suspicion, if a hand-over ordered at least one of them. A
 * hand-over repeats: even if two accesses race, a hand-over lies between them in about half of the pairs, which are then
 * ordered by chance. The probability that all of 8 pairs are ordered by chance is 1 in 256.
 */
#define HANDED_OVER_AT_END 8u
/*
 * After both sites of a suspicion were hit for the first time, wait for this many judgements before the suspicion is reported:
 * until then, locks may turn out to order the accesses.
 */
#define WAIT_JUDGEMENTS 3u
/*
 * Maximum numbers of followed suspicions, and of IDs of races that were seen. Further suspicions are listed in s->found, but
 * not followed.
 */
#define FOLLOWED_MAX 1024u
#define SEEN_MAX 4096u

/* The state of a suspicion. */
struct followed {
	char id[RACE_ID_MAX];
	enum confirm_state state;
	/* `told`: the user has seen the suspicion. `withdrawn`: the accesses are no longer suspected, for the reason `why`. */
	bool told, withdrawn;
	enum protect_left_out why;
	/* Number of judgements in which both sites of the suspicion had been hit already. See WAIT_JUDGEMENTS. */
	unsigned waited;
	/*
	 * How often locks or hand-overs ordered the suspicion's accesses, and how often they did not. `before`: in earlier
	 * attempts to confirm the suspicion. `order`: in all attempts.
	 */
	struct pair_order before, order;
	/* The sites' GVAs at the last attempt to confirm the suspicion, the protected side's first. */
	uint64_t site[2];
	uint64_t reached[2];
};

struct suspector {
	struct suspector_config config;
	pthread_t thread;
	bool started;
	/* Guards all members below. Lock it before the detector's lock. */
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool stop;
	struct protection *record;
	/* The kernel's slide has been set in the record. */
	bool slide_set;
	struct suspicions found;
	struct followed followed[FOLLOWED_MAX];
	unsigned followed_count;
	/* IDs of all races that were seen, suspected or not. */
	char seen[SEEN_MAX][RACE_ID_MAX];
	unsigned seen_count;
	/* The pairs of critical sections, as copied from the detector. */
	struct section_pair sections[SECTION_PAIRS_MAX];
	/* The fates of data, as copied from the detector. */
	struct section_fate fates[SECTION_FATES_MAX];
	/* The first failure. */
	struct err err;
};

struct suspector *suspector_new(const struct suspector_config *config, struct err *err)
{
	struct suspector *s = calloc(1, sizeof(*s));
	pthread_condattr_t attr;

	if (s)
		s->record = protection_new();
	if (!s || !s->record) {
		free(s);
		err_set(err, EXIT_INTERNAL, "out of memory for the record of locks");
		return NULL;
	}
	s->config = *config;
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->wake, &attr);
	pthread_condattr_destroy(&attr);
	return s;
}

void suspector_sections_replayed(struct suspector *s, const struct rendezvous_sections *sections,
				 const struct section_replay_instance *instance)
{
	struct section_replay *replay;

	pthread_mutex_lock(&s->lock);
	replay = protection_section_replay(s->record, sections->first, sections->second, sections->between);
	if (replay)
		section_replay_count(replay, instance);
	pthread_mutex_unlock(&s->lock);
}

void suspector_moment(struct suspector *s, const struct lock_moment *m)
{
	pthread_mutex_lock(&s->lock);
	if (!s->slide_set)
		protection_set_slide(s->record, guest_slide(s->config.guest));
	s->slide_set = true;
	if (s->err.code == EXIT_OK)
		protection_take(s->record, m, &s->err);
	pthread_mutex_unlock(&s->lock);
}

static struct followed *find(struct suspector *s, const char *id)
{
	for (unsigned i = 0; i < s->followed_count; i++) {
		if (strcmp(s->followed[i].id, id) == 0)
			return &s->followed[i];
	}
	return NULL;
}

static bool was_seen(const struct suspector *s, const char *id)
{
	for (unsigned i = 0; i < s->seen_count; i++) {
		if (strcmp(s->seen[i], id) == 0)
			return true;
	}
	return false;
}

static void say(struct suspector *s, const char *id, const char *what)
{
	char line[640];

	snprintf(line, sizeof(line), "suspected %s: %s", id, what);
	screen_message(s->config.screen, line);
}

static void tell(struct suspector *s, struct followed *f, const char *text)
{
	if (!f->told)
		say(s, f->id, text);
	f->told = true;
}

void suspector_race(struct suspector *s, const char id[RACE_ID_MAX])
{
	struct followed *f;

	pthread_mutex_lock(&s->lock);
	if (!was_seen(s, id) && s->seen_count < SEEN_MAX)
		memcpy(s->seen[s->seen_count++], id, RACE_ID_MAX);
	f = find(s, id);
	/*
	 * Leave a withdrawn suspicion to follow(), which reports it at the next judgement: its text is needed for this, and is
	 * not in s->found now.
	 */
	if (f && f->state != CONFIRM_SEEN && !f->withdrawn) {
		const struct suspicion *suspicion = suspicions_find(&s->found, id);

		if (suspicion)
			tell(s, f, suspicion->text);
		detect_confirm_reached(s->config.detect, f->site[0], f->site[1], f->reached);
		detect_confirm_end(s->config.detect, f->site[0], f->site[1]);
		f->state = CONFIRM_SEEN;
		say(s, id, "the race was seen");
	}
	pthread_mutex_unlock(&s->lock);
}

/* Start to confirm a suspicion: a new one, or one with sites in a module that was unloaded and loaded again. */
static void confirm(struct suspector *s, struct followed *f, const struct suspicion *suspicion)
{
	for (unsigned i = 0; i < 2; i++)
		f->site[i] = s->record->accesses[suspicion->side[i]].pc;
	f->state = detect_confirm(s->config.detect, f->site[0], f->site[1]) ? CONFIRM_OPEN : CONFIRM_NONE;
}

static void give_up(struct suspector *s, struct followed *f)
{
	char what[160];

	detect_confirm_end(s->config.detect, f->site[0], f->site[1]);
	f->state = CONFIRM_GIVEN_UP;
	snprintf(what, sizeof(what), "given up: its two sites were reached %" PRIu64 " and %" PRIu64 " times without a race",
		 f->reached[0], f->reached[1]);
	say(s, f->id, what);
}

static void withdraw(struct suspector *s, struct followed *f, const char *text)
{
	char line[896];

	detect_confirm_end(s->config.detect, f->site[0], f->site[1]);
	f->withdrawn = true;
	f->why = f->order.by_handover ? PROTECT_ORDERED : PROTECT_HANDED;
	snprintf(line, sizeof(line), "%s %s: %s ordered its accesses each time: %s",
		 f->told ? "no longer suspected" : "not suspected", f->id,
		 !f->order.by_handover ? "locks"
		 : f->order.by_locks   ? "locks or hand-overs"
				       : "hand-overs",
		 text);
	screen_message(s->config.screen, line);
}

static void learn_order(struct suspector *s, struct followed *f)
{
	struct pair_order now = detect_confirm_order(s->config.detect, f->site[0], f->site[1]);

	f->order.by_locks = f->before.by_locks + now.by_locks;
	f->order.by_handover = f->before.by_handover + now.by_handover;
	f->order.none = f->before.none + now.none;
	f->order.later = f->before.later + now.later;
	f->order.after_interrupt = f->before.after_interrupt + now.after_interrupt;
}

static bool reached_enough(const struct followed *f)
{
	return f->reached[0] >= REACHED_ENOUGH && f->reached[1] >= REACHED_ENOUGH;
}

/*
 * Returns whether the two accesses were seen without an order. order.later is the number of pairs in which an interrupt handler
 * makes the second access and began after the first access. HANDED_OVER_AT_END such pairs are accesses without an order,
 * because the interrupt may come at any time. There is one exception: a hand-over was seen to order the other context after the
 * handler (order.after_interrupt). Then that context may have kept the device from raising the interrupt earlier.
 */
static bool is_unordered(const struct followed *f)
{
	return f->order.none || (f->order.later >= HANDED_OVER_AT_END && !f->order.after_interrupt);
}

/* Returns whether the accesses were always ordered, and often enough to withdraw the suspicion. */
static bool is_ordered(const struct followed *f, bool last)
{
	uint64_t ordered = f->order.by_locks + f->order.by_handover, enough = ORDERED_ENOUGH;

	if (f->order.by_handover && (last || reached_enough(f)))
		enough = HANDED_OVER_AT_END;
	else if (last && !f->told)
		enough = ORDERED_AT_END;
	if (f->order.later && f->order.after_interrupt < HANDED_OVER_AT_END)
		return false;
	return !f->order.none && ordered >= enough;
}

/* Check a suspicion that is being confirmed, and withdraw it, report it or give up confirming it. */
static void look_after(struct suspector *s, struct followed *f, const struct suspicion *suspicion, bool last)
{
	bool there = detect_confirm_reached(s->config.detect, f->site[0], f->site[1], f->reached);

	/*
	 * If the module's text was unloaded, the detector has forgotten the two sites, and what it had counted of their order:
	 * keep the old counts.
	 */
	if (there)
		learn_order(s, f);
	if (is_ordered(f, last)) {
		withdraw(s, f, suspicion->text);
		return;
	}
	f->waited += f->reached[0] && f->reached[1];
	if (last || is_unordered(f) || (f->waited > WAIT_JUDGEMENTS && !f->order.by_locks && !f->order.by_handover))
		tell(s, f, suspicion->text);
	if (last)
		return;
	if (!there) {
		f->before = f->order;
		confirm(s, f, suspicion);
	} else if (reached_enough(f)) {
		tell(s, f, suspicion->text);
		give_up(s, f);
	}
}

static struct followed *begin(struct suspector *s, const struct suspicion *suspicion, bool last)
{
	struct followed *f;

	if (s->followed_count == FOLLOWED_MAX)
		return NULL;
	f = &s->followed[s->followed_count++];
	memcpy(f->id, suspicion->id, sizeof(f->id));
	if (suspicion->kind == SUSPICION_UNPROTECTED && !last && !was_seen(s, f->id))
		confirm(s, f, suspicion);
	/*
	 * Report an atomicity suspicion only at the end of the run: an access that shows its two sections to be correct may not
	 * have been sampled yet.
	 */
	if (f->state != CONFIRM_OPEN && (last || suspicion->kind != SUSPICION_ATOMICITY))
		tell(s, f, suspicion->text);
	return f;
}

/*
 * Follow the data that first sections and sections in between access. The next judgements then know whether they change, and
 * whether the second section changes the datum that the first one has checked.
 */
static void follow_fates(struct suspector *s, const struct suspicions *found)
{
	const struct lock_test none = {0};

	for (size_t i = 0; i < found->follow_count; i++) {
		const struct suspicion_follow *f = &found->follow[i];

		detect_follow_fate(s->config.detect, f->pc, f->first, f->second, &f->test, f->suspected);
		detect_follow_fate(s->config.detect, f->between_pc, f->between, 0, &none, f->suspected);
	}
}

/* Update the state of a suspicion, and follow it if it is new. Returns whether it is still a suspicion. */
static bool follow(struct suspector *s, struct suspicion *suspicion, bool last)
{
	struct followed *f = find(s, suspicion->id);

	if (!f)
		f = begin(s, suspicion, last);
	else if (f->state == CONFIRM_OPEN && !f->withdrawn)
		look_after(s, f, suspicion, last);
	if (!f)
		return true;
	if (last && suspicion->kind == SUSPICION_ATOMICITY)
		tell(s, f, suspicion->text);
	if (f->state != CONFIRM_SEEN && was_seen(s, f->id)) {
		tell(s, f, suspicion->text);
		f->withdrawn = false;
		f->state = CONFIRM_SEEN;
		say(s, f->id, "the race was seen");
	}
	suspicion->confirm = f->state;
	memcpy(suspicion->reached, f->reached, sizeof(f->reached));
	return !f->withdrawn;
}

/* Follow all suspicions, and remove those that are no longer suspected from the list. */
static void follow_all(struct suspector *s, struct suspicions *found, bool last)
{
	size_t kept = 0;

	for (size_t i = 0; i < found->count; i++) {
		found->list[kept] = found->list[i];
		if (follow(s, &found->list[kept], last))
			kept++;
		else
			found->left_out[find(s, found->list[kept].id)->why]++;
	}
	found->count = kept;
}

/*
 * Returns the name of the function pair->caller, which calls the functions with the two sections. Takes the name from the
 * record if the record has it already: the function's module may have been unloaded since.
 */
static uint32_t caller_of(struct suspector *s, const struct section_pair *pair)
{
	struct guest_symbol caller = {0};

	for (uint32_t i = 0; i < s->record->section_count; i++) {
		const struct section_pair *known = &s->record->sections[i];

		if (known->first == pair->first && known->second == pair->second && known->caller == pair->caller &&
		    known->caller_name != PROTECTION_NONE)
			return known->caller_name;
	}
	guest_symbol_at(s->config.guest, pair->caller, &caller);
	return protection_function_of(s->record, &caller);
}

/*
 * Copy the pairs of critical sections and the fates of their data to the record, and name the functions that call those with
 * the sections. Called with s->lock held.
 */
static void take_sections(struct suspector *s)
{
	size_t n = detect_section_pairs(s->config.detect, s->sections, SECTION_PAIRS_MAX);

	for (size_t i = 0; i < n; i++)
		s->sections[i].caller_name = s->sections[i].caller ? caller_of(s, &s->sections[i]) : PROTECTION_NONE;
	protection_set_sections(s->record, s->sections, n, &s->err);
	n = detect_fates(s->config.detect, s->fates, SECTION_FATES_MAX);
	protection_set_fates(s->record, s->fates, n, &s->err);
}

/* Judge the record and follow the suspicions. Called with s->lock held. */
static void judge(struct suspector *s, bool last)
{
	struct suspicions found = {0};

	if (s->err.code != EXIT_OK && !last)
		return;
	protection_name(s->record);
	take_sections(s);
	/* Read debug files only at the end of the run: reading is slow, and lock moments would be lost meanwhile. */
	if (last && s->config.namer.name && s->record->access_count + s->record->lock_count)
		s->config.namer.name(s->config.namer.ctx, s->record, &s->err);
	if (s->config.judge->judge(s->config.judge->ctx, s->record, last, &found, &s->err) < 0) {
		suspicions_fini(&found);
		return;
	}
	if (!last)
		follow_fates(s, &found);
	follow_all(s, &found, last);
	suspicions_fini(&s->found);
	s->found = found;
}

static void *suspector_main(void *arg)
{
	struct suspector *s = arg;
	uint64_t pause = PERIOD_NS;

	sandbox_thread(SANDBOX_REPORTER);
	pthread_mutex_lock(&s->lock);
	while (!s->stop) {
		uint64_t until = monotonic_ns() + pause, began;
		const struct timespec at = {.tv_sec = (time_t)(until / 1000000000u), .tv_nsec = (long)(until % 1000000000u)};

		while (!s->stop && pthread_cond_timedwait(&s->wake, &s->lock, &at) == 0)
			;
		if (s->stop)
			break;
		began = thread_cpu_ns();
		judge(s, false);
		pause = (thread_cpu_ns() - began) * JUDGING_PART;
		pause = pause < PERIOD_NS ? PERIOD_NS : pause;
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

int suspector_start(struct suspector *s, struct err *err)
{
	if (pthread_create(&s->thread, NULL, suspector_main, s))
		return err_set(err, EXIT_INTERNAL, "cannot start the thread that judges locks");
	s->started = true;
	return 0;
}

static void join(struct suspector *s)
{
	if (!s->started)
		return;
	pthread_mutex_lock(&s->lock);
	s->stop = true;
	pthread_cond_broadcast(&s->wake);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->thread, NULL);
	s->started = false;
}

int suspector_finish(struct suspector *s, struct err *err)
{
	if (!s)
		return 0;
	join(s);
	pthread_mutex_lock(&s->lock);
	judge(s, true);
	if (s->err.code != EXIT_OK && err->code == EXIT_OK)
		err_set(err, s->err.code, "%s", s->err.text);
	pthread_mutex_unlock(&s->lock);
	return s->err.code == EXIT_OK ? 0 : -1;
}

const struct protection *suspector_record(const struct suspector *s)
{
	return s->record;
}

const struct suspicions *suspector_found(const struct suspector *s)
{
	return &s->found;
}

void suspector_free(struct suspector *s)
{
	if (!s)
		return;
	join(s);
	suspicions_fini(&s->found);
	protection_free(s->record);
	pthread_cond_destroy(&s->wake);
	pthread_mutex_destroy(&s->lock);
	free(s);
}
