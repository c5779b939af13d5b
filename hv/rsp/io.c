/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sends and receives bytes, and makes packets of received bytes. */
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

/* The client gives up after more bytes of useless input than this since its last request. No stub sends as much unasked. */
#define NOISE_MAX (1u << 20)
#define DAMAGE_MAX 16u /* Number of damaged packets in a row after which the client gives up. */

int rsp_die(struct rsp *r, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return err_set(&r->dead, EXIT_INPUT, "%s", text);
}

/* ---- time limits ---- */

/* Check the time limits that cover several requests. Returns 0, or -1 when one is exceeded and the client is dead. */
static int check_limits(struct rsp *r)
{
	uint64_t now = monotonic_ns();

	if (now >= limit_end(r->limit))
		return rsp_die(r, "the gdbstub did not answer within its time limit");
	if (now >= r->total_ns)
		return rsp_die(r,
			       "the gdbstub answers too slowly: the requests at the start of the session take more than %llu s",
			       RSP_OPEN_NS / 1000000000u);
	return 0;
}

void rsp_allow(struct rsp *r, uint64_t ns)
{
	r->total_ns = ns ? monotonic_ns() + ns : LIMIT_NONE;
}

/*
 * Wait until the descriptor is ready for `events` (poll(2)), but not beyond `deadline_ns` and no longer than LIMIT_LOOK_NS. A
 * caller that waits longer calls this function again, which checks the client's time limits each time. Returns 1 if the
 * descriptor is ready, 0 if not, or -1 if the client is dead.
 */
static int wait_for(struct rsp *r, short events, uint64_t deadline_ns)
{
	struct pollfd fd = {.fd = r->fd, .events = events};
	uint64_t now = monotonic_ns(), left = deadline_ns > now ? deadline_ns - now : 0;
	struct timespec timeout = {.tv_nsec = (long)(left < LIMIT_LOOK_NS ? left : LIMIT_LOOK_NS)};
	int n;

	if (check_limits(r))
		return -1;
	n = ppoll(&fd, 1, &timeout, NULL);
	if (n < 0 && errno != EINTR)
		return rsp_die(r, "gdbstub: %s", strerror(errno));
	return n > 0;
}

/* ---- output ---- */

static int send_all(struct rsp *r, const uint8_t *bytes, size_t len)
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
			if (monotonic_ns() >= deadline)
				return rsp_die(r, "the gdbstub does not take requests any more");
		} else if (n == 0 || errno != EINTR) {
			r->exited |= errno == EPIPE || errno == ECONNRESET;
			return rsp_die(r, "the connection to the gdbstub was lost: %s", strerror(errno));
		}
	}
	return 0;
}

/* Send the packets in rsp.out. If an acknowledgement is owed, send its '+' with them, which saves a system call. */
static int send_packets(struct rsp *r)
{
	bool ack = r->owe_ack && !r->no_ack;

	r->owe_ack = false;
	return ack ? send_all(r, r->out, r->out_len) : send_all(r, r->out + 1, r->out_len - 1);
}

int rsp_keep(struct rsp *r, const char *payload, size_t len)
{
	size_t framed;

	if (r->dead.code != EXIT_OK)
		return -1;
	if (!r->unsent) {
		r->out[0] = '+';
		r->out_len = 1;
		r->out_packets = 0;
	}
	framed = rsp_frame(payload, len, r->out + r->out_len, sizeof(r->out) - r->out_len);
	if (!framed)
		return rsp_die(r, "gdbstub: a request of %zu bytes is too long", len);
	r->out_len += framed;
	r->out_packets++;
	r->unsent = true;
	return 0;
}

int rsp_send_kept(struct rsp *r)
{
	if (r->dead.code != EXIT_OK)
		return -1;
	r->noise = 0;
	r->naks = 0;
	r->unsent = false;
	return send_packets(r);
}

int rsp_send(struct rsp *r, const char *payload, size_t len)
{
	return rsp_keep(r, payload, len) ? -1 : rsp_send_kept(r);
}

int rsp_interrupt(struct rsp *r)
{
	static const uint8_t interrupt[] = {'+', 3};
	bool ack = r->owe_ack && !r->no_ack;

	if (r->dead.code != EXIT_OK)
		return -1;
	r->owe_ack = false;
	return ack ? send_all(r, interrupt, 2) : send_all(r, interrupt + 1, 1);
}

void rsp_send_ack(struct rsp *r)
{
	if (r->owe_ack && !r->no_ack)
		send_all(r, (const uint8_t *)"+", 1);
	r->owe_ack = false;
}

/* ---- input ---- */

static int read_input(struct rsp *r)
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

static int add_noise(struct rsp *r, size_t bytes)
{
	r->noise += bytes;
	return r->noise > NOISE_MAX ? rsp_die(r, "this is not a gdbstub: it keeps sending data that outrider did not ask for")
				    : 0;
}

int rsp_ignore(struct rsp *r)
{
	return add_noise(r, r->payload_len + 4);
}

/*
 * Send the last packet again, because the stub reported it as damaged. If several packets were sent together, the client dies,
 * because the stub does not tell which of them was damaged.
 */
static int send_again(struct rsp *r)
{
	if (r->no_ack || !r->out_len)
		return 0;
	if (r->out_packets > 1 || ++r->naks > DAMAGE_MAX)
		return rsp_die(r, "the gdbstub reports a request as damaged each time that it is sent");
	return send_packets(r);
}

/* Ask the stub to send its last packet again, because it arrived damaged. */
static int ask_again(struct rsp *r)
{
	if (r->no_ack || ++r->damaged > DAMAGE_MAX)
		return rsp_die(r, "the gdbstub sent a damaged packet");
	return send_all(r, (const uint8_t *)"-", 1);
}

/*
 * Handle the received acknowledgements and useless bytes up to the end of the next packet, and decode this packet into
 * rsp.payload. Returns 1 for a packet, 0 if no packet is complete yet, -1 if the client is dead.
 */
static int take_token(struct rsp *r)
{
	for (;;) {
		size_t used;
		enum rsp_token token = rsp_scan(r->in + r->in_start, r->in_len, &used, r->payload, &r->payload_len);

		r->in_start += used;
		r->in_len -= used;
		if (token != RSP_PACKET && add_noise(r, used))
			return -1;
		switch (token) {
		case RSP_NOTHING:
			return 0;
		case RSP_ACK:
			break;
		case RSP_NAK:
			if (send_again(r))
				return -1;
			break;
		case RSP_DAMAGED:
			if (ask_again(r))
				return -1;
			break;
		case RSP_HOSTILE:
			return rsp_die(r, "this is not a gdbstub: it sends a packet that is too long");
		case RSP_PACKET:
			r->payload[r->payload_len] = 0;
			r->damaged = 0;
			r->owe_ack = true;
			return 1;
		}
	}
}

int rsp_receive(struct rsp *r, uint64_t deadline_ns)
{
	/*
	 * After the deadline, read and parse only once more, and then return. A stub that keeps sending must not extend the
	 * wait.
	 */
	for (bool late = false;;) {
		int ready, got = r->dead.code == EXIT_OK ? take_token(r) : -1;

		if (got || late)
			return got;
		late = monotonic_ns() >= deadline_ns;
		ready = wait_for(r, POLLIN, deadline_ns);
		if (ready < 0 || (ready && read_input(r)))
			return -1;
	}
}
