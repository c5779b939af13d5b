// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints the kernel messages of level warning or worse since boot, and fails if one is a lockup, stall, oops or splat. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent.h"

#define LEVEL_WARNING 4

/* Words of a lockup, stall, oops or warning splat. If a message of any level has one of these words, the workload fails. */
static const char *const trouble[] = {
	"BUG:",	       "cut here",	     "Oops",	     "lockup",	     "LOCKUP", "rcu: INFO", "blocked for more than",
	"Call Trace:", "general protection", "Kernel panic", "nobody cared",
};

struct counts {
	unsigned int warnings, trouble;
};

static bool is_trouble(const char *text)
{
	/* Only at the start of the text: "RETBleed: WARNING: ..." at boot reports a flaw of the CPU, and is no splat. */
	if (!strncmp(text, "WARNING:", strlen("WARNING:")))
		return true;
	for (size_t i = 0; i < sizeof(trouble) / sizeof(*trouble); i++)
		if (strstr(text, trouble[i]))
			return true;
	return false;
}

/*
 * Count one record of /dev/kmsg. A record is "PRIORITY,SEQUENCE,MICROSECONDS,FLAGS[,...];TEXT\n" and lines of context
 * (Documentation/ABI/testing/dev-kmsg).
 */
static void count_record(char *record, struct counts *c)
{
	unsigned int priority;
	unsigned long long seq, us;
	char *text = strchr(record, ';');
	bool bad;

	if (!text || sscanf(record, "%u,%llu,%llu", &priority, &seq, &us) != 3 || priority >> 3)
		return;
	text++;
	text[strcspn(text, "\n")] = '\0';
	bad = is_trouble(text);
	if ((priority & 7) > LEVEL_WARNING && !bad)
		return;
	c->warnings++;
	c->trouble += bad;
	say("dmesg: <%u>[%llu.%06llu] %s", priority & 7, us / 1000000, us % 1000000, text);
}

static int run_dmesg(const char *args)
{
	struct counts c = {0};
	char record[8192];
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ssize_t n;

	if (*args) {
		say("dmesg: takes no argument");
		return AGENT_USAGE;
	}
	if (fd < 0)
		return say_failed("dmesg: /dev/kmsg");
	/* EPIPE: the oldest records were overwritten meanwhile. The next read continues after them. */
	while ((n = read(fd, record, sizeof(record) - 1)) > 0 || (n < 0 && (errno == EPIPE || errno == EINTR))) {
		if (n < 0)
			continue;
		record[n] = '\0';
		count_record(record, &c);
	}
	close(fd);
	say("dmesg: lines=%u trouble=%u", c.warnings, c.trouble);
	return c.trouble ? AGENT_FAIL : AGENT_OK;
}

const struct workload workload_dmesg = {
	"dmesg", "dmesg: kernel messages of level warning and worse; fails on a lockup, stall, oops or splat", run_dmesg};
