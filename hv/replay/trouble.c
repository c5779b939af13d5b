// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/replay/trouble.h"

#include <stdbool.h>
#include <string.h>

static const struct {
	const char *words; /* that the line has anywhere behind its time stamp */
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

/* Lines that frame others. */
static bool is_frame(const char *line, size_t len)
{
	static const char cut[] = "------------[ cut here ]";

	return len >= sizeof(cut) - 1 && memcmp(line, cut, sizeof(cut) - 1) == 0;
}

/* Skip a time stamp such as "[   12.345678] ", in which the number of a thread or CPU may follow: "[   12.345678][    T1] ". */
static const char *behind_stamp(const char *at, const char *end)
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

static enum trouble trouble_of(const char *line, size_t len)
{
	enum trouble worst = TROUBLE_NONE;

	if (is_frame(line, len))
		return TROUBLE_NONE;
	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
		if (signs[i].trouble > worst && memmem(line, len, signs[i].words, strlen(signs[i].words)))
			worst = signs[i].trouble;
	return worst;
}

static void copy_line(char to[REPLAY_TEXT_MAX], const char *line, size_t len)
{
	while (len && (line[len - 1] == '\r' || line[len - 1] == ' '))
		len--;
	if (len > REPLAY_TEXT_MAX - 1)
		len = REPLAY_TEXT_MAX - 1;
	memcpy(to, line, len);
	to[len] = '\0';
	for (size_t i = 0; i < len; i++)
		if (!to[i])
			to[i] = '?';
}

enum trouble trouble_find(const char *text, size_t len, char line[REPLAY_TEXT_MAX])
{
	const char *end = text + len;

	line[0] = '\0';
	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *stop = newline ? newline : end;
		const char *at = behind_stamp(text, stop);
		enum trouble trouble = trouble_of(at, (size_t)(stop - at));

		if (trouble != TROUBLE_NONE) {
			copy_line(line, at, (size_t)(stop - at));
			return trouble;
		}
		text = newline ? newline + 1 : end;
	}
	return TROUBLE_NONE;
}
