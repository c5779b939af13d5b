/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sends requests, receives their replies, and recognises stop replies (GDB manual, E.3). */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "hv/base/clock.h"
#include "hv/rsp/internal.h"

#define SIGNAL_TRAP 5

/* ---- stop replies ---- */

/* Read a thread ID, HEX or pPROCESS.HEX. Returns 0 if the ID is malformed, or means "all threads" or "any thread". */
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

/* Read one "name:value" of a T packet. */
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
	/*
	 * The stub may have selected the thread that stopped (`Hg`). Forget which thread is selected, so that the next request
	 * about a thread selects it again.
	 */
	if (stop->thread != r->general_thread)
		r->general_thread = 0;
	return true;
}

/* ---- a request and its reply ---- */

int rsp_next_reply(struct rsp *r)
{
	struct rsp_stop ignored;

	for (;;) {
		int got = rsp_receive(r, r->reply_ns);

		if (got == 0)
			return rsp_die(r, "the gdbstub does not answer: another debugger may be connected to it");
		if (got < 0)
			return -1;
		/*
		 * A stop reply here is QEMU's report that it stopped the machine on connecting: no reply to a request has this
		 * form.
		 */
		if (!rsp_is_stop(r, &ignored))
			return r->dead.code == EXIT_OK ? 0 : -1;
		r->was_running = true;
		if (rsp_ignore(r))
			return -1;
	}
}

/* Send the packets that rsp_keep() has kept, and receive a reply for each. The last reply stays in rsp.payload. */
static int exchange(struct rsp *r)
{
	r->requests++;
	r->reply_ns = monotonic_ns() + RSP_PATIENCE_NS;
	if (rsp_send_kept(r))
		return -1;
	for (unsigned n = r->out_packets; n; n--) {
		if (rsp_next_reply(r))
			return -1;
	}
	return 0;
}

int rsp_flush(struct rsp *r)
{
	return r->unsent ? exchange(r) : 0;
}

int rsp_ask_bytes(struct rsp *r, const char *payload, size_t len)
{
	return rsp_keep(r, payload, len) ? -1 : exchange(r);
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
		return rsp_die(r, "gdbstub: a packet to send has %d bytes, which is too long", len);
	return rsp_ask_bytes(r, payload, (size_t)len);
}

bool rsp_said(const struct rsp *r, const char *what)
{
	return r->payload_len == strlen(what) && memcmp(r->payload, what, r->payload_len) == 0;
}
