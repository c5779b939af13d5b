/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest's agent, as far as it says that the guest is alive. The agent calls by the machine's vsock device, which reaches a
 * Unix socket that is listened on here. One thread.
 */
#ifndef OUTRIDER_CAMPAIGN_RUNNER_HEARTBEAT_H
#define OUTRIDER_CAMPAIGN_RUNNER_HEARTBEAT_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/base/err.h"

#define HEARTBEAT_PATH_MAX 64

struct heartbeat {
	char folder[HEARTBEAT_PATH_MAX]; /* of the sockets; "": there is none */
	int lock;			 /* on the folder, held as long as this process needs it; -1: closed */
	int listener, agent;		 /* -1: closed */
	uint64_t last_ns;		 /* when the agent said something last, of monotonic_ns() */
};

/* Listen for the agent. heartbeat_close() must follow. Returns 0, or -1 with err set. */
int heartbeat_open(struct heartbeat *h, struct err *err);
void heartbeat_close(struct heartbeat *h);

/*
 * Remove the folders of this user whose process was killed. That of one that lives stays, whatever process it is.
 */
void heartbeat_sweep(void);

/* The value of --vsock for the machine; `to_repeat`: for one that is started later, without us. */
void heartbeat_option(const struct heartbeat *h, bool to_repeat, char *out, unsigned size);

/*
 * Read what the agent has said. Returns for how long it has said nothing, in ns; 0 while no agent is there, as before its first
 * word and after it has hung up.
 */
uint64_t heartbeat_silence(struct heartbeat *h);

#endif
