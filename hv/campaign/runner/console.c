// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the guest's console while it grows: finds lines in which the kernel complains, and notes when the last byte came. */
#include "hv/campaign/runner/console.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

#include "hv/base/clock.h"
#include "hv/campaign/runner/spool.h"

#define CHUNK 65536
/*
 * Maximum number of chunks of 64 KiB that console_read() reads when the run has ended: 1 GiB in all, the largest
 * --console-limit. A sparse file can pretend to be larger.
 */
#define CHUNKS_END_MAX 16384
/*
 * Maximum number of chunks that console_read() reads in one call while the run goes on: 4 MiB in all, so that a flooding
 * console does not delay the other runs.
 */
#define CHUNKS_MAX 64

/*
 * Beginnings of kernel messages that report an invalid state, after the time stamp. Messages of user programs seldom begin like
 * this. If such a message does, the run gets a false finding, and nothing worse.
 */
static const struct {
	const char *begin;
	enum store_outcome kind;
} messages[] = {
	{"Kernel panic - not syncing", STORE_PANIC},
	{"watchdog: BUG: soft lockup", STORE_LOCKUP},
	{"watchdog: Watchdog detected hard LOCKUP", STORE_LOCKUP},
	{"watchdog: CPU", STORE_LOCKUP},
	{"NMI watchdog: Watchdog detected hard LOCKUP", STORE_LOCKUP},
	{"BUG: soft lockup", STORE_LOCKUP},
	{"BUG: workqueue lockup", STORE_LOCKUP},
	{"rcu: INFO: rcu_", STORE_LOCKUP},
	{"INFO: rcu_", STORE_LOCKUP},
	{"INFO: task ", STORE_LOCKUP},
	{"BUG: ", STORE_COMPLAINT},
	{"kernel BUG at ", STORE_COMPLAINT},
	{"Oops: ", STORE_COMPLAINT},
	{"Oops", STORE_COMPLAINT},
	{"general protection fault", STORE_COMPLAINT},
	{"double fault: ", STORE_COMPLAINT},
	{"divide error: ", STORE_COMPLAINT},
	{"int3: ", STORE_COMPLAINT},
	{"invalid opcode: ", STORE_COMPLAINT},
	{"stack segment: ", STORE_COMPLAINT},
	{"Unable to handle kernel ", STORE_COMPLAINT},
	{"WARNING: CPU: ", STORE_COMPLAINT},
	{"WARNING: possible ", STORE_COMPLAINT},
	{"WARNING: suspicious ", STORE_COMPLAINT},
	{"WARNING: inconsistent ", STORE_COMPLAINT},
	{"WARNING: bad unlock", STORE_COMPLAINT},
	{"WARNING: held lock", STORE_COMPLAINT},
	{"UBSAN: ", STORE_COMPLAINT},
	{"list_add corruption", STORE_COMPLAINT},
	{"list_del corruption", STORE_COMPLAINT},
	{"refcount_t: ", STORE_COMPLAINT},
};

/* Skip printk's prefixes "[ 12.345678] " and "[ 12.345678][ T1] ". */
static const char *behind_marks(const char *line)
{
	while (*line == '[') {
		const char *end = line + 1 + strspn(line + 1, " 0123456789.TC");

		if (end[0] != ']' || (end[1] != ' ' && end[1] != '['))
			break;
		line = end + 1 + (end[1] == ' ');
	}
	return line;
}

/*
 * Returns whether `line`, which begins with messages[].begin, reports what messages[].kind says. Harmless messages can begin in
 * the same way: of the messages that begin with "INFO: task ", only "INFO: task NAME:PID blocked for more than N seconds." and
 * its variant for I/O report a lockup.
 */
static bool is_whole(const char *begin, const char *line)
{
	if (strcmp(begin, "INFO: task ") == 0)
		return strstr(line, " blocked for more than ") != NULL || strstr(line, " blocked in I/O wait ") != NULL;
	if (strcmp(begin, "watchdog: CPU") == 0)
		return strstr(line, "ard LOCKUP") != NULL;
	if (strcmp(begin, "INFO: rcu_") == 0 || strcmp(begin, "rcu: INFO: rcu_") == 0)
		return strstr(line, "stall") != NULL || strstr(line, "starved") != NULL;
	return true;
}

enum store_outcome console_judge(const char *line)
{
	line = behind_marks(line);
	for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
		if (strncmp(line, messages[i].begin, strlen(messages[i].begin)) == 0 && is_whole(messages[i].begin, line))
			return messages[i].kind;
	}
	return STORE_OK;
}

/*
 * If the line that has just ended shows a finding, add it to `ending`. Omit the time stamp, which differs in each run, so that
 * equal findings of two runs are equal.
 */
static void end_line(struct console *c, struct ending *ending)
{
	enum store_outcome kind;

	c->line[c->len] = '\0';
	c->len = 0;
	kind = console_judge(c->line);
	if (kind != STORE_OK)
		ending_add(ending, kind, CONSOLE_FILE, behind_marks(c->line));
}

static void add_bytes(struct console *c, const char *bytes, size_t len, struct ending *ending)
{
	for (size_t i = 0; i < len; i++) {
		if (bytes[i] == '\n')
			end_line(c, ending);
		else if (bytes[i] != '\r' && bytes[i] != '\0' && c->len < CONSOLE_LINE_MAX)
			c->line[c->len++] = bytes[i];
	}
}

void console_read(struct console *c, const char *folder, bool end, struct ending *ending)
{
	int fd = spool_open_file(folder, CONSOLE_FILE);
	char bytes[CHUNK];
	ssize_t n = 1;

	for (int i = 0; fd >= 0 && i < (end ? CHUNKS_END_MAX : CHUNKS_MAX) && n > 0; i++) {
		n = pread(fd, bytes, sizeof(bytes), (off_t)c->seen);
		if (n <= 0)
			break;
		c->seen += (uint64_t)n;
		c->last_ns = monotonic_ns();
		add_bytes(c, bytes, (size_t)n, ending);
	}
	if (end && c->len)
		end_line(c, ending);
	if (fd >= 0)
		close(fd);
}
