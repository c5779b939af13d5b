/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A worker: a thread that waits for file descriptors by epoll and, when a file descriptor is ready, calls the callback that
 * does the I/O of a device. Another thread can pause a worker. A paused worker calls no callback.
 */
#include "hv/vmm/virtio/worker.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "hv/base/signals.h"
#include "hv/sandbox/sandbox.h"

#define EVENTS 16 /* events taken from epoll at a time */
#define POLLED 32 /* workers polled by one system call */
#define NS_PER_S UINT64_C(1000000000)
#define FOR_EVER (UINT64_C(1) << 62) /* ns; a time that no clock reaches */

/*
 * A watched file descriptor. After worker_unwatch() the struct stays allocated until the current batch of events, which may
 * point to it, is done.
 */
struct watch {
	struct watch *next;
	int fd;
	worker_fn *fn; /* NULL: the file descriptor was unwatched */
	void *ctx;
};

struct worker {
	struct workers *all;
	struct worker *next;
	char name[16];
	enum sandbox_kind kind;
	int epoll_fd;
	int wake_fd; /* eventfd that ends the thread */
	pthread_t thread;
	bool started;
	pthread_mutex_t lock; /* guards the members below */
	pthread_cond_t moved; /* `busy`, `pauses` or `ending` has changed; uses CLOCK_MONOTONIC */
	struct watch *watches;
	unsigned pauses;
	bool busy;	/* a callback runs */
	pthread_t runs; /* the thread that runs the callback, while `busy` */
	bool ending;
};

/* ---- the thread ---- */

/*
 * Wait while the worker is paused, then mark the worker busy and copy the watch for its callback. Returns false if there is no
 * callback to call.
 */
static bool enter(struct worker *w, const struct watch *watch, struct watch *copy)
{
	bool call;

	pthread_mutex_lock(&w->lock);
	while (w->pauses && !w->ending)
		pthread_cond_wait(&w->moved, &w->lock);
	*copy = *watch;
	call = watch->fn && !w->ending;
	w->busy = call;
	w->runs = pthread_self();
	pthread_mutex_unlock(&w->lock);
	return call;
}

static void leave(struct worker *w)
{
	pthread_mutex_lock(&w->lock);
	w->busy = false;
	pthread_cond_broadcast(&w->moved);
	pthread_mutex_unlock(&w->lock);
}

/* Free the structs of unwatched file descriptors, between two batches of events. Returns false if the thread must end. */
static bool next_round(struct worker *w)
{
	bool ending;

	pthread_mutex_lock(&w->lock);
	ending = w->ending;
	for (struct watch **link = &w->watches; *link;) {
		struct watch *watch = *link;

		if (watch->fn) {
			link = &watch->next;
			continue;
		}
		*link = watch->next;
		free(watch);
	}
	pthread_mutex_unlock(&w->lock);
	return !ending;
}

/*
 * Call the callback. Meanwhile `dma` counts the device as busy (dma_busy()), whether a notification of the driver or an event
 * of the backend woke the worker.
 */
static void serve(const struct worker *w, const struct watch *watch, uint32_t events)
{
	struct dma *dma = w->all->dma;

	if (dma)
		dma_serve_begin(dma);
	watch->fn(watch->ctx, events);
	if (dma)
		dma_serve_end(dma);
}

static void *body(void *arg)
{
	struct worker *w = arg;
	struct epoll_event events[EVENTS];

	pthread_setname_np(pthread_self(), w->name);
	sandbox_thread(w->kind);
	while (next_round(w)) {
		int n = epoll_wait(w->epoll_fd, events, EVENTS, -1);

		for (int i = 0; i < n; i++) {
			struct watch copy;

			if (events[i].data.ptr && enter(w, events[i].data.ptr, &copy)) {
				serve(w, &copy, events[i].events);
				leave(w);
			}
		}
	}
	return NULL;
}

static int start(struct worker *w, struct err *err)
{
	sigset_t blocked, old;
	int rc;

	signals_but_crashes(&blocked);
	pthread_sigmask(SIG_SETMASK, &blocked, &old);
	rc = pthread_create(&w->thread, NULL, body, w);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc)
		return err_set(err, EXIT_INTERNAL, "cannot start the thread of %s: %s", w->name, strerror(rc));
	w->started = true;
	return 0;
}

static struct timespec at(uint64_t ns)
{
	return (struct timespec){.tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S)};
}

/*
 * The detector can hold a request: the worker's callback then waits before it accesses the request's memory (dma_hold.h). If
 * `on`, refuse to hold requests, so that the callback can return; otherwise end one such refusal. The refusal applies to the
 * requests of all workers. This does no harm, because the detector seldom holds a request.
 */
