/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A client of a gdbstub (GDB manual, appendix E), complete for QEMU's stub of an x86-64 machine. Callers need only this
 * header.
 *
 * All-stop mode: the machine stands still from rsp_open(), or from a stop, until rsp_resume(). The stub answers requests only
 * in that time. The client is not thread-safe.
 *
 * Errors: a request that the stub refuses returns -1. When the connection is lost, or when the stub breaks the protocol or does
 * not answer within RSP_PATIENCE_NS, the client becomes "dead". From then on every call fails, and rsp_dead() gives the first
 * reason.
 *
 * The stub is not trusted. Whatever the stub sends, no call takes longer than stated here.
 */
#ifndef OUTRIDER_RSP_RSP_H
#define OUTRIDER_RSP_RSP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/base/limit.h"
#include "hv/base/x86.h"

#define RSP_PATIENCE_NS 10000000000ull /* Longest wait for the reply to one request. */
#define RSP_CONNECT_NS 10000000000ull  /* Longest time of rsp_connect(), without name resolution. */
#define RSP_OPEN_NS 30000000000ull     /* Longest time of all requests of rsp_open(). */
/* Maximum number of bytes of memory in one request. rsp_read() and rsp_write() make several requests for a longer range. */
#define RSP_MEMORY_MAX 2000u

struct rsp;

/*
 * Connect to "unix:PATH" or to "HOST:PORT"; a HOST in brackets may contain colons. `limit` is a deadline, and may be NULL.
 * Returns the descriptor, which the caller owns, or -1 with `err` set.
 */
int rsp_connect(const char *address, const struct limit *limit, struct err *err);

/*
 * Make a client of the connected descriptor `fd`, which the client then owns, and find out what is at its other end. This stops
 * the machine. `running`: the caller knows that the machine was running. When the deadline `limit` is reached, the client is
 * dead; `limit` may be NULL and must outlive the client. On failure, closes `fd` and returns NULL with `err` set. If the
 * machine is known to have been running, and the client is not dead, resumes the machine before that. *standing becomes true if
 * the machine was running and the client died before it could resume it. `standing` may be NULL.
 */
struct rsp *rsp_open(int fd, bool running, const struct limit *limit, bool *standing, struct err *err);

/*
 * Limit the total time of the requests that follow to `ns` nanoseconds. A request after that time makes the client dead. 0
 * removes the limit.
 */
void rsp_allow(struct rsp *r, uint64_t ns);

/*
 * Close the connection and free the client. Does not resume a stopped machine: to resume it, call rsp_detach() before. `r` may
 * be NULL.
 */
void rsp_close(struct rsp *r);

/* Returns the descriptor of the connection, for poll(). Owned by the client. */
int rsp_fd(const struct rsp *r);

/*
 * Returns true if the machine was running until rsp_open() stopped it. QEMU before 8.1 reports the stop if the machine was
 * running. Newer versions report no stop, so with them this is also true for a machine that its user had paused.
 */
bool rsp_was_running(const struct rsp *r);

/*
 * Returns NULL while the client is alive, else one line with the reason of its death. Sets *exited if the machine has ended or
 * the stub has closed the connection.
 */
const char *rsp_dead(const struct rsp *r, bool *exited);

/*
 * Returns true if the client is dead, the machine has not ended, and it was running before rsp_open(), so that it may stand
 * still now.
 */
bool rsp_left_standing(const struct rsp *r);

/* Returns the number of round trips so far. Requests that were sent together are one round trip. */
uint64_t rsp_requests(const struct rsp *r);

/* ---- while the machine stands still ---- */

/*
 * List the threads. Each thread is a CPU; its ID is not 0. Returns their number, or -1 when the stub refuses or there are more
 * than `max`.
 */
int rsp_threads(struct rsp *r, uint32_t *ids, unsigned max);

/* Read the registers of a CPU. Registers that the stub does not describe are 0. Returns 0 or -1. */
int rsp_regs(struct rsp *r, uint32_t thread, struct x86_regs *regs);

