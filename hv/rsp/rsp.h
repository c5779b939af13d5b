/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A client of a gdbstub (GDB manual, appendix E). It is complete for what QEMU speaks of an x86-64 machine. This header is all
 * a caller needs.
 *
 * The machine is all-stop. It stands still from rsp_open() on, or from a stop on, until rsp_resume(), and it answers requests
 * only in that time. The client is not thread-safe.
 *
 * Errors: when a single request returns -1, the stub has refused it. When the connection is lost, or when the stub breaks the
 * protocol or does not answer within RSP_PATIENCE_NS, the client is dead. Then every call fails from that time on, and
 * rsp_dead() gives the one reason.
 *
 * The stub is not trusted. Whatever it sends, and however long it goes on, no call takes longer than is said here.
 */
#ifndef OUTRIDER_RSP_RSP_H
#define OUTRIDER_RSP_RSP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/base/limit.h"
#include "hv/base/x86.h"

#define RSP_PATIENCE_NS 10000000000ull /* The longest wait for the answer to one request. */
#define RSP_CONNECT_NS 10000000000ull  /* The longest time that rsp_connect() takes, without the look-up of a host's name. */
#define RSP_OPEN_NS 30000000000ull     /* The longest time that all the requests of rsp_open() take. */
#define RSP_MEMORY_MAX 2000u /* The most bytes of memory in one request. A longer read or write makes several requests. */

struct rsp;

/*
 * Connect to "unix:PATH" or to "HOST:PORT", where a host in brackets may hold colons, before `limit`, which may be NULL.
 * Returns the descriptor, which the caller owns, or -1 with `err` set.
 */
int rsp_connect(const char *address, const struct limit *limit, struct err *err);

/*
 * Take over the connected descriptor `fd` and find out what is at its other end. This stops the machine. `running` says that
 * the caller knows that the machine ran. `limit`, which may be NULL, must outlive the client, and when it is reached, the
 * client is dead. Returns NULL with `err` set on failure: the descriptor is closed, and a machine that ran goes on, unless
 * `standing` was set, which may be NULL. Then the machine ran, and the client died before it could let the machine go on.
 */
struct rsp *rsp_open(int fd, bool running, const struct limit *limit, bool *standing, struct err *err);

/*
 * Let the requests that follow take `ns` in all. When that time is over, the client is dead. 0 lifts what was said before.
 */
void rsp_allow(struct rsp *r, uint64_t ns);

/* Close the connection and free the client. Without rsp_detach() before, the machine is left as it is. NULL is allowed. */
void rsp_close(struct rsp *r);

/* The descriptor of the connection, for poll(). It belongs to the client. */
int rsp_fd(const struct rsp *r);

/*
 * Whether the machine ran until rsp_open() stopped it. QEMU before 8.1 reports that stop without being asked, and reports none
 * if the machine stood still already. A newer one reports none, and a machine that was merely paused is taken for one that ran.
 */
bool rsp_was_running(const struct rsp *r);

/*
 * NULL while the client lives, else one line that says why it is dead. `exited` tells whether the machine has ended, or at
 * least its stub.
 */
const char *rsp_dead(const struct rsp *r, bool *exited);

/* Whether the client is dead, the machine has not ended, and it ran before rsp_open(). So it may stand still now. */
bool rsp_left_standing(const struct rsp *r);

/* How many round trips were made so far. Requests that went out together count as one. */
uint64_t rsp_requests(const struct rsp *r);

/* ---- while the machine stands still ---- */

/*
 * List the threads. A thread is a CPU, and its id is not 0. Returns how many there are, or -1 when the stub refuses or there
 * are more than `max`.
 */
int rsp_threads(struct rsp *r, uint32_t *ids, unsigned max);

/* Read the registers of a CPU. What the stub does not describe is 0. Returns 0 or -1. */
int rsp_regs(struct rsp *r, uint32_t thread, struct x86_regs *regs);

/* Set those general registers, RIP and RFLAGS of `after` that differ from `before`. Returns 0 or -1. */
int rsp_set_regs(struct rsp *r, uint32_t thread, const struct x86_regs *before, const struct x86_regs *after);

/* Whether a CPU is halted. False when the stub does not say. */
bool rsp_halted(struct rsp *r, uint32_t thread);

/*
 * Make rsp_read() and rsp_write() take their addresses for guest-physical (`on`) or for virtual ones. Returns 0, or -1 when the
 * stub cannot do that.
 */
int rsp_physical(struct rsp *r, bool on);

/* Read or write `len` bytes of memory. Returns 0 or -1. */
int rsp_read(struct rsp *r, uint64_t addr, void *buf, size_t len);
int rsp_write(struct rsp *r, uint64_t addr, const void *buf, size_t len);

/* The kinds of break- and watchpoints, with the numbers of the protocol. */
enum rsp_point { RSP_SOFTWARE, RSP_HARDWARE, RSP_WATCH_WRITE, RSP_WATCH_READ, RSP_WATCH_ACCESS };

/*
 * Insert a break- or watchpoint at the GVA `addr`, on all CPUs. `len` is the length in bytes of a watchpoint, and 1 for a
 * breakpoint. Returns 0 or -1.
 */
int rsp_insert(struct rsp *r, enum rsp_point type, uint64_t addr, unsigned len);

/*
 * Remove such a point. Where the stub is known to take several requests at a time, this one waits for the next, and goes out
 * with it: before any other request is answered, and before the machine goes on, the point is gone. So a batch of removals
 * costs no round trip of its own. Returns 0, or -1 when the client is dead. Whether the stub knew the point is not told.
 */
int rsp_remove(struct rsp *r, enum rsp_point type, uint64_t addr, unsigned len);

/* Send what rsp_remove() has kept, and wait until it is done. Returns 0, or -1 when the client is dead. */
int rsp_flush(struct rsp *r);

/*
 * Run a command of QEMU's monitor. Its output goes to `out`, NUL-terminated and cut to `size` - 1 bytes. Returns 0, or -1 when
 * there is no monitor.
 */
int rsp_monitor(struct rsp *r, const char *command, char *out, size_t size);

/* Let the `n` threads in `threads` go on, or all threads if `n` is 0. Returns 0 or -1. */
int rsp_resume(struct rsp *r, const uint32_t *threads, unsigned n);

/* Let one thread execute one instruction. rsp_wait() sees the stop after it. Returns 0 or -1. */
int rsp_step(struct rsp *r, uint32_t thread);

/* Make the stub remove every break- and watchpoint of ours and let the machine run on. Returns 0 or -1. */
int rsp_detach(struct rsp *r);

/* ---- while the machine runs ---- */

enum rsp_stop_kind {
	RSP_STOP_OTHER, /* The machine was stopped by rsp_interrupt() or by somebody else. */
	RSP_STOP_BREAK, /* A CPU has run into a breakpoint or another trap. */
	RSP_STOP_WATCH, /* A CPU has tripped a watchpoint. */
};

struct rsp_stop {
	enum rsp_stop_kind kind;
	uint32_t thread; /* The CPU. 0: the stub does not say which. */
	uint64_t addr;	 /* The GVA of the watchpoint (RSP_STOP_WATCH only). */
};

/* Ask the machine to stop. rsp_wait() sees that stop, or another one that came first. Returns 0 or -1. */
int rsp_interrupt(struct rsp *r);

/*
 * Wait for a stop, for `timeout_ns` at most. Returns 1 with `stop` set, 0 when the time has passed, -1 when the client is dead.
 */
int rsp_wait(struct rsp *r, uint64_t timeout_ns, struct rsp_stop *stop);

#endif
