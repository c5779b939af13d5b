/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A race: two sites that were observed in conflict, the first observation in full, and the first few in short.
 *
 * No locks: a race belongs to one thread at a time.
 */
#ifndef OUTRIDER_RACE_RACE_H
#define OUTRIDER_RACE_RACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/race/names.h"
#include "hv/race/observation.h"
#include "hv/race/replay.h"
#include "hv/race/site.h"

#define RACE_INSTANCES_MAX 8 /* instances that are kept of each race: the first ones */

/* What is kept of one side of an instance. */
struct race_instance_side {
	/* As in struct race_side: a vCPU made the access, or a device, or nobody was seen. */
	bool known, by_device;
	/* The device's access, as in struct race_side. */
	struct device_access device;
	/* The vCPU that made the access. */
	uint16_t cpu;
	/* enum insn_rw bits: what the instruction does to the datum. */
	uint8_t rw;
	/* The instruction is LOCKed. */
	bool locked;
	/* Who ran on the vCPU. */
	struct guest_context context;
};

/* One observation of a race in short. */
struct race_instance {
	/* Number of the run, by race_store_begin_run(). Addresses and values of two runs have nothing to do with each other. */
	unsigned run;
	/* Nanoseconds from the first sample point that was armed to the conflict. */
	uint64_t time_ns;
	/* Nanoseconds for which the window had been open. */
	uint64_t held_ns;
	/* How the conflict was seen. */
	enum race_how how;
	/* GVA of the sampled datum. */
	uint64_t gva;
	/* GPA of the sampled datum. */
	uint64_t gpa;
	/* Bytes of the sampled datum that are in before[] and after[]. */
	uint32_t data_len;
	/* The sampled datum when the window opened. */
	uint8_t before[RACE_DATA_MAX];
	/* The sampled datum when the conflict was seen. */
	uint8_t after[RACE_DATA_MAX];
	/* In the order of the race's sides, which need not be the observation's. */
	struct race_instance_side sides[2];
};

/* Its strings are printable (hv/race/printable.h). */
struct race {
	/* race_id() of the two sites, as a string. */
	char id[RACE_ID_MAX];
	/* Names of the sites of first.sides[0] and first.sides[1], by site_name(). */
	char site[2][SITE_NAME_MAX];
	/* enum insn_rw bits of each side, over all instances. */
	uint8_t rw[2];
	/* How often the race was observed. */
	uint64_t count;
	/* Nanoseconds from the first sample point that was armed to the earliest observation. */
	uint64_t first_ns;
	/* Nanoseconds from the first sample point that was armed to the latest observation. */
	uint64_t last_ns;
	/* How many instances are kept. */
	unsigned kept;
	/* The instances that are kept, in the order in which they were found. The first of them is the observation in `first`.
	 */
	struct race_instance *instances;
	/* The locks alone made its two sites suspect (hv/race/suspicion.h). */
	bool suspected;
	/* What debug files say. NULL: none were asked. */
	struct race_names *names;
	/* What came of running the race in both orders. NULL: that was never done. */
	struct race_replay *replay;
	/* Ids, in the report's list of modules, of those that were loaded when the first instance was seen. */
	uint64_t *modules;
	/* How many ids there are in `modules`. */
	size_t module_count;
	/* The first observation. What its sides point to is in side_memory. */
	struct observation first;
	/* One block of memory for each known side of `first`, just as large as what is kept of that side. */
	void *side_memory[2];
};

/* A race of which nothing is known yet. NULL: out of memory. */
struct race *race_new(void);

/* Free a race and all that it owns. NULL is allowed. A race that is in a store belongs to the store. */
void race_free(struct race *race);

/*
 * Copy `from` to first.sides[which], and what it points to, in its actual length, to memory of the race's own. Lengths above
 * the maxima of observation.h are cut to these: everything that reads a race relies on them. Its strings are made printable. 0,
 * or -1 when memory ran out, with the race as it was.
 */
int race_keep_side(struct race *race, unsigned which, const struct race_side *from);

/* The same for a side that a device made, which points to nothing. */
void race_keep_device(struct race *race, unsigned which, const struct race_side *from);

/*
 * Room for one more instance, zeroed, behind the others. It is valid until the next call, which may move all instances. NULL:
 * memory ran out. At most RACE_INSTANCES_MAX times for one race.
 */
struct race_instance *race_add_instance(struct race *race);

/* Let the race have a replay: one without instances, if it has none yet. 0, or -1: memory ran out. */
int race_have_replay(struct race *race);

#endif
