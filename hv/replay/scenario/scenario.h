/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A scenario: one file with all that running both orders of a race takes, wherever there is KVM on a CPU of the same vendor
 * (docs/scenario-format.md). It has the state of the machine, its RAM, where both sides stand, and what came of both orders in
 * the run that kept it. Disks are not in it: a machine that is made from a scenario has silent ones.
 *
 * A file is another's, and nothing in it is trusted: scenario_open() checks each value.
 */
#ifndef OUTRIDER_REPLAY_SCENARIO_H
#define OUTRIDER_REPLAY_SCENARIO_H

#include "hv/base/err.h"
#include "hv/race/meeting.h"
#include "hv/race/replay.h"
#include "hv/race/site.h"
#include "hv/replay/config.h"
#include "hv/vmm/ram.h"
#include "hv/vmm/snapshot/snapshot.h"

/* What people and tools are told of a scenario. All texts are printable. */
struct scenario_facts {
	char version[64];	     /* of the outrider that kept it */
	char date[32];		     /* when, in UTC, as 2026-11-22T23:59:59Z */
	char banner[256];	     /* of the guest's kernel */
	char build_id[64];	     /* of the guest's kernel, in hexadecimal; "": not known */
	char race[RACE_ID_MAX];	     /* the race's id */
	char site[2][SITE_NAME_MAX]; /* side i of the meeting is at site[i] */
	uint64_t slide;		     /* of the kernel's text, by KASLR */
	/* What came of both orders. Order i lets the meeting's side i go first. Differences may have no names. */
	struct replay_instance instance;
};

struct scenario {
	struct vm_state state;
	struct ram ram;		/* without the detector's breakpoints; mapped privately, so that each fork() has its own */
	struct meeting meeting; /* without points: they are out of the RAM */
	struct replay_config config;
	struct scenario_facts facts;
};

/*
 * Write to the empty file `fd`, from its start. Returns 0, or -1: with EXIT_INPUT when the file cannot be written, and with
 * EXIT_INTERNAL when memory runs out. The file is empty again then. Any process and thread that may write to the descriptor.
 */
int scenario_write(int fd, const struct scenario *s, struct err *err);

/*
 * Read a file. Returns 0, or -1 with EXIT_INPUT and one line that names it: it cannot be read, is no scenario, is of a version
 * that is not known, is not whole or is damaged, or there is no memory for its RAM. scenario_close() must follow on success
 * only.
 */
int scenario_open(const char *path, struct scenario *out, struct err *err);

/* Free what belongs to the scenario. Doing so twice does no harm. */
void scenario_close(struct scenario *s);

#endif
