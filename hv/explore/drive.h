/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Drives a copy of the base (base.h). A side is one of the two programs. This code lets one side run alone, up to an
 * instruction or to its end, while the other side waits at the mark or is held, and finally lets both sides run. Side 0 runs on
 * CPU 0, and side 1 on CPU 1. Each copy needs a process of its own.
 */
#ifndef OUTRIDER_EXPLORE_DRIVE_H
#define OUTRIDER_EXPLORE_DRIVE_H

#include "hv/explore/base.h"
#include "hv/explore/returns.h"
#include "hv/replay/copy.h"
#include "hv/vmm/platform/mark.h"
#include "symbols/insn/insn.h"

/*
 * Maximum number of instructions before which drive_slice() stops, besides the one at its `pc`, which takes the first debug
 * register.
 */
#define DRIVE_ALSO_MAX (COPY_WATCHES - 1)

struct drive {
	const struct base *base;
	struct copy copy;
	struct mark mark;
	int console; /* a memfd with the copy's console output */
	unsigned cpus;
	/* The side is held in the middle of its program: its CPU must not run. */
	bool held[2];
	/* GVAs of more instructions before which drive_slice() stops, besides the one at its `pc`; 0: none. */
	uint64_t also[DRIVE_ALSO_MAX];
	struct insn_decoder *decoder;
	/* The arguments of drive_note_returns(). NULL: the results of system calls are not wanted. */
	const struct returns_site *returns;
	struct returned *returned;
};

/* Why a side stopped. */
enum drive_end {
	DRIVE_THERE, /* the side is at the place where it was to stop, such as before its access */
	DRIVE_DONE,  /* the side's program has ended */
	/*
	 * the side is at neither place: the time is over, the other side was held for EXPLORE_HOLD_MAX_NS, or the side spins
	 * until the other side's CPU acts, and the other side is held
	 */
	DRIVE_STUCK,
	DRIVE_BROKEN, /* the machine has ended, or drive.copy.err is set */
};

/* Make the copy, in which both sides wait at the mark. Returns 0, or -1 with `err` set; drive_close() follows in both cases. */
int drive_open(struct drive *d, const struct base *base, struct err *err);
void drive_close(struct drive *d);

/*
 * From now on, add the results of each side's system calls to returned[side] (returns.h). Uses drive.also[0]. Does nothing if
 * site->pc is 0.
 */
void drive_note_returns(struct drive *d, const struct returns_site *site, struct returned returned[2]);

/*
 * Let this side run, while the other side stays where it is. The side stops when its CPU is about to execute the instruction at
 * `pc` with an access to the byte at `gva`, when its program has ended, or when `ns` nanoseconds have passed. With `pc` 0, the
 * side runs to its end. Unless the other side is held, the CPUs of both sides run in turn, because the other side's CPU may
 * have to answer interrupts that this side's CPU sends.
 */
enum drive_end drive_to(struct drive *d, unsigned side, uint64_t pc, uint64_t gva, uint64_t ns);

/*
 * Let only this side run, as drive_to() does, until the number of its system calls that have ended in this copy is `calls`.
 * Call drive_note_returns() before. Returns DRIVE_THERE when this number is reached.
 */
enum drive_end drive_calls(struct drive *d, unsigned side, unsigned calls, uint64_t ns);

/* Let only this side run until it is before the access, as drive_to() does. */
enum drive_end drive_to_access(struct drive *d, unsigned side, const struct explore_access *access, uint64_t ns);

/* Let the side, which is before an access, make the access. Returns whether the access was made. */
bool drive_step(struct drive *d, unsigned side);

/*
 * Let the side, which is before its access of a candidate, make the access. If the candidate has a common lock, the side then
 * goes on until it has made all releases in own->release, so that the other side can run while this side is held. The way to
 * each release takes at most `ns` nanoseconds. Returns whether the side has made the access and these releases.
 */
bool drive_through(struct drive *d, unsigned side, const struct explore_side *own, uint64_t ns);

/*
 * Let this CPU run for a slice of `ns` nanoseconds, but stop it before the instruction at `pc` and before those at
 * drive.also. If one of these addresses is 0, it stops nothing. Returns as copy_slice() does.
 */
enum copy_step drive_slice(struct drive *d, unsigned cpu, uint64_t pc, uint64_t ns);

/*
 * Copy up to INSN_MAX_LEN bytes of code at the GVA `pc`, as this CPU sees them. Returns their number: fewer if the next page is
 * not mapped.
 */
unsigned drive_code(struct drive *d, unsigned cpu, uint64_t pc, uint8_t code[INSN_MAX_LEN]);

/* Returns whether the CPU waits for an interrupt (HLT). */
bool drive_halted(struct drive *d, unsigned cpu);

/*
 * Let the CPU of the side other than `side` run for a moment, unless that other side is held. Returns false if the machine has
 * ended.
 */
bool drive_other(struct drive *d, unsigned side);

/*
 * Let both sides run freely until both have ended and the guest has settled, for at most `ns` nanoseconds. To be called once;
 * only drive_close() may follow. Returns the state of the machine.
 */
enum replay_machine drive_freely(struct drive *d, uint64_t ns);

#endif
