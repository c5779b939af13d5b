/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the server share. No other component includes this header. One thread. */
#ifndef OUTRIDER_REPLAY_GDB_SERVER_H
#define OUTRIDER_REPLAY_GDB_SERVER_H

#include "hv/replay/gdb/gdb.h"
#include "hv/replay/gdb/link.h"
#include "hv/replay/gdb/regs.h"

/* What a reply says of a request that failed: `E` and one of these numbers. gdb shows the number and makes nothing of it. */
enum refusal {
	REFUSED_FORM = 1,    /* The packet is not what the protocol says, or asks for what is not there. */
	REFUSED_MEMORY = 14, /* There is no memory at this address. */
	REFUSED_VALUE = 22,  /* This cannot be set. */
	REFUSED_ROOM = 28,   /* There is no room for another one, or no debug register. */
};

struct server {
	const struct gdb_machine *machine;
	struct link link;
	struct gdb_point points[GDB_POINTS_MAX];
	size_t point_count;
	/* Whose registers and memory requests are about (`Hg`). */
	unsigned cpu;
	/* A bit for each CPU that `c` and `s` are about (`Hc`). */
	unsigned resumed;
	/* The client knows these reasons of a stop. */
	bool swbreak, hwbreak;
	struct gdb_stop last;
	/* The client has detached or has killed the machine. */
	bool over;
	/* The machine has failed. */
	struct err failure;
	char xml[REGS_XML_MAX];
	size_t xml_len;
	/* The reply to the packet that is being handled. */
	char reply[LINK_REPLY_MAX];
	size_t reply_len;
	/* The packet has no reply, or has had it. */
	bool silent;
};

/* What is left of a packet. */
struct cursor {
	const uint8_t *at, *end;
};

/* ---- reply.c: what a reply is made of ---- */

/* Append text. What does not fit is cut. */
void reply_text(struct server *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Append bytes in hexadecimal digits. */
void reply_hex(struct server *s, const void *bytes, size_t len);

/* Append bytes as binary data, with escapes. */
void reply_binary(struct server *s, const uint8_t *bytes, size_t len);

/* The reply is that the request is refused. */
void refuse(struct server *s, enum refusal why);

/*
 * Send text of less than GDB_ANSWER_MAX bytes to the client's user, before the reply. That is allowed only while the machine
 * runs in the client's eyes, and for a command of `monitor`.
 */
void say(struct server *s, const char *text);

/* Skip `what` if the packet goes on with it. Returns whether it did. */
bool skip(struct cursor *c, const char *what);

/* Read a number. Returns whether there is one. */
bool number(struct cursor *c, uint64_t *out);

/* Read the id of a thread. `cpus` becomes a bit for each CPU that it means. Returns whether it means any. */
bool thread(const struct server *s, struct cursor *c, unsigned *cpus);

/* ---- what each packet does: data.c, query.c, resume.c ---- */

typedef void handler(struct server *s, struct cursor c);

handler data_get_all, data_set_all, data_get_one, data_set_one; /* g G p P */
handler data_read, data_write, data_read_binary;		/* m M x */
handler data_insert, data_remove;				/* Z z */
handler query_get, query_set;					/* q Q */
handler resume_why, resume_continue, resume_step, resume_v;	/* ? c C s S v */

#endif
