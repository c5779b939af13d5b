// SPDX-License-Identifier: GPL-2.0-or-later
/* Keeps the file of --coverage up to date (coverage_keeper.h): a thread rewrites the file while the run goes on. */
#include "hv/session/coverage_keeper.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "hv/base/clock.h"
#include "hv/report/coverage/write.h"
#include "hv/sandbox/sandbox.h"

/* Period of the writes: 10 s. */
#define PERIOD_NS UINT64_C(10000000000)
/* A divisor: writing may take 1 / WRITING_PART of one CPU's time. If writing takes more, the period grows. */
#define WRITING_PART 50u
/* Retry after 100 ms if another thread holds the detector's lock. */
#define AGAIN_NS UINT64_C(100000000)

struct coverage_keeper {
	struct coverage_keeper_config config;
	struct coverage_file *file;
	pthread_t thread;
	bool started;
	/* The user has seen the error of a failed write. Used by the thread only. */
	bool told;
	/* Guards `stop`. */
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool stop;
};

static void init_sync(struct coverage_keeper *k)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&k->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&k->wake, &attr);
	pthread_condattr_destroy(&attr);
}

struct coverage_keeper *coverage_keeper_new(const struct coverage_keeper_config *config, struct err *err)
{
	const struct coverage_facts facts = {.tool_version = OUTRIDER_VERSION, .seed = config->seed};
	struct coverage_keeper *k = calloc(1, sizeof(*k));

	if (!k) {
		err_set(err, EXIT_INTERNAL, "out of memory while creating %s", config->path);
		return NULL;
	}
	k->config = *config;
	init_sync(k);
	k->file = coverage_file_create(config->path, &facts, err);
	if (k->file)
		return k;
	coverage_keeper_free(k);
	return NULL;
}

static int write_now(struct coverage_keeper *k, const struct detect_stats *stats, bool complete, struct err *err)
{
	struct coverage_facts facts = {
		.tool_version = OUTRIDER_VERSION, .seed = k->config.seed, .stats = *stats, .complete = complete};

	/* Ask for the build ID only after the first sample: before, the kernel may not have been found. */
	if (detect_sampled_ns(k->config.detect))
		facts.build_id_len = guest_build_id(k->config.guest, &facts.build_id);
	return coverage_file_write(k->file, &facts, detect_coverage(k->config.detect), err);
}

/* Sleep for `ns`, but wake up if `stop` is set. Returns `stop`. */
static bool sleep_or_stop(struct coverage_keeper *k, uint64_t ns)
{
	uint64_t until = monotonic_ns() + ns;
	const struct timespec at = {.tv_sec = (time_t)(until / 1000000000u), .tv_nsec = (long)(until % 1000000000u)};
	bool stop;

	pthread_mutex_lock(&k->lock);
	while (!k->stop && pthread_cond_timedwait(&k->wake, &k->lock, &at) == 0)
		;
	stop = k->stop;
	pthread_mutex_unlock(&k->lock);
	return stop;
}

/* Write the file during the run. A failure does not end the run: only the last write decides the exit code. */
static void write_meanwhile(struct coverage_keeper *k, const struct detect_stats *stats)
{
	struct err err = {0};

	if (write_now(k, stats, false, &err) == 0 || k->told)
		return;
	k->told = true;
	screen_error(k->config.screen, err.text);
}

static void *keeper_main(void *arg)
{
	struct coverage_keeper *k = arg;
	uint64_t pause = PERIOD_NS;

	sandbox_thread(SANDBOX_REPORTER);
	while (!sleep_or_stop(k, pause)) {
		struct detect_stats stats;
		uint64_t began = thread_cpu_ns(), took;

		pause = AGAIN_NS;
		if (!detect_try_stats(k->config.detect, &stats))
			continue;
		write_meanwhile(k, &stats);
		took = thread_cpu_ns() - began;
		pause = took * WRITING_PART > PERIOD_NS ? took * WRITING_PART : PERIOD_NS;
	}
	return NULL;
}

int coverage_keeper_start(struct coverage_keeper *k, struct err *err)
{
	if (pthread_create(&k->thread, NULL, keeper_main, k))
		return err_set(err, EXIT_INTERNAL, "cannot start the thread that writes the file of --coverage");
	k->started = true;
	return 0;
}

static void join(struct coverage_keeper *k)
{
	if (!k->started)
		return;
	pthread_mutex_lock(&k->lock);
	k->stop = true;
	pthread_cond_broadcast(&k->wake);
	pthread_mutex_unlock(&k->lock);
	pthread_join(k->thread, NULL);
	k->started = false;
}

void coverage_keeper_finish(struct coverage_keeper *k, struct err *err)
{
	struct detect_stats stats;

	if (!k)
		return;
	join(k);
	detect_stats(k->config.detect, &stats);
	write_now(k, &stats, true, err);
}

void coverage_keeper_free(struct coverage_keeper *k)
{
	if (!k)
		return;
	join(k);
	coverage_file_close(k->file);
	pthread_cond_destroy(&k->wake);
	pthread_mutex_destroy(&k->lock);
	free(k);
}
