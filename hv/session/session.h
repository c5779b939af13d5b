/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A session is one look for races in one machine. It puts screen, engine, detector, names and report together, runs them, and
 * takes them apart in the opposite order. It knows nothing of the command line.
 */
#ifndef OUTRIDER_SESSION_SESSION_H
#define OUTRIDER_SESSION_SESSION_H

#include "hv/detect/detect.h"
#include "hv/report/judge.h"
#include "hv/session/engine.h"
#include "hv/session/suspector.h"
#include "symbols/files/sources.h"

struct session_config {
	struct detect_config detect;
	/* The files and folders of --symbols, of which there are symbol_count; see symbol_files.h. */
	const char *const *symbols;
	size_t symbol_count;
	/* Fetch debug files from the user's debuginfod servers. */
	bool debuginfod;
	/* Show the races, the summary and errors only. */
	bool quiet;
	/* Say which debug files are used, and every ten seconds how far the search is, if stats_every_ns does not say how
	 * often. */
	bool verbose;
	/* So often say how far the search is, in ns of sampled time. 0: not. */
	uint64_t stats_every_ns;
	/* What --overhead asks for, in percent, for the record. 0: nothing. Who obeys it is told of it in another way. */
	unsigned overhead_percent;
	/* The JSON file that the races are written to. NULL: none is written. */
	const char *json;
	/* The JSON file that what was sampled of each site is written to. NULL: none is written. */
	const char *coverage;
	/* The session ends when this much time has been sampled, in nanoseconds. 0: there is no limit. */
	uint64_t duration_ns;
	/* Who judges the races at the end. NULL: nobody. */
	const struct report_judge *judge;
	/* The user's source files, which the debug files may add to. NULL: none. */
	struct sources *sources;
	/* The command line as it was typed, from the subcommand on, for the record: option_count strings. */
	const char *const *options;
	size_t option_count;
	/* Do not confine the process; see hv/sandbox/sandbox.h. */
	bool no_sandbox;
	/* Run races that are seen in both orders, in copies of the machine. The engine must have the operation still(). */
	bool replay;
	/* How long each order runs on freely after it, in nanoseconds. 0: not at all. */
	uint64_t replay_free_ns;
	/* The folder that scenarios of these races are kept in. NULL: none are kept. */
	const char *replay_save;
	/* Who judges what is seen of locks. NULL: they are not followed. The session sets detect.locks itself. */
	const struct suspector_judge *suspect;
	/* The user's list of lock functions, which adds to the program's own. NULL: there is none. */
	const char *lock_list;
	/* Run the machine without looking for races. */
	bool no_detect;
};

/*
 * Run `engine` from its open() to its close(). The caller has not started any thread yet. `config` and its strings must last
 * for the call. Returns the exit code, which is 128 plus a signal's number when that signal came before the engine ran. `err`
 * is set when the user has not yet read why the code is not EXIT_OK; the caller prints it.
 */
int session_run(struct engine *engine, const struct session_config *config, struct err *err);

#endif
