/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declarations that the files of the server share. No other component includes this header. Used by one thread. */
#ifndef OUTRIDER_REPLAY_GDB_SERVER_H
#define OUTRIDER_REPLAY_GDB_SERVER_H

#include "hv/replay/gdb/gdb.h"
#include "hv/replay/gdb/link.h"
#include "hv/replay/gdb/regs.h"

/* Error numbers in a reply, which is `E` followed by the number. gdb shows the number without interpreting it. */
enum refusal {
	REFUSED_FORM = 1,    /* malformed packet, or an object that does not exist */
	REFUSED_MEMORY = 14, /* no memory at this address */
	REFUSED_VALUE = 22,  /* a register or value that cannot be set */
	REFUSED_ROOM = 28,   /* no room for another point, or no debug register */
};

struct server {
	const struct gdb_machine *machine;
	struct link link;
	struct gdb_point points[GDB_POINTS_MAX];
	size_t point_count;
	/* The CPU for packets that access registers and memory (`Hg`). */
	unsigned cpu;
	/* A bit for each CPU to which `c` and `s` apply (`Hc`). */
	unsigned resumed;
	/* Stop reasons that the client supports. */
	bool swbreak, hwbreak;
	struct gdb_stop last;
	/* The client has detached or has killed the machine. */
	bool over;
	/* The error of the machine, if it has failed. */
	struct err failure;
	char xml[REGS_XML_MAX];
	size_t xml_len;
	/* The reply to the current packet. */
	char reply[LINK_REPLY_MAX];
	size_t reply_len;
	/* Send no reply: the packet has none, or its reply was already sent. */
	bool silent;
};

/* The part of a packet that is not parsed yet. */
struct cursor {
	const uint8_t *at, *end;
};

/* ---- reply.c: parsing packets, composing replies ---- */

/* Append text. Text that does not fit is cut off. */
void reply_text(struct server *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Append bytes as hexadecimal digits. */
void reply_hex(struct server *s, const void *bytes, size_t len);

/* Append bytes as binary data, with escapes. */
void reply_binary(struct server *s, const uint8_t *bytes, size_t len);

/* Make the reply an error. */
void refuse(struct server *s, enum refusal why);

/*
 * Send text of less than GDB_ANSWER_MAX bytes to the client's user, before the reply. The protocol allows that only while the
 * machine runs from the client's point of view, and for a `monitor` command.
 */
void say(struct server *s, const char *text);

/* If the packet continues with `what`, skip `what` and return true. Otherwise return false. */
bool skip(struct cursor *c, const char *what);

/* Parse a number. Returns whether there is one. */
bool number(struct cursor *c, uint64_t *out);

/* Parse a thread id. *cpus becomes a bit for each CPU that the id names. Returns whether the id names any CPU. */
bool thread(const struct server *s, struct cursor *c, unsigned *cpus);

/* ---- the handlers of packets: data.c, query.c, resume.c ---- */

typedef void handler(struct server *s, struct cursor c);

handler data_get_all, data_set_all, data_get_one, data_set_one; /* g G p P */
handler data_read, data_write, data_read_binary;		/* m M x */
handler data_insert, data_remove;				/* Z z */
handler query_get, query_set;					/* q Q */
handler resume_why, resume_continue, resume_step, resume_v;	/* ? c C s S v */

#endif
