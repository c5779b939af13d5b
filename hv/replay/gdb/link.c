// SPDX-License-Identifier: GPL-2.0-or-later
/* Sends packets to gdb and receives packets, over a connection that is not trusted. */
#include "hv/replay/gdb/link.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#define INTERRUPT 3
#define NAKS_MAX 16
/* A client that receives nothing for 30 s is treated as gone. */
#define PATIENCE_MS 30000

/*
 * Wait until the connection is ready, for at most `ms` ms, or without limit if `ms` is -1. Returns false when it is not ready;
 * sets `gone` if the connection has ended.
 */
static bool ready(struct link *l, short events, int ms)
{
	/* poll() ignores a file descriptor of -1. */
	struct pollfd fds[2] = {{.fd = l->fd, .events = events}, {.fd = l->stop_fd, .events = POLLIN}};
	int n;

	do
		n = poll(fds, 2, ms);
	while (n < 0 && errno == EINTR);
	if (n < 0 || fds[1].revents)
		l->gone = true;
	return n > 0 && !l->gone;
}

/* Receive available bytes. Returns false when there are none. */
static bool receive_bytes(struct link *l)
{
	ssize_t n = recv(l->fd, l->in + l->in_len, sizeof(l->in) - l->in_len, MSG_DONTWAIT);

	if (n > 0) {
		l->in_len += (size_t)n;
		return true;
	}
	if (n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR))
		l->gone = true;
	return false;
}

static void drop(struct link *l, size_t n)
{
	l->in_len -= n;
	memmove(l->in, l->in + n, l->in_len);
}

static void send_bytes(struct link *l, const uint8_t *bytes, size_t len)
{
	while (len && !l->gone) {
		ssize_t n = send(l->fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n > 0) {
			bytes += n;
			len -= (size_t)n;
		} else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
			l->gone |= !ready(l, POLLOUT, PATIENCE_MS);
		} else {
			l->gone = true;
		}
	}
}

static void send_again(struct link *l)
{
	if (l->no_ack)
		return;
	l->gone |= ++l->naks > NAKS_MAX;
	send_bytes(l, l->out, l->out_len);
}

static void acknowledge(struct link *l, const char *how)
{
	if (!l->no_ack)
		send_bytes(l, (const uint8_t *)how, 1);
}

/*
 * Handle acknowledgements and damaged packets in the input, up to the next good packet. Returns whether the input has a good
 * packet.
 */
static bool take_packet(struct link *l)
{
	while (!l->gone) {
		size_t used;
		enum rsp_token token = rsp_scan(l->in, l->in_len, &used, l->payload, &l->payload_len);

		drop(l, used);
		switch (token) {
		case RSP_NOTHING:
			return false;
		case RSP_ACK:
			break;
		case RSP_NAK:
			send_again(l);
			break;
		case RSP_DAMAGED:
			acknowledge(l, "-");
			break;
		case RSP_HOSTILE:
			l->gone = true;
			break;
		case RSP_PACKET:
			l->payload[l->payload_len] = 0;
			acknowledge(l, "+");
			return true;
		}
	}
	return false;
}

bool link_receive(struct link *l)
{
	while (!take_packet(l)) {
		if (l->gone || !ready(l, POLLIN, -1))
			return false;
		receive_bytes(l);
	}
	return true;
}

void link_send(struct link *l, const char *payload, size_t len)
{
	l->naks = 0;
	l->out_len = rsp_frame(payload, len, l->out, sizeof(l->out));
	send_bytes(l, l->out, l->out_len);
}

bool link_interrupted(struct link *l)
{
	bool interrupted = false;

	/*
	 * A client stops the running machine by sending the byte 0x03. If the buffer is full, there is no room for this byte,
	 * so treat the client as gone.
	 */
	if (l->in_len == sizeof(l->in))
		l->gone = true;
	else if (ready(l, POLLIN, 0))
		receive_bytes(l);
	while (!interrupted && l->in_len && (l->in[0] == INTERRUPT || l->in[0] == '+' || l->in[0] == '-')) {
		interrupted = l->in[0] == INTERRUPT;
		drop(l, 1);
	}
	return interrupted || l->gone;
}
