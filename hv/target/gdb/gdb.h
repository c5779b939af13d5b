/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The target behind a gdbstub: the machine of a QEMU that already runs, with its guest on TCG or on KVM.
 *
 * A gdbstub stops all CPUs at each event, and it answers only while they stand still. One thread of the target's own serves the
 * stub: it delivers events to the client, and it resumes the CPUs that are not held. Other threads stop the machine for what
 * they need (target_enter()). They are made to wait until the guest has had its share of time. Counted from gdb_target_start(),
 * the machine stands still for `overhead` of the time at most, on average. An event cannot wait, so the time it takes is
 * charged to the same account, and those who can wait do so for longer.
 *
 * A held CPU gets no interrupts: caps.irq_while_held is false.
 */
#ifndef OUTRIDER_TARGET_GDB_H
#define OUTRIDER_TARGET_GDB_H

#include <sys/types.h>

#include "hv/target/gdb/journal.h"
#include "hv/target/target.h"

struct gdb_config {
	int fd; /* A descriptor that is connected to the stub. gdb_target_new() owns it from the call on, even if it fails. */
	bool running;	 /* The caller knows that the machine ran. This counts even if the stub says otherwise. */
	pid_t pid;	 /* The QEMU process on this host, which is checked. 0: ask the socket, which may or may not know it. */
	double overhead; /* The share of time that the machine may stand still, 0 to 1. */

	/* When this limit is reached, the connection is given up. It must outlive the target. NULL: there is none. */
	struct limit *limit;

	/*
	 * Where to keep which breakpoints are planted. Those that are in it at the start were left in the machine, and are
	 * removed first. NULL: they are not kept.
	 */
	struct gdb_planted *planted;

	/*
	 * Tells whether a guest on this host's KVM needs its breakpoints in debug registers, because that KVM does not
	 * intercept INT3. It is called only for a guest on KVM. NULL: no guest needs that.
	 */
	bool (*kvm_needs_hardware)(void);
};

/*
 * Connect to the stub and stop the machine. Returns NULL with `err` set on failure, and then the machine runs on as before,
 * unless `standing` was set: the machine ran, and the stub failed before the machine could go on.
 */
struct target *gdb_target_new(const struct gdb_config *config, bool *standing, struct err *err);

/* Whether the machine ran before. If it did not, somebody else has paused it, and detaching leaves it paused. */
bool gdb_target_was_running(struct target *t);

/* Let the machine run. From here on the client is called. Returns 0, or -1 with `err` set. */
int gdb_target_start(struct target *t, struct err *err);

enum gdb_end {
	GDB_END_STOPPED, /* target_stop() was called. */
	GDB_END_GONE,	 /* The machine has ended, or its stub has closed the connection. */
	GDB_END_PAUSED,	 /* Somebody else has stopped the machine, and the target must not resume it. */
};

/*
 * Wait for the end, for `timeout_ns` at most. The target still works after it, so that the client can put the machine in order.
 * Returns 0 with `end` set, 1 when the time has passed, or -1 with `err` set when the stub has failed.
 */
int gdb_target_wait(struct target *t, uint64_t timeout_ns, enum gdb_end *end, struct err *err);

/*
 * The client has finished: let every held CPU go, remove every breakpoint and watchpoint, and detach, unless the machine has
 * gone. The machine runs on then, or stays stopped if somebody else has paused it. A second call does nothing. Returns 0, or -1
 * with `err` set when the stub has failed: then what was planted may be there still, and the machine may stand still.
 */
int gdb_target_detach(struct target *t, struct err *err);

/* Free the target, after detaching if that was not done. NULL is allowed. */
void gdb_target_free(struct target *t);

/* What the session has cost so far. */
struct gdb_figures {
	uint64_t elapsed_ns;  /* Time since gdb_target_start(), in ns. */
	uint64_t paused_ns;   /* How long the machine has stood still for the target in that time, in ns. */
	uint64_t stops;	      /* How often the machine has stopped. */
	uint64_t requests;    /* How many round trips to the stub there were. */
	const char *indirect; /* Why guest memory is not read from the QEMU process, without the stub. NULL: it is. */
	bool hardware;	      /* Breakpoints are in debug registers. */
};

void gdb_target_figures(struct target *t, struct gdb_figures *out);

#endif
