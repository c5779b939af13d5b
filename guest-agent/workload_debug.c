// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "agent.h"
#include "debug.h"

static const struct {
	const char *name;
	bool (*run)(void);
} checks[] = {
	{"int3 with a SIGTRAP handler", check_int3_handler},
	{"single-step with a SIGTRAP handler", check_trap_flag},
	{"ptrace breakpoint", check_ptrace_breakpoint},
	{"ptrace write watchpoint", check_ptrace_watch_write},
	{"ptrace read-write watchpoint", check_ptrace_watch_access},
	{"ptrace execute register", check_ptrace_execute},
	{"perf_event_open breakpoint", check_perf_breakpoint},
};

static int run_debug(const char *args)
{
	double seconds = 0, start = now();
	unsigned int failed = 0, rounds = 0;

	if (*args && !parse_seconds(args, &seconds))
		return AGENT_USAGE;
	do {
		for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++) {
			bool ok = checks[i].run();

			failed += !ok;
			if (!ok || !rounds)
				say("debug: %s: %s", checks[i].name, ok ? "PASS" : "FAIL");
		}
		rounds++;
	} while (now() - start < seconds);
	say("debug: rounds=%u failed=%u: %s", rounds, failed, failed ? "FAIL" : "PASS");
	return failed ? AGENT_FAIL : AGENT_OK;
}

const struct workload workload_debug = {
	"debug", "debug[:SECONDS]: check that programs of the guest can use INT3, ptrace and hardware watchpoints", run_debug};