static void refuse_holds(const struct worker *w, bool on)
{
	if (w->all->dma)
		dma_hold_refuse(&w->all->dma->hold, on);
}

/* Make the thread end after its current callback. */
static void end(struct worker *w)
{
	uint64_t one = 1;

	refuse_holds(w, true);
	pthread_mutex_lock(&w->lock);
	w->ending = true;
	pthread_cond_broadcast(&w->moved);
	pthread_mutex_unlock(&w->lock);
	/* Ignore a failure: the eventfd's counter is full then, and the thread is already awake. */
	if (write(w->wake_fd, &one, sizeof(one)) < 0)
		return;
}

/* Join the thread, after end(), but wait no longer than `until_ns` (CLOCK_MONOTONIC). Returns true if the thread has ended. */
static bool joined(struct worker *w, uint64_t until_ns)
{
	const struct timespec until = at(until_ns);

	if (w->started && pthread_clockjoin_np(w->thread, NULL, CLOCK_MONOTONIC, &until) != 0)
		return false;
	w->started = false;
	return true;
}

/* ---- watching ---- */

/* Called with the worker's lock held. */
static struct watch *find(struct worker *w, int fd)
{
	for (struct watch *watch = w->watches; watch; watch = watch->next)
		if (watch->fn && watch->fd == fd)
			return watch;
	return NULL;
}

/* Called with the worker's lock held. */
static int watch_locked(struct worker *w, int fd, uint32_t events, worker_fn *fn, void *ctx)
{
	struct watch *watch = find(w, fd);
	struct epoll_event event = {.events = events};
	int op = watch ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;

	if (!watch) {
		watch = calloc(1, sizeof(*watch));
		if (!watch)
			return -1;
	}
	event.data.ptr = watch;
	if (epoll_ctl(w->epoll_fd, op, fd, &event) < 0) {
		if (op == EPOLL_CTL_ADD)
			free(watch);
		return -1;
	}
	if (op == EPOLL_CTL_ADD) {
		watch->next = w->watches;
		w->watches = watch;
	}
	watch->fd = fd;
	watch->fn = fn;
	watch->ctx = ctx;
	return 0;
}

int worker_watch(struct worker *w, int fd, uint32_t events, worker_fn *fn, void *ctx, struct err *err)
{
	int ret, error;

	pthread_mutex_lock(&w->lock);
	errno = ENOMEM;
	ret = watch_locked(w, fd, events, fn, ctx);
	error = errno;
	pthread_mutex_unlock(&w->lock);
	return ret < 0 ? err_set(err, EXIT_INTERNAL, "%s cannot wait for a file descriptor: %s", w->name, strerror(error)) : 0;
}

/*
 * Wait until no callback runs, or until `until_ns` (CLOCK_MONOTONIC). Returns true if no callback runs. On the worker's own
 * thread, does not wait. Called with the worker's lock held.
 */
static bool wait_idle(struct worker *w, uint64_t until_ns)
{
	const struct timespec until = at(until_ns);

	while (w->busy && !pthread_equal(w->runs, pthread_self()))
		if (pthread_cond_timedwait(&w->moved, &w->lock, &until) == ETIMEDOUT)
			return false;
	return true;
}

void worker_unwatch(struct worker *w, int fd)
{
	struct watch *watch;

	refuse_holds(w, true);
	pthread_mutex_lock(&w->lock);
	watch = find(w, fd);
	if (watch) {
		epoll_ctl(w->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
		watch->fn = NULL;
		wait_idle(w, FOR_EVER);
	}
	pthread_mutex_unlock(&w->lock);
	refuse_holds(w, false);
}

/*
 * Wait until a pause that has begun is in force, or until `until_ns` (CLOCK_MONOTONIC). Returns true if the pause is in force.
 */
static bool wait_paused(struct worker *w, uint64_t until_ns)
{
	bool idle;

	pthread_mutex_lock(&w->lock);
	idle = wait_idle(w, until_ns);
	pthread_mutex_unlock(&w->lock);
	return idle;
}

static void begin_pause(struct worker *w)
{
	refuse_holds(w, true);
	pthread_mutex_lock(&w->lock);
	w->pauses++;
	pthread_mutex_unlock(&w->lock);
}

void worker_pause(struct worker *w)
{
	begin_pause(w);
	wait_paused(w, FOR_EVER);
}

void worker_resume(struct worker *w)
{
	pthread_mutex_lock(&w->lock);
	w->pauses--;
	pthread_cond_broadcast(&w->moved);
	pthread_mutex_unlock(&w->lock);
	refuse_holds(w, false);
}

/* ---- creation and end of a worker ---- */

static void init_sync(struct worker *w)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&w->moved, &attr);
	pthread_condattr_destroy(&attr);
}

