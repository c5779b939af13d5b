/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A race: two sites that were observed in conflict. The record of a race has the first observation in full, and the first few
 * instances in short.
 *
 * No locks: one thread at a time uses a race.
 */
#ifndef OUTRIDER_RACE_RACE_H
#define OUTRIDER_RACE_RACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/race/complaint.h"
#include "hv/race/names.h"
#include "hv/race/observation.h"
#include "hv/race/replay.h"
#include "hv/race/site.h"

#define RACE_INSTANCES_MAX 8 /* instances recorded per race: the first ones */

/* One side of an instance. */
struct race_instance_side {
	/* Who made the access, as in struct race_side. This decides which fields are valid. */
	enum race_side_kind kind;
	/* The device's access, as in struct race_side. */
	struct device_access device;
	/* The vCPU that made the access. */
	uint16_t cpu;
	/* enum insn_rw bits: how the instruction accesses the datum. */
	uint8_t rw;
	/* The instruction is LOCKed. */
	bool locked;
	/* The context that ran on the vCPU. */
	struct guest_context context;
};

/* One instance of a race, in short. */
struct race_instance {
	/*
	 * Number of the run, as counted by race_store_begin_run(). Addresses and values of different runs are not comparable.
	 */
	unsigned run;
	/* Nanoseconds from the arming of the first sample point to the conflict. */
	uint64_t time_ns;
	/* Nanoseconds from the opening of the window to the conflict. */
	uint64_t held_ns;
	/* How the detector noticed the conflict. */
	enum race_how how;
	/* GVA of the sampled datum. */
	uint64_t gva;
	/* GPA of the sampled datum. */
	uint64_t gpa;
	/* Bytes of the sampled datum in before[] and after[]. */
	uint32_t data_len;
	/*
	 * Value of the sampled datum when the window opened or, for RACE_BY_REREAD, when the watchpoints were set on all vCPUs.
	 */
	uint8_t before[RACE_DATA_MAX];
	/* Value of the sampled datum when the conflict was noticed. */
	uint8_t after[RACE_DATA_MAX];
	/*
	 * The two sides of the instance, in the same order as site[] of struct race. The sides of the instance's observation
	 * can be in the other order.
	 */
	struct race_instance_side sides[2];
};

/* All strings are printable (hv/race/printable.h). */
struct race {
	/* race_id() of the two sites. */
	char id[RACE_ID_MAX];
	/* Names of the sites of first.sides[0] and first.sides[1], as site_name() writes them. */
	char site[2][SITE_NAME_MAX];
	/* enum insn_rw bits of each side, combined over all instances. */
	uint8_t rw[2];
	/* Number of observations. */
	uint64_t count;
	/* Nanoseconds from the arming of the first sample point to the earliest observation. */
	uint64_t first_ns;
	/* Nanoseconds from the arming of the first sample point to the latest observation. */
	uint64_t last_ns;
	/* Number of `instances`. */
	unsigned kept;
	/*
	 * The first RACE_INSTANCES_MAX instances, in the order in which they were found. instances[0] is the observation in
	 * `first`.
	 */
	struct race_instance *instances;
	/*
	 * The run also has a suspicion of this pair of sites (hv/race/suspicion.h). It comes from the recorded locks, and not
	 * from the observations of this race.
	 */
	bool suspected;
	/* The complaint of the guest's kernel that follows the race. */
	struct race_complaint complaint;
	/* Source lines and the datum's name, from debug files. NULL: naming was not requested. */
	struct race_names *names;
	/* Results of running the race in both orders. NULL: the race was not run. */
	struct race_replay *replay;
	/* The modules that were loaded at the first instance, as ids in the report's list of modules. */
	uint64_t *modules;
	size_t module_count;
	/* The first observation of the race. Its sides point into side_memory. */
	struct observation first;
	/*
	 * For each side of `first` that a vCPU made: the memory that the side points to, in one block of exactly the needed
	 * size.
	 */
	void *side_memory[2];
};

/* Returns an empty race, or NULL if memory runs out. */
struct race *race_new(void);

/* Free a race and all that it owns. `race` may be NULL. Do not call it for a race in a store, which owns its races. */
void race_free(struct race *race);

/*
 * Copy `from` to first.sides[which], and copy the memory that `from` points to into memory that the race owns. Cuts lengths to
 * the maxima of observation.h, on which all readers of a race rely, and makes strings printable. Returns 0, or -1 if memory
 * runs out, with the race unchanged.
 */
int race_keep_side(struct race *race, unsigned which, const struct race_side *from);

/* Copy `from`, a side that a device made, to first.sides[which]. Such a side has no buffers. */
void race_keep_device(struct race *race, unsigned which, const struct race_side *from);

/*
 * Append a zeroed instance and return it. The returned instance is valid until the next call, which may move all instances.
 * Returns NULL if memory runs out. Call it at most RACE_INSTANCES_MAX times per race.
 */
struct race_instance *race_add_instance(struct race *race);

/* Give the race an empty replay if it has none. Returns 0, or -1 if memory runs out. */
int race_have_replay(struct race *race);

#endif
