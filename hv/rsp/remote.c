/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sends the requests for which the machine must stand still. They are about CPUs, registers, memory, breakpoints, watchpoints
 * and the monitor.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "hv/rsp/internal.h"

#define MONITOR_MAX 4096u /* Maximum output packets of one monitor command. */
#define G_MAX 16384u	  /* Maximum bytes of registers in a `g` packet. */
/*
 * Maximum length in bytes of the kept requests in rsp.out (rsp_keep()). If rsp.out has more, rsp_remove() sends them before it
 * keeps a further request, so that rsp.out always has room for the next request.
 */
#define KEPT_MAX 4096u

/* ---- CPUs ---- */

/*
 * Append the thread IDs of a list such as "m1,2,3" to `ids`. Returns 0, or -1 if there are more than `max` or the list is
 * malformed.
 */
static int add_threads(const struct rsp *r, uint32_t *ids, unsigned max, unsigned *n)
{
	const uint8_t *at = r->payload + 1, *end = r->payload + r->payload_len;

	while (at < end) {
		uint64_t id;

		if (*n == max || rsp_number(&at, end, &id) || id == 0 || id > UINT32_MAX || (at < end && *at++ != ','))
			return -1;
		ids[(*n)++] = (uint32_t)id;
	}
	return 0;
}

int rsp_threads(struct rsp *r, uint32_t *ids, unsigned max)
{
	unsigned n = 0;

	if (rsp_ask(r, "qfThreadInfo"))
		return -1;
	/*
	 * QEMU sends one ID at a time. An empty list ends the loop, because a hostile stub could send empty lists without end.
	 */
	while (r->payload_len > 1 && r->payload[0] == 'm') {
		if (add_threads(r, ids, max, &n) || rsp_ask(r, "qsThreadInfo"))
			return -1;
	}
	return rsp_said(r, "l") ? (int)n : -1;
}

static int select_thread(struct rsp *r, uint32_t thread)
{
	if (r->general_thread == thread)
		return 0;
	r->general_thread = 0;
	if (rsp_ask(r, "Hg%x", thread) || !rsp_said(r, "OK"))
		return -1;
	r->general_thread = thread;
	return 0;
}

int rsp_regs(struct rsp *r, uint32_t thread, struct x86_regs *regs)
{
	uint8_t bytes[G_MAX];
	size_t len;

	if (select_thread(r, thread) || rsp_ask(r, "g"))
		return -1;
	len = r->payload_len / 2;
	if (len > sizeof(bytes) || rsp_from_hex(r->payload, len, bytes))
		return -1;
	return regmap_decode(&r->map, bytes, len, regs);
}

int rsp_set_regs(struct rsp *r, uint32_t thread, const struct x86_regs *before, const struct x86_regs *after)
{
	unsigned number, size;
	uint64_t old, new;

	if (select_thread(r, thread))
		return -1;
	for (unsigned i = 0; regmap_writable(&r->map, i, after, &number, &size, &new) == 0; i++) {
		char hex[17] = "";

		regmap_writable(&r->map, i, before, &number, &size, &old);
		if (old == new)
			continue;
		rsp_to_hex((const uint8_t *)&new, size, hex);
		if (rsp_ask(r, "P%x=%s", number, hex) || !rsp_said(r, "OK"))
			return -1;
	}
	return 0;
}

bool rsp_halted(struct rsp *r, uint32_t thread)
{
	char text[128];
	size_t len;

	if (rsp_ask(r, "qThreadExtraInfo,%x", thread))
		return false;
	len = r->payload_len / 2;
	if (len >= sizeof(text) || rsp_from_hex(r->payload, len, (uint8_t *)text))
		return false;
	text[len] = 0;
	return strstr(text, "[halted") != NULL;
}

/* ---- memory ---- */

int rsp_physical(struct rsp *r, bool on)
{
	if (!r->physical || rsp_ask(r, "Qqemu.PhyMemMode:%d", on))
		return -1;
	return rsp_said(r, "OK") ? 0 : -1;
}

