/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waits for all sockets and timers of libslirp by one epoll set and one timerfd. A round begins with net_sockets_prepare(), in
 * which libslirp says which events of which sockets it waits for.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "hv/vmm/net/sockets.h"

#define NS_PER_MS 1000000
#define NS_PER_S 1000000000
#define EVENTS_AT_ONCE 64 /* the next wait reports further events */

#define OPENERS 32 /* count the open descriptors again after this many frames that might open a socket */

static const struct {
	int slirp;
	uint32_t epoll;
} events_map[] = {
	{SLIRP_POLL_IN, EPOLLIN},   {SLIRP_POLL_OUT, EPOLLOUT}, {SLIRP_POLL_PRI, EPOLLPRI},
	{SLIRP_POLL_ERR, EPOLLERR}, {SLIRP_POLL_HUP, EPOLLHUP},
};

#define EVENTS_MAP_LEN (sizeof(events_map) / sizeof(events_map[0]))

int64_t net_sockets_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

static int most_descriptors(void)
{
	struct rlimit limit = {.rlim_cur = 2 * NET_SOCKETS_SPARED};

	getrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur < 2 * NET_SOCKETS_SPARED)
		return (int)(limit.rlim_cur / 2);
	return (int)(limit.rlim_cur < NET_SOCKETS_DESCRIPTORS ? limit.rlim_cur : NET_SOCKETS_DESCRIPTORS) - NET_SOCKETS_SPARED;
}

int net_sockets_init(struct net_sockets *s, struct err *err)
{
	struct epoll_event event = {.events = EPOLLIN};

	*s = (struct net_sockets){.armed = INT64_MAX, .most = most_descriptors()};
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	s->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	event.data.fd = s->timer_fd;
	if (s->epoll_fd < 0 || s->timer_fd < 0 || epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, s->timer_fd, &event) < 0)
		return err_set(err, EXIT_INTERNAL, "user-mode networking: cannot create an epoll set with a timer: %m");
	return 0;
}

void net_sockets_destroy(struct net_sockets *s)
{
	if (s->epoll_fd >= 0)
		close(s->epoll_fd);
	if (s->timer_fd >= 0)
		close(s->timer_fd);
	free(s->socket);
	free(s->asked);
	free(s->held);
}

/* Make room for element number `count`, counted from 0. Aborts the process if memory runs out, as libslirp does (GLib). */
static void *grow(void *array, size_t count, size_t *room, size_t element)
{
	if (count < *room)
		return array;
	*room = count * 2 + 16;
	array = reallocarray(array, *room, element);
	if (!array)
		abort();
	return array;
}

static struct net_socket *socket_of(struct net_sockets *s, int fd)
{
	size_t size = s->size;

	s->socket = grow(s->socket, (size_t)fd, &s->size, sizeof(*s->socket));
	if (s->size > size)
		memset(s->socket + size, 0, (s->size - size) * sizeof(*s->socket));
	return &s->socket[fd];
}

void net_sockets_opened(struct net_sockets *s, int fd)
{
	/*
	 * Forget an earlier socket with the same descriptor. libslirp may have closed that socket without a call of
	 * net_sockets_closing(). The kernel has then removed the socket from the epoll set.
	 */
	socket_of(s, fd)->events = 0;
}

