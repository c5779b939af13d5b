// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds error reports of a Linux kernel in its console output. */
#include "hv/replay/trouble.h"

#include <stdbool.h>
#include <string.h>

static const struct {
	const char *words; /* a text that marks a line as trouble, anywhere in the line after its time stamp */
	enum trouble trouble;
} signs[] = {
	{"BUG: ", TROUBLE_FAULT},
	{"kernel BUG at ", TROUBLE_FAULT},
	{"Oops", TROUBLE_FAULT},
	{"general protection fault", TROUBLE_FAULT},
	{"invalid opcode: ", TROUBLE_FAULT},
	{"divide error: ", TROUBLE_FAULT},
	{"stack segment: ", TROUBLE_FAULT},
	{"double fault", TROUBLE_FAULT},
	{"Kernel panic - not syncing", TROUBLE_FAULT},
	{"soft lockup", TROUBLE_FAULT},
	{"hard LOCKUP", TROUBLE_FAULT},
	{"detected stalls on CPUs", TROUBLE_FAULT},
	{"self-detected stall on CPU", TROUBLE_FAULT},
	{"blocked for more than ", TROUBLE_FAULT},
	{"list_add corruption", TROUBLE_WARNING},
	{"list_del corruption", TROUBLE_WARNING},
	{"refcount_t: ", TROUBLE_WARNING},
	{"Wrong slab cache", TROUBLE_WARNING},
	{"Object already free", TROUBLE_WARNING},
	{"WARNING: ", TROUBLE_WARNING},
};

struct line {
	const char *at;
	size_t len;
};

static bool begins(struct line line, const char *words)
{
	size_t len = strlen(words);

	return line.len >= len && memcmp(line.at, words, len) == 0;
}

/* Returns whether the line is the one with which the kernel begins the report of a WARN() or BUG(). */
static bool is_frame(struct line line)
{
	return begins(line, "------------[ cut here ]------------");
}

/*
 * Returns whether the line is a report of the slab allocator, such as "BUG kmalloc-32 (Not tainted): Object already free",
 * after which the kernel continues.
 */
static bool is_of_slab(struct line line)
{
	return begins(line, "BUG ") && memmem(line.at, line.len, "): ", 3);
}

/* Skip a time stamp such as "[   12.345678] ", which the number of a thread or CPU may follow: "[   12.345678][    T1] ". */
static const char *after_stamp(const char *at, const char *end)
{
	while (at < end && *at == '[') {
		const char *close = memchr(at, ']', (size_t)(end - at));

		if (!close)
			break;
		at = close + 1;
		if (at < end && *at == ' ')
			return at + 1;
	}
	return at;
}

static enum trouble trouble_of(struct line line)
{
	enum trouble worst = is_of_slab(line) ? TROUBLE_WARNING : TROUBLE_NONE;

	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
		if (signs[i].trouble > worst && memmem(line.at, line.len, signs[i].words, strlen(signs[i].words)))
			worst = signs[i].trouble;
	return worst;
}

static void copy_line(char to[REPLAY_TEXT_MAX], struct line line)
{
	size_t len = line.len;

	while (len && (line.at[len - 1] == '\r' || line.at[len - 1] == ' '))
		len--;
	if (len > REPLAY_TEXT_MAX - 1)
		len = REPLAY_TEXT_MAX - 1;
	memcpy(to, line.at, len);
	to[len] = '\0';
	for (size_t i = 0; i < len; i++)
		if (!to[i])
			to[i] = '?';
}

enum trouble trouble_find(const char *text, size_t len, char line[REPLAY_TEXT_MAX])
{
	static const char where[] = "WARNING: ";
	const char *end = text + len;
	/* The text of a WARN(): the line between "------------[ cut here ]------------" and the line with the code location. */
	struct line what = {0};
	bool framed = false;

	line[0] = '\0';
	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *stop = newline ? newline : end, *at = after_stamp(text, stop);
		struct line now = {at, (size_t)(stop - at)};
		enum trouble trouble = is_frame(now) ? TROUBLE_NONE : trouble_of(now);

		if (trouble != TROUBLE_NONE) {
			copy_line(line, what.len && begins(now, where) ? what : now);
			return trouble;
		}
		if (framed || is_frame(now))
			what = framed ? now : (struct line){0};
		framed = is_frame(now);
		text = newline ? newline + 1 : end;
	}
	return TROUBLE_NONE;
}
