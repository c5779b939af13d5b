/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A worker: a thread of the VMM that does the I/O of devices. It waits in epoll for file descriptors, and calls a function when
 * one is ready. A vCPU's notification is an eventfd that KVM signals (KVM_IOEVENTFD), so vCPU threads do no device I/O.
 *
 * Life: worker_new() before the machine runs; the machine starts all workers of its list when it runs (workers_start()), and
 * joins them after its vCPU threads have ended (workers_join()), before any device is freed. A device frees its workers by
 * worker_free().
 *
 * Signals: a worker blocks every signal but those of a crash.
 *
 * Locking: a callback runs with no lock of the worker held. worker_pause() waits for a callback that runs, so no thread may
 * hold a lock that a callback takes while it calls worker_pause(), worker_unwatch() or workers_join().
 *
 * A snapshot of the machine first makes the vCPUs stand still, and then calls workers_pause(). No callback runs then, so no
 * device touches guest RAM or its own state, except for I/O that a device has handed to the host's kernel and which is not
 * finished yet. A notification or a packet that arrives meanwhile stays in its file descriptor until workers_resume().
 */
#ifndef OUTRIDER_VMM_VIRTIO_WORKER_H
#define OUTRIDER_VMM_VIRTIO_WORKER_H

#include <pthread.h>
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
	/* Is told of each callback (dma_serve_begin()). NULL: nobody is told. */
	struct dma *dma;
};

/* While a callback runs, `dma` is busy (dma_busy()). It must outlive the workers. NULL is allowed. */
void workers_init(struct workers *all, struct dma *dma);

/* Every worker must have been freed. */
void workers_destroy(struct workers *all);

/* Start the threads of all workers. Returns 0, or -1 with EXIT_INTERNAL; workers_join() follows in either case. */
int workers_start(struct workers *all, struct err *err);

/* Let each worker finish the callback that it is in, and end the threads. They are not started again. */
void workers_join(struct workers *all);

/* worker_pause() and worker_resume() for all workers. */
void workers_pause(struct workers *all);
void workers_resume(struct workers *all);

/*
 * Whether some worker has been woken, by a notification of the driver or by something of the host's, and has not begun to serve
 * it. A worker that is in the midst of beginning may be missed for a moment. Any thread may call it while the workers run,
 * since the list does not change then. Takes no lock, and makes a system call for each few workers.
 */
bool workers_woken(const struct workers *all);

/*
 * Make a worker whose thread does not run yet, and is confined to what a thread of that kind may do. `name` is copied; it is
 * the thread's name, of which the host's kernel keeps 15 bytes. Returns NULL with EXIT_INTERNAL when file descriptors or memory
 * run out.
 */
struct worker *worker_new(struct workers *all, enum sandbox_kind kind, const char *name, struct err *err);

/* Free the worker, whose thread ends first if it runs. The watched file descriptors stay their owners'. NULL is allowed. */
void worker_free(struct worker *worker);

/* What is called on the worker's thread when a file descriptor is ready. `events` are epoll's (EPOLLIN and so on). */
typedef void worker_fn(void *ctx, uint32_t events);

/*
 * Call fn(ctx) whenever `fd` has one of `events` (epoll's; EPOLLET and EPOLLONESHOT work, too). A file descriptor is watched
 * once at most by one worker; a further call for the same `fd` changes what is waited for and what is called. Any thread may
 * call it. Returns 0, or -1 with EXIT_INTERNAL.
 */
int worker_watch(struct worker *worker, int fd, uint32_t events, worker_fn *fn, void *ctx, struct err *err);

/*
 * Stop watching `fd`, before its owner closes it. After the call no callback for it runs or will run, except that a callback
 * may unwatch its own `fd` and go on. Does nothing for an `fd` that is not watched. Any thread may call it.
 */
void worker_unwatch(struct worker *worker, int fd);

/*
 * Wait until no callback of the worker runs, and let none begin until worker_resume(). Pauses nest: each worker_pause() needs a
 * worker_resume(). On the worker's own thread the call does not wait for the callback that makes it. Any thread may call both,
 * also before the worker's thread runs and after it has ended.
 */
void worker_pause(struct worker *worker);
void worker_resume(struct worker *worker);

#endif
