/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ground-truth cases and the harness that runs them.
 *
 * Outrider judges machine code, so the harness has a rule the compiler does not know: outside the racing accesses of the cases,
 * two threads share memory only through LOCKed instructions or through functions of the kernel. A READ_ONCE() flag would be a
 * plain load in this module's text, and would be reported, rightly.
 *
 * Names: what a report may name begins with gt_ and the case; the harness's functions begin with harness_.
 */
#ifndef OUTRIDER_GT_H
#define OUTRIDER_GT_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/completion.h>
#include <linux/types.h>

/* A function the reports name: never inlined, cloned or folded into a twin with the same body. */
#define gt_fn noinline __attribute__((noipa))

/* A case's datum: `used`, since the compiler drops stores to a variable that it never sees read. */
#define gt_datum __used ____cacheline_aligned

/* Keeps the load that produced `v`, and makes it happen before what follows. */
#define gt_use(v) asm volatile("" : : "r"(v) : "memory")

enum gt_context {
	GT_TASK,  /* a kthread bound to the side's CPU, in a paced loop */
	GT_TIMER, /* an hrtimer in hardirq on the side's CPU */
};

struct gt_side {
	const char *name;
	/* One round; `round` counts from 1 on this side. Never sleeps for long, never spins for the other side. */
	void (*step)(u64 round);
	unsigned int cpu;
	enum gt_context context;
};

struct gt_case {
	const char *name, *group;
	struct gt_side side[2];
	bool (*available)(void); /* optional: whether the machine has what the case needs; it is not listed where not */
	int (*setup)(void);	 /* optional: before either side runs; 0 or -errno */
	void (*teardown)(void);	 /* optional: after both sides ended */
};

#define GT_MAX_CASES 128

/* NULL-terminated. */
extern const struct gt_case *const gt_all_cases[];

extern const struct gt_case gt_case_rwrace, gt_case_wwrace, gt_case_samevalue, gt_case_statcount, gt_case_flagbits,
	gt_case_bitfield, gt_case_addtocache, gt_case_refput, gt_case_halflock, gt_case_nlink, gt_case_latesize, gt_case_dclock,
	gt_case_irqsame, gt_case_irqcross, gt_case_alias, gt_case_straddle, gt_case_repmovs, gt_case_figone, gt_case_twolocks;
extern const struct gt_case gt_case_spinlock, gt_case_mutex, gt_case_rwsem, gt_case_atomics, gt_case_rcu, gt_case_completion,
	gt_case_percpu, gt_case_irqsoff, gt_case_bytes, gt_case_trylock, gt_case_publish, gt_case_handover, gt_case_rculock,
	gt_case_irqlock, gt_case_pool, gt_case_owner, gt_case_samecpu;
extern const struct gt_case gt_case_seqlock, gt_case_seqmutex, gt_case_seqlatch, gt_case_spsc, gt_case_mailbox, gt_case_ptrbox,
	gt_case_onceword;
extern const struct gt_case gt_case_seqnoretry, gt_case_seqother, gt_case_seqignored, gt_case_seqearly, gt_case_seqindex,
	gt_case_twoheads, gt_case_flagfirst, gt_case_ptrearly;
extern const struct gt_case gt_case_rcuswap, gt_case_rculist, gt_case_rcuhash, gt_case_rcuwait, gt_case_rcucopy,
	gt_case_rcufree, gt_case_rcureuse, gt_case_rcubare;
extern const struct gt_case gt_case_dmaread, gt_case_dmawrite, gt_case_dmarng;
extern const struct gt_case gt_case_dmalast, gt_case_dmasecond, gt_case_dmawrong;
extern const struct gt_case gt_case_dmahalf, gt_case_dmaboth, gt_case_dmadouble;
extern const struct gt_case gt_case_dmareadwait, gt_case_dmawritewait, gt_case_dmarngwait, gt_case_dmarings, gt_case_dmarngring;

extern const struct gt_case gt_case_handdone, gt_case_handwork, gt_case_handtimer, gt_case_latedone, gt_case_latework,
	gt_case_latetimer;

extern const struct gt_case gt_case_actlen, gt_case_actmutex, gt_case_actrwsem, gt_case_checkuse, gt_case_acttwo,
	gt_case_actcalls, gt_case_checkcalls, gt_case_steps, gt_case_checktwo, gt_case_readupd, gt_case_readback,
	gt_case_actirq, gt_case_actboth, gt_case_actheap, gt_case_readrw, gt_case_pubinit, gt_case_halfset;
