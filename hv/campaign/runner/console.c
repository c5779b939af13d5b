// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/campaign/runner/console.h"

#include <ctype.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "hv/base/clock.h"

#define CHUNK 65536
#define CHUNKS_MAX 64 /* in one call: a console that floods must not hold up the other runs */

/*
 * How messages of the kernel begin, behind the time. They are those that mean that the kernel found itself in a state that it
 * should not be in. Words of programs of the guest seldom begin so, and a line that a program writes looks like a finding at
 * worst.
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
	{"BUG: ", STORE_LOCKUP},
	{"kernel BUG at ", STORE_LOCKUP},
	{"Oops: ", STORE_LOCKUP},
	{"Oops", STORE_LOCKUP},
	{"general protection fault", STORE_LOCKUP},
	{"double fault: ", STORE_LOCKUP},
	{"divide error: ", STORE_LOCKUP},
	{"int3: ", STORE_LOCKUP},
	{"invalid opcode: ", STORE_LOCKUP},
	{"stack segment: ", STORE_LOCKUP},
	{"Unable to handle kernel ", STORE_LOCKUP},
	{"WARNING: CPU: ", STORE_LOCKUP},
	{"WARNING: possible ", STORE_LOCKUP},
	{"WARNING: suspicious ", STORE_LOCKUP},
	{"WARNING: inconsistent ", STORE_LOCKUP},
	{"WARNING: bad unlock", STORE_LOCKUP},
	{"WARNING: held lock", STORE_LOCKUP},
	{"UBSAN: ", STORE_LOCKUP},
	{"list_add corruption", STORE_LOCKUP},
	{"list_del corruption", STORE_LOCKUP},
	{"refcount_t: ", STORE_LOCKUP},
};

/* Behind "[   12.345678] ", or "[   12.345678][    T1] ", which printk puts in front. */
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

/* An "INFO: task NAME:PID blocked for more than N seconds." is the only one of its kind that tells of something wrong. */
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

/* The time in front of a message differs from run to run, and the finding shall be told as the same. */
static void end_line(struct console *c, const char *file, struct ending *ending)
{
	enum store_outcome kind;

	c->line[c->len] = '\0';
	c->len = 0;
	kind = console_judge(c->line);
	if (kind != STORE_OK)
		ending_add(ending, kind, file, behind_marks(c->line));
}

static void add_bytes(struct console *c, const char *bytes, size_t len, const char *file, struct ending *ending)
{
	for (size_t i = 0; i < len; i++) {
		if (bytes[i] == '\n')
			end_line(c, file, ending);
		else if (bytes[i] != '\r' && bytes[i] != '\0' && c->len < CONSOLE_LINE_MAX)
			c->line[c->len++] = bytes[i];
	}
}

void console_read(struct console *c, const char *path, const char *file, bool end, struct ending *ending)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	char bytes[CHUNK];
	ssize_t n = 1;

	for (int i = 0; fd >= 0 && (end || i < CHUNKS_MAX) && n > 0; i++) {
		n = pread(fd, bytes, sizeof(bytes), (off_t)c->seen);
		if (n <= 0)
			break;
		c->seen += (uint64_t)n;
		c->last_ns = monotonic_ns();
		add_bytes(c, bytes, (size_t)n, file, ending);
	}
	if (end && c->len)
		end_line(c, file, ending);
	if (fd >= 0)
		close(fd);
}
