/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known of one run apart from its races: who made it, when and where, what it was asked for, the guest's kernel, and
 * how it ended. A run that is recorded now and a run that is read from a file are described by the same struct, so that every
 * format can say the same of both.
 *
 * The strings of the guest's kernel are printable (hv/base/clean.h), and so is every string of a run that was read from a file.
 * What the user and the host say of a run that is recorded now is as it came. A string is NULL, a number is 0 and an array of
 * characters is "" where the fact is not known or was not given. Files of older versions know less.
 */
#ifndef OUTRIDER_REPORT_RUN_FACTS_H
#define OUTRIDER_REPORT_RUN_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/report/modules.h"

/* Bytes of a time as text, "2026-11-22T07:36:55.123Z" (RFC 3339, UTC, milliseconds), with the NUL. */
#define RUN_TIME_MAX 25

/* The machine that Outrider ran on. */
struct run_host {
	/* Name of the host, as uname(2) has it. */
	const char *name;
	/* Release of the host's own kernel, as uname(2) has it. */
	const char *release;
	/* Model of the host's CPU, as /proc/cpuinfo has it. */
	const char *cpu;
	/* How many CPUs of the host are online. */
	unsigned cpus;
};

/* The guest's kernel. All zero until it is known. */
struct run_kernel {
	/* The kernel's own version line, "Linux version ...". */
	char *banner;
	/* Where the kernel's symbols are from. */
	char *symbols;
	/* KASLR slide of the kernel's image. */
	uint64_t slide;
	/* Build id of the kernel, of build_id_len bytes. */
	uint8_t build_id[REPORT_BUILD_ID_MAX];
	/* 0: the build id is not known. */
	size_t build_id_len;
	/* Some races are named by debug files. Else all are named by the guest's own tables. */
	bool debug_files;
};

/* Whether Outrider was confined while it ran the guest (hv/sandbox). */
enum run_sandbox {
	/* The machine was attached to, or the file is of an older version. */
	RUN_SANDBOX_UNKNOWN,
	/* It was not: --no-sandbox was given, or the build has a sanitizer. */
	RUN_SANDBOX_OFF,
	RUN_SANDBOX_ON,
};

struct run_facts {
	/* Version of Outrider that made the run. */
	const char *tool_version;
	/* Wall clock when the run was started. */
	char started[RUN_TIME_MAX];
	/* Wall clock when the run ended. "" while the run is not finished. */
	char ended[RUN_TIME_MAX];
	struct run_host host;
	/* The command line as it was typed, from the subcommand on: option_count strings. */
	const char *const *options;
	size_t option_count;
	/* Path of the kernel that was booted. NULL for a machine that was attached to, unless libvirt knows it. */
	const char *kernel_file;
	/* Command line of the guest's kernel. */
	const char *cmdline;
	/* The function globs that sampling was limited to. NULL: it was not. */
	const char *sample;
	/* The module that sampling was limited to. NULL: it was not. */
	const char *module;
	/* Seed of the choice of sample points and delays. */
	uint64_t seed;
	/* Longest window that was asked for, in nanoseconds. */
	uint64_t delay_ns;
	/* Sampled time after which the run was to end, in nanoseconds. 0: no such time was given. */
	uint64_t duration_ns;
	/* Guest RAM in bytes. */
	uint64_t memory;
	/* Hits per second that were aimed at. */
	unsigned rate;
	/* The cost that was asked for (--overhead), in percent. 0: none was, and the rate alone decided. */
	unsigned overhead_percent;
	/* How many vCPUs the guest has. */
	unsigned cpus;
	enum run_sandbox sandbox;
	struct run_kernel kernel;
	/* The run has ended, and the record of it is whole. False: it still goes on, or was killed. */
	bool finished;
	/* Each race has a verdict. False: nobody has judged the races yet, as long as the run is not finished. */
	bool judged;
	/* How a finished run ended, in a few words. */
	const char *end;
	/* How long a finished run sampled, in nanoseconds. */
	uint64_t sampled_ns;
};

/* Free banner and symbols. The kernel is unknown afterwards. */
void run_kernel_free(struct run_kernel *kernel);

/* Free facts that document_read() made: there every string is from malloc(). Nothing is known afterwards. */
void run_facts_free(struct run_facts *facts);

/*
 * Whether both are facts of one run: it has one start on one host with one seed. Files of older versions have no start. There
 * it is one run when both are finished and have sampled for the same time, to the microsecond, with one seed.
 */
bool run_facts_same(const struct run_facts *a, const struct run_facts *b);

/* Write the wall clock's time now. */
void run_time_now(char out[RUN_TIME_MAX]);

/* Whether `text` is a time as run_time_now() writes it. */
bool run_time_valid(const char *text);

#endif
