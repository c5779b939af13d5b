/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A server of GDB's remote serial protocol (GDB manual, appendix E), for a machine whose CPUs are its threads. This header is
 * all that a caller needs who has a machine; machine.h has one order of a race for a machine.
 *
 * The server has one client, and the machine stands still until that client lets it go on. It is all-stop. Everything runs on
 * the thread of the caller. The client is not trusted: every packet is bounded and checked, and what a client asks for in error
 * it is refused.
 */
#ifndef OUTRIDER_REPLAY_GDB_GDB_H
#define OUTRIDER_REPLAY_GDB_GDB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/replay/cpu.h"
#include "hv/rsp/rsp.h"

#define GDB_POINTS_MAX 64   /* Break- and watchpoints that the client may have at a time. */
#define GDB_TEXT_MAX 512    /* Bytes of a text for people, with the NUL. */
#define GDB_ANSWER_MAX 4096 /* Bytes of the answer to a command of `monitor`, with the NUL. */

/* A break- or watchpoint of the client's. */
struct gdb_point {
	enum rsp_point kind;
	uint64_t gva;
	unsigned len; /* Bytes of a watchpoint's datum. 1 for a breakpoint. */
};

/* Why the machine has stopped. */
enum gdb_reason {
	GDB_STEPPED,	 /* The one step that was asked for is made. */
	GDB_POINT,	 /* A CPU stands at a breakpoint, or has tripped a watchpoint: `point` says which. */
	GDB_INTERRUPTED, /* gdb_go.interrupted() said so. */
	GDB_NEWS,	 /* Something has happened that `text` tells of. The machine can go on. */
	GDB_ENDED,	 /* The machine has ended, as `text` says. It can be looked at still. */
};

struct gdb_stop {
	enum gdb_reason reason;
	/* The CPU that has stopped the others. */
	unsigned cpu;
	/* For GDB_POINT only. */
	struct gdb_point point;
	/* One line for people, without a newline. "": there is nothing to say. */
	char text[GDB_TEXT_MAX];
};

/* How the machine shall go on. */
struct gdb_go {
	/* Only `cpu` goes on, by one step. */
	bool step;
	unsigned cpu;
	/* Without `step`: a bit (1u << cpu) for each CPU that goes on. At least one is set. */
	unsigned cpus;
	/* Whether the client wants the machine to stop. To be asked every few milliseconds at least. It does not wait. */
	bool (*interrupted)(void *arg);
	void *arg;
};

/*
 * A machine. Where a function returns an int, that is 0, or -1 with `err` set: our side failed, and the server ends, unless
 * something else is said. Addresses are GVAs as the CPU sees them.
 */
struct gdb_machine {
	unsigned cpus;
	/* The CPU that the client looks at first. */
	unsigned first_cpu;
	int (*get)(void *ctx, unsigned cpu, struct replay_cpu *out, struct err *err);
	/* Set all of a CPU's registers but the selectors, the control registers, EFER and the IDT. */
	int (*set)(void *ctx, unsigned cpu, const struct replay_cpu *in, struct err *err);
	/* Read or write memory. Returns how many bytes could be, from the first on. */
	size_t (*read)(void *ctx, unsigned cpu, uint64_t gva, void *out, size_t len);
	size_t (*write)(void *ctx, unsigned cpu, uint64_t gva, const void *in, size_t len);
	/*
	 * These are the points now. The server keeps them as they are until the next call. False: that many, or such, cannot
	 * be, and the points are to be what they were.
	 */
	bool (*points)(void *ctx, const struct gdb_point *points, size_t count);
	/* Let the machine go on until it stops. */
	int (*go)(void *ctx, const struct gdb_go *go, struct gdb_stop *stop, struct err *err);
	/* Say in one line who runs on a CPU, and what this CPU is to the machine. */
	void (*describe)(void *ctx, unsigned cpu, char out[GDB_TEXT_MAX]);
	/* Answer a command of the client's user, in lines. For one that is not known, say which there are. */
	void (*command)(void *ctx, const char *command, char out[GDB_ANSWER_MAX]);
	/* The first argument of each of these. */
	void *ctx;
};

struct gdb_config {
	/* A socket that listens, from gdb_listen(). It stays the caller's. */
	int listener;
	/* Readable: the server shall end. -1: there is none. */
	int stop_fd;
};

/*
 * Listen at "unix:PATH", which must not exist, or at "HOST:PORT", where a host in brackets may hold colons. Returns the
 * descriptor, which the caller owns, or -1 with `err` set: EXIT_USAGE when the address is none, else EXIT_INPUT. The socket at
 * PATH is the caller's to unlink.
 */
int gdb_listen(const char *address, struct err *err);

/*
 * Wait for a client and serve it until it detaches, kills the machine or goes away, or `stop_fd` is readable. Returns 0, or -1
 * with `err` set when the machine failed.
 */
int gdb_serve_client(const struct gdb_config *config, const struct gdb_machine *machine, struct err *err);

/* Serve a client that is connected by `fd`, which stays the caller's. Everything else is as with gdb_serve_client(). */
int gdb_talk(int fd, int stop_fd, const struct gdb_machine *machine, struct err *err);

#endif
