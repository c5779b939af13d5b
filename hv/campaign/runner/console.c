// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/campaign/runner/console.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hv/base/clock.h"
#include "hv/guest/linux_complaint.h"

#define CHUNK 65536
/* Limit of chunks in the last call: 1 GiB, the largest --console-limit. A sparse file can pretend to be larger. */
#define CHUNKS_END_MAX 16384
#define CHUNKS_MAX 64 /* limit of chunks in one call: 4 MiB, so that a flooding console does not delay the other runs */

enum store_outcome console_judge(const char *line)
{
	const char *end = line + strlen(line), *text = linux_line_text(line, end);

	switch (linux_complaint_of(text, (size_t)(end - text))) {
	case COMPLAINT_NONE:
		return STORE_OK;
	case COMPLAINT_PANIC:
	case COMPLAINT_STACK_PROTECTOR:
		return STORE_PANIC;
	default:
		return STORE_LOCKUP;
	}
}

/*
 * Record the finding of a line. Omit the time stamp, which differs in each run, so that equal findings of two runs are equal.
 */
static void end_line(struct console *c, const char *file, struct ending *ending)
{
	enum store_outcome kind;

	c->line[c->len] = '\0';
	c->len = 0;
	kind = console_judge(c->line);
	if (kind != STORE_OK)
		ending_add(ending, kind, file, linux_line_text(c->line, c->line + strlen(c->line)));
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
	struct stat st;
	ssize_t n = 1;

	if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
		close(fd);
		fd = -1;
	}
	for (int i = 0; fd >= 0 && i < (end ? CHUNKS_END_MAX : CHUNKS_MAX) && n > 0; i++) {
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