void net_sockets_closing(struct net_sockets *s, int fd)
{
	struct net_socket *socket = socket_of(s, fd);

	if (socket->events)
		epoll_ctl(s->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
	socket->events = 0;
	socket->ready = 0;
}

bool net_sockets_may_open(struct net_sockets *s)
{
	int lowest;

	if (!s->full && s->openers++ % OPENERS)
		return true;
	/* A new descriptor gets the lowest free number, so its number tells whether all numbers below the limit are taken. */
	lowest = fcntl(s->timer_fd, F_DUPFD_CLOEXEC, 0);
	s->full = lowest < 0 || lowest >= s->most;
	if (lowest >= 0)
		close(lowest);
	return !s->full;
}

struct net_timer *net_sockets_timer_new(struct net_sockets *s, SlirpTimerId id, void *ctx)
{
	for (unsigned i = 0; i < SLIRP_TIMER_NUM; i++)
		if (!s->timer[i].used) {
			s->timer[i] = (struct net_timer){.used = true, .id = id, .ctx = ctx, .expires = -1};
			return &s->timer[i];
		}
	/* Cannot happen: libslirp makes one timer of each id. */
	abort();
}

/*
 * Let the timerfd expire at `when` or earlier. An early expiry costs less than a system call for each change to a later time.
 */
static void arm(struct net_sockets *s, int64_t when)
{
	struct itimerspec at = {.it_value = {.tv_sec = when / NS_PER_S, .tv_nsec = when % NS_PER_S}};

	if (when >= s->armed)
		return;
	timerfd_settime(s->timer_fd, TFD_TIMER_ABSTIME, &at, NULL);
	s->armed = when;
}

void net_sockets_timer_set(struct net_sockets *s, struct net_timer *timer, int64_t expires)
{
	timer->expires = expires;
	arm(s, expires * NS_PER_MS);
}

void net_sockets_timer_free(struct net_timer *timer)
{
	timer->used = false;
}

static int ask(int fd, int wanted, void *ctx)
{
	struct net_sockets *s = ctx;
	struct net_socket *socket = socket_of(s, fd);
	struct epoll_event event = {.data.fd = fd};

	for (unsigned i = 0; i < EVENTS_MAP_LEN; i++)
		if (wanted & events_map[i].slirp)
			event.events |= events_map[i].epoll;
	if (socket->events != event.events)
		epoll_ctl(s->epoll_fd, socket->events ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event);
	socket->events = event.events;
	if (!socket->held) {
		s->held = grow(s->held, s->held_count, &s->held_room, sizeof(*s->held));
		s->held[s->held_count++] = fd;
		socket->held = true;
	}
	socket->round = s->round;
	s->asked = grow(s->asked, s->asked_count, &s->asked_room, sizeof(*s->asked));
	s->asked[s->asked_count] = fd;
	return (int)s->asked_count++;
}

/* Remove sockets that libslirp no longer asks for, because epoll reports errors of every socket in its set. */
static void forget_unasked(struct net_sockets *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->held_count; i++) {
		struct net_socket *socket = &s->socket[s->held[i]];

		if (socket->round == s->round) {
			s->held[kept++] = s->held[i];
			continue;
		}
		if (socket->events)
			epoll_ctl(s->epoll_fd, EPOLL_CTL_DEL, s->held[i], NULL);
		socket->events = 0;
		socket->held = false;
	}
	s->held_count = kept;
}

void net_sockets_prepare(struct net_sockets *s, Slirp *slirp)
{
	uint32_t timeout = UINT32_MAX;

	s->round++;
	s->asked_count = 0;
	slirp_pollfds_fill(slirp, &timeout, ask, s);
	forget_unasked(s);
	if (timeout != UINT32_MAX)
		arm(s, net_sockets_clock() + (int64_t)timeout * NS_PER_MS);
}

/*
 * Returns the socket's events for libslirp. After an error or a hang-up, libslirp reads the socket. While libslirp's buffer for
 * the guest is full, libslirp does not ask to read, and must not read: soread() of libslirp 4.7 asserts that the buffer has
 * room. But epoll reports errors and hang-ups even then. So if libslirp did not ask to read, do not pass on an error or a
 * hang-up: pass on that the socket is writable, if libslirp asked for that.
 */
static uint32_t without_unasked_read(const struct net_socket *socket)
{
	const uint32_t broken = EPOLLERR | EPOLLHUP;

	if (!(socket->ready & broken) || socket->events & EPOLLIN)
		return socket->ready;
	return (socket->ready & ~broken) | (socket->events & EPOLLOUT);
}

static int ready_of(int index, void *ctx)
{
	struct net_sockets *s = ctx;
	uint32_t events = without_unasked_read(&s->socket[s->asked[index]]);
	int ready = 0;

	for (unsigned i = 0; i < EVENTS_MAP_LEN; i++)
		if (events & events_map[i].epoll)
			ready |= events_map[i].slirp;
	return ready;
}

static void serve_timers(struct net_sockets *s, Slirp *slirp)
{
	int64_t now = net_sockets_clock() / NS_PER_MS;

	for (unsigned i = 0; i < SLIRP_TIMER_NUM; i++) {
		struct net_timer *timer = &s->timer[i];

		if (!timer->used || timer->expires < 0)
			continue;
		if (timer->expires > now) {
			arm(s, timer->expires * NS_PER_MS);
			continue;
		}
		timer->expires = -1;
		slirp_handle_timer(slirp, timer->id, timer->ctx);
	}
}

void net_sockets_serve(struct net_sockets *s, Slirp *slirp)
{
	struct epoll_event event[EVENTS_AT_ONCE];
	int count = epoll_wait(s->epoll_fd, event, EVENTS_AT_ONCE, 0);
	bool expired = false;

	for (size_t i = 0; i < s->asked_count; i++)
		s->socket[s->asked[i]].ready = 0;
	for (int i = 0; i < count; i++) {
		uint64_t expirations;

		if (event[i].data.fd != s->timer_fd) {
			s->socket[event[i].data.fd].ready = event[i].events;
		} else if (read(s->timer_fd, &expirations, sizeof(expirations)) > 0) {
			s->armed = INT64_MAX;
			expired = true;
		}
	}
	slirp_pollfds_poll(slirp, count < 0, ready_of, s);
	if (expired)
		serve_timers(s, slirp);
}
