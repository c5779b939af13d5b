/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The facts about one run apart from its races: who ran it, when and where, its parameters, the guest's kernel, and how it
 * ended. One struct describes both a run being recorded and a run read from a file, so that every format prints the same for
 * both.
 *
 * Strings of the guest's kernel are printable (hv/base/clean.h), and so are all strings of a run read from a file. In a run
 * being recorded, strings of the user and the host are as they came. A fact that is unknown or was not given is NULL, 0 or "".
 * Files of older versions have fewer facts.
 */
#ifndef OUTRIDER_REPORT_RUN_FACTS_H
#define OUTRIDER_REPORT_RUN_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/race/complaint.h"
#include "hv/report/modules.h"

/* Bytes of a time as text, "2026-11-22T07:36:55.123Z" (RFC 3339, UTC, milliseconds), including the NUL. */
#define RUN_TIME_MAX 25

/* The machine that Outrider ran on. */
struct run_host {
	/* Host name, by uname(2). */
	const char *name;
	/* Release of the host's kernel, by uname(2). */
	const char *release;
	/* CPU model, from /proc/cpuinfo. */
	const char *cpu;
	/* Number of online CPUs. */
	unsigned cpus;
};

/* The guest's kernel. All zero until the session has found the kernel. */
struct run_kernel {
	/* The kernel's version line, "Linux version ...". */
	char *banner;
	/* Source of the kernel's symbols. */
	char *symbols;
	/* KASLR slide of the kernel image. */
	uint64_t slide;
	/* Build id of `build_id_len` bytes. */
	uint8_t build_id[REPORT_BUILD_ID_MAX];
	/* 0: unknown. */
	size_t build_id_len;
	/* Debug files name at least one race. False: all names come from the guest's own tables. */
	bool debug_files;
};

/* Whether Outrider was confined (docs/glossary.md) while it ran the guest (hv/sandbox). */
enum run_sandbox {
	/* Outrider attached to a machine of another VMM, or the file is of an older version. */
	RUN_SANDBOX_UNKNOWN,
	/* Not confined: --no-sandbox was given, or the build has a sanitizer. */
	RUN_SANDBOX_OFF,
	RUN_SANDBOX_ON,
};

/*
 * Maximum number of complaints that a run records: it keeps the first ones. What the kernel says after its first oops is seldom
 * of use, and a hostile guest can complain without end.
 */
#define RUN_COMPLAINTS_MAX 64

/* The complaints of the guest's kernel, in the order in which they were read. */
struct run_complaints {
	/* The guest's log was read. False: it could not be read, or the file is of an older version. */
	bool read;
	struct complaint *list;
	size_t count;
	/* Complaints after the first RUN_COMPLAINTS_MAX. Not stored in reports. */
	uint64_t left_out;
};

struct run_facts {
	/* Version of Outrider that made the run. */
	const char *tool_version;
	/* Wall clock time of the start. */
	char started[RUN_TIME_MAX];
	/* Wall clock time of the end. "" until the run is finished. */
	char ended[RUN_TIME_MAX];
	struct run_host host;
	/* The command line as typed, from the subcommand on: `option_count` strings. */
	const char *const *options;
	size_t option_count;
	/* Path of the booted kernel. NULL if Outrider attached to a machine, unless libvirt knows the path. */
	const char *kernel_file;
	/* The guest kernel's command line. */
	const char *cmdline;
	/* The function globs of --sample. NULL: all functions. */
	const char *sample;
	/* The module of --module. NULL: sampling is not limited to a module. */
	const char *module;
	/* Seed for choosing sample points and delays. */
	uint64_t seed;
	/* Longest window requested, in nanoseconds (--delay). */
	uint64_t delay_ns;
	/* Sampling time requested, in nanoseconds (--duration). 0: no limit. */
	uint64_t duration_ns;
	/* Guest RAM in bytes. */
	uint64_t memory;
	/* Hits per second requested (--rate). */
	unsigned rate;
	/* Cost limit requested in percent (--overhead). 0: no cost limit; only the rate limits sampling. */
	unsigned overhead_percent;
	/* Number of vCPUs. */
	unsigned cpus;
	enum run_sandbox sandbox;
	struct run_kernel kernel;
	/* The run has ended and its record is complete. False: the run is not over, or was killed. */
	bool finished;
	/* Each race has a verdict. False: the races were not judged. Races are judged at the end of a run. */
	bool judged;
	/* How a finished run ended, in a few words. */
	const char *end;
	/* Sampling time of a finished run, in nanoseconds: since the first sample point was armed. 0: none was armed. */
	uint64_t sampled_ns;
	/* Stops of CPUs at a sample point in a finished run, and windows opened at them. */
	uint64_t hits, windows;
	/* Owned. */
	struct run_complaints complaints;
};

/* The reasons why a report without races says nothing about the kernel: the run is unfinished, or has sampled nothing. */
enum run_doubt {
	/* The run is finished and has sampled. */
	RUN_SOUND,
	/* The run goes on or was killed. How much it has sampled is unknown. */
	RUN_UNFINISHED,
	/* A finished run that armed no sample point. */
	RUN_NOT_ARMED,
	/* A finished run in which no CPU stopped at an armed sample point. */
	RUN_NO_HIT,
	/* A finished run that opened no window at any hit. A race is only ever seen in a window. */
	RUN_NO_WINDOW,
	RUN_DOUBTS
};

/* Add a copy of a complaint. Returns 0, also when the list is full, or -1 if memory runs out. */
int run_complaints_add(struct run_complaints *complaints, const struct complaint *c);

/* Free the list, and zero the struct. */
void run_complaints_free(struct run_complaints *complaints);

/* Free banner and symbols, and zero the struct. */
void run_kernel_free(struct run_kernel *kernel);

/* Free facts that document_read() filled in, whose strings are all from malloc(), and zero the struct. */
void run_facts_free(struct run_facts *facts);

/*
 * Returns true if both describe the same run: same start, same host, same seed. If the start is unknown, because a file is of
 * an older version, two finished runs count as the same if they have the same seed and, to the microsecond, the same sampling
 * time.
 */
bool run_facts_same(const struct run_facts *a, const struct run_facts *b);

/* Returns the first reason that applies to the run, in the order of the enum, or RUN_SOUND. */
enum run_doubt run_doubt(const struct run_facts *run);

/*
 * Returns true if the run is known to have sampled nothing. Returns false for an unfinished run, since its record does not
 * tell.
 */
bool run_is_unsampled(const struct run_facts *run);

#define RUN_DOUBT_TEXT_MAX 192

/*
 * Write the reason as part of a sentence: "nothing was sampled: ...". Writes "" for a run that is sound. Needs at most
 * RUN_DOUBT_TEXT_MAX bytes, including the NUL.
 */
void run_doubt_text(const struct run_facts *run, char out[RUN_DOUBT_TEXT_MAX]);

/* Returns the word of --fail-on for the reason: "unfinished", "unsampled", or "" for a run that is sound. */
const char *run_doubt_word(enum run_doubt doubt);

/* Write the current wall clock time. */
void run_time_now(char out[RUN_TIME_MAX]);

/* Returns true if `text` is a time in the format of run_time_now(). */
bool run_time_valid(const char *text);

#endif