/* Set the general registers, RIP and RFLAGS of `after` that differ from `before`. Returns 0 or -1. */
int rsp_set_regs(struct rsp *r, uint32_t thread, const struct x86_regs *before, const struct x86_regs *after);

/* Returns true if a CPU is halted. Returns false if the stub does not tell. */
bool rsp_halted(struct rsp *r, uint32_t thread);

/*
 * Make rsp_read() and rsp_write() interpret addresses as guest-physical (`on`) or as virtual. Returns 0, or -1 when the stub
 * cannot do that.
 */
int rsp_physical(struct rsp *r, bool on);

/*
 * rsp_read() reads the `len` bytes of memory at `addr`, and rsp_write() writes them. `addr` is a GVA, or after
 * rsp_physical(r, true) a GPA. Both functions return 0 or -1.
 */
int rsp_read(struct rsp *r, uint64_t addr, void *buf, size_t len);
int rsp_write(struct rsp *r, uint64_t addr, const void *buf, size_t len);

/* The kinds of break- and watchpoints, with the numbers of the protocol. */
enum rsp_point { RSP_SOFTWARE, RSP_HARDWARE, RSP_WATCH_WRITE, RSP_WATCH_READ, RSP_WATCH_ACCESS };

/*
 * Insert a breakpoint or watchpoint at the GVA `addr`, on all CPUs. `len` is a watchpoint's length in bytes, and 1 for a
 * breakpoint. Returns 0 or -1.
 */
int rsp_insert(struct rsp *r, enum rsp_point type, uint64_t addr, unsigned len);

/*
 * Remove a breakpoint or watchpoint. If the stub is known to accept several requests at a time, this request is kept and sent
 * together with the next one, so that many removals need one round trip. The stub removes the point before it answers any later
 * request and before the machine continues. Returns 0, or -1 if the client is dead. Does not report whether the stub had the
 * point.
 */
int rsp_remove(struct rsp *r, enum rsp_point type, uint64_t addr, unsigned len);

/* Send the requests that rsp_remove() has kept, and wait for the replies. Returns 0, or -1 when the client is dead. */
int rsp_flush(struct rsp *r);

/*
 * Run a command of QEMU's monitor. Its output goes to `out`, NUL-terminated and cut to `size` - 1 bytes. Returns 0, or -1 when
 * there is no monitor.
 */
int rsp_monitor(struct rsp *r, const char *command, char *out, size_t size);

/* Resume the `n` threads in `threads`, or all threads if `n` is 0. Returns 0 or -1. */
int rsp_resume(struct rsp *r, const uint32_t *threads, unsigned n);

/* Make one thread execute one instruction. rsp_wait() reports the stop after it. Returns 0 or -1. */
int rsp_step(struct rsp *r, uint32_t thread);

/* Make the stub remove every breakpoint and watchpoint of this client and resume the machine. Returns 0 or -1. */
int rsp_detach(struct rsp *r);

/* ---- while the machine runs ---- */

enum rsp_stop_kind {
	RSP_STOP_OTHER, /* rsp_interrupt() or another user stopped the machine. */
	RSP_STOP_BREAK, /* A CPU hit a breakpoint, or had another trap. */
	RSP_STOP_WATCH, /* A CPU hit a watchpoint. */
};

struct rsp_stop {
	enum rsp_stop_kind kind;
	uint32_t thread; /* The CPU that stopped. 0: the stub does not tell. */
	uint64_t addr;	 /* The GVA of the watchpoint (RSP_STOP_WATCH only). */
};

/* Ask the stub to stop the machine. rsp_wait() reports that stop, or another stop that came first. Returns 0 or -1. */
int rsp_interrupt(struct rsp *r);

/* Wait for a stop, for `timeout_ns` at most. Returns 1 with `stop` set, 0 if the time is over, -1 if the client is dead. */
int rsp_wait(struct rsp *r, uint64_t timeout_ns, struct rsp_stop *stop);

#endif
