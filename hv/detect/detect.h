/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The detector: DataCollider (OSDI'10, section 3) over a target. This header is all a caller needs.
 *
 * Life: detect_new(); give detect_client() to the target before its CPUs run; detect_start() starts two threads, the sampler
 * (finds the kernel, builds the pool, arms points) and the reporter (attributes what was caught and calls the sink);
 * detect_stop() disarms everything and joins them; detect_free().
 */
#ifndef OUTRIDER_DETECT_DETECT_H
#define OUTRIDER_DETECT_DETECT_H

#include "hv/base/err.h"
#include "hv/guest/guest.h"
#include "hv/target/target.h"

#define DETECT_STACK_MAX 16384 /* bytes kept of the stack each side is on, and as many of those it interrupted */
#define DETECT_DATA_MAX 64     /* bytes of the sampled datum re-read and kept */
#define DETECT_CODE_MAX 512    /* bytes of code kept: the whole function if it is no longer, else around the access */
#define DETECT_CALLEES_MAX 24  /* calls in that code whose targets are kept by name */

struct detect_config {
	uint64_t seed;	    /* of the choice of points and delays */
	unsigned rate;	    /* hits per second to aim at */
	uint64_t delay_ns;  /* longest window */
	const char *sample; /* comma-separated function globs, or NULL: all */
	const char *module; /* sample only in this module, waiting for it; or NULL */
	bool per_cpu;	    /* sample GS-relative accesses too */
};

/* How a conflict was seen. */
enum detect_how {
	DETECT_WATCH,  /* the other side's access tripped a watchpoint */
	DETECT_POINT,  /* the other side stopped at a sample point of its own, about to access the same memory */
	DETECT_REREAD, /* memory changed under a held CPU and no CPU was seen doing it: a device, an alias, another address
			  space */
};

/* An interrupted stack's part of a copy. */
struct detect_stack {
	uint64_t gva;
	uint32_t len;
};

/* A call, or a jump to another function, in a side's code. */
struct detect_callee {
	uint16_t at; /* offset of the instruction in the code */
	char name[62];
};

/* One side of a conflict, as caught. The large arrays come last: seldom is much of them in use. */
struct detect_side {
	bool known; /* false: only re-reading saw it; nothing else is set */
	uint16_t cpu;
	uint8_t rw;   /* enum insn_rw: what the instruction does to the datum */
	bool locked;  /* a LOCKed instruction */
	uint64_t pc;  /* GVA of the accessing instruction; 0 if it could not be told from where the CPU stopped (regs.rip) */
	uint64_t gva; /* of its access */
	uint32_t size;
	struct x86_regs regs; /* sampled side: before the access; watched side: after it */
	struct guest_context context;
	struct guest_symbol symbol; /* of pc, or of regs.rip; name "" if unknown */
	uint64_t code_gva;
	uint32_t code_len, stack_len; /* code from an instruction on; the stack is copied from regs.rsp up */
	uint32_t callee_count;	      /* direct ones, in the order of the code */
	/* The stacks that the current one interrupted, from inside outwards, one after the other in below[]; len 0: none. */
	struct detect_stack interrupted[GUEST_STACKS_MAX - 1];
	uint8_t code[DETECT_CODE_MAX];
	struct detect_callee callees[DETECT_CALLEES_MAX];
	struct guest_calls calls; /* count 0: not unwound */
	uint8_t stack[DETECT_STACK_MAX];
	uint8_t below[DETECT_STACK_MAX];
};

/* One conflict inside one window. sides[0] is the sampled (held) access. */
struct observation {
	enum detect_how how;
	uint64_t time_ns; /* since the first point was armed */
	uint64_t held_ns; /* how long the window had been open */
	uint64_t gpa;	  /* of the first conflicting byte's page in the sampled datum */
	uint32_t data_len;
	uint8_t before[DETECT_DATA_MAX]; /* the sampled datum when the window opened */
	uint8_t after[DETECT_DATA_MAX];	 /* and when the conflict was seen */
	struct guest_page_state page;	 /* of the sampled datum, when the conflict was seen; and what */
	struct guest_memory memory;	 /* the datum is, as told soon after */
	struct detect_side sides[2];
};

struct detect_sink {
	/* On the reporter thread, one at a time. The observation is the callee's only during the call. */
	void (*race)(void *ctx, const struct observation *o);
	/* Progress for people, one line: "kernel found...", "sampling N sites". */
	void (*note)(void *ctx, const char *line);
	/* The detector cannot go on (symbols of another kernel, ...); called once, then the target is stopped. */
	void (*failed)(void *ctx, const struct err *err);
	void *ctx;
};

struct detect_stats {
	uint64_t sites;		    /* in the pool */
	uint64_t armed;		    /* sample points armed now */
	uint64_t hits;		    /* of sample points */
	uint64_t windows;	    /* opened */
	uint64_t stale_hits;	    /* of a point removed between its execution and our look: not counted as hits */
	uint64_t skipped_stack;	    /* hits not held: the current stack, */
	uint64_t skipped_memory;    /* memory that is not mapped or not RAM, REP with a count of 0, */
	uint64_t skipped_short;	    /* no time allowed (interrupts off, draw of 0) */
	uint64_t skipped_last;	    /* every other CPU was held already: the last one must run */
	uint64_t cut_short;	    /* windows ended early: another context had to pass the same instruction */
	uint64_t cut_idle;	    /* the same: nobody else was running */
	uint64_t no_watch;	    /* windows (partly) without watchpoints: registers ran out, or user memory */
	uint64_t conflicts;	    /* seen */
	uint64_t lost;		    /* of these: not reported, the reporter was too far behind */
	uint64_t unexplained;	    /* the same: told late by the target, and no access fits */
	uint64_t refused;	    /* points not armed since the bytes there were not as expected */
	uint64_t stacks;	    /* of conflicts' sides, looked at; */
	uint64_t stacks_unwound;    /* of these: to their beginning without a guess */
	uint64_t sampling_ns;	    /* since the first point was armed */
	struct target_stats target; /* while sampling only: from the first armed point to now or to the end */
};

struct detect;

struct detect *detect_new(struct target *target, struct guest *guest, const struct detect_config *config,
			  const struct detect_sink *sink, struct err *err);
const struct target_client *detect_client(struct detect *d);
int detect_start(struct detect *d, struct err *err);

/* Disarm, let held CPUs go, report what is queued, join. Safe when the machine is already over. Once. */
void detect_stop(struct detect *d);
void detect_stats(struct detect *d, struct detect_stats *out);
void detect_free(struct detect *d);

#endif
