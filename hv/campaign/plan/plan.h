/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plan of a campaign: reads a campaign file, checks it, and expands it to runs. A run is one cell of the matrix (a kernel,
 * an image, a workload and a sampling setting) with one seed. docs/campaign.rng is the grammar of campaign files.
 *
 * A plan does not change after plan_load(), and any thread may read it. Strings belong to the plan or the list of runs that
 * returned them.
 */
#ifndef OUTRIDER_CAMPAIGN_PLAN_PLAN_H
#define OUTRIDER_CAMPAIGN_PLAN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"

/* Limits of one run. 0: no limit. */
struct plan_limits {
	uint64_t time_ns;    /* nanoseconds of wall clock, from the start of the process */
	uint64_t cpu_ns;     /* nanoseconds of CPU time, of all processes of the run */
	uint64_t memory;     /* bytes of memory, of all processes of the run */
	uint64_t output;     /* bytes of all files in the run's folder */
	uint64_t silence_ns; /* nanoseconds without output on the guest's console, after which the run counts as a hang */
	/* A run whose guest agent has sent a heartbeat, and then no other one for this long (ns), counts as a hang. */
	uint64_t heartbeat_ns;
};

/* Bits for the results that make `outrider campaign run` exit with status 1. */
enum plan_failure {
	PLAN_FAIL_NEW_HARMFUL = 1 << 0, /* a harmful candidate that is new, is back, or had a less serious class before */
	/* a harmful candidate, unclear or unjudged race that is new, is back, or had a less serious class before */
	PLAN_FAIL_NEW_UNCLEAR = 1 << 1,
	PLAN_FAIL_ANY_NEW = 1 << 2,	/* a race of any class that is new, is back, or had a less serious class before */
	PLAN_FAIL_NEW_FINDING = 1 << 3, /* a finding that no earlier round has */
	PLAN_FAIL_FINDING = 1 << 4,	/* a bad end of a run that is no race, such as a panic or an exceeded limit */
	PLAN_FAIL_LIMIT = 1 << 5,	/* a run that exceeded one of its limits */
	PLAN_FAIL_COMPLAINT = 1 << 6,	/* a panic, lockup or other complaint of a guest's kernel */
};

/* A libvirt domain that a run attaches to. */
struct plan_domain {
	const char *uri;  /* connection to libvirt; NULL: libvirt's default */
	const char *file; /* path of the XML of a domain that exists only during the run; NULL: attach to `name` */
	const char *name; /* a domain that is running already; NULL: `file` is set */
	/*
	 * If `kernel` is set, the next three members replace the elements of the same names in the XML of `file`; without
	 * `initrd`, its element is removed. If `kernel` is NULL, all three elements stay as they are in the XML.
	 */
	const char *kernel;
	const char *initrd;
	const char *cmdline;
};

/* What a run of `outrider explore` explores: two programs. The commands are as clean_text() makes them. */
struct plan_run_pair {
	const char *prepare, *command[2];
	unsigned trials; /* new schedules that the run tries */
};

struct plan_run {
	/*
	 * "KERNEL/IMAGE/WORKLOAD/SAMPLING/SEED": the run's name, the same in every round and on every machine. If each round
	 * computes its seeds, SEED is "#N" for the N-th seed, whose value is `seed`. Names contain no slash.
	 */
	const char *key;
	const char *kernel, *image, *workload, *sampling; /* names of the parts */
	uint64_t seed;
	bool attach;			  /* The run uses `outrider attach` instead of `outrider run`. */
	const struct plan_domain *domain; /* set with `attach` only */
	const struct plan_run_pair *pair; /* The run uses `outrider explore`. NULL: it does not. */
	/*
	 * Options after "outrider run", "outrider attach" or "outrider explore". For run and attach, the runner adds
	 * --duration, --quiet, --seed, --json, --coverage and --prefer; then for run --console, --console-limit and --vsock,
	 * and for attach the domain's name. For explore, the runner adds --duration, --trials, --keep-going, --format,
	 * --console, --save and --skip.
	 */
	const char *const *argv;
	size_t argc;
	bool agent; /* The guest agent may connect by vsock, as the limit `heartbeat` needs. Only for `outrider run`. */
	struct plan_limits limits;
	unsigned vcpus;
	uint64_t memory;      /* bytes of guest memory; 0: as in the domain's XML */
	uint64_t duration_ns; /* nanoseconds, for --duration */
};

/* Returns the subcommand of outrider that carries out the run. */
static inline const char *plan_engine(const struct plan_run *r)
{
	return r->pair ? "explore" : r->attach ? "attach" : "run";
}

struct plan_runs {
	struct plan_run *list;
	size_t count;
	struct plan_text *text; /* all strings of the list */
};

struct plan;

/*
 * Read the campaign file at `path`. File names in it are relative to its folder. The file is not trusted: entities are not
 * expanded, no other file is read as a part of it, and its size, its depth and the number of its runs are limited. Free the
 * plan with plan_free(). Returns NULL with EXIT_INPUT and "FILE:LINE: what is wrong; what was expected".
 */
struct plan *plan_load(const char *path, struct err *err);

/* Free the plan. `p` may be NULL. */
void plan_free(struct plan *p);

/* Returns the campaign's name. */
const char *plan_name(const struct plan *p);

/* Returns the path of the campaign file, as given to plan_load(). */
const char *plan_path(const struct plan *p);

/* Returns a hash of the campaign file's content, as 16 hexadecimal digits. It shows whether the file changed between rounds. */
const char *plan_hash(const struct plan *p);

/* Returns the limit on the time of one round in nanoseconds. 0: no limit. */
uint64_t plan_budget_ns(const struct plan *p);

/* Returns the number of parallel runs that the file asks for; 0 if the file does not say. */
unsigned plan_jobs(const struct plan *p);

/* Returns what makes `outrider campaign run` fail, as bits of enum plan_failure. */
unsigned plan_failures(const struct plan *p);

/*
 * Returns the path of the campaign's <emulator>: a program that the runner starts in place of Outrider, with Outrider's
 * arguments. Returns NULL if the campaign has none.
 */
const char *plan_emulator(const struct plan *p);

/* Returns whether runs prefer sites that earlier runs have not covered. */
bool plan_learns(const struct plan *p);

/*
 * Make the list of runs of round `round`, counted from 1, in the order in which they start: all cells with their first seed,
 * then all with their second seed, and so on. Each round shuffles the cells differently, so that a budget does not always cut
 * off the same cells. `p` must live as long as the list; plan_runs_free() frees it. Returns 0, or -1 with err set.
 */
int plan_expand(const struct plan *p, unsigned round, struct plan_runs *runs, struct err *err);
void plan_runs_free(struct plan_runs *runs);

/*
 * Check that no machine of the plan has more vCPUs than this host has CPUs (`cpus`). Returns 0, or -1 with EXIT_INPUT and the
 * file and line.
 */
int plan_check_host(const struct plan *p, unsigned cpus, struct err *err);

/*
 * Returns whether the run with this key belongs to shard `index` (from 1) of `count`. The result is the same on all machines.
 */
bool plan_in_shard(const char *key, unsigned index, unsigned count);

/*
 * Returns whether `only` selects the run with this key. `only` is a list of glob patterns (fnmatch(3)), separated by commas. A
 * pattern must match the whole key or one of its parts.
 */
bool plan_is_selected(const char *key, const char *only);

#endif
