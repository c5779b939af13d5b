/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A gdbstub like QEMU's, in a thread at the other end of a socketpair. It has two CPUs and a megabyte of RAM, and records
 * which breakpoints and watchpoints are set. A test decides when the machine stops, and may make the stub misbehave.
 */
#ifndef OUTRIDER_TESTS_FAKE_STUB_H
#define OUTRIDER_TESTS_FAKE_STUB_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "hv/rsp/packet.h"

#define STUB_CPUS 2
#define STUB_RAM 0x100000u
#define STUB_POINTS 1024u
#define STUB_GPRS 16

struct stub_cpu {
	uint64_t gpr[STUB_GPRS]; /* In the order of the description: rax rbx rcx rdx rsi rdi rbp rsp r8 and so on. */
	uint64_t rip, rflags, gs_base, cr3, cr4, efer;
	bool runs, halted;
};

struct stub_point {
	bool used;
	unsigned type, len;
	uint64_t addr;
};

struct fake_stub {
	int fd;	       /* The stub's end of the connection. */
	int client_fd; /* The other end, which the test gives to the client. */
	pthread_t thread;
	pthread_mutex_t lock; /* Guards what follows. */
	pthread_cond_t changed;
	bool running, detached, over, physical;
	struct stub_cpu cpu[STUB_CPUS];
	struct stub_point points[STUB_POINTS];
	uint8_t *ram;
	unsigned interrupts, resumes, damaged;
	bool listed;	   /* The second thread was named to the client. */
	unsigned selected; /* The thread that the last Hg has selected. */
	uint8_t input[2 * RSP_PACKET_MAX], payload[RSP_PACKET_MAX + 1];

	/* How the stub behaves. To be set before fake_stub_start(). */
	bool was_running; /* The machine ran, so the stub reports its stop without being asked. */
	bool no_ack;	  /* It offers QStartNoAckMode. */
	bool binary;	  /* It offers the requests x and X. */
	/* What its monitor answers to "info version" and "info status". NULL: it has none. */
	const char *version, *status;
	bool no_physical;	 /* It cannot show physical memory. */
	bool mute;		 /* It never answers. */
	unsigned damage;	 /* Number of replies whose checksums it damages. */
	const char *description; /* What it sends as target.xml instead of its own. */
	unsigned points_max;	 /* Number of breakpoints and watchpoints that it accepts. 0: STUB_POINTS. */
};

struct fake_stub *fake_stub_new(void);
void fake_stub_start(struct fake_stub *s);

/* Stop the machine, which must be running, and report it with this packet. */
void fake_stub_stop(struct fake_stub *s, const char *packet);

/* Wait until the machine runs (`running`) or stands still. Returns false if that does not happen in time. */
bool fake_stub_wait(struct fake_stub *s, bool running);

/* How many points of this type are set. Type -1 stands for all types. */
unsigned fake_stub_points(struct fake_stub *s, int type);

/* Whether a point of this type is set at `addr`. */
bool fake_stub_has(struct fake_stub *s, unsigned type, uint64_t addr);

/* Close the stub's end of the connection. */
void fake_stub_hang_up(struct fake_stub *s);
void fake_stub_free(struct fake_stub *s);

#endif
