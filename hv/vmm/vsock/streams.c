// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Connects programs in the guest with programs of the host. A stream is one connection: vsock packets on the side of the guest
 * (virtio 1.2, section 5.10), a Unix socket on the side of the host.
 */
#include "hv/vmm/vsock/streams.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "hv/vmm/vsock/host.h"
#include "hv/vmm/vsock/socket.h"

/*
 * Maximum number of RST packets that wait until the guest takes them. The device replies with an RST to a packet that belongs
 * to no connection. While this number of replies waits, the device takes no packets from the guest (vsock_streams_full()).
 */
#define REPLIES 64

/*
 * If a program of the host opens a connection, the device gives the connection a port of the host from this range. The range
 * lies above the ports on which programs usually listen.
 */
#define FIRST_PORT (UINT32_C(1) << 30)
#define LAST_PORT (UINT32_MAX >> 1)

#define ADVICE "end the machine that has it, or give --vsock CID,socket=PATH with another path"

/* Time in ns until the retry of an accept4() that failed, for example because file descriptors had run out. */
#define RETRY_NS 100000000

/* the length of "CONNECT 4294967295\n" */
#define CALL_LENGTH 19

enum state {
	FREE,
	ASKED,	/* a program of the host has connected, and has not sent the port yet */
	CALLED, /* a VSOCK_OP_REQUEST waits for the guest, or was sent and is not answered yet */
	OPEN,
	DEAD, /* the program of the host is gone; the guest must get an RST */
};

/*
 * Kinds of packets that a stream must still send to the guest, as bits. Data have no bit: they must be sent while `readable` is
 * set.
 */
enum due { DUE_REQUEST = 1, DUE_RESPONSE = 2, DUE_CREDIT = 4, DUE_CREDIT_REQUEST = 8, DUE_SHUTDOWN = 16 };

struct stream {
	struct vsock_streams *all;
	enum state state;
	int fd; /* connected socket of the program of the host; not open in FREE and DEAD */
	uint32_t host_port, guest_port;
	unsigned due; /* enum due */
	char call[CALL_LENGTH + 1];
	size_t call_len;

	/* From the guest to the host. */
	unsigned char *held; /* VSOCK_BUFFER bytes; NULL: not needed yet */
	size_t held_len;     /* bytes in `held`, for which the socket had no room */
	uint32_t received;   /* bytes received from the guest; wraps */
	uint32_t forwarded;  /* bytes that were written to the socket; wraps */
	uint32_t told;	     /* the value of `forwarded` that the last packet to the guest contained */
	unsigned guest_shut; /* enum vsock_shutdown, received from the guest */

	/* From the host to the guest. */
	bool readable;		/* the socket may have bytes to read, or be at its end */
	bool hung_up;		/* the program has closed its socket for both directions */
	uint32_t sent;		/* bytes sent to the guest; wraps */
	uint32_t room;		/* buf_alloc of the guest's last packet */
	uint32_t guest_fwd_cnt; /* fwd_cnt of the guest's last packet */
	unsigned host_shut;	/* enum vsock_shutdown, sent to the guest */
};

struct vsock_streams {
	struct worker *worker;
	uint32_t guest_cid;
	struct vsock_wake wake;
	int listener;
	int retry; /* timerfd, set after accept4() has failed */
	char path[VSOCK_PATH_MAX];
	uint32_t next_port; /* port for the next connection that a program of the host opens */
	unsigned turn;	    /* index of the stream that is next to send a packet */
	struct stream stream[VSOCK_CONNECTIONS];
	struct vsock_header reply[REPLIES];
	unsigned reply_head, reply_count;
};

/* ---- creation and end of a stream ---- */

static void close_socket(struct stream *t)
{
	worker_unwatch(t->all->worker, t->fd);
	close(t->fd);
	t->fd = -1;
	free(t->held);
	t->held = NULL;
	t->held_len = 0;
}

static void forget(struct stream *t)
{
	if (t->state == FREE)
		return;
	if (t->state != DEAD)
		close_socket(t);
	t->state = FREE;
}

/* Close the connection. If the guest has sent or received a packet of this connection, also send the guest an RST. */
static void kill_stream(struct stream *t)
{
	if (t->state == ASKED || (t->state == CALLED && t->due & DUE_REQUEST)) {
		forget(t);
	} else if (t->state != DEAD) {
		close_socket(t);
		t->state = DEAD;
	}
}

