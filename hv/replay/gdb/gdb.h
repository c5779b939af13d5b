/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A server of GDB's remote serial protocol (GDB manual, appendix E) for a machine whose CPUs are gdb's threads. This header is
 * all that the owner of a machine needs; machine.h provides one order of a race as a machine.
 *
 * The server has one client, and the machine stands still until that client resumes it. The server is all-stop, and runs on the
 * caller's thread only. The client is not trusted: every packet is bounded and checked, and an invalid packet gets an error
 * reply.
 */
#ifndef OUTRIDER_REPLAY_GDB_GDB_H
#define OUTRIDER_REPLAY_GDB_GDB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/replay/cpu.h"
#include "hv/rsp/rsp.h"

#define GDB_POINTS_MAX 64   /* maximum number of break- and watchpoints at a time */
#define GDB_TEXT_MAX 512    /* bytes of a text for the user, with the NUL */
#define GDB_ANSWER_MAX 4096 /* bytes of the answer to a command of `monitor`, with the NUL */

/* A break- or watchpoint. */
struct gdb_point {
	enum rsp_point kind;
	uint64_t gva;
	unsigned len; /* bytes of a watchpoint's datum; 1 for a breakpoint */
};

/* Why the machine has stopped. */
enum gdb_reason {
	GDB_STEPPED,	 /* the requested single step is done */
	GDB_POINT,	 /* a CPU is at a breakpoint, or has hit a watchpoint: `point` says which */
	GDB_INTERRUPTED, /* gdb_go.interrupted() returned true */
	GDB_NEWS,	 /* an event that `text` describes; the machine can be resumed */
	GDB_ENDED,	 /* the machine has ended, as `text` says; its state can still be read */
};

struct gdb_stop {
	enum gdb_reason reason;
	/* The CPU that caused the stop. */
	unsigned cpu;
	/* For GDB_POINT only. */
	struct gdb_point point;
	/* One line for the user, without a newline. "": none. */
	char text[GDB_TEXT_MAX];
};

/* How to resume the machine. */
struct gdb_go {
	/* True: only `cpu` runs, for one step. */
	bool step;
	unsigned cpu;
	/* Without `step`: a bit (1u << cpu) for each CPU that runs. At least one is set. */
	unsigned cpus;
	/* Returns whether the client wants the machine to stop. To be called every few milliseconds. Does not block. */
	bool (*interrupted)(void *arg);
	void *arg;
};

/*
 * A machine. Unless documented otherwise, a function that returns an int returns 0, or -1 with `err` set on an error of the
 * VMM, which ends the server. Addresses are GVAs by the CPU's page tables.
 */
struct gdb_machine {
	unsigned cpus;
	/* The CPU that gdb selects at the start. */
	unsigned first_cpu;
	int (*get)(void *ctx, unsigned cpu, struct replay_cpu *out, struct err *err);
	/* Set all registers of a CPU except the selectors, the control registers, EFER and the IDT. */
	int (*set)(void *ctx, unsigned cpu, const struct replay_cpu *in, struct err *err);
	/* Read or write memory. Returns the number of bytes, from the first on, that could be accessed. */
	size_t (*read)(void *ctx, unsigned cpu, uint64_t gva, void *out, size_t len);
	size_t (*write)(void *ctx, unsigned cpu, uint64_t gva, const void *in, size_t len);
	/*
	 * Replace all points. The server keeps the array unchanged until the next call. Returns false when the machine cannot
	 * have this number or kind of points; then the previous points remain.
	 */
	bool (*points)(void *ctx, const struct gdb_point *points, size_t count);
	/* Resume the machine, and return when it stops. */
	int (*go)(void *ctx, const struct gdb_go *go, struct gdb_stop *stop, struct err *err);
	/* Describe a CPU in one line: the context that runs on it and, if the context is a side of the race, which side. */
	void (*describe)(void *ctx, unsigned cpu, char out[GDB_TEXT_MAX]);
	/* Answer a `monitor` command, in lines. For an unknown command, list the known ones. */
	void (*command)(void *ctx, const char *command, char out[GDB_ANSWER_MAX]);
	/* The first argument of all functions above. */
	void *ctx;
};

struct gdb_config {
	/* A listening socket, from gdb_listen_unix() or gdb_listen_tcp(). The caller keeps it. */
	int listener;
	/* The server ends when this file descriptor is readable. -1: there is none. */
	int stop_fd;
};

/*
 * Listen on the Unix socket `path`. own_socket_listen() creates the socket with mode 0600, so only the user can connect.
 * Returns the file descriptor, which the caller closes, or -1 with `err` set: EXIT_USAGE when the path is too long, otherwise
 * EXIT_INPUT. The caller unlinks the socket's file.
 */
int gdb_listen_unix(const char *path, struct err *err);

/*
 * Listen on a TCP port. Any user who can reach the port, on this host or on another host, can connect. `address` is "PORT", for
 * a port of the loopback interface, or "HOST:PORT". HOST may be in brackets if it contains colons. Returns the file descriptor,
 * which the caller closes, or -1 with `err` set: EXIT_USAGE for an invalid address, otherwise EXIT_INPUT.
 */
int gdb_listen_tcp(const char *address, struct err *err);

/*
 * Wait for a client, and serve it until it detaches, kills the machine or disconnects, or until `stop_fd` is readable. Returns
 * 0, or -1 with `err` set when the machine failed.
 */
int gdb_serve_client(const struct gdb_config *config, const struct gdb_machine *machine, struct err *err);

/* Serve a client that is connected by `fd`, which the caller keeps. Returns what gdb_serve_client() returns. */
int gdb_talk(int fd, int stop_fd, const struct gdb_machine *machine, struct err *err);

#endif
