// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/session/stopper.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "hv/base/clock.h"
#include "hv/sandbox/sandbox.h"

#define POLL_NS 100000000L
/* Polls from the first line of a panic to the end. The kernel prints its trace in that time, or reboots by itself. */
#define PANIC_POLLS 50
/* How long an engine may take to give up its opening. It may be waiting for libvirt, or for a name server. */
#define GIVE_UP_NS 2000000000u

enum phase { OPENING, RUNNING, CLOSING };

struct stopper {
	const struct stopper_config *config;
	pthread_t thread;
	atomic_bool over;

	pthread_mutex_t lock; /* Guards what follows. */
	enum phase phase;
	struct screen *screen; /* NULL while the engine is being opened. */
	enum stop_reason reason;
	int signal;	 /* The first signal that came, or 0. */
	uint64_t end_ns; /* When an engine that was told to give up must have done so, on CLOCK_MONOTONIC. */
	unsigned panic_polls;
};

static void stop_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
}

/* A NULL `why` shows no note, since the run's error will say why. */
static void stop(struct stopper *s, enum stop_reason reason, const char *why)
{
	if (s->reason != STOP_NONE)
		return;
	s->reason = reason;
	s->config->engine->ops->stop(s->config->engine);
	if (why)
		screen_try_note(s->screen, why);
}

static void end_at_once(const struct stopper *s, int number)
{
	terminal_restore(s->config->terminal);
	_exit(128 + number);
}

/* Nothing runs yet that would have to be stopped. */
static void give_up(struct stopper *s, int number)
{
	const struct engine *engine = s->config->engine;

	s->end_ns = monotonic_ns();
	if (engine->ops->give_up) {
		engine->ops->give_up(s->config->engine);
		s->end_ns += GIVE_UP_NS;
	}
	s->signal = number;
}

static void on_signal(struct stopper *s, int number)
{
	char why[80];

	if (s->signal)
		end_at_once(s, number);
	if (s->phase == OPENING) {
		give_up(s, number);
		return;
	}
	s->signal = number;
	if (s->phase == RUNNING && s->reason == STOP_NONE) {
		snprintf(why, sizeof(why), "SIG%s: %s; a second signal ends outrider at once", sigabbrev_np(number),
			 s->config->engine->stopping);
		stop(s, STOP_SIGNAL, why);
	} else if (s->phase == RUNNING) {
		s->reason = STOP_SIGNAL;
	}
}

/* An engine that does not give up is left behind. Whoever pressed Ctrl-C must be told that this is what has happened. */
static void poll_opening(const struct stopper *s)
{
	if (!s->signal || monotonic_ns() < s->end_ns)
		return;
	dprintf(STDERR_FILENO, "outrider: " STOPPER_GAVE_UP "\n", sigabbrev_np(s->signal));
	end_at_once(s, s->signal);
}

static void poll_engine(struct stopper *s)
{
	const struct stopper_config *config = s->config;
	const struct engine *engine = config->engine;
	char why[80];

	if (s->reason == STOP_NONE && config->duration_ns != 0 && config->elapsed_ns(config->ctx) >= config->duration_ns) {
		snprintf(why, sizeof(why), "--duration is over: %s", engine->stopping);
		stop(s, STOP_DURATION, why);
	}
	if (config->tick)
		config->tick(config->ctx);
	if (engine->ops->panic && engine->ops->panic(engine) && ++s->panic_polls == PANIC_POLLS)
		stop(s, STOP_PANIC, NULL);
}

static void *watch(void *arg)
{
	const struct timespec tick = {.tv_nsec = POLL_NS};
	struct stopper *s = arg;
	sigset_t set;

	sandbox_thread(SANDBOX_STOPPER);
	stop_signals(&set);
	while (!atomic_load(&s->over)) {
		int number = sigtimedwait(&set, NULL, &tick);

		pthread_mutex_lock(&s->lock);
		if (number > 0)
			on_signal(s, number);
		if (s->phase == OPENING)
			poll_opening(s);
		else if (s->phase == RUNNING)
			poll_engine(s);
		pthread_mutex_unlock(&s->lock);
	}
	return NULL;
}

struct stopper *stopper_start(const struct stopper_config *config, struct err *err)
{
	struct stopper *s = calloc(1, sizeof(*s));
	sigset_t set;
	int rc;

	if (!s) {
		err_set(err, EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	s->config = config;
	pthread_mutex_init(&s->lock, NULL);
	stop_signals(&set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	rc = pthread_create(&s->thread, NULL, watch, s);
	if (rc != 0) {
		err_set(err, EXIT_INTERNAL, "cannot start the thread that waits for Ctrl-C: %s", strerror(rc));
		pthread_mutex_destroy(&s->lock);
		free(s);
		return NULL;
	}
	return s;
}

int stopper_signal(struct stopper *s)
{
	int number;

	pthread_mutex_lock(&s->lock);
	number = s->signal;
	pthread_mutex_unlock(&s->lock);
	return number;
}

bool stopper_running(struct stopper *s, struct screen *screen)
{
	bool go;

	pthread_mutex_lock(&s->lock);
	go = !s->signal;
	if (go) {
		s->screen = screen;
		s->phase = RUNNING;
	}
	pthread_mutex_unlock(&s->lock);
	return go;
}

enum stop_reason stopper_closing(struct stopper *s)
{
	enum stop_reason reason;

	pthread_mutex_lock(&s->lock);
	s->phase = CLOSING;
	reason = s->reason;
	pthread_mutex_unlock(&s->lock);
	return reason;
}

void stopper_finish(struct stopper *s)
{
	if (!s)
		return;
	atomic_store(&s->over, true);
	pthread_join(s->thread, NULL);
	pthread_mutex_destroy(&s->lock);
	free(s);
}
