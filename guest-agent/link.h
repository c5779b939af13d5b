/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent's connection to the host: by vsock, or by a console, which is a serial line or a port of a virtio console. It is
 * made again, a second later, whenever it fails or the host hangs up. The agent never waits for a host that does not read.
 */
#ifndef OUTRIDER_LINK_H
#define OUTRIDER_LINK_H

#include <stdbool.h>
#include <stddef.h>

/* The port of a virtio console that is tried where there is no vsock. A machine of QEMU or libvirt gives it this name. */
#define LINK_VIRTIO_PORT "/dev/virtio-ports/org.outrider.agent"

#define LINK_ROOM 65536 /* bytes that wait for the host */

enum link_state { LINK_DOWN, LINK_CALLING, LINK_UP };

struct link {
	const char *console; /* path of the console; NULL: vsock, or LINK_VIRTIO_PORT where the machine has no vsock */
	unsigned int port;   /* of the host, for vsock */
	enum link_state state;
	int fd;		 /* -1 in LINK_DOWN */
	double retry_at; /* in LINK_DOWN: when to try next, of now()'s clock */
	char out[LINK_ROOM];
	size_t out_len;
};

/* A link that is down. */
void link_init(struct link *link, const char *console, unsigned int port);

/* Try to reach the host, when it is time to and the link is down. Returns whether the link has come up. */
bool link_try(struct link *link);

/* What to poll() link->fd for. `input` says whether the caller would read now. */
short link_events(const struct link *link, bool input);

/* Handle the events that poll() reported for link->fd. Returns whether the link has come up. */
bool link_ready(struct link *link, short revents);

/* Hang up, and try again in a second. */
void link_drop(struct link *link);

/* Read what the host has sent. Returns the number of bytes, or 0. The link goes down when the host has hung up. */
size_t link_read(struct link *link, char *buf, size_t size);

/*
 * Send a line, to which the newline is added. A line that may be lost is left out when the host has not read what was sent
 * before. When there is no room for a line that must not be lost, the link is dropped. Returns whether the line was sent.
 */
bool link_send(struct link *link, bool may_be_lost, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/*
 * Send what waits for the host, and hang up once the host has read it, or when it does not within a few seconds. To be called
 * before the machine is powered off, which would lose what is still under way.
 */
void link_finish(struct link *link);

/* Write what waits for the host, as far as there is room for it. */
void link_flush(struct link *link);

#endif
