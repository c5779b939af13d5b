/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Replaces the worker of hv/vmm/virtio/worker.h: it watches one file descriptor for any events, and the test runs its callback.
 */
#ifndef OUTRIDER_TESTS_NET_WATCH_H
#define OUTRIDER_TESTS_NET_WATCH_H

#include <poll.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "hv/vmm/virtio/worker.h"

#define PATIENCE_MS 20000 /* many times longer than any wait of these tests */

static struct {
	int fd;
	uint32_t events;
	worker_fn *fn;
	void *ctx;
} watched = {.fd = -1};

int worker_watch(struct worker *worker, int fd, uint32_t events, worker_fn *fn, void *ctx, struct err *err)
{
	(void)worker;
	(void)err;
	watched.fd = fd;
	watched.events = events;
	watched.fn = fn;
	watched.ctx = ctx;
	return 0;
}

void worker_unwatch(struct worker *worker, int fd)
{
	(void)worker;
	if (watched.fd == fd)
		watched.fd = -1;
}

/* Wait up to `patience_ms` for an event of the watched file descriptor, and call its callback. Returns whether an event came.
 */
static bool run_worker(int patience_ms)
{
	/* The events of poll(2) and of epoll(7) have the same values. */
	struct pollfd p = {.fd = watched.fd, .events = (short)watched.events};

	if (watched.fd < 0 || poll(&p, 1, patience_ms) != 1)
		return false;
	watched.fn(watched.ctx, (uint32_t)p.revents);
	return true;
}

#endif
