// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The thread that ends a run on a signal, at a limit such as --duration, or when the guest's kernel has panicked (stopper.h).
 */
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
/*
 * Number of polls from the first line of a panic to the stop: 5 s, in which the kernel prints its trace, or reboots by itself.
 */
#define PANIC_POLLS 50
/* Time for an engine to end open() after give_up(): 2 s. open() may be waiting for libvirt, or for a name server. */
#define GIVE_UP_NS 2000000000u

enum phase { OPENING, RUNNING, ENDING, CLOSING };

struct stopper {
	const struct stopper_config *config;
	pthread_t thread;
	atomic_bool over;
	uint64_t started_ns;

	pthread_mutex_t lock; /* Guards all members below. */
	enum phase phase;
	struct screen *screen; /* NULL during open(). */
	uint64_t running_ns;   /* When RUNNING began. */
	enum stop_reason reason;
	/* The first signal that came; 0: none so far. */
	int signal;
	/* The deadline of an engine that was asked to give up (CLOCK_MONOTONIC, ns). */
	uint64_t end_ns;
	unsigned panic_polls;
};

static void stop_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
}

/* Stop the engine for this reason. `why` is a message, or NULL if the run's error gives the reason. */
static void stop(struct stopper *s, enum stop_reason reason, const char *why)
{
	if (s->reason != STOP_NONE)
		return;
	s->reason = reason;
	screen_hurry(s->screen);
	s->config->engine->ops->stop(s->config->engine);
	if (why)
		screen_try_message(s->screen, why);
}

static void end_at_once(const struct stopper *s, int number)
{
	terminal_restore(s->config->terminal);
	if (s->screen)
		screen_abandon_status(s->screen);
	_exit(128 + number);
}

/* Handle a signal during open(), when there is no run to stop. */
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
	} else if (s->phase == ENDING) {
		screen_hurry(s->screen);
	}
}

/*
 * Called while the engine (engine.h) is in open(). If a signal such as Ctrl-C has come, and open() has not returned by the
 * deadline `end_ns`, say that outrider ends without having looked for races, and end the process.
 */
static void poll_opening(const struct stopper *s)
{
	if (!s->signal || monotonic_ns() < s->end_ns)
		return;
	dprintf(STDERR_FILENO, "outrider: " STOPPER_GAVE_UP "\n", sigabbrev_np(s->signal));
	end_at_once(s, s->signal);
}

/* Returns which limit is exceeded, or STOP_NONE. Sets *what to a phrase that names the limit's option. */
static enum stop_reason over_limit(const struct stopper *s, const char **what)
{
	const struct stopper_config *c = s->config;
	uint64_t now = monotonic_ns();

	*what = "--duration is over";
	if (c->duration_ns && c->elapsed_ns(c->ctx) >= c->duration_ns)
		return STOP_DURATION;
	*what = "--timeout is over";
	if (c->timeout_ns && now - s->started_ns >= c->timeout_ns)
		return STOP_TIMEOUT;
	*what = "--wait-kernel is over";
	if (c->wait_kernel_ns && now - s->running_ns >= c->wait_kernel_ns && !c->is_ready(c->ctx))
		return STOP_NO_KERNEL;
	return STOP_NONE;
}

static void poll_engine(struct stopper *s)
{
	const struct stopper_config *config = s->config;
	const struct engine *engine = config->engine;
	enum stop_reason over;
	const char *what;
	char why[80];

	over = s->reason == STOP_NONE ? over_limit(s, &what) : STOP_NONE;
	if (over != STOP_NONE) {
		snprintf(why, sizeof(why), "%s: %s", what, engine->stopping);
		stop(s, over, why);
	}
	if (config->tick)
		config->tick(config->ctx);
	if (config->complained && config->complained(config->ctx))
		stop(s, STOP_COMPLAINT, NULL);
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
	s->started_ns = monotonic_ns();
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
		s->running_ns = monotonic_ns();
		s->phase = RUNNING;
	}
	pthread_mutex_unlock(&s->lock);
	return go;
}

enum stop_reason stopper_ending(struct stopper *s)
{
	enum stop_reason reason;

	pthread_mutex_lock(&s->lock);
	s->phase = ENDING;
	reason = s->reason;
	pthread_mutex_unlock(&s->lock);
	return reason;
}

void stopper_closing(struct stopper *s)
{
	pthread_mutex_lock(&s->lock);
	s->phase = CLOSING;
	pthread_mutex_unlock(&s->lock);
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
