// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes the gdb server's replies, and reads the numbers in packets. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "hv/replay/gdb/server.h"

void reply_text(struct server *s, const char *fmt, ...)
{
	size_t room = sizeof(s->reply) - s->reply_len;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(s->reply + s->reply_len, room, fmt, ap);
	va_end(ap);
	if (n > 0)
		s->reply_len += (size_t)n < room ? (size_t)n : room - 1;
}

void reply_hex(struct server *s, const void *bytes, size_t len)
{
	size_t room = (sizeof(s->reply) - s->reply_len) / 2;

	if (len > room)
		len = room;
	rsp_to_hex(bytes, len, s->reply + s->reply_len);
	s->reply_len += 2 * len;
}

void reply_binary(struct server *s, const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len && s->reply_len + 2 <= sizeof(s->reply); i++)
		s->reply_len += rsp_escape(bytes[i], (uint8_t *)s->reply + s->reply_len);
}

void refuse(struct server *s, enum refusal why)
{
	s->reply_len = 0;
	reply_text(s, "E%02x", (unsigned)why);
}

void say(struct server *s, const char *text)
{
	char packet[1 + 2 * GDB_ANSWER_MAX] = "O";
	size_t len = strnlen(text, (sizeof(packet) - 1) / 2);

	rsp_to_hex((const uint8_t *)text, len, packet + 1);
	link_send(&s->link, packet, 1 + 2 * len);
}

bool skip(struct cursor *c, const char *what)
{
	size_t len = strlen(what);

	if ((size_t)(c->end - c->at) < len || memcmp(c->at, what, len) != 0)
		return false;
	c->at += len;
	return true;
}

bool number(struct cursor *c, uint64_t *out)
{
	return rsp_number(&c->at, c->end, out) == 0;
}

bool thread(const struct server *s, struct cursor *c, unsigned *cpus)
{
	unsigned all = (1u << s->machine->cpus) - 1;
	uint64_t id;

	if (skip(c, "-1")) {
		*cpus = all;
		return true;
	}
	if (!number(c, &id) || id > s->machine->cpus)
		return false;
	*cpus = id ? 1u << (id - 1) : all; /* 0 is any thread, so all CPUs are valid */
	return true;
}
