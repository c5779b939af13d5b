/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Combines libslirp's sockets and timers into one file descriptor, for which a loop can wait. Before each wait, libslirp says
 * which events of which sockets it waits for (slirp_pollfds_fill()), and after the wait libslirp gets the events that occurred
 * (slirp_pollfds_poll()). The sockets are in an epoll set, which needs a system call only if the awaited events of a socket
 * change.
 *
 * Not thread-safe.
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
	uint32_t events; /* epoll's events that libslirp waits for; 0: the socket is not in the epoll set */
	uint32_t ready;	 /* epoll's events of the last wait */
	bool held;	 /* the socket is in net_sockets.held */
	unsigned round;	 /* number of the last net_sockets_prepare() in which libslirp asked for this socket */
};

struct net_timer {
	bool used;
	SlirpTimerId id;
	void *ctx;	 /* for slirp_handle_timer() */
	int64_t expires; /* in ms of net_sockets_clock(); -1: the timer does not run */
};

/*
 * File descriptors reserved for files, and for connections that are opened between two counts of the open descriptors
 * (net_sockets_may_open()). If the process may have fewer than twice this number, half of its descriptors are reserved.
 */
#define NET_SOCKETS_SPARED 64

/*
 * Maximum number of file descriptors that the process uses, including NET_SOCKETS_SPARED. libslirp walks all its sockets at
 * each wait, so more sockets would make it slow.
 */
#define NET_SOCKETS_DESCRIPTORS 1024

struct net_sockets {
	int epoll_fd; /* readable when net_sockets_serve() has something to do; -1: not made */
	int timer_fd;
	int64_t armed;		   /* when the timerfd expires, in ns of net_sockets_clock(); INT64_MAX: never */
	unsigned round;		   /* number of calls of net_sockets_prepare() */
	struct net_socket *socket; /* `size` entries, by file descriptor */
	size_t size;
	/* The `asked_count` descriptors of the last net_sockets_prepare(), in libslirp's order. Room for asked_room of them. */
	int *asked;
	size_t asked_count, asked_room;
	int *held; /* the `held_count` file descriptors that may be in the epoll set, each once; room for held_room */
	size_t held_count, held_room;
	struct net_timer timer[SLIRP_TIMER_NUM];
	int most;	  /* libslirp gets no new socket once all descriptors below this number are taken */
	bool full;	  /* all descriptors below `most` were taken at the last count */
	unsigned openers; /* number of calls of net_sockets_may_open() */
};

/* Initialise `s`. Returns 0, or -1 with EXIT_INTERNAL; net_sockets_destroy() may follow in either case. */
int net_sockets_init(struct net_sockets *s, struct err *err);
void net_sockets_destroy(struct net_sockets *s);

/* Returns CLOCK_MONOTONIC in ns, the clock for libslirp. */
int64_t net_sockets_clock(void);

/* For libslirp's callbacks: a socket was made, or is about to be closed. */
void net_sockets_opened(struct net_sockets *s, int fd);
void net_sockets_closing(struct net_sockets *s, int fd);

/*
 * Returns true if libslirp may get a frame for which it might open a socket. To be called exactly once for each such frame: one
 * call of several checks the open descriptors, and NET_SOCKETS_SPARED descriptors suffice for the frames in between.
 */
bool net_sockets_may_open(struct net_sockets *s);

/* For libslirp's callbacks: make, set and free a timer. `expires` is in ms of net_sockets_clock(). */
struct net_timer *net_sockets_timer_new(struct net_sockets *s, SlirpTimerId id, void *ctx);
void net_sockets_timer_set(struct net_sockets *s, struct net_timer *timer, int64_t expires);
void net_sockets_timer_free(struct net_timer *timer);

/* Ask libslirp for which events of which sockets it waits. To be called after every burst of calls into libslirp. */
void net_sockets_prepare(struct net_sockets *s, Slirp *slirp);

/*
 * Pass the events that have occurred to libslirp, and call its timers that have expired. net_sockets_prepare() must be called
 * next.
 */
void net_sockets_serve(struct net_sockets *s, Slirp *slirp);

#endif