static int read_some(struct rsp *r, uint64_t addr, uint8_t *buf, size_t len)
{
	if (r->binary_read) {
		if (rsp_ask(r, "x%" PRIx64 ",%zx", addr, len) || r->payload_len != len + 1 || r->payload[0] != 'b')
			return -1;
		memcpy(buf, r->payload + 1, len);
		return 0;
	}
	if (rsp_ask(r, "m%" PRIx64 ",%zx", addr, len) || r->payload_len != 2 * len)
		return -1;
	return rsp_from_hex(r->payload, len, buf);
}

/* Returns how many of `len` bytes of memory fit into one request or reply, at two characters a byte. */
static size_t one_request(const struct rsp *r, size_t len)
{
	size_t room = (r->packet_size - 64) / 2;

	if (room > RSP_MEMORY_MAX)
		room = RSP_MEMORY_MAX;
	return len < room ? len : room;
}

int rsp_read(struct rsp *r, uint64_t addr, void *buf, size_t len)
{
	for (size_t done = 0, n; done < len; done += n) {
		n = one_request(r, len - done);
		if (read_some(r, addr + done, (uint8_t *)buf + done, n))
			return -1;
	}
	return 0;
}

static int write_some(struct rsp *r, uint64_t addr, const uint8_t *buf, size_t len)
{
	char text[2 * RSP_MEMORY_MAX + 64];
	size_t at = (size_t)snprintf(text, sizeof(text), "%c%" PRIx64 ",%zx:", r->binary_write ? 'X' : 'M', addr, len);

	if (r->binary_write) {
		for (size_t i = 0; i < len; i++)
			at += rsp_escape(buf[i], (uint8_t *)text + at);
	} else {
		rsp_to_hex(buf, len, text + at);
		at += 2 * len;
	}
	if (rsp_ask_bytes(r, text, at))
		return -1;
	return rsp_said(r, "OK") ? 0 : -1;
}

int rsp_write(struct rsp *r, uint64_t addr, const void *buf, size_t len)
{
	for (size_t done = 0, n; done < len; done += n) {
		n = one_request(r, len - done);
		if (write_some(r, addr + done, (const uint8_t *)buf + done, n))
			return -1;
	}
	return 0;
}

/* ---- break- and watchpoints ---- */

int rsp_insert(struct rsp *r, enum rsp_point type, uint64_t addr, unsigned len)
{
	if (rsp_ask(r, "Z%d,%" PRIx64 ",%x", (int)type, addr, len))
		return -1;
	return rsp_said(r, "OK") ? 0 : -1;
}

int rsp_remove(struct rsp *r, enum rsp_point type, uint64_t addr, unsigned len)
{
	char text[64];
	int n = snprintf(text, sizeof(text), "z%d,%" PRIx64 ",%x", (int)type, addr, len);

	if (!r->together)
		return rsp_ask_bytes(r, text, (size_t)n);
	if (r->unsent && r->out_len > KEPT_MAX && rsp_flush(r))
		return -1;
	return rsp_keep(r, text, (size_t)n);
}

/* ---- the monitor ---- */

int rsp_monitor(struct rsp *r, const char *command, char *out, size_t size)
{
	char text[256] = "qRcmd,";
	size_t len = strlen(command), prefix = strlen(text), used = 0;

	out[0] = 0;
	if (prefix + 2 * len >= sizeof(text))
		return -1;
	rsp_to_hex((const uint8_t *)command, len, text + prefix);
	if (rsp_ask_bytes(r, text, prefix + 2 * len))
		return -1;
	/* Collect the output of the command. It comes in packets that begin with 'O'. The packet "OK" follows them. */
	for (unsigned i = 0; r->payload_len > 1 && r->payload[0] == 'O' && r->payload[1] != 'K'; i++) {
		size_t n = (r->payload_len - 1) / 2, room = size - 1 - used;

		if (i == MONITOR_MAX)
			return rsp_die(r, "this is not a gdbstub: its monitor sends text without end");
		if (rsp_from_hex(r->payload + 1, n < room ? n : room, (uint8_t *)out + used))
			return -1;
		used += n < room ? n : room;
		out[used] = 0;
		if (rsp_next_reply(r))
			return -1;
	}
	return rsp_said(r, "OK") ? 0 : -1;
}
