/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a run's report is asked for, and what it says of the run. */
#ifndef OUTRIDER_REPORT_CONFIG_H
#define OUTRIDER_REPORT_CONFIG_H

#include <stddef.h>

#include "hv/report/judge.h"
#include "hv/report/run_facts.h"
#include "hv/report/text/style.h"
#include "symbols/files/debug_images.h"
#include "symbols/files/sources.h"

/* Nothing in it is owned, and strings may be NULL where nothing else is said: that was not given. */
struct report_config {
	/* Path of the JSON file. NULL: none is written. */
	const char *json;
	/* How races are shown. */
	struct text_style style;
	/* Debug files to name races by before they are shown. NULL: none. They are used by the report alone. */
	struct debug_images *images;
	/* The user's source files, which the debug files may add to. NULL: none. */
	struct sources *sources;
	/* Who judges the races at the end. NULL: they are not judged. */
	const struct report_judge *judge;
	/* Print whole lines for people, `len` bytes in one piece. */
	void (*print)(void *ctx, const char *text, size_t len);
	/* Say one line about the run, such as that a limit was reached. NULL: nobody reads it. */
	void (*note)(void *ctx, const char *line);
	/* Handed to print() and note(). */
	void *print_ctx;
	/* The run, without its kernel and its end, which the report learns later. tool_version is never NULL where there is a
	 * JSON file. */
	struct run_facts run;
};

#endif
