/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A gdbstub as QEMU's, in a thread at the other end of a socketpair: two CPUs, a megabyte of RAM, break- and watchpoints that
 * are written down. A test says when something stops, and may make the stub misbehave.
 */
#ifndef OUTRIDER_TESTS_FAKE_STUB_H
#define OUTRIDER_TESTS_FAKE_STUB_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "hv/rsp/packet.h"

#define STUB_CPUS 2
#define STUB_RAM 0x100000u
#define STUB_POINTS 64u
#define STUB_GPRS 16

struct stub_cpu {
	uint64_t gpr[STUB_GPRS]; /* in the order of the description: rax rbx rcx rdx rsi rdi rbp rsp r8... */
	uint64_t rip, rflags, gs_base, cr3, cr4, efer;
	bool runs, halted;
};

struct stub_point {
	bool used;
	unsigned type, len;
	uint64_t addr;
};

struct fake_stub {
	int fd, client_fd; /* ours; to be given away */
	pthread_t thread;
	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t changed;
	bool running, detached, over, physical;
	struct stub_cpu cpu[STUB_CPUS];
	struct stub_point points[STUB_POINTS];
	uint8_t *ram;
	unsigned interrupts, resumes, damaged;
	bool listed;	   /* the second thread was told */
	unsigned selected; /* by Hg */
	uint8_t input[2 * RSP_PACKET_MAX], payload[RSP_PACKET_MAX + 1];

	/* How it behaves; before fake_stub_start(). */
	bool was_running;	 /* tells of the stop by itself */
	bool no_ack;		 /* offers QStartNoAckMode */
	bool binary;		 /* offers x and X */
	bool no_physical;	 /* knows no physical memory */
	bool mute;		 /* never answers */
	unsigned damage;	 /* damages the checksum of as many replies */
	const char *description; /* target.xml instead of its own */
	unsigned points_max;	 /* 0: STUB_POINTS */
};

struct fake_stub *fake_stub_new(void);
void fake_stub_start(struct fake_stub *s);

/* The machine, which must run, stops with this packet. */
void fake_stub_stop(struct fake_stub *s, const char *packet);

/* Wait until it runs, or stands still; false: it does not come to that. */
bool fake_stub_wait(struct fake_stub *s, bool running);

/* Whether such a point is set; type -1: any. */
unsigned fake_stub_points(struct fake_stub *s, int type);
bool fake_stub_has(struct fake_stub *s, unsigned type, uint64_t addr);

/* Hang up. */
void fake_stub_hang_up(struct fake_stub *s);
void fake_stub_free(struct fake_stub *s);

#endif
