/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The target behind a gdbstub: a QEMU that runs already, its guest on TCG or KVM.
 *
 * A gdbstub stops all CPUs at each event and answers only then. One thread of the target's own serves it: it delivers events to
 * the client and resumes the CPUs that are not held. Other threads stop the machine for what they need (target_enter()), and
 * are made to wait until the guest has had its share of time: of the time from gdb_target_start() on, the machine stands still
 * for `overhead` of it at most, on average. What cannot wait (an event) is charged, and what can waits the longer.
 *
 * A held CPU gets no interrupts (caps.irq_while_held).
 */
#ifndef OUTRIDER_TARGET_GDB_H
#define OUTRIDER_TARGET_GDB_H

#include <sys/types.h>

#include "hv/target/gdb/journal.h"
#include "hv/target/target.h"

struct gdb_config {
	int fd;			     /* connected to the stub; the target's from here on, whatever comes */
	bool running;		     /* it is known that it ran, whatever the stub says */
	pid_t pid;		     /* of the QEMU on this host that is behind it; 0: what the socket says, if it does */
	double overhead;	     /* share of time, 0 to 1 */
	struct gdb_planted *planted; /* where to keep what is planted; what is in it is removed first. NULL: nowhere */
	/* Whether a guest on KVM needs its breakpoints in debug registers, since that KVM does not intercept INT3; NULL: none
	 * does. */
	bool (*kvm_needs_hardware)(void);
};

/* Connect and stop the machine. NULL: see err; then it runs on as before. */
struct target *gdb_target_new(const struct gdb_config *config, struct err *err);

/* Whether it ran before. If not, somebody else has paused it, and detaching leaves it so. */
bool gdb_target_was_running(struct target *t);

/* From here on the machine runs, and the client is called. */
int gdb_target_start(struct target *t, struct err *err);

enum gdb_end {
	GDB_END_STOPPED, /* target_stop() */
	GDB_END_GONE,	 /* the machine has ended or closed the connection */
	GDB_END_PAUSED,	 /* somebody else has stopped it, and it is not ours to resume */
};

/*
 * Wait for the end. The target goes on working, so that the client can put everything in order. 0; 1: not within the time; -1:
 * the stub has failed.
 */
int gdb_target_wait(struct target *t, uint64_t timeout_ns, enum gdb_end *end, struct err *err);

/* The client has finished: let all go that is held or planted and detach, unless the machine has gone. It runs then, or stands
 * still if it was paused by somebody else. */
void gdb_target_detach(struct target *t);

/* Detaches if that was not done. */
void gdb_target_free(struct target *t);

struct gdb_figures {
	uint64_t elapsed_ns; /* since gdb_target_start() */
	uint64_t paused_ns;  /* of these the machine stood still for us */
	uint64_t stops;
	uint64_t requests; /* round trips */
	bool direct;	   /* guest memory is read without the stub */
	bool hardware;	   /* breakpoints are in debug registers */
};

void gdb_target_figures(struct target *t, struct gdb_figures *out);

#endif
