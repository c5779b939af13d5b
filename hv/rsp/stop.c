/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Resumes the machine, waits until it stops, and detaches from the stub. */
#include <stdio.h>

#include "hv/base/clock.h"
#include "hv/rsp/internal.h"

#define RESUME_MAX 64u

int rsp_resume(struct rsp *r, const uint32_t *threads, unsigned n)
{
	char text[16 + 16 * RESUME_MAX];
	size_t len = (size_t)snprintf(text, sizeof(text), "vCont");

	if (n > RESUME_MAX)
		return -1;
	for (unsigned i = 0; i < n; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, ";c:%x", threads[i]);
	if (!n)
		len += (size_t)snprintf(text + len, sizeof(text) - len, ";c");
	r->requests++;
	return rsp_send(r, text, len);
}

int rsp_step(struct rsp *r, uint32_t thread)
{
	char text[32];
	int len = snprintf(text, sizeof(text), "vCont;s:%x", thread);

	r->requests++;
	return rsp_send(r, text, (size_t)len);
}

int rsp_wait(struct rsp *r, uint64_t timeout_ns, struct rsp_stop *stop)
{
	uint64_t deadline = monotonic_ns() + timeout_ns;
	int got;

	/* Drop packets that are not stop replies, such as console output or an unexpected reply. */
	while ((got = rsp_receive(r, deadline)) > 0) {
		if (rsp_is_stop(r, stop))
			return 1;
		if (r->dead.code != EXIT_OK || rsp_ignore(r))
			return -1;
	}
	return got;
}

int rsp_detach(struct rsp *r)
{
	if (r->physical && !r->was_physical && rsp_physical(r, false) && r->dead.code != EXIT_OK)
		return -1;
	if (rsp_ask(r, "D") || !rsp_said(r, "OK"))
		return -1;
	rsp_send_ack(r);
	return 0;
}
