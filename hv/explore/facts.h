/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is explored, and what is found. Plain data, part of explore.h. */
#ifndef OUTRIDER_EXPLORE_FACTS_H
#define OUTRIDER_EXPLORE_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/base/x86.h"
#include "hv/race/facts.h"
#include "hv/race/replay.h"
#include "hv/vmm/vmm.h"
#include "symbols/insn/insn.h"

/* Maximum number of accesses that are kept of one program. */
#define EXPLORE_ACCESSES_MAX (1u << 20)

/* Maximum number of trials that run at a time. */
#define EXPLORE_JOBS_MAX 64

/*
 * The time limit for a forced part of a schedule, such as "A up to its access". A part may take an EXPLORE_PARTS-th of a
 * trial's time (explore_config.trial_ns) or, if that is longer, EXPLORE_PART_SERIALS times as long as the longer serial order,
 * because then the machine is slow.
 */
#define EXPLORE_PARTS 8
#define EXPLORE_PART_SERIALS 2

/*
 * The longest time, in ns, for which one side is held while the other one runs. The guest's kernel complains about a CPU that
 * has not run for 10 s (hard lockup, kernel/watchdog.c), 20 s (soft lockup) or 21 s (RCU stall, kernel/rcu/tree_stall.h).
 */
#define EXPLORE_HOLD_MAX_NS UINT64_C(8000000000)

/* Bytes of a build id in hexadecimal, including the NUL. The longest build ids have 64 bytes. */
#define EXPLORE_BUILD_MAX (2 * 64 + 1)

/* Maximum number of functions of explore_config.also, for each side. Each takes a debug register while the side is recorded. */
#define EXPLORE_ALSO_MAX 2

/* Maximum number of bytes of the name of a scenario's file, including the NUL. */
#define EXPLORE_FILE_MAX 64

/* Names of the two sides, for people. */
#define EXPLORE_SIDE_NAMES "AB"

/*
 * Receives the scenarios of findings. The functions are called on the thread of explore_run(). A copy writes a scenario to a
 * file that is open already, because its process may not open files.
 */
struct explore_saver {
	/* Returns the descriptor of an empty file, or -1 if there is none. */
	int (*file)(void *ctx);
	/*
	 * Called when a copy has written a scenario to the file, or has left the file empty. If the file is not empty, give it
	 * the name `name`; if `name` is NULL, empty the file instead. Sets *kept if there is a scenario. Returns 0, or -1 with
	 * `err` set.
	 */
	int (*take)(void *ctx, const char *name, bool *kept, struct err *err);
	void *ctx;
};

struct explore_skip;

struct explore_config {
	/* The machine, which must have at least two CPUs, and no devices. explore_run() sets its console and its mark. */
	struct vmm_config vm;
	/* Path of a file for the guest's console output during the boot. NULL: this output is not kept. */
	const char *console;
	/* The only folder in which the confined process may write files. NULL: none. */
	const char *folder;
	/* Shell commands: of the preparation, which may be "", and of both sides. */
	const char *prepare, *command[2];
	/*
	 * Names of functions of the kernel or of a module. The calls of these functions that the side's CPU makes outside of
	 * the program's system calls, for example as the callback of a timer, belong to the side. NULL: none.
	 */
	const char *also[2][EXPLORE_ALSO_MAX];
	/* Limits in nanoseconds: of the boot to the mark, of each program's recording, and of each trial. */
	uint64_t boot_ns, record_ns, trial_ns;
	/* Maximum number of instructions of the kernel that are single-stepped for each program's recording. */
	uint64_t steps;
	/* Record the baseline program (record_baseline()), which costs about as much as a program. */
	bool baseline;
	/* Maximum number of trials. 0: only record, and list the candidates. */
	unsigned trials;
	/*
	 * Random schedules (hv/explore/walk.h), which are tried after the other trials: their maximum number, their depth (2 to
	 * EXPLORE_POINTS_MAX + 1), and the seed for choosing them.
	 */
	unsigned walks, depth;
	uint64_t seed;
	/* Number of trials that run at a time, 1 to EXPLORE_JOBS_MAX. */
	unsigned jobs;
	/* The time in ns from the start of the first trial, after which no further trial starts. 0: no limit. */
	uint64_t trials_ns;
	/*
	 * Number of candidates at which chains are looked for (candidates_after()). These are the first candidates at which a
	 * trial has let one side run to its end while the other side was held. At each of them, the side that ran is recorded
	 * once more, and the candidates that only these recordings show are tried. 0: look for no chains.
	 */
	unsigned chains;
	/* Trials to leave out. NULL: none. */
	const struct explore_skip *skip;
	/* Saves a scenario of each finding. NULL: no scenarios are saved. */
	const struct explore_saver *saver;
	/* Go on after the first finding. */
	bool keep_going;
	/* Receives one line for each step of the work. May be NULL. */
	void (*message)(void *ctx, const char *line);
	void *ctx;
};

