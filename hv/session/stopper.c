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

#define POLL_NS 100000000L
/* Polls from the first line of a panic to the end. The kernel prints its trace in that time, or reboots by itself. */
#define PANIC_POLLS 50

struct stopper {
	const struct stopper_config *config;
	pthread_t thread;
	atomic_bool over;
	enum stop_reason reason; /* The thread's own until it is joined. */
	unsigned panic_polls;
};

static void stop_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
}

void stopper_block_signals(void)
{
	sigset_t set;

	stop_signals(&set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
}

/* A NULL `why` shows no note, since the run's error will say why. */
static void stop(struct stopper *s, enum stop_reason reason, const char *why)
{
	if (s->reason != STOP_NONE)
		return;
	s->reason = reason;
	s->config->engine->ops->stop(s->config->engine);
	if (why)
		screen_note(s->config->screen, why);
}

static void on_signal(struct stopper *s, int number)
{
	char why[80];

	if (s->reason == STOP_SIGNAL) {
		terminal_restore(s->config->terminal);
		_exit(128 + number);
	}
	snprintf(why, sizeof(why), "SIG%s: %s; a second signal ends outrider at once", sigabbrev_np(number),
		 s->config->engine->stopping);
	if (s->reason == STOP_NONE)
		stop(s, STOP_SIGNAL, why);
	else
		s->reason = STOP_SIGNAL;
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
	if (engine->ops->panic && engine->ops->panic(engine) && ++s->panic_polls == PANIC_POLLS)
		stop(s, STOP_PANIC, NULL);
}

static void *watch(void *arg)
{
	const struct timespec tick = {.tv_nsec = POLL_NS};
	struct stopper *s = arg;
	sigset_t set;

	stop_signals(&set);
	while (!atomic_load(&s->over)) {
		int number = sigtimedwait(&set, NULL, &tick);

		if (number > 0)
			on_signal(s, number);
		poll_engine(s);
	}
	return NULL;
}

struct stopper *stopper_start(const struct stopper_config *config, struct err *err)
{
	struct stopper *s = calloc(1, sizeof(*s));
	int rc;

	if (!s) {
		err_set(err, EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	s->config = config;
	rc = pthread_create(&s->thread, NULL, watch, s);
	if (rc != 0) {
		err_set(err, EXIT_INTERNAL, "cannot start the thread that waits for Ctrl-C: %s", strerror(rc));
		free(s);
		return NULL;
	}
	return s;
}

enum stop_reason stopper_finish(struct stopper *s)
{
	enum stop_reason reason;

	if (!s)
		return STOP_NONE;
	atomic_store(&s->over, true);
	pthread_join(s->thread, NULL);
	reason = s->reason;
	free(s);
	return reason;
}