static struct stream *find(struct vsock_streams *s, uint32_t host_port, uint32_t guest_port)
{
	for (unsigned i = 0; i < VSOCK_CONNECTIONS; i++) {
		struct stream *t = &s->stream[i];

		if (t->state != FREE && t->state != ASKED && t->host_port == host_port && t->guest_port == guest_port)
			return t;
	}
	return NULL;
}

static void on_socket(void *ctx, uint32_t events);

/*
 * Make a stream of the connected socket `fd`. On failure, for example if all streams are in use, closes `fd` and returns NULL.
 */
static struct stream *add(struct vsock_streams *s, int fd, enum state state)
{
	struct stream *t = s->stream;

	while (t < s->stream + VSOCK_CONNECTIONS && t->state != FREE)
		t++;
	if (t == s->stream + VSOCK_CONNECTIONS) {
		close(fd);
		return NULL;
	}
	*t = (struct stream){.all = s, .state = state, .fd = fd};
	/*
	 * Edge-triggered: a level-triggered event would repeat while the socket is readable and the guest has no buffer space.
	 */
	if (worker_watch(s->worker, fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, on_socket, t, NULL) == 0)
		return t;
	forget(t);
	return NULL;
}

/* ---- from the guest to the host ---- */

/*
 * Pass on a shutdown of the guest, if no held bytes are left to write. If the guest will send no more, shut down the socket for
 * writing. If the guest has shut down both directions, close the connection.
 */
static void finish_shutdown(struct stream *t)
{
	if (t->held_len)
		return;
	if (t->guest_shut & VSOCK_NO_SEND)
		shutdown(t->fd, SHUT_WR);
	if (t->guest_shut == VSOCK_NEITHER)
		kill_stream(t);
}

/* Count `len` bytes that were written to the socket, and send a credit update if the guest may be waiting for one. */
static void forwarded(struct stream *t, size_t len)
{
	t->forwarded += (uint32_t)len;
	if (t->forwarded - t->told >= VSOCK_BUFFER / 2)
		t->due |= DUE_CREDIT;
}

