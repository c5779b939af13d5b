/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guest-physical memory of a machine with a gdbstub. QEMU's monitor, which the stub gives access to, tells which addresses are
 * RAM, and where this RAM is in the QEMU process. If the host's kernel permits, memory is read from that process
 * (proc_pid_mem(5)), without stopping the machine. Otherwise reads go through the stub. Writes always go through the stub.
 *
 * The caller of each function except gdb_memory_direct() holds the lock of its target.
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
	uint64_t gpa; /* GPA of the first byte. */
	uint64_t len; /* Length in bytes. */
	uint64_t hva; /* Address of the first byte in the QEMU process. 0: the stretch is not RAM. */
};

/*
 * A cache line: a piece of memory, valid while the machine stands still. The cache saves requests, because the same page tables
 * are read many times.
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
	struct gdb_line lines[GDB_LINES]; /* A direct-mapped cache. */
};

/*
 * Find out how memory can be read. To be called while the machine stands still. `pid` 0: use the process at the other end of
 * the socket, if known.
 */
void gdb_memory_init(struct gdb_memory *m, struct rsp *rsp, pid_t pid);
void gdb_memory_fini(struct gdb_memory *m);

/*
 * Read `len` bytes at `gpa` without the lock, while the machine runs or stands still. Returns 0, -1 if any of them is not RAM,
 * or 1 if the bytes can only be read while the machine stands still.
 */
int gdb_memory_direct(struct gdb_memory *m, uint64_t gpa, void *buf, size_t len);

/* Read or write `len` bytes at `gpa` while the machine stands still. Returns 0, or -1 if any of them is not RAM. */
int gdb_memory_read(struct gdb_memory *m, uint64_t gpa, void *buf, size_t len);
int gdb_memory_write(struct gdb_memory *m, uint64_t gpa, const void *buf, size_t len);

/* Empty the cache. To be called before the machine continues. */
void gdb_memory_forget(struct gdb_memory *m);

#endif
