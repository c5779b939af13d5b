/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stops and what leads to them: resuming, stop replies (GDB manual, E.3), detaching. */
#include <stdio.h>
#include <string.h>

#include "hv/base/clock.h"
#include "hv/rsp/internal.h"

#define SIGNAL_TRAP 5
#define RESUME_MAX 64u

/* A thread id: HEX, or pPROCESS.HEX. 0: all, any or not a thread. */
static uint32_t thread_id(const uint8_t *at, const uint8_t *end)
{
	uint64_t id;

	if (at < end && *at == 'p') {
		at++;
		if (rsp_number(&at, end, &id) || at == end || *at++ != '.')
			return 0;
	}
	return rsp_number(&at, end, &id) == 0 && id <= UINT32_MAX ? (uint32_t)id : 0;
}

static bool key_is(const uint8_t *key, const uint8_t *colon, const char *name)
{
	return (size_t)(colon - key) == strlen(name) && memcmp(key, name, strlen(name)) == 0;
}

/* One "name:value" of a T packet. */
static void read_pair(const uint8_t *key, const uint8_t *end, struct rsp_stop *stop)
{
	const uint8_t *colon = memchr(key, ':', (size_t)(end - key)), *value;
	uint64_t addr;

	if (!colon)
		return;
	value = colon + 1;
	if (key_is(key, colon, "thread")) {
		stop->thread = thread_id(value, end);
	} else if (key_is(key, colon, "watch") || key_is(key, colon, "rwatch") || key_is(key, colon, "awatch")) {
		if (rsp_number(&value, end, &addr))
			return;
		stop->kind = RSP_STOP_WATCH;
		stop->addr = addr;
	}
}

bool rsp_is_stop(struct rsp *r, struct rsp_stop *stop)
{
	const uint8_t *at = r->payload, *end = at + r->payload_len;
	uint8_t signal;

	if (r->payload_len >= 3 && (at[0] == 'W' || at[0] == 'X') && rsp_from_hex(at + 1, 1, &signal) == 0) {
		r->exited = true;
		rsp_die(r, "the machine has ended");
		return false;
	}
	if (r->payload_len < 3 || (at[0] != 'T' && at[0] != 'S') || rsp_from_hex(at + 1, 1, &signal))
		return false;
	*stop = (struct rsp_stop){.kind = signal == SIGNAL_TRAP ? RSP_STOP_BREAK : RSP_STOP_OTHER};
	for (at += 3; at < end;) {
		const uint8_t *semicolon = memchr(at, ';', (size_t)(end - at)), *stretch = semicolon ? semicolon : end;

		read_pair(at, stretch, stop);
		at = semicolon ? semicolon + 1 : end;
	}
	return true;
}

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
	r->running = true;
	return rsp_send(r, text, len);
}

int rsp_step(struct rsp *r, uint32_t thread)
{
	char text[32];
	int len = snprintf(text, sizeof(text), "vCont;s:%x", thread);

	r->requests++;
	r->running = true;
	return rsp_send(r, text, (size_t)len);
}

int rsp_wait(struct rsp *r, uint64_t timeout_ns, struct rsp_stop *stop)
{
	uint64_t deadline = monotonic_ns() + timeout_ns;
	int got;

	/* Whatever else comes (console output, a reply too much) is not for us. */
	while ((got = rsp_receive(r, deadline)) > 0) {
		if (rsp_is_stop(r, stop)) {
			r->running = false;
			return 1;
		}
		if (r->dead.code != EXIT_OK)
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
