/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The gdbstub target: the machine of a running QEMU, with its guest on TCG or on KVM.
 *
 * A gdbstub stops all CPUs at each event, and answers requests only while all CPUs stand still. One thread of the target serves
 * the stub: it delivers events to the client, and resumes the CPUs that are not held. Other threads stop the machine for their
 * operations (target_enter()), after waiting until the guest has had its share of time. From gdb_target_start() on, the machine
 * stands still for at most the share `overhead` of the time, on average. The delivery of an event cannot wait. The time that it
 * takes is charged to the same budget, so that other threads wait for longer.
 *
 * A held CPU gets no interrupts: caps.irq_while_held is false.
 */
#ifndef OUTRIDER_TARGET_GDB_H
#define OUTRIDER_TARGET_GDB_H

#include <sys/types.h>

#include "hv/target/gdb/journal.h"
#include "hv/target/target.h"

struct gdb_config {
	int fd;		 /* Socket that is connected to the stub. Owned by gdb_target_new(), even if it fails. */
	bool running;	 /* The caller knows that the machine was running, whatever the stub reports. */
	pid_t pid;	 /* QEMU's PID, used only if that process has the socket's other end open. 0: ask the socket. */
	double overhead; /* Share of time that the machine may stand still, 0 to 1. */

	/* The deadline of the connection; it must outlive the target. NULL: none. */
	struct limit *limit;

	/*
	 * Table of the planted breakpoints. Breakpoints that the table has at the start were left in the machine by an earlier
	 * process, and are removed first. NULL: the target uses a table of its own.
	 */
	struct gdb_planted *planted;

	/*
	 * Returns true if a guest on this host's KVM needs breakpoints in debug registers, because that KVM does not intercept
	 * INT3. Called only for a guest on KVM. NULL: no guest needs them.
	 */
	bool (*kvm_needs_hardware)(void);
};

/*
 * Connect to the stub and stop the machine. Returns NULL with `err` set on failure. If *standing is then false, the machine
 * runs or is stopped, as before the call. If *standing is true, the machine was running and may stand still now, because the
 * stub failed before the machine could continue.
 */
struct target *gdb_target_new(const struct gdb_config *config, bool *standing, struct err *err);

/*
 * Returns true if the machine was running before gdb_target_new(). If not, another user has paused it, and detaching leaves it
 * paused.
 */
bool gdb_target_was_running(struct target *t);

/* Let the machine run. The target calls the client from here on. Returns 0, or -1 with `err` set. */
int gdb_target_start(struct target *t, struct err *err);

enum gdb_end {
	GDB_END_STOPPED, /* target_stop() was called. */
	GDB_END_GONE,	 /* The machine has ended, or its stub closed the connection. */
	GDB_END_PAUSED,	 /* Another user has stopped the machine, and the target must not resume it. */
};

/*
 * Wait for the end of the session, for `timeout_ns` at most. The target can still be used afterwards, so that the client can
 * remove its points. Returns 0 with `end` set, 1 if the time is over, or -1 with `err` set if the stub has failed.
 */
int gdb_target_wait(struct target *t, uint64_t timeout_ns, enum gdb_end *end, struct err *err);

/*
 * Release every held CPU, remove every breakpoint and watchpoint, and detach, unless the machine has ended. The machine then
 * runs on, or stays stopped if another user has paused it. A second call does nothing. Returns 0, or -1 with `err` set if the
 * stub has failed: then breakpoints may still be planted, and the machine may stand still.
 */
int gdb_target_detach(struct target *t, struct err *err);

/* Detach if gdb_target_detach() was not called, and free the target. `t` may be NULL. */
void gdb_target_free(struct target *t);

/* The session's cost so far. */
struct gdb_figures {
	uint64_t elapsed_ns;  /* Time since gdb_target_start(), in ns. */
	uint64_t paused_ns;   /* How long the machine stood still for the target since gdb_target_start(), in ns. */
	uint64_t stops;	      /* Number of stops of the machine. */
	uint64_t requests;    /* Number of round trips to the stub. */
	const char *indirect; /* Why guest memory is read through the stub. NULL: reads go to the QEMU process. */
	bool hardware;	      /* Breakpoints are in debug registers. */
};

void gdb_target_figures(struct target *t, struct gdb_figures *out);

#endif
