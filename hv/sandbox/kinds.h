/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kinds of confined threads. A thread can make only the system calls that calls.c lists for its kind. */
#ifndef OUTRIDER_SANDBOX_KINDS_H
#define OUTRIDER_SANDBOX_KINDS_H

enum sandbox_kind {
	/* Runs a vCPU: KVM's ioctls and timers, but no files or sockets. */
	SANDBOX_VCPU,
	/* Passes console input to the guest, and raises the clock's interrupts. */
	SANDBOX_INPUT,
	/* Forwards the console's output. */
	SANDBOX_CONSOLE,
	/* The stopper: waits for signals and for the end of the run's time, then ends the run. Draws the status line. */
	SANDBOX_STOPPER,
	/* Does the I/O of disks, on open file descriptors. */
	SANDBOX_BLK,
	/* Does the I/O of a network device. For user-mode networking it opens sockets. */
	SANDBOX_NET,
	/* Serves the entropy device. */
	SANDBOX_RNG,
	/* Serves the vsock device, and connects to Unix sockets of this host. */
	SANDBOX_VSOCK,
	/* The sampler: looks for races and reads debug files. */
	SANDBOX_SAMPLER,
	/* The reporter: names races, reads debug files and writes the report. */
	SANDBOX_REPORTER,
	/* Copies the machine by fork(). The forked processes run the copies, and start threads of a machine's kinds. */
	SANDBOX_COPY,
	/* Serves a debugger that connects to a listening socket. */
	SANDBOX_DEBUGGER,
	/*
	 * The kind of the main thread, which may make the calls of every kind that the run uses, and start threads. As the last
	 * constant it is also the number of the other kinds.
	 */
	SANDBOX_MAIN,
};

#endif
