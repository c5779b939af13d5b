// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/campaign/runner/heartbeat.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "hv/base/clock.h"

#define PORT 999 /* AGENT_PORT of the guest agent */
#define CID 3

static void socket_path(const struct heartbeat *h, const char *suffix, struct sockaddr_un *address)
{
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	snprintf(address->sun_path, sizeof(address->sun_path), "%s/v%s", h->folder, suffix);
}

int heartbeat_open(struct heartbeat *h, struct err *err)
{
	struct sockaddr_un address;
	char suffix[16];

	*h = (struct heartbeat){.listener = -1, .agent = -1};
	/* The path of a socket is short, and that of a run's folder is not. Only we may enter what mkdtemp() makes. */
	snprintf(h->folder, sizeof(h->folder), "/tmp/outrider-run-XXXXXX");
	if (!mkdtemp(h->folder)) {
		h->folder[0] = '\0';
		return err_set(err, EXIT_INPUT, "cannot make a folder in /tmp: %s", strerror(errno));
	}
	snprintf(suffix, sizeof(suffix), "_%d", PORT);
	socket_path(h, suffix, &address);
	h->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (h->listener < 0 || bind(h->listener, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(h->listener, 1) < 0)
		return err_set(err, EXIT_INPUT, "cannot listen on %s: %s", address.sun_path, strerror(errno));
	return 0;
}

void heartbeat_close(struct heartbeat *h)
{
	static const char *const suffixes[] = {"", "_999"};
	struct sockaddr_un address;

	if (!h->folder[0])
		return;
	for (unsigned i = 0; i < 2; i++) {
		socket_path(h, suffixes[i], &address);
		unlink(address.sun_path);
	}
	rmdir(h->folder);
	h->folder[0] = '\0';
	if (h->listener >= 0)
		close(h->listener);
	if (h->agent >= 0)
		close(h->agent);
	h->listener = h->agent = -1;
}

void heartbeat_option(const struct heartbeat *h, bool to_repeat, char *out, unsigned size)
{
	if (to_repeat)
		snprintf(out, size, "%d", CID);
	else
		snprintf(out, size, "%d,socket=%s/v", CID, h->folder);
}

uint64_t heartbeat_silence(struct heartbeat *h)
{
	char bytes[4096];
	ssize_t n = -1;

	if (!h->folder[0])
		return 0;
	if (h->agent < 0) {
		h->agent = accept4(h->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		h->last_ns = monotonic_ns();
	}
	if (h->agent < 0)
		return 0;
	/* An agent that floods is read on in the next call. */
	for (int i = 0; i < 16 && (n = recv(h->agent, bytes, sizeof(bytes), 0)) > 0; i++)
		h->last_ns = monotonic_ns();
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
		close(h->agent);
		h->agent = -1;
		return 0;
	}
	return monotonic_ns() - h->last_ns;
}
