/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A session is one search for races in one machine. It creates screen, engine, detector, names and report, runs them, and frees
 * them in reverse order. It does not depend on the command line.
 */
#ifndef OUTRIDER_SESSION_SESSION_H
#define OUTRIDER_SESSION_SESSION_H

#include "hv/detect/detect.h"
#include "hv/report/judge.h"
#include "hv/session/engine.h"
#include "hv/session/sink.h"
#include "hv/session/suspector.h"
#include "symbols/files/sources.h"

struct session_config {
	struct detect_config detect;
	/* The files and folders of --symbols, symbol_count paths: see symbol_files.h. */
	const char *const *symbols;
	size_t symbol_count;
	/* Fetch debug files from the user's debuginfod servers. */
	bool debuginfod;
	/* Show only races, the summary and errors. */
	bool quiet;
	/* Name the debug files that are used, and show the progress every 10 s, unless stats_every_ns sets the period. */
	bool verbose;
	/* Period of progress messages, in ns of sampled time. 0: none, or 10 s with `verbose`. */
	uint64_t stats_every_ns;
	/*
	 * The value of --overhead in percent, for the record only; detect.overhead or the engine's limit enforces it. 0: not
	 * given.
	 */
	unsigned overhead_percent;
	/* Path of the JSON file for the races. NULL: no file is written. */
	const char *json;
	/* Path of the JSON file for the coverage. NULL: no file is written. */
	const char *coverage;
	/*
	 * End the session after this much sampled time, in ns. Until a point is armed, the limit applies to the time since the
	 * first try to arm a point, and is at least 2 s. Without a detector, it applies to the time since the start. 0: no
	 * limit.
	 */
	uint64_t duration_ns;
	/* End the session, without a search, if the kernel is not found within this time, in ns. 0: no limit. */
	uint64_t wait_kernel_ns;
	/* End the session this long after its start, in ns. 0: no limit. */
	uint64_t timeout_ns;
	/* Judges the races at the end. NULL: races are not judged. */
	const struct report_judge *judge;
	/* The user's source files; debug files may add to them. NULL: none. */
	struct sources *sources;
	/* The command line from the subcommand on, option_count strings, for the record. */
	const char *const *options;
	size_t option_count;
	/* Do not confine the process: see hv/sandbox/sandbox.h. */
	bool no_sandbox;
	/* Run observed races in both orders, in copies of the machine. The engine must have still(). */
	bool replay;
	/* Time for which each order runs on after its region, in ns. 0: not at all. */
	uint64_t replay_free_ns;
	/* The folder for scenarios of the races that are run in both orders. NULL: no scenario is kept. */
	const char *replay_save;
	/* Judges the record of locks. NULL: locks are not followed. The session itself fills in detect.locks. */
	const struct suspector_judge *suspect;
	/* Path of the user's list of lock functions, which are added to the built-in list. NULL: no such list. */
	const char *lock_list;
	/* Which complaints of the guest's kernel end the run. */
	enum complaint_stop complaint_stop;
	/* Run the machine without looking for races. */
	bool no_detect;
};

/*
 * Run `engine` from its open() to its close(). The caller must not have started any thread. `config` and its strings must stay
 * valid during the call. Returns the exit code: 128 plus the signal's number if a signal came before the engine ran. If the
 * exit code is not EXIT_OK, and the user has not seen the error yet, `err` is set, and the caller prints it.
 */
int session_run(struct engine *engine, const struct session_config *config, struct err *err);

#endif
