/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent's connection to the host: by vsock, or by a console, which is a serial line or a port of a virtio console. One
 * second after the connection has failed or the host has hung up, the agent connects again. The agent never waits for a host
 * that does not read: no function here blocks, except link_finish().
 */
#ifndef OUTRIDER_LINK_H
#define OUTRIDER_LINK_H

#include <stdbool.h>
#include <stddef.h>

/* The virtio console port that the agent opens if the machine has no vsock. QEMU or libvirt gives the port this name. */
#define LINK_VIRTIO_PORT "/dev/virtio-ports/org.outrider.agent"

#define LINK_ROOM 65536 /* maximum number of bytes that wait to be sent to the host */

enum link_state { LINK_DOWN, LINK_CALLING, LINK_UP };

struct link {
	const char *console; /* path of the console; NULL: vsock, or LINK_VIRTIO_PORT if the machine has no vsock */
	unsigned int port;   /* the host's vsock port */
	enum link_state state;
	int fd;		 /* -1 in LINK_DOWN */
	double retry_at; /* in LINK_DOWN: when to try next, in seconds of now()'s clock */
	char out[LINK_ROOM];
	size_t out_len;
};

/* Initialise a link, in the state LINK_DOWN. */
void link_init(struct link *link, const char *console, unsigned int port);

/* If the link is down and `retry_at` has come, try to reach the host. Returns whether this call brought the link up. */
bool link_try(struct link *link);

/* Returns the events for which to poll() link->fd. `input` says whether the caller can read input now. */
short link_events(const struct link *link, bool input);

/* Handle the events that poll() reported for link->fd. Returns whether they brought the link up. */
bool link_ready(struct link *link, short revents);

/* Hang up. link_try() connects again one second later at the earliest. */
void link_drop(struct link *link);

/* Read what the host has sent. Returns the number of bytes, or 0. If the host has hung up, the link is dropped. */
size_t link_read(struct link *link, char *buf, size_t size);

/*
 * Queue a line for the host, with a newline appended, and send what the link takes. If the queue is half full, a line with
 * `may_be_lost` is left out. If there is no room for a line that must not be lost, the link is dropped. Returns whether the
 * line was queued.
 */
bool link_send(struct link *link, bool may_be_lost, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/*
 * Send all queued lines, and hang up once the host has read them, or after 5 s. Call this before the machine is powered off:
 * bytes that the host has not read by then are lost.
 */
void link_finish(struct link *link);

/* Write queued bytes to the link until it takes no more. */
void link_flush(struct link *link);

#endif