static int open_fds(struct worker *w, struct err *err)
{
	struct epoll_event wake = {.events = EPOLLIN};

	w->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	w->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->epoll_fd < 0 || w->wake_fd < 0 || epoll_ctl(w->epoll_fd, EPOLL_CTL_ADD, w->wake_fd, &wake) < 0)
		return err_set(err, EXIT_INTERNAL, "no file descriptors for the thread of %s: %s", w->name, strerror(errno));
	return 0;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

static void free_parts(struct worker *w)
{
	for (struct watch *watch = w->watches, *next; watch; watch = next) {
		next = watch->next;
		free(watch);
	}
	close_fd(w->epoll_fd);
	close_fd(w->wake_fd);
	pthread_mutex_destroy(&w->lock);
	pthread_cond_destroy(&w->moved);
	free(w);
}

struct worker *worker_new(struct workers *all, enum sandbox_kind kind, const char *name, struct err *err)
{
	struct worker *w = calloc(1, sizeof(*w));

	if (!w) {
		err_set(err, EXIT_INTERNAL, "out of memory for the thread of %s", name);
		return NULL;
	}
	w->all = all;
	w->kind = kind;
	snprintf(w->name, sizeof(w->name), "%s", name);
	init_sync(w);
	w->wake_fd = -1;
	if (open_fds(w, err) < 0) {
		free_parts(w);
		return NULL;
	}
	pthread_mutex_lock(&all->lock);
	w->next = all->first;
	all->first = w;
	pthread_mutex_unlock(&all->lock);
	return w;
}

void worker_free(struct worker *w)
{
	struct worker **link;

	if (!w)
		return;
	end(w);
	joined(w, FOR_EVER);
	pthread_mutex_lock(&w->all->lock);
	for (link = &w->all->first; *link != w;)
		link = &(*link)->next;
	*link = w->next;
	pthread_mutex_unlock(&w->all->lock);
	free_parts(w);
}

/* ---- all workers ---- */

void workers_init(struct workers *all, struct dma *dma)
{
	*all = (struct workers){.dma = dma};
	pthread_mutex_init(&all->lock, NULL);
}

void workers_destroy(struct workers *all)
{
	pthread_mutex_destroy(&all->lock);
}

int workers_start(struct workers *all, struct err *err)
{
	int ret = 0;

	pthread_mutex_lock(&all->lock);
	for (struct worker *w = all->first; w && !ret; w = w->next)
		ret = start(w, err);
	pthread_mutex_unlock(&all->lock);
	return ret;
}

void workers_end(struct workers *all)
{
	atomic_fetch_add(&all->standing, 1);
	pthread_mutex_lock(&all->lock);
	for (struct worker *w = all->first; w; w = w->next)
		end(w);
	pthread_mutex_unlock(&all->lock);
}

const char *workers_joined(struct workers *all, uint64_t until_ns)
{
	const char *left = NULL;

	pthread_mutex_lock(&all->lock);
	for (struct worker *w = all->first; w; w = w->next)
		if (!joined(w, until_ns))
			left = w->name;
	pthread_mutex_unlock(&all->lock);
	return left;
}

void workers_join(struct workers *all)
{
	workers_end(all);
	workers_joined(all, FOR_EVER);
}

const char *workers_pause_until(struct workers *all, uint64_t until_ns)
{
	const char *busy = NULL;

	atomic_fetch_add(&all->standing, 1);
	pthread_mutex_lock(&all->lock);
	/* Begin all pauses first, so that no worker begins another callback during the waits. */
	for (struct worker *w = all->first; w; w = w->next)
		begin_pause(w);
	for (struct worker *w = all->first; w && !busy; w = w->next)
		if (!wait_paused(w, until_ns))
			busy = w->name;
	pthread_mutex_unlock(&all->lock);
	if (busy)
		workers_resume(all);
	return busy;
}

void workers_pause(struct workers *all)
{
	workers_pause_until(all, FOR_EVER);
}

void workers_resume(struct workers *all)
{
	/* Clear `standing` first, so that a callback that begins at once can pop its requests. */
	atomic_fetch_sub(&all->standing, 1);
	pthread_mutex_lock(&all->lock);
	for (struct worker *w = all->first; w; w = w->next)
		worker_resume(w);
	pthread_mutex_unlock(&all->lock);
}

/* Poll the epoll sets of the workers: an epoll set is readable while one of its file descriptors is ready. */
bool workers_woken(const struct workers *all)
{
	const struct worker *w = all->first;

	while (w) {
		struct pollfd fds[POLLED];
		nfds_t n = 0;

		for (; w && n < POLLED; w = w->next)
			fds[n++] = (struct pollfd){.fd = w->epoll_fd, .events = POLLIN};
		if (poll(fds, n, 0) > 0)
			return true;
	}
	return false;
}