/* Write to the socket. Returns the number of bytes written, or -1 if the program of the host is gone. */
static ssize_t write_socket(struct stream *t, const void *data, size_t len)
{
	ssize_t n = send(t->fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	return n;
}

static void flush(struct stream *t)
{
	while (t->held_len) {
		ssize_t n = write_socket(t, t->held, t->held_len);

		if (n < 0) {
			kill_stream(t);
			return;
		}
		if (n == 0)
			return;
		t->held_len -= (size_t)n;
		memmove(t->held, t->held + n, t->held_len);
		forwarded(t, (size_t)n);
	}
	free(t->held);
	t->held = NULL;
	finish_shutdown(t);
}

/*
 * Keep the bytes that the socket had no room for. They fit into `held`, because the guest had at most VSOCK_BUFFER bytes of
 * credit. Returns false if memory runs out.
 */
static bool hold(struct stream *t, const unsigned char *data, size_t len)
{
	if (!t->held)
		t->held = malloc(VSOCK_BUFFER);
	if (!t->held)
		return false;
	memcpy(t->held + t->held_len, data, len);
	t->held_len += len;
	return true;
}

/* Pass payload from the guest to the program of the host. Returns false if the connection must be closed. */
static bool take_data(struct stream *t, const unsigned char *data, size_t len)
{
	ssize_t n = 0;

	if (t->guest_shut & VSOCK_NO_SEND || len > VSOCK_BUFFER - (t->received - t->forwarded))
		return false;
	t->received += (uint32_t)len;
	if (!t->held_len)
		n = write_socket(t, data, len);
	if (n < 0)
		return false;
	forwarded(t, (size_t)n);
	return (size_t)n == len || hold(t, data + n, len - (size_t)n);
}

/* ---- packets from the guest ---- */

/*
 * Reply with an RST, unless the packet is an RST. There is room for the reply, because the device takes no packets while there
 * is none (vsock_streams_full()).
 */
static void refuse(struct vsock_streams *s, const struct vsock_header *h)
{
	if (h->op == VSOCK_OP_RST || vsock_streams_full(s))
		return;
	s->reply[(s->reply_head + s->reply_count++) % REPLIES] = (struct vsock_header){
		.src_cid = h->dst_cid,
		.dst_cid = s->guest_cid,
		.src_port = h->dst_port,
		.dst_port = h->src_port,
		.type = h->type,
		.op = VSOCK_OP_RST,
	};
}

/* Handle the request of a program in the guest to connect to a port of the host. */
static void called_by_guest(struct vsock_streams *s, const struct vsock_header *h)
{
	int fd = vsock_socket_call(s->path, h->dst_port);
	struct stream *t = fd < 0 ? NULL : add(s, fd, OPEN);

	if (!t) {
		refuse(s, h);
		return;
	}
	t->host_port = h->dst_port;
	t->guest_port = h->src_port;
	t->due = DUE_RESPONSE;
	t->room = h->buf_alloc;
	t->guest_fwd_cnt = h->fwd_cnt;
}

/*
 * Handle a packet by which the guest accepts the connection of a program of the host. Returns false if the connection must be
 * closed.
 */
static bool accepted_by_guest(struct stream *t)
{
	char line[16];
	int len = snprintf(line, sizeof(line), "OK %u\n", t->host_port);

	if (t->state != CALLED)
		return false;
	t->state = OPEN;
	/* The socket is new, so it has room for the line. */
	return write_socket(t, line, (size_t)len) == len;
}

/*
 * Handle a packet of a connection. Returns false if the guest must not send this packet now, or if the connection must be
 * closed.
 */
static bool take_packet(struct stream *t, const struct vsock_header *h, const void *payload, size_t len)
{
	if (h->op == VSOCK_OP_RESPONSE)
		return accepted_by_guest(t);
	if (t->state != OPEN)
		return false;
	switch (h->op) {
	case VSOCK_OP_RW:
		return take_data(t, payload, len);
	case VSOCK_OP_CREDIT_UPDATE:
		return true;
	case VSOCK_OP_CREDIT_REQUEST:
		t->due |= DUE_CREDIT;
		return true;
	case VSOCK_OP_SHUTDOWN:
		t->guest_shut |= h->flags & VSOCK_NEITHER;
		if (t->guest_shut & VSOCK_NO_RECEIVE)
			shutdown(t->fd, SHUT_RD);
		finish_shutdown(t);
		return true;
	default:
		return false;
	}
}

static bool is_valid(const struct vsock_streams *s, const struct vsock_header *h, size_t len)
{
	return h->type == VSOCK_STREAM && h->src_cid == s->guest_cid && h->dst_cid == VSOCK_HOST_CID && h->len == len &&
	       (h->op == VSOCK_OP_RW || len == 0);
}

void vsock_streams_take(struct vsock_streams *s, const struct vsock_header *h, const void *payload, size_t len)
{
	bool ours = h->src_cid == s->guest_cid && h->dst_cid == VSOCK_HOST_CID && h->type == VSOCK_STREAM;
	struct stream *t = ours ? find(s, h->dst_port, h->src_port) : NULL;

	if (h->op == VSOCK_OP_RST) {
		if (t)
			forget(t);
	} else if (!t && h->op == VSOCK_OP_REQUEST && is_valid(s, h, len)) {
		called_by_guest(s, h);
	} else if (!t) {
		refuse(s, h);
	} else if (t->state != DEAD) {
		t->room = h->buf_alloc;
		t->guest_fwd_cnt = h->fwd_cnt;
		if (!is_valid(s, h, len) || !take_packet(t, h, payload, len))
			kill_stream(t);
	}
}

/* ---- packets for the guest ---- */

bool vsock_streams_full(const struct vsock_streams *s)
{
	return s->reply_count == REPLIES;
}

/* Returns the guest's free buffer space in bytes; 0 if the guest claims to have removed more bytes than were sent. */
static uint32_t credit(const struct stream *t)
{
	uint32_t under_way = t->sent - t->guest_fwd_cnt;

	return under_way < t->room ? t->room - under_way : 0;
}

static bool can_read(const struct stream *t)
{
	return t->state == OPEN && t->readable && !(t->guest_shut & VSOCK_NO_RECEIVE);
}

static bool is_due(const struct stream *t)
{
	return t->state == DEAD || (t->state != FREE && t->due) || (can_read(t) && credit(t));
}

bool vsock_streams_due(const struct vsock_streams *s)
{
	if (s->reply_count)
		return true;
	for (unsigned i = 0; i < VSOCK_CONNECTIONS; i++)
		if (is_due(&s->stream[i]))
			return true;
	return false;
}

static void fill_header(struct stream *t, struct vsock_header *h, enum vsock_op op)
{
	*h = (struct vsock_header){
		.src_cid = VSOCK_HOST_CID,
		.dst_cid = t->all->guest_cid,
		.src_port = t->host_port,
		.dst_port = t->guest_port,
		.type = VSOCK_STREAM,
		.op = (uint16_t)op,
		.buf_alloc = VSOCK_BUFFER,
		.fwd_cnt = t->forwarded,
	};
	t->told = t->forwarded;
	t->due &= ~(unsigned)DUE_CREDIT;
}

/* Read from the socket for the guest. Returns the number of bytes read, 0 if no bytes are available. */
static size_t read_socket(struct stream *t, void *payload, size_t room)
{
	size_t most = credit(t) < room ? credit(t) : room;
	ssize_t n = recv(t->fd, payload, most, MSG_DONTWAIT);

	if (n > 0) {
		t->sent += (uint32_t)n;
		if (!credit(t))
			t->due |= DUE_CREDIT_REQUEST;
		return (size_t)n;
	}
	if (n < 0 && errno == EINTR)
		return 0;
	t->readable = false;
	if (n < 0 && errno == EAGAIN)
		return 0;
	t->host_shut |= n < 0 || t->hung_up ? VSOCK_NEITHER : VSOCK_NO_SEND;
	t->due |= DUE_SHUTDOWN;
	return 0;
}

/* Make the next packet of one stream. Returns false if the stream has no packet to send. */
static bool give(struct stream *t, struct vsock_header *h, void *payload, size_t room)
{
	static const struct {
		enum due due;
		enum vsock_op op;
	} control[] = {
		{DUE_REQUEST, VSOCK_OP_REQUEST},      {DUE_RESPONSE, VSOCK_OP_RESPONSE},
		{DUE_CREDIT, VSOCK_OP_CREDIT_UPDATE}, {DUE_CREDIT_REQUEST, VSOCK_OP_CREDIT_REQUEST},
		{DUE_SHUTDOWN, VSOCK_OP_SHUTDOWN},
	};
	size_t len = 0;

	if (t->state == DEAD) {
		fill_header(t, h, VSOCK_OP_RST);
		forget(t);
		return true;
	}
	if (!t->due && can_read(t) && credit(t) && room)
		len = read_socket(t, payload, room);
	if (len) {
		fill_header(t, h, VSOCK_OP_RW);
		h->len = (uint32_t)len;
		return true;
	}
	for (size_t i = 0; i < sizeof(control) / sizeof(*control); i++) {
		if (!(t->due & control[i].due))
			continue;
		t->due &= ~(unsigned)control[i].due;
		fill_header(t, h, control[i].op);
		if (control[i].due == DUE_SHUTDOWN)
			h->flags = t->host_shut;
		return true;
	}
	return false;
}

bool vsock_streams_give(struct vsock_streams *s, struct vsock_header *h, void *payload, size_t room)
{
	if (s->reply_count) {
		*h = s->reply[s->reply_head];
		s->reply_head = (s->reply_head + 1) % REPLIES;
		s->reply_count--;
		return true;
	}
	for (unsigned i = 0; i < VSOCK_CONNECTIONS; i++) {
		struct stream *t = &s->stream[(s->turn + i) % VSOCK_CONNECTIONS];

		if (is_due(t) && give(t, h, payload, room)) {
			s->turn = (unsigned)(t - s->stream + 1) % VSOCK_CONNECTIONS;
			return true;
		}
	}
	return false;
}

/* ---- programs of the host ---- */

static uint32_t new_port(struct vsock_streams *s)
{
	for (;;) {
		uint32_t port = s->next_port;
		bool used = false;

		s->next_port = port == LAST_PORT ? FIRST_PORT : port + 1;
		for (unsigned i = 0; i < VSOCK_CONNECTIONS; i++)
			used |= s->stream[i].state != FREE && s->stream[i].host_port == port;
		if (!used)
			return port;
	}
}

/* Read "CONNECT PORT\n" byte by byte, because the bytes after this line are for the guest. */
static void read_call(struct stream *t)
{
	ssize_t n;

	while ((n = recv(t->fd, t->call + t->call_len, 1, MSG_DONTWAIT)) == 1) {
		if (t->call[t->call_len] == '\n') {
			t->call[t->call_len] = '\0';
			if (!vsock_socket_read_call(t->call, &t->guest_port))
				break;
			t->host_port = new_port(t->all);
			t->state = CALLED;
			t->due = DUE_REQUEST;
			return;
		}
		if (++t->call_len == CALL_LENGTH)
			break;
	}
	if (n >= 0 || (errno != EAGAIN && errno != EINTR))
		kill_stream(t);
}

/* Called when epoll reports events on a stream's socket. */
static void on_socket(void *ctx, uint32_t events)
{
	struct stream *t = ctx;
	struct vsock_streams *s = t->all;

	if (events & (EPOLLHUP | EPOLLERR))
		t->hung_up = true;
	if (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR))
		t->readable = true;
	if (t->state == ASKED)
		read_call(t);
	else if (t->hung_up && (t->state == CALLED || (t->state == OPEN && t->guest_shut & VSOCK_NO_RECEIVE)))
		kill_stream(t); /* close the connection now, because no later read would detect that the socket is closed */
	else if (t->state == OPEN && t->held_len)
		flush(t);
	s->wake.ready(s->wake.ctx);
}

