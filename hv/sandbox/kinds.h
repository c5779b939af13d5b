/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kinds of threads that are confined. */
#ifndef OUTRIDER_SANDBOX_KINDS_H
#define OUTRIDER_SANDBOX_KINDS_H

enum sandbox_kind {
	/* Runs a vCPU: ioctls of KVM, timers, and no file or socket. */
	SANDBOX_VCPU,
	/* Feeds console input and the clock to the guest. */
	SANDBOX_INPUT,
	/* Forwards the console's output. */
	SANDBOX_CONSOLE,
	/* Waits for signals and for the end of the run. */
	SANDBOX_STOPPER,
	/* Does the I/O of disks, on descriptors that are open. */
	SANDBOX_BLK,
	/* Does the I/O of a network interface. Where it is user-mode networking, sockets are opened by it. */
	SANDBOX_NET,
	/* Serves the entropy device. */
	SANDBOX_RNG,
	/* Serves the vsock device, and opens sockets of this host for it. */
	SANDBOX_VSOCK,
	/* Looks for races; reads debug files. */
	SANDBOX_SAMPLER,
	/* Names races; reads debug files and writes the report. */
	SANDBOX_REPORTER,
	/* Copies the machine by fork(). The processes that it forks run the copies, and start threads of the kinds of a
	 * machine.
	 */
	SANDBOX_COPY,
	/* Serves a debugger that connects to a socket, which listens already. */
	SANDBOX_DEBUGGER,
	/* The number of kinds, and the main thread: it may do what any thread in use may, and start threads. */
	SANDBOX_MAIN,
};

#endif
