/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "hv/base/clock.h"
#include "hv/rsp/internal.h"

int rsp_die(struct rsp *r, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return err_set(&r->dead, EXIT_INPUT, "%s", text);
}

/* ---- output ---- */

static int wait_for(struct rsp *r, short events, uint64_t deadline_ns)
{
	struct pollfd fd = {.fd = r->fd, .events = events};
	uint64_t now = monotonic_ns(), left = deadline_ns > now ? deadline_ns - now : 0;
	struct timespec timeout = {.tv_sec = (time_t)(left / 1000000000u), .tv_nsec = (long)(left % 1000000000u)};
	int n = ppoll(&fd, 1, &timeout, NULL);

	if (n < 0 && errno != EINTR)
		return rsp_die(r, "gdbstub: %s", strerror(errno));
	return n > 0;
}

static int put(struct rsp *r, const uint8_t *bytes, size_t len)
{
	uint64_t deadline = monotonic_ns() + RSP_PATIENCE_NS;

	while (len) {
		ssize_t n = send(r->fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n > 0) {
			bytes += n;
			len -= (size_t)n;
		} else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
			int ready = wait_for(r, POLLOUT, deadline);

			if (ready < 0)
				return -1;
			if (!ready && monotonic_ns() >= deadline)
				return rsp_die(r, "the gdbstub does not take requests any more");
		} else if (n == 0 || errno != EINTR) {
			r->exited |= errno == EPIPE || errno == ECONNRESET;
			return rsp_die(r, "the connection to the gdbstub was lost: %s", strerror(errno));
		}
	}
	return 0;
}

/* The acknowledgement that is owed goes in front: one system call less. */
static int put_packet(struct rsp *r)
{
	bool ack = r->owe_ack && !r->no_ack;

	r->owe_ack = false;
	return ack ? put(r, r->out, r->out_len) : put(r, r->out + 1, r->out_len - 1);
}

int rsp_send(struct rsp *r, const char *payload, size_t len)
{
	size_t framed;

	if (r->dead.code != EXIT_OK)
		return -1;
	framed = rsp_frame(payload, len, r->out + 1, sizeof(r->out) - 1);
	if (!framed)
		return rsp_die(r, "gdbstub: a request of %zu bytes is too long", len);
	r->out[0] = '+';
	r->out_len = framed + 1;
	return put_packet(r);
}

int rsp_interrupt(struct rsp *r)
{
	static const uint8_t interrupt[] = {'+', 3};
	bool ack = r->owe_ack && !r->no_ack;

	if (r->dead.code != EXIT_OK)
		return -1;
	r->owe_ack = false;
	return ack ? put(r, interrupt, 2) : put(r, interrupt + 1, 1);
}

void rsp_send_ack(struct rsp *r)
{
	if (r->owe_ack && !r->no_ack)
		put(r, (const uint8_t *)"+", 1);
	r->owe_ack = false;
}

/* ---- input ---- */

static int fill(struct rsp *r)
{
	ssize_t n;

	if (r->in_start) {
		memmove(r->in, r->in + r->in_start, r->in_len);
		r->in_start = 0;
	}
	n = recv(r->fd, r->in + r->in_len, sizeof(r->in) - r->in_len, MSG_DONTWAIT);
	if (n > 0) {
		r->in_len += (size_t)n;
		return 0;
	}
	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
		return 0;
	r->exited |= n == 0 || errno == ECONNRESET;
	if (n < 0)
		return rsp_die(r, "the connection to the gdbstub was lost: %s", strerror(errno));
	return rsp_die(r, "the gdbstub has closed the connection");
}

/* Act on the next token of the input: 1 a packet, 0 nothing more there, -1 dead. */
static int take(struct rsp *r)
{
	for (;;) {
		size_t used;
		enum rsp_token token = rsp_scan(r->in + r->in_start, r->in_len, &used, r->payload, &r->payload_len);

		r->in_start += used;
		r->in_len -= used;
		switch (token) {
		case RSP_NOTHING:
			return 0;
		case RSP_ACK:
			break;
		case RSP_NAK:
			if (!r->no_ack && r->out_len && put_packet(r))
				return -1;
			break;
		case RSP_DAMAGED:
			if (r->no_ack)
				return rsp_die(r, "the gdbstub sent a damaged packet");
			if (put(r, (const uint8_t *)"-", 1))
				return -1;
			break;
		case RSP_HOSTILE:
			return rsp_die(r, "what answers is not a gdbstub: it sends packets without end");
		case RSP_PACKET:
			r->payload[r->payload_len] = 0;
			r->owe_ack = true;
			return 1;
		}
	}
}

int rsp_receive(struct rsp *r, uint64_t deadline_ns)
{
	for (;;) {
		int ready, got = r->dead.code == EXIT_OK ? take(r) : -1;

		if (got)
			return got;
		ready = wait_for(r, POLLIN, deadline_ns);
		if (ready < 0 || (ready && fill(r)))
			return -1;
		if (!ready && monotonic_ns() >= deadline_ns)
			return 0;
	}
}

bool rsp_pending(const struct rsp *r)
{
	return r->in_len;
}

/* ---- a request and its reply ---- */

int rsp_next_reply(struct rsp *r)
{
	uint64_t deadline = monotonic_ns() + RSP_PATIENCE_NS;
	struct rsp_stop ignored;

	for (;;) {
		int got = rsp_receive(r, deadline);

		if (got == 0)
			return rsp_die(r, "the gdbstub does not answer: another debugger may be connected to it");
		if (got < 0)
			return -1;
		/* On connecting, QEMU tells of the stop without having been asked; no reply to what is asked looks like that.
		 */
		if (!rsp_is_stop(r, &ignored))
			return r->dead.code == EXIT_OK ? 0 : -1;
		r->was_running = true;
	}
}

int rsp_ask_bytes(struct rsp *r, const char *payload, size_t len)
{
	r->requests++;
	return rsp_send(r, payload, len) ? -1 : rsp_next_reply(r);
}

int rsp_ask(struct rsp *r, const char *fmt, ...)
{
	char payload[512];
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(payload, sizeof(payload), fmt, ap);
	va_end(ap);
	if (len < 0 || (size_t)len >= sizeof(payload))
		return rsp_die(r, "gdbstub: a request of %d bytes is too long", len);
	return rsp_ask_bytes(r, payload, (size_t)len);
}

bool rsp_said(const struct rsp *r, const char *what)
{
	return r->payload_len == strlen(what) && memcmp(r->payload, what, r->payload_len) == 0;
}
