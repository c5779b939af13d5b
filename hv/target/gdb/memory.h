/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guest-physical memory behind a gdbstub. QEMU's monitor, reached through the stub, says what is RAM and where QEMU itself has
 * it; from there it is read directly (process_vm_readv(2)) if the kernel lets us, without stopping the machine. Otherwise, and
 * for writing, through the stub.
 *
 * Needs the lock of its target for all but gdb_memory_direct().
 */
#ifndef OUTRIDER_TARGET_GDB_MEMORY_H
#define OUTRIDER_TARGET_GDB_MEMORY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "hv/rsp/rsp.h"

#define GDB_RUNS_MAX 512u
#define GDB_LINES 64u
#define GDB_LINE 256u

/* A stretch of guest-physical addresses that was asked about. */
struct gdb_run {
	uint64_t gpa, len;
	uint64_t hva; /* in QEMU; 0: not RAM */
};

/* Memory as it was at this stop, for a stub whose memory is read piecemeal: page tables are read again and again. */
struct gdb_line {
	bool valid;
	uint64_t gpa;
	uint8_t bytes[GDB_LINE];
};

struct gdb_memory {
	struct rsp *rsp;
	bool monitor; /* it can be asked what is RAM */
	bool direct;
	pid_t pid;
	pthread_rwlock_t lock; /* of the runs */
	struct gdb_run runs[GDB_RUNS_MAX];
	unsigned run_count;
	struct gdb_line lines[GDB_LINES];
};

/* Find out what can be done; the machine stands still. `pid` 0: of the process at the other end of the socket, if that is
 * known. */
void gdb_memory_init(struct gdb_memory *m, struct rsp *rsp, pid_t pid);
void gdb_memory_fini(struct gdb_memory *m);

/* Without the lock, the machine running or not: 0 done, -1 not RAM, 1 it has to be done with the machine at a stand. */
int gdb_memory_direct(struct gdb_memory *m, uint64_t gpa, void *buf, size_t len);

/* With the machine at a stand. 0; -1: some of it is not RAM. */
int gdb_memory_read(struct gdb_memory *m, uint64_t gpa, void *buf, size_t len);
int gdb_memory_write(struct gdb_memory *m, uint64_t gpa, const void *buf, size_t len);

/* The machine goes on: what was read is old. */
void gdb_memory_forget(struct gdb_memory *m);

#endif
