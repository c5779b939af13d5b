/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Complaints: what the guest's kernel says against itself, such as an oops or a warning. Plain data: hv/guest reads complaints
 * from the guest's log, the report stores them, and readers of the report need no guest. All strings are printable.
 */
#ifndef OUTRIDER_RACE_COMPLAINT_H
#define OUTRIDER_RACE_COMPLAINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/race/facts.h"

enum complaint_kind {
	COMPLAINT_NONE,
	COMPLAINT_OOPS,		   /* a CPU fault in kernel mode: bad pointer, general protection fault, division by 0 */
	COMPLAINT_BUG,		   /* BUG(), or a "BUG:" line of another kind */
	COMPLAINT_PANIC,	   /* "Kernel panic - not syncing" */
	COMPLAINT_WARNING,	   /* WARN() */
	COMPLAINT_LIST,		   /* list corruption (lib/list_debug.c) */
	COMPLAINT_REFCOUNT,	   /* saturation of a refcount_t (lib/refcount.c) */
	COMPLAINT_SLAB,		   /* a report of the slab allocator, such as a double free */
	COMPLAINT_STACK_PROTECTOR, /* a kernel stack is corrupt */
	COMPLAINT_LOCKUP,	   /* soft or hard lockup, or a stall that RCU or the workqueues detected */
	COMPLAINT_HUNG_TASK,	   /* a task waited too long without running */
	COMPLAINT_SANITIZER,	   /* KASAN, KCSAN, KMSAN, KFENCE or UBSAN */
	COMPLAINT_LOCKDEP,	   /* a wrong use of locks that lockdep found */
	COMPLAINT_KINDS,
};

#define COMPLAINT_TEXT_MAX CLEAN_MAX(200) /* bytes of a recorded line with the NUL: 200 bytes of guest text, made printable */
#define COMPLAINT_FRAMES_MAX 16		  /* call trace entries that are kept, innermost first */
#define COMPLAINT_PLACE_MAX 224		  /* bytes of "function+0x18/0x40 [module]", including the NUL */

/* A place in code as the kernel prints it: "function+0x18/0x40 [module]". */
struct complaint_place {
	/* The whole text. "": unknown. */
	char text[COMPLAINT_PLACE_MAX];
	/* The part before "+0x...". */
	char function[128];
	/* "": the kernel image. */
	char module[64];
	/* Bytes from the function's start. */
	uint64_t offset;
};

struct complaint {
	enum complaint_kind kind;
	/* The line that says what is wrong, without time stamp. */
	char text[COMPLAINT_TEXT_MAX];
	/* Time in ns of the guest's log clock, which begins near boot. 0: unknown, because the line came from a console. */
	uint64_t log_ns;
	/*
	 * Time in ns from the arming of the first sample point until the complaint was read, shortly after the kernel printed
	 * it. 0: it was read before the first sample point was armed.
	 */
	uint64_t time_ns;
	/* The CPU that complained. -1: unknown. */
	int cpu;
	/* PID of the task that ran on the CPU that complained. -1: unknown. */
	int32_t pid;
	/* The task's name. "": unknown. */
	char comm[GUEST_COMM_MAX];
	/* Where the CPU was: the "RIP:" of an oops, or the place of a WARN(). */
	struct complaint_place where;
	/* `address` is valid. */
	bool address_known;
	/* The address whose access faulted. */
	uint64_t address;
	/* The kernel does not continue what it did: the task is killed, or the machine stops. */
	bool fatal;
	/* Call trace, innermost first, without entries that the kernel marks as unreliable. */
	struct complaint_place frames[COMPLAINT_FRAMES_MAX];
	unsigned frame_count;
	/* The bytes of code that an oops prints, with the guest's own bytes in place of the detector's INT3s. "": none. */
	char code[COMPLAINT_TEXT_MAX];
};

/* What connects a complaint with a race, the weakest link first. */
enum complaint_link {
	COMPLAINT_UNLINKED,
	/*
	 * The CPU that complained was in the function of a side of the race, or this function is among the four innermost calls
	 * of the complaint's call trace.
	 */
	COMPLAINT_SAME_FUNCTION,
	/*
	 * As COMPLAINT_SAME_FUNCTION, and the race's sides accessed a pointer whose value before or after the conflict is less
	 * than 4096 bytes away from the faulting address.
	 */
	COMPLAINT_SAME_POINTER,
	/* The address whose access faulted is in the object that the race's sides accessed. */
	COMPLAINT_SAME_OBJECT,
	/* The CPU that complained was at the instruction of a side of the race. */
	COMPLAINT_SAME_INSTRUCTION,
};

/*
 * The complaint that follows a race, as complaint_link.h defines it. If `link` is COMPLAINT_UNLINKED, no complaint follows the
 * race.
 */
struct race_complaint {
	enum complaint_link link;
	enum complaint_kind kind;
	/*
	 * The side of the race, 0 or 1, whose code the CPU ran when it complained. Has no meaning if `link` is
	 * COMPLAINT_UNLINKED or COMPLAINT_SAME_OBJECT.
	 */
	unsigned side;
	/*
	 * Time in ns from the race's last instance before the complaint until the detector read the complaint. The detector
	 * reads a complaint at most 0.1 s after the kernel printed it, or 1 s on a target where each read stops the guest.
	 */
	uint64_t after_ns;
	/* The kernel complained of an access by a NULL pointer: the faulting address is one of the first 4096. */
	bool null_pointer;
	/* As in struct complaint. */
	char text[COMPLAINT_TEXT_MAX];
	char where[COMPLAINT_PLACE_MAX];
};

/*
 * The message of a run that ended because of a complaint, with the complaint's text for %s. A campaign reads the complaint from
 * this message, because such a run may leave no report.
 */
#define COMPLAINT_MESSAGE_BEGIN "the guest's kernel complained: "
#define COMPLAINT_MESSAGE_END "; --on-complaint says what ends a run"
#define COMPLAINT_MESSAGE COMPLAINT_MESSAGE_BEGIN "%s" COMPLAINT_MESSAGE_END

/*
 * Returns where the complaint's text begins in a message that was made with COMPLAINT_MESSAGE, or NULL for any other message.
 * complaint_message_len() returns the length of the complaint's text, which begins at `text`.
 */
const char *complaint_of_message(const char *message);
size_t complaint_message_len(const char *text);

/* Returns the word of a kind in reports, such as "oops" or "hung-task"; "none" for COMPLAINT_NONE and unknown values. */
const char *complaint_word(enum complaint_kind kind);

/* Returns the kind with this word, or COMPLAINT_NONE. */
enum complaint_kind complaint_kind_of(const char *word);

#endif
