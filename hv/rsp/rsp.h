/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A client of a gdbstub (GDB manual, appendix E), complete for what QEMU speaks of an x86-64 machine. This header is all a
 * caller needs.
 *
 * The machine is all-stop: it stands still from rsp_open() or a stop until rsp_resume(), and only then answers. Not
 * thread-safe.
 *
 * Errors: -1 of a single request means that the stub refused it. When the connection is lost, the stub breaks the protocol or
 * does not answer within RSP_PATIENCE_NS, the client is dead: every call fails from then on, and rsp_dead() says why, once.
 */
#ifndef OUTRIDER_RSP_RSP_H
#define OUTRIDER_RSP_RSP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/base/x86.h"

#define RSP_PATIENCE_NS 10000000000ull
#define RSP_MEMORY_MAX 2000u /* bytes in one request; longer ones are cut up */

struct rsp;

/*
 * Connect to "unix:PATH" or "HOST:PORT" (a host in brackets may hold colons). The descriptor, or -1 with err set.
 */
int rsp_connect(const char *address, struct err *err);

/*
 * Take over the connected descriptor and find out what is at its end. Stops the machine. `running`: the caller knows that it
 * ran. NULL: see err; the descriptor is closed, and a machine that ran goes on.
 */
struct rsp *rsp_open(int fd, bool running, struct err *err);

/* Closes the connection. Without rsp_detach() before, the machine is left as it is. */
void rsp_close(struct rsp *r);

int rsp_fd(const struct rsp *r);

/* Whether the machine ran until rsp_open() stopped it: QEMU tells of that stop unasked, and of none if it stood still already.
 */
bool rsp_was_running(const struct rsp *r);

/* NULL: it lives. Else one line on why not. `exited`: the machine has ended, or at least its stub. */
const char *rsp_dead(const struct rsp *r, bool *exited);

/* Requests made so far: each is one round trip. */
uint64_t rsp_requests(const struct rsp *r);

/* ---- while the machine stands still ---- */

/* Threads are CPUs, with ids that are not 0. Returns how many there are, at most `max`; -1: refused, or more. */
int rsp_threads(struct rsp *r, uint32_t *ids, unsigned max);

int rsp_regs(struct rsp *r, uint32_t thread, struct x86_regs *regs);

/* Set those general registers, RIP and RFLAGS that are not the same in `before`. */
int rsp_set_regs(struct rsp *r, uint32_t thread, const struct x86_regs *before, const struct x86_regs *after);

/* Whether a CPU has halted; false when the stub does not say. */
bool rsp_halted(struct rsp *r, uint32_t thread);

/* Whether rsp_read() and rsp_write() can mean physical addresses, and that they shall. -1: the stub knows no such thing. */
int rsp_physical(struct rsp *r, bool on);

int rsp_read(struct rsp *r, uint64_t addr, void *buf, size_t len);
int rsp_write(struct rsp *r, uint64_t addr, const void *buf, size_t len);

enum rsp_point { RSP_SOFTWARE, RSP_HARDWARE, RSP_WATCH_WRITE, RSP_WATCH_READ, RSP_WATCH_ACCESS };

/* Insert or remove a break- or watchpoint; `len` is a watchpoint's, 1 for the others. Machine-wide. */
int rsp_insert(struct rsp *r, enum rsp_point type, uint64_t addr, unsigned len);
int rsp_remove(struct rsp *r, enum rsp_point type, uint64_t addr, unsigned len);

/* A command of QEMU's monitor; its output, cut to size - 1, NUL-terminated. -1: there is no monitor. */
int rsp_monitor(struct rsp *r, const char *command, char *out, size_t size);

/* Let these threads go on, or all (n == 0). */
int rsp_resume(struct rsp *r, const uint32_t *threads, unsigned n);

/* Let one thread make one step; rsp_wait() sees its end. */
int rsp_step(struct rsp *r, uint32_t thread);

/* Remove what the stub knows of ours and let the machine run on. */
int rsp_detach(struct rsp *r);

/* ---- while it runs ---- */

enum rsp_stop_kind {
	RSP_STOP_OTHER, /* interrupted, or stopped by somebody else */
	RSP_STOP_BREAK, /* a breakpoint or an unknown trap */
	RSP_STOP_WATCH,
};

struct rsp_stop {
	enum rsp_stop_kind kind;
	uint32_t thread; /* 0: the stub does not say */
	uint64_t addr;	 /* RSP_STOP_WATCH: of the watchpoint */
};

/* Ask for a stop: rsp_wait() will see it, or another that came first. */
int rsp_interrupt(struct rsp *r);

/* Whether bytes have come that rsp_wait() has not looked at. They may be the whole of a stop: poll() would not tell. */
bool rsp_pending(const struct rsp *r);

/* Wait for a stop: 1 *stop filled, 0 none within `timeout_ns`, -1 dead. */
int rsp_wait(struct rsp *r, uint64_t timeout_ns, struct rsp_stop *stop);

#endif
