/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plan of a campaign: a campaign file, read, checked, and expanded into runs. A run is one cell of the matrix: a kernel, an
 * image, a workload, a sampling setting and a seed. docs/campaign.rng is the grammar of campaign files.
 *
 * A plan does not change after plan_load(), and any thread may read it. All strings belong to the plan or to the list of runs
 * that they came with.
 */
#ifndef OUTRIDER_CAMPAIGN_PLAN_PLAN_H
#define OUTRIDER_CAMPAIGN_PLAN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"

/* Limits of one run. 0: there is none. */
struct plan_limits {
	uint64_t time_ns;      /* Wall clock, from the start of the process. */
	uint64_t cpu_ns;       /* CPU time of all processes of the run. */
	uint64_t memory;       /* Bytes, of all processes of the run. */
	uint64_t output;       /* Bytes, of all that the run writes into its folder. */
	uint64_t silence_ns;   /* Longest time without a byte of the guest's console. A longer one is a hang. */
	uint64_t heartbeat_ns; /* Longest time without a heartbeat of the guest's agent, once one came. A longer one is a hang.
				*/
};

/* What makes `outrider campaign run` exit with status 1. Bits. */
enum plan_failure {
	PLAN_FAIL_NEW_HARMFUL = 1 << 0, /* A race that is new in this round and a harmful candidate. */
	PLAN_FAIL_NEW_UNCLEAR = 1 << 1, /* The same, or one that is undecided. */
	PLAN_FAIL_NEW_RACE = 1 << 2,	/* A new race of whatever kind. */
	PLAN_FAIL_FINDING = 1 << 3,	/* A panic, hang, lockup or crash. */
	PLAN_FAIL_LIMIT = 1 << 4,	/* A run that ran into one of its limits. */
};

/* What stands for an attached machine that is defined for the run. */
struct plan_domain {
	const char *uri;  /* Connection to libvirt, or NULL for libvirt's default. */
	const char *file; /* Path of a domain's XML that is started for the run and destroyed behind it. NULL: `name` is
			     attached to. */
	const char *name; /* Domain that runs already. NULL: `file` is given. */
	const char
		*kernel; /* What takes the place of <os> in the file: kernel, initrd and command line. NULL: the file's own. */
	const char *initrd;
	const char *cmdline;
};

struct plan_run {
	/* "KERNEL/IMAGE/WORKLOAD/SAMPLING/SEED": names the cell, the same in every round and on every machine. The seed of a
	 * drawn one is written as "#N", the N-th of the round; see `seed`. Names have no slash. */
	const char *key;
	const char *kernel, *image, *workload, *sampling; /* The names of the parts. */
	uint64_t seed;
	bool attach;			  /* `outrider attach`. Otherwise `outrider run`. */
	const struct plan_domain *domain; /* Set with `attach` only. */
	/*
	 * Options for behind "outrider run" or "outrider attach", without --json, --seed, --duration, --console,
	 * --console-limit,
	 * --coverage and --prefer, which the runner adds. Of `attach`, the domain's name is added by the runner too.
	 */
	const char *const *argv;
	size_t argc;
	bool agent; /* The guest's agent may come by vsock: a limit of `heartbeat` needs it. Only of `outrider run`. */
	struct plan_limits limits;
	unsigned vcpus;
	uint64_t memory;      /* Bytes of guest memory, or 0 when the domain's own XML has it. */
	uint64_t duration_ns; /* For --duration. */
};

struct plan_runs {
	struct plan_run *list;
	size_t count;
	struct plan_text *text; /* All strings of the list. */
};

struct plan;

/*
 * Read the campaign file at `path`. Names of files in it are relative to the folder that the campaign file is in. The file may
 * be anybody's: no entity is expanded, nothing outside it is read as a part of it, and its size, its depth and the number of
 * its runs are bounded. Returns NULL with EXIT_INPUT and "FILE:LINE: what is wrong; what was expected" on failure.
 */
struct plan *plan_load(const char *path, struct err *err);

/* NULL is allowed. */
void plan_free(struct plan *p);

/* The campaign's name. */
const char *plan_name(const struct plan *p);

/* The campaign file's path, as plan_load() had it. */
const char *plan_path(const struct plan *p);

/* A hash of the campaign file's content, in 16 hexadecimal digits: rounds of the same plan have the same. */
const char *plan_hash(const struct plan *p);

/* The time that one round may take, in ns. 0: there is no limit. */
uint64_t plan_budget_ns(const struct plan *p);

/* How many runs the file wants at once. 0: the file does not say. */
unsigned plan_jobs(const struct plan *p);

/* Bits of enum plan_failure. */
unsigned plan_failures(const struct plan *p);

/* The path of the program to call in place of outrider itself, or NULL. */
const char *plan_emulator(const struct plan *p);

/* Whether runs prefer what earlier runs have not covered. */
bool plan_learns(const struct plan *p);

/*
 * The runs of round `round`, counted from 1, in the order in which they are to be started: all cells with their first seed,
 * then all with their second one. The cells stand in an order of this round's own, so that a budget does not always cut the
 * same ones. Returns 0, or -1 with err set. plan_runs_free() frees the list, and `p` must last as long as it.
 */
int plan_expand(const struct plan *p, unsigned round, struct plan_runs *runs, struct err *err);
void plan_runs_free(struct plan_runs *runs);

/*
 * Refuse a plan that has a machine with more than `cpus` vCPUs, which are those of this host. Returns 0, or -1 with EXIT_INPUT,
 * and the file and line.
 */
int plan_check_host(const struct plan *p, unsigned cpus, struct err *err);

/* Whether the run with this key belongs to shard `index` (from 1) of `count`. It is the same on every machine. */
bool plan_in_shard(const char *key, unsigned index, unsigned count);

/*
 * Whether the key is meant by `only`: one or several glob patterns (fnmatch(3)) with commas between them, each of which matches
 * the whole key or one of its parts.
 */
bool plan_is_meant(const char *key, const char *only);

#endif
