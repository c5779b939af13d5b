/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Replaces the worker of hv/vmm/virtio/worker.h: it watches one file descriptor, and the test runs its callback. */
#ifndef OUTRIDER_TESTS_NET_WORKER_H
#define OUTRIDER_TESTS_NET_WORKER_H

#include <poll.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "hv/vmm/virtio/worker.h"

#define PATIENCE_MS 20000 /* many times longer than any wait of these tests */

static struct {
	int fd;
	worker_fn *fn;
	void *ctx;
} watched = {.fd = -1};

int worker_watch(struct worker *worker, int fd, uint32_t events, worker_fn *fn, void *ctx, struct err *err)
{
	(void)worker;
	(void)err;
	assert_int_equal(events, EPOLLIN);
	watched.fd = fd;
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

/* Wait for the watched file descriptor, and call its callback once. */
static void run_worker(void)
{
	struct pollfd p = {.fd = watched.fd, .events = POLLIN};

	assert_int_not_equal(watched.fd, -1);
	assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
	watched.fn(watched.ctx, EPOLLIN);
}

#endif
