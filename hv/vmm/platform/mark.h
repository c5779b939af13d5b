/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mark: a device by which two programs of a guest wait until the host lets each of them go (`outrider explore`). It is in a
 * machine only if the machine's configuration has one. docs/guest-agent.md describes its registers, which are one byte each.
 *
 * A program waits in user mode, by reading a register again and again. So the guest's CPUs take interrupts meanwhile, and a
 * machine can be saved at any time: a waiting program in a copy of the machine reads the register again, and gets the answer of
 * the copy's own mark.
 *
 * The registers are in memory, not at ports: QEMU's emulator refuses ports to the user mode of a guest whose KVM has restored
 * its task register (the emulator accepts only an "available" TSS there, and KVM restores a "busy" TSS).
 */
#ifndef OUTRIDER_VMM_PLATFORM_MARK_H
#define OUTRIDER_VMM_PLATFORM_MARK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "hv/vmm/bus/bus.h"

#define MARK_LEN 4	/* bytes from MARK_GPA on */
#define MARK_MAGIC 0x4f /* what a guest reads at MARK_CONTROL */

/* The offsets of the registers. Each comment says what the guest reads from the register and writes to it. */
enum mark_register {
	/*
	 * The registers MARK_SIDE + 0 and MARK_SIDE + 1 belong to the two sides, which are the programs that wait. A side
	 * reads an enum mark_answer here. When the side has ended, the guest writes the side's exit status.
	 */
	MARK_SIDE = 0,
	/*
	 * The guest reads MARK_MAGIC here. It writes MARK_NO_FAILURE when both sides have ended and the guest has settled, or
	 * else the enum mark_failure that says what failed.
	 */
	MARK_CONTROL = 2,
	/* The guest reads the next byte of the three commands: preparation, side 0, side 1. Each command ends with a 0. */
	MARK_TEXT = 3,
};

/* What a side reads. */
enum mark_answer {
	MARK_WAIT = 0,
	MARK_GO = 1,
	MARK_BASELINE = 2, /* the side may go, and runs the baseline program in place of its command */
};

/* Why the guest could not bring both programs to the mark. */
enum mark_failure {
	MARK_NO_FAILURE = 0,
	MARK_PREPARE_FAILED = 1, /* the preparation exited with a status other than 0 */
	MARK_START_FAILED = 2,	 /* a program could not be started */
	MARK_ONE_CPU = 3,	 /* the guest has only one CPU */
};

/* What the guest has done, for mark_ops.happened. */
enum mark_event {
	MARK_WAITS,  /* a side has asked, and must wait */
	MARK_ENDED,  /* a side has ended */
	MARK_OVER,   /* both sides have ended, and the guest has settled */
	MARK_FAILED, /* mark.failure is set */
};

struct mark {
	/* The three commands, set before the machine runs. NULL in a copy, whose guest has read them. */
	const char *text[3];
	/* Called for each event, on the thread of a vCPU, with the side that the event is about. May be NULL. */
	void (*happened)(void *ctx, enum mark_event event, unsigned side);
	void *ctx;
	/* The side may go. Any thread may store to this member. */
	atomic_bool open[2];
	/* A side that may go runs the baseline program. Set before the machine runs. */
	bool baseline;
	/* When this side ends, the other side may go. Set before the machine runs. */
	bool then_other[2];
	/* Number of times that the side asked whether it may go, and had to wait. */
	atomic_uint asked[2];
	/* The side's exit status, or -1 until it has ended. */
	atomic_int status[2];
	atomic_bool over;
	atomic_int failure; /* enum mark_failure */
	/*
	 * The next byte that the guest reads: which command of `text`, and which byte of this command. Only one program of the
	 * guest reads the commands.
	 */
	atomic_uint command, byte;
};

extern const struct bus_ops mark_ops;

/* Initialise a closed mark without commands. */
void mark_init(struct mark *m);

#endif
