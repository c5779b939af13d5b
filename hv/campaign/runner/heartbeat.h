/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Receives the heartbeat of the guest agent. The agent connects through the vsock device to a Unix socket of the runner. Not
 * thread-safe.
 */
#ifndef OUTRIDER_CAMPAIGN_RUNNER_HEARTBEAT_H
#define OUTRIDER_CAMPAIGN_RUNNER_HEARTBEAT_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/base/err.h"

/* Bytes of the path of the folder with the sockets, with the NUL. A socket's path has at most 107 (unix(7)). */
#define HEARTBEAT_PATH_MAX 88

struct heartbeat {
	char folder[HEARTBEAT_PATH_MAX]; /* folder of the sockets; "": closed */
	int lock;			 /* descriptor of the locked folder; -1: closed */
	int listener, agent;		 /* -1: closed */
	uint64_t last_ns;		 /* monotonic_ns() of the last message of the agent */
};

/* Listen for the agent. Returns 0, or -1 with err set. In both cases call heartbeat_close(), which removes the sockets. */
int heartbeat_open(struct heartbeat *h, struct err *err);
void heartbeat_close(struct heartbeat *h);

/*
 * Remove the folders that killed processes of this user left in $TMPDIR (or in /tmp, if $TMPDIR is not set, not an absolute
 * path, or too long for a socket's path). The folder of a live process is locked, and stays.
 */
void heartbeat_sweep(void);

/*
 * Write the value of --vsock to `out`, which has `size` bytes. `to_repeat`: the value is for a command that a user runs later,
 * without this socket.
 */
void heartbeat_option(const struct heartbeat *h, bool to_repeat, char *out, unsigned size);

/* Read what the agent sent. Returns the nanoseconds since its last message; 0 if no agent is connected. */
uint64_t heartbeat_silence(struct heartbeat *h);

#endif
