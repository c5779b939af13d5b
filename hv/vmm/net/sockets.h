/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes one file descriptor of libslirp's sockets and timers, so that a loop can wait for them. Before each wait, libslirp says
 * which events of which sockets it waits for (slirp_pollfds_fill()), and after the wait the loop passes it the events that came
 * (slirp_pollfds_poll()). The events are in an epoll set, and only changes go to the host's kernel.
 *
 * Threads: one at a time.
 */
#ifndef OUTRIDER_VMM_NET_SOCKETS_H
#define OUTRIDER_VMM_NET_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <slirp/libslirp.h>

#include "hv/base/err.h"

/* The state of the file descriptor whose number is the index of the entry. */
struct net_socket {
	uint32_t events; /* epoll's events that libslirp waits for; 0: it is not in the epoll set */
	uint32_t ready;	 /* epoll's events of the last wait */
	bool held;	 /* it is in the list of that name */
	unsigned round;	 /* the last net_sockets_prepare() in which libslirp asked for it */
};

struct net_timer {
	bool used;
	SlirpTimerId id;
	void *ctx;	 /* libslirp's */
	int64_t expires; /* in ms of net_sockets_clock(); -1: it does not run */
};

/*
 * File descriptors of the process that connections do not get: for files, and for connections between two counts
 * (net_sockets_may_open()). Where the process may have fewer than twice as many, connections get half of them.
 */
#define NET_SOCKETS_SPARED 64

/* The most file descriptors that are used. libslirp looks through all its sockets at each wait, so more would make it slow. */
#define NET_SOCKETS_DESCRIPTORS 1024

struct net_sockets {
	int epoll_fd; /* readable when net_sockets_serve() has something to do; -1: there is none */
	int timer_fd;
	int64_t armed;		   /* when the timerfd expires, in ns of net_sockets_clock(); INT64_MAX: it does not */
	unsigned round;		   /* counts net_sockets_prepare() */
	struct net_socket *socket; /* `size` entries, by file descriptor */
	size_t size;
	int *asked; /* the `asked_count` file descriptors of this round, in libslirp's order; room for asked_room */
	size_t asked_count, asked_room;
	int *held; /* the `held_count` file descriptors that may be in the epoll set, each once; room for held_room */
	size_t held_count, held_room;
	struct net_timer timer[SLIRP_TIMER_NUM];
	int most;	  /* libslirp gets no new socket once all descriptors below this number are taken */
	bool full;	  /* that was so at the last count */
	unsigned openers; /* counts net_sockets_may_open() */
};

/* Returns 0, or -1 with EXIT_INTERNAL; net_sockets_destroy() may follow either way. */
int net_sockets_init(struct net_sockets *s, struct err *err);
void net_sockets_destroy(struct net_sockets *s);

/* libslirp's clock: monotonic, in ns. */
int64_t net_sockets_clock(void);

/* For libslirp's callbacks: a socket was made, or is about to be closed. */
void net_sockets_opened(struct net_sockets *s, int fd);
void net_sockets_closing(struct net_sockets *s, int fd);

/*
 * Returns whether libslirp may get a frame for which it would open a socket. Call it once for each such frame: it counts the
 * calls, and the descriptors from time to time.
 */
bool net_sockets_may_open(struct net_sockets *s);

/* For libslirp's callbacks: a timer. `timer` is what net_sockets_timer_new() returned, and `expires` is in ms. */
struct net_timer *net_sockets_timer_new(struct net_sockets *s, SlirpTimerId id, void *ctx);
void net_sockets_timer_set(struct net_sockets *s, struct net_timer *timer, int64_t expires);
void net_sockets_timer_free(struct net_timer *timer);

/* Ask libslirp what it waits for. To be called after every burst of calls into libslirp. */
void net_sockets_prepare(struct net_sockets *s, Slirp *slirp);

/* Tell libslirp what has come, and call its timers that have expired. net_sockets_prepare() comes next. */
void net_sockets_serve(struct net_sockets *s, Slirp *slirp);

#endif
