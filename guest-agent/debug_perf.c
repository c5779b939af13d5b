// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent.h"
#include "debug.h"

bool check_perf_breakpoint(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.bp_type = HW_BREAKPOINT_W,
		.bp_addr = (uintptr_t)&debug_data,
		.bp_len = HW_BREAKPOINT_LEN_8,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	uint64_t count = 0;
	bool ok;

	if (fd < 0)
		return false;
	for (int i = 0; i < DEBUG_ROUNDS; i++)
		debug_step();
	ok = read(fd, &count, sizeof(count)) == sizeof(count) && count == DEBUG_ROUNDS;
	close(fd);
	if (!ok)
		say("debug: %d stores, counted %llu", DEBUG_ROUNDS, (unsigned long long)count);
	return ok;
}