/* One access that a program made. */
struct explore_access {
	uint64_t pc, gva;
	uint64_t gpa;  /* of the same byte; 0: not mapped to RAM */
	uint32_t size; /* bytes, all in one page */
	uint32_t at;   /* number of the instruction in the recording */
	uint8_t rw;    /* enum insn_rw bits */
	bool locked;   /* the instruction is locked */
	/* enum insn_commuting; INSN_COMMUTES_NOT also if the next instruction uses the flags */
	uint8_t commutes;
	bool crosses;	 /* the instruction accesses bytes of two pages; this access is the part in one page */
	bool service;	 /* made in a call of a function that serves the whole kernel (kernel_code_facts()) */
	bool other_call; /* made in a call of a function of explore_config.also */
	uint8_t length;	 /* of the instruction, in bytes */
	/*
	 * If the instruction is in a function of a library, such as memcpy() or those of red-black trees: the return address of
	 * the call by which other code has called the library. Otherwise 0.
	 */
	uint64_t caller;
};

/*
 * Returns the address by which accesses are compared: the GPA or, if it is unknown, the GVA. The GVA of kernel memory is larger
 * than all GPAs.
 */
static inline uint64_t explore_place(const struct explore_access *a)
{
	return a->gpa ? a->gpa : a->gva;
}

/* Returns the address of the code that wants the access: the caller of the library, or the instruction. */
static inline uint64_t explore_wants(const struct explore_access *a)
{
	return a->caller ? a->caller : a->pc;
}

/* The largest operand, in bytes, of a read-modify-write that a schedule splits (explore_splits()). */
#define EXPLORE_SPLIT_MAX 8

/* Why the recording of a program ended. */
enum explore_recorded {
	EXPLORE_NOT_RECORDED,
	EXPLORE_TO_ITS_END, /* the program ended */
	EXPLORE_STEPS,	    /* config.steps was reached */
	EXPLORE_FULL,	    /* EXPLORE_ACCESSES_MAX was reached */
	EXPLORE_TIME,	    /* config.record_ns has passed, or a side waited in vain (record_after()) */
	EXPLORE_LOST,	    /* the copy's machine ended, or a step did not end */
};

/* What one program did when it ran alone. */
struct explore_recording {
	enum explore_recorded end;
	uint64_t steps;	  /* instructions of the kernel that were single-stepped */
	uint64_t entries; /* system calls that were recorded */
	/* Recorded calls of each function of explore_config.also. */
	uint64_t calls[EXPLORE_ALSO_MAX];
	uint64_t accesses; /* to memory that another CPU could access */
	uint64_t ns;	   /* time of the recording */
};

/* Maximum number of locks that a side releases, one after another, before a pause holds the side (explore_side.release). */
#define EXPLORE_RELEASES_MAX 4

/* One side of a candidate. */
struct explore_side {
	struct explore_access access;
	uint64_t times;		    /* number of times that the program executed the instruction */
	struct guest_symbol symbol; /* the function; name "": unknown */
	struct guest_symbol caller; /* the function of access.caller; name "": unknown, or there is none */
	/*
	 * If the candidate has a common lock, a pause holds this side only after it has made these releases. The first one
	 * releases the common lock; if there are several common locks, it releases the one that this side releases last. Each
	 * further release is of a lock that this side still holds at the previous release, and that the other side takes before
	 * its own access. `pc` is the instruction that makes the release, and `gva` is the address of the lock. pc 0: there are
	 * no more.
	 */
	struct explore_release {
		uint64_t pc, gva;
	} release[EXPLORE_RELEASES_MAX];
};

/* Returns whether a side that is held after its access `a` is held at the same place as after its access `b`. */
static inline bool explore_holds_alike(const struct explore_side *a, const struct explore_side *b)
{
	for (unsigned i = 0; i < EXPLORE_RELEASES_MAX; i++)
		if (a->release[i].pc != b->release[i].pc || a->release[i].gva != b->release[i].gva)
			return false;
	return a->access.pc == b->access.pc && a->access.gva == b->access.gva;
}

