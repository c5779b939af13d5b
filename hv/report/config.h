/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a run's report is asked for, and what it says of the run. */
#ifndef OUTRIDER_REPORT_CONFIG_H
#define OUTRIDER_REPORT_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "hv/report/text/style.h"
#include "symbols/files/debug_images.h"

/* Nothing in it is owned, and strings may be NULL where nothing else is said: that was not given. */
struct report_config {
	/* Path of the JSON file. NULL: none is written. */
	const char *json;
	/* How races are shown. */
	struct text_style style;
	/* Debug files to name races by before they are shown. NULL: none. They are used by the report alone. */
	struct debug_images *images;
	/* Print whole lines for people, `len` bytes in one piece. */
	void (*print)(void *ctx, const char *text, size_t len);
	/* Handed to print(). */
	void *print_ctx;
	/* Version of Outrider that made the report. Never NULL where there is a JSON file. */
	const char *tool_version;
	/* Path of the kernel that was booted. */
	const char *kernel_file;
	/* Command line of the kernel. */
	const char *cmdline;
	/* The function globs that sampling was limited to. */
	const char *sample;
	/* The module that sampling was limited to. */
	const char *module;
	/* Seed of the choice of sample points and delays. */
	uint64_t seed;
	/* Longest window, in nanoseconds. */
	uint64_t delay_ns;
	/* Guest RAM in bytes. */
	uint64_t memory;
	/* Hits per second that were aimed at. */
	unsigned rate;
	/* How many vCPUs the guest has. */
	unsigned cpus;
};

#endif
