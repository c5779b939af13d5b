/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parameters of a run's report, and the facts about the run that are known at its start. */
#ifndef OUTRIDER_REPORT_CONFIG_H
#define OUTRIDER_REPORT_CONFIG_H

#include <stddef.h>

#include "hv/report/judge.h"
#include "hv/report/run_facts.h"
#include "hv/report/text/style.h"
#include "symbols/files/debug_images.h"
#include "symbols/files/sources.h"

/*
 * The caller's parameters for a report. They belong to the caller and must outlive the report. A string that was not given may
 * be NULL, unless its comment says otherwise.
 */
struct report_config {
	/* Path of the JSON file. NULL: no file is written. */
	const char *json;
	/* How races are printed. */
	struct text_style style;
	/*
	 * Debug files that give races their names before they are printed. NULL: no debug files. Only the report may use them.
	 */
	struct debug_images *images;
	/*
	 * The source files that the report may show: those that the user named, and those that debug files name. The report
	 * itself adds the latter. NULL: none.
	 */
	struct sources *sources;
	/* Judges the races at the end. NULL: races get no verdict. */
	const struct report_judge *judge;
	/* Print `len` bytes of text for the user: whole lines. */
	void (*print)(void *ctx, const char *text, size_t len);
	/* Print one message about the run, for example that a limit was reached. NULL: messages are dropped. */
	void (*message)(void *ctx, const char *line);
	/* First argument of print() and message(). */
	void *print_ctx;
	/*
	 * What is known about the run at its start. The report adds the kernel and the run's end later. tool_version must not
	 * be NULL if there is a JSON file.
	 */
	struct run_facts run;
};

#endif
