/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A scenario: one file with everything needed to run both orders of a race on any host with KVM and a CPU of the same vendor
 * (docs/scenario-format.md). It contains the state of the machine, its RAM, the positions of both sides, and the result of both
 * orders in the run that saved it. It contains no disks: in a machine that is made from a scenario, the disks serve no request.
 *
 * The file may come from anyone, so nothing in it is trusted: scenario_open() checks each value.
 */
#ifndef OUTRIDER_REPLAY_SCENARIO_H
#define OUTRIDER_REPLAY_SCENARIO_H

#include "hv/base/err.h"
#include "hv/race/rendezvous.h"
#include "hv/race/replay.h"
#include "hv/race/site.h"
#include "hv/replay/config.h"
#include "hv/vmm/ram.h"
#include "hv/vmm/snapshot/snapshot.h"

/* Facts about a scenario for users and tools. All texts are printable. */
struct scenario_facts {
	char version[64];	     /* version of the outrider that saved it */
	char date[32];		     /* time of saving, in UTC, as 2026-11-22T23:59:59Z */
	char banner[256];	     /* the guest kernel's version line (linux_banner) */
	char build_id[64];	     /* build id of the guest's kernel, in hexadecimal; "": unknown */
	char race[RACE_ID_MAX];	     /* the race's id */
	char site[2][SITE_NAME_MAX]; /* site[i] is the site of side i of the rendezvous */
	uint64_t slide;		     /* the slide of the kernel's text */
	/*
	 * The result of both orders. In order i, side i of the rendezvous goes first. Memory that differs between the final
	 * states of the two orders may have an address only, and no name.
	 */
	struct replay_instance instance;
};

struct scenario {
	struct vm_state state;
	struct ram ram;		      /* without the detector's breakpoints; mapped privately, so that each fork() has a copy */
	struct rendezvous rendezvous; /* the list of points is empty, because `ram` has no breakpoints */
	struct replay_config config;
	struct scenario_facts facts;
};

/*
 * Describe the guest's kernel by its version line, the `len` bytes of its build id (0: unknown) and its slide: sets version,
 * banner, build_id and slide, and nothing else.
 */
void scenario_describe_kernel(struct scenario_facts *f, const char *banner, const uint8_t *id, size_t len, uint64_t slide);

/* Set the date to the present time. */
void scenario_date(struct scenario_facts *f);

/*
 * Write the scenario to the empty file `fd`. Returns 0, or -1: with EXIT_INPUT when the file cannot be written, and with
 * EXIT_INTERNAL when memory runs out. After a failure the file is empty. May be called by any process and thread that may write
 * to `fd`.
 */
int scenario_write(int fd, const struct scenario *s, struct err *err);

/*
 * Read a file. Returns 0; scenario_close() must follow. Returns -1 with EXIT_INPUT and one line that names the file if the file
 * cannot be read, is no scenario, has an unknown version, or is incomplete or damaged, or if there is no memory for its RAM.
 */
int scenario_open(const char *path, struct scenario *out, struct err *err);

/* Free the scenario's data. May be called twice. */
void scenario_close(struct scenario *s);

#endif