/*
 * Accept new connections. If accept4() fails, a timer retries it: other devices may have used up the file descriptors, and no
 * event tells when one is closed.
 */
static void on_listener(void *ctx, uint32_t events)
{
	static const struct itimerspec later = {.it_value = {.tv_nsec = RETRY_NS}};
	struct vsock_streams *s = ctx;
	int fd;

	(void)events;
	while ((fd = accept4(s->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0 || errno == ECONNABORTED)
		if (fd >= 0)
			add(s, fd, ASKED);
	if (errno != EAGAIN)
		timerfd_settime(s->retry, 0, &later, NULL);
}

static void on_retry(void *ctx, uint32_t events)
{
	const struct vsock_streams *s = ctx;
	uint64_t times;

	if (read(s->retry, &times, sizeof(times)) == (ssize_t)sizeof(times))
		on_listener(ctx, events);
}

static int start_listening(struct vsock_streams *s, struct err *err)
{
	s->listener = vsock_listen(s->path, ADVICE, err);
	if (s->listener < 0)
		return -1;
	s->retry = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (s->retry < 0)
		return err_set(err, EXIT_INTERNAL, "no file descriptor for the vsock device: %s", strerror(errno));
	/*
	 * Edge-triggered: if accept4() fails because no file descriptor is free, a level-triggered event would repeat without
	 * end.
	 */
	if (worker_watch(s->worker, s->listener, EPOLLIN | EPOLLET, on_listener, s, err) < 0)
		return -1;
	return worker_watch(s->worker, s->retry, EPOLLIN, on_retry, s, err);
}

struct vsock_streams *vsock_streams_new(struct worker *worker, uint32_t guest_cid, const char *path,
					const struct vsock_wake *wake, struct err *err)
{
	struct vsock_streams *s = calloc(1, sizeof(*s));

	if (!s) {
		err_set(err, EXIT_INTERNAL, "out of memory for the vsock device");
		return NULL;
	}
	s->worker = worker;
	s->guest_cid = guest_cid;
	s->wake = *wake;
	s->next_port = FIRST_PORT;
	s->listener = s->retry = -1;
	if (snprintf(s->path, sizeof(s->path), "%s", path) + sizeof(VSOCK_PORT_SUFFIX) > VSOCK_PATH_MAX)
		err_set(err, EXIT_INPUT, "the path of the socket %s is longer than %zu bytes; name a shorter one", path,
			VSOCK_PATH_MAX - sizeof(VSOCK_PORT_SUFFIX));
	else if (start_listening(s, err) == 0)
		return s;
	vsock_streams_free(s);
	return NULL;
}

void vsock_streams_reset(struct vsock_streams *s)
{
	for (unsigned i = 0; i < VSOCK_CONNECTIONS; i++)
		forget(&s->stream[i]);
	s->reply_count = 0;
}

static void close_watched(struct worker *w, int fd)
{
	if (fd < 0)
		return;
	worker_unwatch(w, fd);
	close(fd);
}

void vsock_streams_free(struct vsock_streams *s)
{
	if (!s)
		return;
	vsock_streams_reset(s);
	close_watched(s->worker, s->retry);
	close_watched(s->worker, s->listener);
	/* If this machine does not listen, it did not create the socket at the path, and must not remove it. */
	if (s->listener >= 0)
		unlink(s->path);
	free(s);
}