/* A pair of accesses to the same bytes, at least one of them a write, whose order may matter. */
struct explore_candidate {
	struct explore_side side[2];
	/* Reasons for a lower rank: a common lock; one access is locked, or both; a function that serves the whole kernel. */
	bool common_lock, locked, serves_all;
	/*
	 * Another reason for a lower rank: both programs write to the memory before they read it, and the memory was not in use
	 * at the mark. Most likely, each program has allocated an object there for itself: each program is recorded in a copy
	 * of the base, and both copies begin with the same free objects.
	 */
	bool fresh;
	/*
	 * Number of sides, 0 to 2, whose instruction the baseline program executes, too. That is a program that only forks,
	 * waits and exits (record_baseline()). The more sides, the lower the candidate's rank.
	 */
	unsigned baseline;
	/*
	 * If `after` is not -1: the access of the side other than `held` was seen only in a recording in which side `held` was
	 * held after its access of the candidate with the index `after`. -1: both accesses were seen when each program ran
	 * alone.
	 */
	int after;
	unsigned held;
	/*
	 * Reasons for a higher rank: a side is in a module; at least one access was made in a call of a function of
	 * explore_config.also.
	 */
	bool module, other_call;
	/*
	 * The schedules that most likely block, as bits 1 << enum explore_schedule. In such a schedule, the side that runs
	 * first has a lock while it is held, and the other side takes this lock, and not as a reader.
	 */
	uint8_t blocked;
	struct guest_memory memory; /* what the bytes belong to */
};

/* Returns whether both accesses are locked. Then they are no data race, but their order may still matter. */
static inline bool explore_both_locked(const struct explore_candidate *c)
{
	return c->side[0].access.locked && c->side[1].access.locked;
}

/* Returns the number of reasons for a lower rank that apply. */
static inline unsigned explore_reasons(const struct explore_candidate *c)
{
	return (unsigned)c->common_lock + c->locked + c->serves_all + c->fresh + (c->baseline == 2);
}

/* Maximum number of change points of a random schedule (hv/explore/walk.h). */
#define EXPLORE_POINTS_MAX 3

/* A place where a random schedule lets the other program run: before the first time that `side` makes this access. */
struct explore_point {
	unsigned side;
	struct explore_side at;
};

/* A random schedule. */
struct explore_walk {
	unsigned first; /* the side that runs at first */
	unsigned count; /* change points */
	struct explore_point point[EXPLORE_POINTS_MAX];
};

/* A schedule: what is forced at a candidate. */
enum explore_schedule {
	EXPLORE_SERIAL_AB, /* A alone, then B */
	EXPLORE_SERIAL_BA,
	EXPLORE_FLIP_A,	 /* A up to its access; B through its access; A through its access; both go on */
	EXPLORE_FLIP_B,	 /* the same with B and A exchanged */
	EXPLORE_PAUSE_A, /* A through its access; B to its end; A goes on */
	EXPLORE_PAUSE_B,
	EXPLORE_WALK, /* a random schedule (explore_trial.walk), which has no candidate */
	/* A makes trial.calls[0] system calls; B to its end; A goes on. No trial has this schedule: serial.h runs it. */
	EXPLORE_BETWEEN_A,
	EXPLORE_BETWEEN_B,
	EXPLORE_SCHEDULES,
};

/* Returns the side that a schedule lets run first, up to its access or through it. */
static inline unsigned explore_first(enum explore_schedule schedule)
{
	return schedule == EXPLORE_SERIAL_BA || schedule == EXPLORE_FLIP_B || schedule == EXPLORE_PAUSE_B ||
	       schedule == EXPLORE_BETWEEN_B;
}

/* Returns whether a schedule holds a side after its access. */
static inline bool explore_pauses(enum explore_schedule schedule)
{
	return schedule == EXPLORE_PAUSE_A || schedule == EXPLORE_PAUSE_B;
}

/* Returns whether a schedule is a flip. When a flip is forced, both sides stand before their accesses at the same time. */
static inline bool explore_flips(enum explore_schedule schedule)
{
	return schedule == EXPLORE_FLIP_A || schedule == EXPLORE_FLIP_B;
}

