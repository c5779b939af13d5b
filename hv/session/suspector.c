// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/session/suspector.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hv/base/clock.h"
#include "hv/sandbox/sandbox.h"

/* From one judgement to the next, and at most one in so many parts of a CPU's time is for judging. */
#define PERIOD_NS UINT64_C(2000000000)
#define JUDGING_PART 20u
/* A pair is given up on when both of its sites were reached so often. */
#define REACHED_ENOUGH 500u
/* So many suspicions are followed; the list itself has them all. So many races are known by their ids. */
#define FOLLOWED_MAX 1024u
#define SEEN_MAX 4096u

/* What became of a suspicion. */
struct followed {
	char id[RACE_ID_MAX];
	enum proof_state state;
	/* The sites' GVAs when they were last aimed at, the protected side's first. */
	uint64_t site[2];
	uint64_t reached[2];
};

struct suspector {
	struct suspector_config config;
	pthread_t thread;
	bool started;
	/* Guards all that follows. It is taken before the detector's lock. */
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool stop;
	struct protection *record;
	/* The record knows where the kernel is. */
	bool slide_set;
	struct suspicions found;
	struct followed followed[FOLLOWED_MAX];
	unsigned followed_count;
	/* The ids of the races that were seen, whether or not they were suspected first. */
	char seen[SEEN_MAX][RACE_ID_MAX];
	unsigned seen_count;
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
	screen_note(s->config.screen, line);
}

void suspector_race(struct suspector *s, const char id[RACE_ID_MAX])
{
	struct followed *f;

	pthread_mutex_lock(&s->lock);
	if (!was_seen(s, id) && s->seen_count < SEEN_MAX)
		memcpy(s->seen[s->seen_count++], id, RACE_ID_MAX);
	f = find(s, id);
	if (f && f->state != PROOF_SEEN) {
		detect_proof(s->config.detect, f->site[0], f->site[1], f->reached);
		detect_prove_end(s->config.detect, f->site[0], f->site[1]);
		f->state = PROOF_SEEN;
		say(s, id, "the race was seen");
	}
	pthread_mutex_unlock(&s->lock);
}

/* Aim at what is suspected for the first time, or whose text has gone and come again. */
static void aim_at(struct suspector *s, struct followed *f, const struct suspicion *suspicion)
{
	for (unsigned i = 0; i < 2; i++)
		f->site[i] = s->record->accesses[suspicion->side[i]].pc;
	f->state = detect_prove(s->config.detect, f->site[0], f->site[1]) ? PROOF_OPEN : PROOF_NONE;
}

static void give_up(struct suspector *s, struct followed *f)
{
	char what[160];

	detect_prove_end(s->config.detect, f->site[0], f->site[1]);
	f->state = PROOF_GIVEN_UP;
	snprintf(what, sizeof(what),
		 "given up on: its sites were reached %" PRIu64 " and %" PRIu64 " times, and no race was seen", f->reached[0],
		 f->reached[1]);
	say(s, f->id, what);
}

/* What is new of a suspicion, which is followed from now on. */
static void follow(struct suspector *s, struct suspicion *suspicion, bool last)
{
	struct followed *f = find(s, suspicion->id);

	if (!f) {
		if (s->followed_count == FOLLOWED_MAX)
			return;
		f = &s->followed[s->followed_count++];
		memcpy(f->id, suspicion->id, sizeof(f->id));
		say(s, f->id, suspicion->text);
		if (was_seen(s, f->id)) {
			f->state = PROOF_SEEN;
			say(s, f->id, "the race was seen");
		} else if (suspicion->kind == SUSPICION_UNPROTECTED && !last) {
			aim_at(s, f, suspicion);
		}
	} else if (f->state == PROOF_OPEN && !last) {
		if (!detect_proof(s->config.detect, f->site[0], f->site[1], f->reached))
			aim_at(s, f, suspicion);
		else if (f->reached[0] >= REACHED_ENOUGH && f->reached[1] >= REACHED_ENOUGH)
			give_up(s, f);
	} else if (f->state == PROOF_OPEN) {
		detect_proof(s->config.detect, f->site[0], f->site[1], f->reached);
	}
	suspicion->proof = f->state;
	memcpy(suspicion->reached, f->reached, sizeof(f->reached));
}

/* Under s->lock. */
static void judge(struct suspector *s, bool last)
{
	struct suspicions found = {0};

	if (s->err.code != EXIT_OK && !last)
		return;
	protection_name(s->record);
	/* Debug files are slow to read, and moments would wait for that and be lost. */
	if (last && s->config.namer.name && s->record->access_count + s->record->lock_count)
		s->config.namer.name(s->config.namer.ctx, s->record, &s->err);
	if (s->config.judge->judge(s->config.judge->ctx, s->record, last, &found, &s->err) < 0) {
		suspicions_fini(&found);
		return;
	}
	for (size_t i = 0; i < found.count; i++)
		follow(s, &found.list[i], last);
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
