/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guest-physical memory behind a gdbstub. QEMU's monitor, which the stub gives access to, says what is RAM and at which address
 * QEMU itself has it. If the host's kernel permits, guest memory is read from there (proc_pid_mem(5)), without stopping the
 * machine. If it does not, and for every write, the stub does it.
 *
 * The caller holds the lock of its target for every function but gdb_memory_direct().
 */
#ifndef OUTRIDER_TARGET_GDB_MEMORY_H
#define OUTRIDER_TARGET_GDB_MEMORY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "hv/rsp/rsp.h"

#define GDB_STRETCHES_MAX 512u
#define GDB_LINES 64u
#define GDB_LINE 256u

/* A stretch of guest-physical addresses that the monitor was asked about. */
struct gdb_stretch {
	uint64_t gpa; /* Where it begins. */
	uint64_t len; /* Its length in bytes. */
	uint64_t hva; /* Where it begins in QEMU's address space. 0: it is not RAM. */
};

/*
 * A piece of memory as it was when the machine stopped. A stub is asked for memory in small pieces, and the same page tables
 * are read again and again.
 */
struct gdb_line {
	bool valid;
	uint64_t gpa; /* A multiple of GDB_LINE. */
	uint8_t bytes[GDB_LINE];
};

struct gdb_memory {
	struct rsp *rsp;
	bool monitor;	       /* The stub has a monitor that can say what is RAM. */
	bool direct;	       /* Memory can be read from the QEMU process. */
	int process;	       /* The memory of the QEMU process (process.h), or -1 when it cannot be read. */
	const char *why_not;   /* Why `direct` is not set, in a few words for the user. */
	pthread_rwlock_t lock; /* Guards the stretches. */
	struct gdb_stretch stretches[GDB_STRETCHES_MAX];
	unsigned stretch_count;
	struct gdb_line lines[GDB_LINES]; /* Each line has one place, by its address. */
};

/*
 * Find out what can be done. The machine stands still. A `pid` of 0 stands for the process at the other end of the socket, if
 * that is known.
 */
void gdb_memory_init(struct gdb_memory *m, struct rsp *rsp, pid_t pid);
void gdb_memory_fini(struct gdb_memory *m);

/*
 * Read `len` bytes at `gpa` without the lock, whether the machine runs or not. Returns 0; -1 when some of them are not RAM; 1
 * when this cannot be done without stopping the machine.
 */
int gdb_memory_direct(struct gdb_memory *m, uint64_t gpa, void *buf, size_t len);

/* Read or write `len` bytes at `gpa` while the machine stands still. Returns 0, or -1 when some of them are not RAM. */
int gdb_memory_read(struct gdb_memory *m, uint64_t gpa, void *buf, size_t len);
int gdb_memory_write(struct gdb_memory *m, uint64_t gpa, const void *buf, size_t len);

/* Forget the lines that were read, because the machine goes on and they will be old. */
void gdb_memory_forget(struct gdb_memory *m);

#endif