/*
 * Returns whether a schedule can split the access, so that the other side accesses the memory between the read and the write of
 * the instruction. This is possible for a read-modify-write without LOCK prefix whose operand is in one page. Also checks that
 * the access is in one page, because the process that records is not trusted.
 */
static inline bool explore_can_split(const struct explore_access *a)
{
	return a->rw == (INSN_READ | INSN_WRITE) && !a->locked && a->size <= EXPLORE_SPLIT_MAX && !a->crosses &&
	       a->gva % X86_PAGE_SIZE + a->size <= X86_PAGE_SIZE;
}

/*
 * Returns whether the schedule splits the access of the side that runs first, a read-modify-write without LOCK prefix: this
 * side reads, the other side writes, and this side writes (SDM volume 3, "Locked Atomic Operations"). A split flip loses
 * the update of the other side. If both accesses can be split, only flip-b splits one, so that the two flips differ: in flip-a,
 * both updates take effect.
 */
static inline bool explore_splits(const struct explore_candidate *c, enum explore_schedule schedule)
{
	unsigned first = explore_first(schedule);
	const struct explore_access *own = &c->side[first].access, *other = &c->side[!first].access;

	return explore_flips(schedule) && explore_can_split(own) && other->rw & INSN_WRITE &&
	       (schedule == EXPLORE_FLIP_B || !explore_can_split(other));
}

/* How far a trial forced its schedule. */
enum explore_forced {
	EXPLORE_FORCED,
	EXPLORE_NOT_REACHED, /* the first side did not come to its access */
	EXPLORE_BLOCKED,     /* the other side did not come to its access or its end while the first one was held */
};

enum explore_outcome {
	EXPLORE_SAME,	   /* as in a serial order */
	EXPLORE_COMPLAINT, /* the kernel complained, or the machine died */
	EXPLORE_HANG,	   /* not both programs ended within the limit */
	EXPLORE_KILLED,	   /* the kernel killed a program that no serial order kills */
	EXPLORE_STATUS,	   /* exit statuses that no serial order gives */
	EXPLORE_STATE,	   /* shared memory has, in two runs, a value that no serial order gives */
	/* the trial loses, in two runs, memory that no serial order and no run with EXPLORE_BETWEEN_A or _B loses */
	EXPLORE_LEAK,
	/* in two runs, an object is on free lists twice, but in no serial order and no run with EXPLORE_BETWEEN_A or _B */
	EXPLORE_FREED_TWICE,
	EXPLORE_RETURNS, /* system calls return, in two runs, what no serial order gives */
	EXPLORE_FAILED,	 /* the trial could not be run */
};

/* The value that stands for the address of any kernel memory (ends_read()): the lowest address of the kernel's half. */
#define EXPLORE_SOME_ADDRESS UINT64_C(0xffff800000000000)

/* Shared memory whose value at the end of a trial is that of no serial order. */
struct explore_end {
	uint64_t gva;
	unsigned size;	    /* 1 to 8 bytes */
	uint64_t value;	    /* after the trial */
	uint64_t serial[2]; /* after the serial orders */
};

/* Stands in place of a result if the program does not make the call. */
#define EXPLORE_NO_CALL INT64_MIN

/* A system call of one side whose result in the trial is neither of its results in the two serial orders. */
struct explore_return {
	unsigned call;	   /* number of the call among those of its process, from 1; 0: there is no such call */
	int number;	   /* of the system call, as in SYS_write */
	int64_t value;	   /* in the trial; negative: an error number; a process ID, an address or a time is stored as 0 */
	int64_t serial[2]; /* in the serial orders */
};

/* Bytes of a cache's name, including the NUL. A longer name is cut. */
#define EXPLORE_CACHE_MAX 64

/*
 * Slab objects of one cache that nothing points to any more (leaks.h); or an object that was freed twice, where `count` and
 * `serial` are 0.
 */
struct explore_object {
	uint64_t gva;		       /* of one of the objects */
	uint32_t size;		       /* of an object, in bytes */
	uint32_t count, serial;	       /* number of objects lost in the trial, and the most that a serial order lost */
	char cache[EXPLORE_CACHE_MAX]; /* name of the cache; "": unknown */
	struct guest_symbol holds;     /* a function or variable whose address the object holds; name "": none */
};

