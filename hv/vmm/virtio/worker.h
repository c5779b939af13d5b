/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A worker: a thread of the VMM that does the I/O of devices. It waits in epoll for file descriptors, and calls a function when
 * one is ready. A vCPU's notification is an eventfd that KVM signals (KVM_IOEVENTFD), so vCPU threads do no device I/O.
 *
 * Lifetime: a device calls worker_new() before the machine runs. The machine starts all workers of its list when it runs
 * (workers_start()), and joins them after its vCPU threads have ended (workers_end() and workers_joined()), before any device
 * is freed. A device frees its workers by worker_free().
 *
 * Signals: a worker blocks every signal except those of a crash.
 *
 * Locking: a callback runs with no lock of the worker held. worker_pause() waits for a running callback. So a thread that calls
 * worker_pause(), worker_unwatch() or workers_join() must not hold a lock that a callback takes.
 *
 * A snapshot of the machine first makes the vCPUs stand still, and then calls workers_pause(). No callback runs then, so no
 * device accesses guest RAM or its own state, except for unfinished I/O that a device has handed to the host's kernel. A
 * notification or a packet that arrives meanwhile stays in its file descriptor until workers_resume().
 *
 * A guest can supply a callback with requests without end: a disk read into the available ring of its own queue adds the next
 * request. So a thread that waits for all workers first increments `standing`, and virtq_pop() returns no request while that is
 * not 0.
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
	/* Informed of each callback (dma_serve_begin()). NULL: not used. */
	struct dma *dma;
	/* Number of pauses and ends in force that keep callbacks from popping another request. */
	atomic_uint standing;
};

/*
 * Initialise an empty list. While a callback runs, `dma` is busy (dma_busy()). `dma` must outlive the workers, and may be NULL.
 */
void workers_init(struct workers *all, struct dma *dma);

/* To be called after every worker was freed. */
void workers_destroy(struct workers *all);

/* Start the threads of all workers. Returns 0, or -1 with EXIT_INTERNAL; workers_join() follows in either case. */
int workers_start(struct workers *all, struct err *err);

/* Tell the workers to end after the request that each serves, and wait for their threads. They cannot be started again. */
void workers_join(struct workers *all);

/*
 * workers_join() in two steps, for a caller with a time limit: workers_end() tells the workers to end, and workers_joined()
 * waits for them until `until_ns` on CLOCK_MONOTONIC. It may be called again. Returns NULL when all have ended, and otherwise
 * the name of one that has not. That worker may be waiting for the host, and still uses its device.
 */
void workers_end(struct workers *all);
const char *workers_joined(struct workers *all, uint64_t until_ns);

/*
 * worker_pause() and worker_resume() for all workers. A callback with several requests finishes the one that it serves, and
 * continues with the rest after workers_resume().
 */
void workers_pause(struct workers *all);
void workers_resume(struct workers *all);

/*
 * workers_pause() with a time limit, `until_ns` on CLOCK_MONOTONIC. Returns NULL when all workers are paused. Otherwise returns
 * the name of a busy worker; then no worker is paused, and workers_resume() must not follow.
 */
const char *workers_pause_until(struct workers *all, uint64_t until_ns);

/*
 * Whether a worker was woken, by a notification of the driver or an event of the backend, and has not begun to serve it. May
 * miss a worker that is just beginning. Any thread may call it while the workers run, because the list does not change then.
 * Takes no lock, and makes one system call for each 32 workers.
 */
bool workers_woken(const struct workers *all);

/*
 * Make a worker whose thread is not started yet. The thread will be confined as `kind` says. `name` is copied; it becomes the
 * thread's name, of which the host's kernel keeps 15 bytes. Returns NULL with EXIT_INTERNAL when file descriptors or memory run
 * out.
 */
struct worker *worker_new(struct workers *all, enum sandbox_kind kind, const char *name, struct err *err);

/*
 * End the worker's thread, if it runs, and free the worker. The owners of the watched file descriptors close them. NULL is
 * allowed.
 */
void worker_free(struct worker *worker);

/* A callback on the worker's thread, called when a file descriptor is ready. `events` are epoll's (EPOLLIN and so on). */
typedef void worker_fn(void *ctx, uint32_t events);

/*
 * Call fn(ctx) whenever `fd` has one of `events` (epoll's, including EPOLLET and EPOLLONESHOT). A worker watches a file
 * descriptor at most once; another call for the same `fd` replaces the events and the callback. Any thread may call it. Returns
 * 0, or -1 with EXIT_INTERNAL.
 */
int worker_watch(struct worker *worker, int fd, uint32_t events, worker_fn *fn, void *ctx, struct err *err);

/*
 * Stop watching `fd`, before its owner closes it. After the call, its callback is not running and will not run, except that a
 * callback may unwatch its own `fd` and continue. Does nothing for an `fd` that is not watched. Any thread may call it.
 */
void worker_unwatch(struct worker *worker, int fd);

/*
 * Wait until no callback of the worker runs, and let none begin until worker_resume(). Pauses nest: each worker_pause() needs a
 * worker_resume(). On the worker's own thread the call does not wait for the callback that makes it. Any thread may call both,
 * also before the worker's thread has started and after it has ended.
 */
void worker_pause(struct worker *worker);
void worker_resume(struct worker *worker);

#endif
