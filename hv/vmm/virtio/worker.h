/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A worker: a thread of the VMM that does the I/O of devices. It waits for file descriptors by epoll, and calls a function when
 * a file descriptor is ready. A vCPU's notification is an eventfd that KVM signals (KVM_IOEVENTFD), so vCPU threads do no
 * device I/O.
 *
 * Lifetime: a device calls worker_new() before the machine runs. The machine starts all workers of its list when it runs
 * (workers_start()), and joins them after its vCPU threads have ended (workers_end() and workers_joined()), before any device
 * is freed. A device frees its workers by worker_free().
 *
 * Signals: a worker blocks all signals except crash signals and SIGSYS (hv/base/signals.h).
 *
 * Locking: a callback runs with no lock of the worker held. worker_pause() waits for a running callback. So a thread that calls
 * worker_pause(), worker_unwatch() or workers_join() must not hold a lock that a callback takes.
 *
 * A snapshot of the machine first makes the vCPUs stand still, and then calls workers_pause(). No callback runs then, so no
 * device accesses guest RAM or its own state, except by unfinished I/O of the host's kernel. A notification or a packet that
 * arrives meanwhile stays in its file descriptor until workers_resume().
 *
 * A guest can supply a callback with requests without end: a disk read into the available ring of its own queue adds the next
 * request. So a thread that waits for all workers first increments workers.standing, and virtq_pop() returns no request while
 * this counter is not 0.
 */
#ifndef OUTRIDER_VMM_VIRTIO_WORKER_H
#define OUTRIDER_VMM_VIRTIO_WORKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/sandbox/kinds.h"
#include "hv/vmm/dma.h"

struct worker;

/* All workers of a machine. */
struct workers {
	pthread_mutex_t lock; /* guards the list */
	struct worker *first;
	/* dma_serve_begin() and dma_serve_end() are called around each callback. NULL: no calls. */
	struct dma *dma;
	/*
	 * While this is not 0, no callback can pop a request. Counts the calls of workers_pause() and workers_end() in force.
	 */
	atomic_uint standing;
};

/*
 * Initialise an empty list. While a callback runs, `dma` is busy (dma_busy()). `dma` must outlive the workers, and may be NULL.
 */
void workers_init(struct workers *all, struct dma *dma);

/* Destroy the list, after every worker was freed. */
void workers_destroy(struct workers *all);

/* Start the threads of all workers. Returns 0, or -1 with EXIT_INTERNAL; workers_join() must follow in either case. */
int workers_start(struct workers *all, struct err *err);

/* Make each worker end after the request that it serves, and wait for the threads. The workers cannot be started again. */
void workers_join(struct workers *all);

/*
 * workers_join() in two steps, for a caller with a time limit: workers_end() makes the workers end, and workers_joined() waits
 * for them until `until_ns` on CLOCK_MONOTONIC. workers_joined() may be called repeatedly. It returns NULL if all workers have
 * ended, or else the name of a worker that has not ended. That worker may be waiting for the host, and still uses its device.
 */
void workers_end(struct workers *all);
const char *workers_joined(struct workers *all, uint64_t until_ns);

/*
 * worker_pause() and worker_resume() for all workers. A callback with several requests finishes the request that it serves, and
 * continues with its other requests after workers_resume().
 */
void workers_pause(struct workers *all);
void workers_resume(struct workers *all);

/*
 * workers_pause() with a time limit, `until_ns` on CLOCK_MONOTONIC. Returns NULL if all workers are paused. Otherwise returns
 * the name of a busy worker; then no worker is paused, and workers_resume() must not be called.
 */
const char *workers_pause_until(struct workers *all, uint64_t until_ns);

/*
 * Returns true if a notification of the driver or an event of the backend has woken a worker that has not begun to serve yet.
 * May miss a worker that is just beginning. Any thread may call it while the workers run, because the list does not change
 * then. Takes no lock, and makes one system call for each 32 workers.
 */
bool workers_woken(const struct workers *all);

/*
 * Make a worker whose thread is not started yet. The thread will be confined as a thread of `kind`. `name` is copied, truncated
 * to 15 bytes, and becomes the thread's name. Returns NULL with EXIT_INTERNAL if file descriptors or memory run out.
 */
struct worker *worker_new(struct workers *all, enum sandbox_kind kind, const char *name, struct err *err);

/* End the worker's thread, if it runs, and free the worker. Does not close the watched file descriptors. NULL is allowed. */
void worker_free(struct worker *worker);

/* A callback, called on the worker's thread when a file descriptor is ready. `events` are epoll's (EPOLLIN and so on). */
typedef void worker_fn(void *ctx, uint32_t events);

/*
 * Call fn(ctx) whenever `fd` has one of `events` (epoll's, including EPOLLET and EPOLLONESHOT). A worker watches a file
 * descriptor at most once; another call for the same `fd` replaces the events and the callback. May be called on any thread.
 * Returns 0, or -1 with EXIT_INTERNAL.
 */
int worker_watch(struct worker *worker, int fd, uint32_t events, worker_fn *fn, void *ctx, struct err *err);

/*
 * Stop watching `fd`. To be called before `fd` is closed. After the call, no callback runs, and the callback of `fd` will not
 * run again. A callback may unwatch its own `fd`, and then continues. Does nothing for an `fd` that is not watched. May be
 * called on any thread.
 */
void worker_unwatch(struct worker *worker, int fd);

/*
 * Wait until no callback of the worker runs, and keep callbacks from beginning until worker_resume(). Pauses nest: each
 * worker_pause() needs a worker_resume(). In a callback on the worker's own thread, worker_pause() does not wait for that
 * callback. worker_pause() and worker_resume() may be called on any thread, even before the worker's thread has started and
 * after it has ended.
 */
void worker_pause(struct worker *worker);
void worker_resume(struct worker *worker);

#endif