struct explore_trial {
	unsigned number;    /* from 1; 0 for the serial orders */
	unsigned candidate; /* index; undefined for the serial orders and EXPLORE_WALK */
	enum explore_schedule schedule;
	struct explore_walk walk; /* of EXPLORE_WALK */
	enum explore_forced forced;
	bool split; /* explore_splits(), and the schedule was forced */
	enum explore_outcome outcome;
	int status[2];			  /* exit statuses; -1: not ended */
	struct explore_end end;		  /* of EXPLORE_STATE */
	struct explore_return returns[2]; /* of EXPLORE_RETURNS, of each side */
	struct explore_object object;	  /* of EXPLORE_LEAK and EXPLORE_FREED_TWICE */
	/*
	 * Number of system calls of each side that had ended when both sides were let run freely; 0: none, or unknown. A side
	 * that was held was in its next call. RETURNS_MAX (returns.h): this number or more, or the side had ended.
	 */
	unsigned calls[2];
	enum replay_machine machine;	 /* how the copy's machine ended */
	char text[REPLAY_TEXT_MAX];	 /* the kernel's first complaint, or why the trial failed; printable */
	char scenario[EXPLORE_FILE_MAX]; /* the name of the scenario's file; "": none */
	bool again;			 /* the scenario's forced order ended in trouble, too, when save_finding() ran it */
	uint64_t ns;
};

/* Returns whether one side ran to its end in the trial while the other one was held after its access. */
static inline bool explore_lets_run(const struct explore_trial *t)
{
	return explore_pauses(t->schedule) && t->forced == EXPLORE_FORCED && t->outcome != EXPLORE_FAILED;
}

/* Returns whether the trial did harm to memory, which trial->object describes. */
static inline bool explore_harms_memory(const struct explore_trial *t)
{
	return t->outcome == EXPLORE_LEAK || t->outcome == EXPLORE_FREED_TWICE;
}

/*
 * Returns whether the trial found harm. EXPLORE_STATE alone is no harm: memory has a value that no serial order gives, but
 * outrider does not know what this value does to the guest. A wrong value of a statistic, for example, may do nothing.
 * EXPLORE_RETURNS and EXPLORE_STATUS are no harm either: a system call may rightly give up because it meets another call.
 */
static inline bool explore_found(const struct explore_trial *t)
{
	return t->outcome == EXPLORE_COMPLAINT || t->outcome == EXPLORE_HANG || t->outcome == EXPLORE_KILLED ||
	       explore_harms_memory(t);
}

struct explore_result {
	char banner[256];		  /* of the guest's kernel, printable; "": unknown */
	char build_id[EXPLORE_BUILD_MAX]; /* of the guest's kernel, in hexadecimal; "": unknown */
	uint64_t slide;			  /* how far KASLR moved the kernel, for explore_site_name() */
	uint64_t boot_ns;
	struct explore_recording recording[2], baseline;
	struct explore_candidate *candidates; /* in the order of their ranks */
	unsigned candidate_count;
	struct explore_trial serial[2];
	struct explore_trial *trials;
	unsigned trial_count;
	unsigned skipped; /* trials that were left out, as config.skip says */
	/*
	 * Number of schedules of all candidates, without those that cannot be forced and those that repeat an earlier schedule.
	 */
	uint64_t schedules;
	/*
	 * Time from the start of the first trial to the end of the last one, without the time for scenarios, for chains and for
	 * the runs that serial_judge() makes.
	 */
	uint64_t trials_ns;
	/*
	 * `places`: number of places for change points of random schedules. `probability`: a lower bound of the probability
	 * that one random schedule hits a given fault of the schedule's depth (walk_probability()).
	 */
	size_t places;
	double probability;
	/*
	 * The first run with EXPLORE_BETWEEN_A or EXPLORE_BETWEEN_B in which the kernel complained or the machine died.
	 * serial_judge() makes such runs. between.number is the number of the trial for which the run was made.
	 */
	struct explore_trial between;
	bool has_between;
	int first;	   /* index in `trials` of the first one that found harm; -1: none */
	int first_state;   /* index of the first one with EXPLORE_STATE; -1: none */
	int first_returns; /* index of the first one with EXPLORE_RETURNS or EXPLORE_STATUS; -1: none */
};

/* Returns whether anything is found: harm, or an outcome that may be harm (see explore_found()). */
static inline bool explore_result_is_found(const struct explore_result *r)
{
	return r->first >= 0 || r->first_state >= 0 || r->first_returns >= 0 || r->has_between;
}

/* A result in which nothing is found. */
#define EXPLORE_NOTHING ((struct explore_result){.first = -1, .first_state = -1, .first_returns = -1})

#endif
