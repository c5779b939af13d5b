// SPDX-License-Identifier: GPL-2.0-or-later
/* `outrider attach`: looks for races in a running machine. */
#include "hv/cli/attach_options.h"
#include "hv/cli/cli.h"
#include "hv/session/session.h"

int cli_attach(int argc, char **argv)
{
	struct err err = {0};
	struct attach_options options;
	struct attach_engine engine;
	struct guard *guard = NULL;
	int code = EXIT_OK;

	if (attach_options_parse(&options, argc, argv, &err) < 0)
		goto out;
	guard = guard_start(&err);
	if (!guard)
		goto out;
	attach_engine_init(&engine, &options.engine, guard);
	code = session_run(&engine.engine, &options.detect.session, &err);
out:
	code = judge_code(&options.detect.judge, code, &err);
	if (guard)
		guard_end(guard);
	detect_options_free(&options.detect);
	return code;
}