extern const struct gt_case gt_case_recheck, gt_case_version, gt_case_cmpxchg, gt_case_inflight, gt_case_snapshot,
	gt_case_batch, gt_case_state, gt_case_claim, gt_case_answer, gt_case_retry, gt_case_lookup, gt_case_outer,
	gt_case_rows, gt_case_cached, gt_case_otherbits, gt_case_hint, gt_case_ring;

extern const struct gt_case gt_case_getlate, gt_case_getheld, gt_case_getzero, gt_case_underway;

extern const struct gt_case gt_case_nulluse, gt_case_tags, gt_case_othertags;

struct file;
struct page;

/* The sector of the disk that the requests are for. A disk of 8 MiB has it. */
#define GT_DISK_SECTOR 8192ll

/* The disk, and the page that is its buffer. */
struct gt_disk {
	struct file *file;
	struct page *page;
};

/*
 * The guest's disk. harness_disk_open() returns 0 or -errno. harness_disk_request() lets the device fill the page, or with
 * `write` lets the device write the page to the disk, and waits for the end of that.
 */
bool harness_disk_there(void);
int harness_disk_open(struct gt_disk *d);
void harness_disk_close(struct gt_disk *d);
void harness_disk_request(struct gt_disk *d, bool write);

/* The same for the first `len` bytes of the page, a multiple of 512; and for two pages, of which `second` is the second. */
void harness_disk_part(struct gt_disk *d, bool write, unsigned int len);
void harness_disk_two(struct gt_disk *d, bool write, struct page *second);

#define GT_RNG_BYTES 64

/*
 * The guest's entropy device, which one case at a time may have. harness_rng_open() returns 0 or -errno. harness_rng_give()
 * tells the device to fill GT_RNG_BYTES at `buffer`; false: its queue is full. harness_rng_take() takes a filled buffer back;
 * false: there is none, or with `wait` the thread is to stop. harness_rng_request() does both. False: the thread is to stop,
 * and the device may still have the buffer. One thread at a time.
 */
bool harness_rng_there(void);
int harness_rng_open(void);
void harness_rng_close(void);
bool harness_rng_give(void *buffer);
bool harness_rng_take(bool wait);
bool harness_rng_request(void *buffer);

/*
 * Start and stop the case at `index` of gt_all_cases. The caller holds the lock of the /proc file. harness_start() returns 0,
 * -EBUSY when it runs already, -ENODEV when the guest has too few CPUs, or -ENOMEM; harness_stop() does nothing to a case at
 * rest.
 */
int harness_start(unsigned int index);
void harness_stop(unsigned int index);

/*
 * Prepare the case to be stepped; and make one round of a side of a prepared case: in the context of the caller if the side runs
 * in a task, or else in one timer interrupt of the caller's CPU, for which the caller waits. harness_stop() ends that. The caller
 * holds the lock of the /proc file for harness_prepare_case(), and not for harness_step_case(), whose two sides are to run at
 * once.
 */
int harness_prepare_case(unsigned int index);
int harness_step_case(unsigned int index, unsigned int side);
bool harness_running(unsigned int index);
u64 harness_rounds(unsigned int index, unsigned int side);

/* Waits between two rounds of a racing loop: busy, so that a round costs no VM exit. */
void harness_pause(void);

/* Waits until `done` is completed. False: the thread is to stop; or it is no side's, and waited 100 ms. */
bool harness_wait(struct completion *done);

/* Make the kernel complain of itself in this way: see complaints.c. Returns 0, or -ENOENT if there is no such way. */
int harness_complain(const char *kind);

/*
 * The pairs of calls for `outrider explore`: see stepped.c. Both return what the call returns, or -ENOENT if there is no such
 * pair.
 */
int harness_prepare(const char *name);
int harness_step_pair(const char *name, unsigned int side);

/*
 * /proc/outrider_gt: reading lists the cases, writing "start CASE" or "stop CASE" drives them, "complain KIND" makes the kernel
 * complain, and "prepare NAME" and "step NAME SIDE" make the calls of stepped.c.
 */
int harness_proc_init(void);
void harness_proc_exit(void);

/* A counter's value by a LOCKed instruction: atomic64_read() would be a plain load. */
static inline u64 gt_locked_read(atomic64_t *v)
{
	return atomic64_fetch_add(0, v);
}

#endif
