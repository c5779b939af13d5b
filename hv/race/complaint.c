// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/race/complaint.h"

#include <string.h>

static const char *const words[COMPLAINT_KINDS] = {
	[COMPLAINT_NONE] = "none",	   [COMPLAINT_OOPS] = "oops",		[COMPLAINT_BUG] = "bug",
	[COMPLAINT_PANIC] = "panic",	   [COMPLAINT_WARNING] = "warning",	[COMPLAINT_LIST] = "list-corruption",
	[COMPLAINT_REFCOUNT] = "refcount", [COMPLAINT_SLAB] = "slab",		[COMPLAINT_STACK_PROTECTOR] = "stack-protector",
	[COMPLAINT_LOCKUP] = "lockup",	   [COMPLAINT_HUNG_TASK] = "hung-task", [COMPLAINT_SANITIZER] = "sanitizer",
	[COMPLAINT_LOCKDEP] = "lockdep",
};

const char *complaint_word(enum complaint_kind kind)
{
	return (unsigned)kind < COMPLAINT_KINDS ? words[kind] : words[COMPLAINT_NONE];
}

const char *complaint_of_message(const char *message)
{
	size_t len = strlen(COMPLAINT_MESSAGE_BEGIN);

	return strncmp(message, COMPLAINT_MESSAGE_BEGIN, len) == 0 ? message + len : NULL;
}

size_t complaint_message_len(const char *text)
{
	const char *end = strstr(text, COMPLAINT_MESSAGE_END);

	return end ? (size_t)(end - text) : strlen(text);
}

enum complaint_kind complaint_kind_of(const char *word)
{
	for (unsigned kind = COMPLAINT_NONE + 1; kind < COMPLAINT_KINDS; kind++) {
		if (strcmp(word, words[kind]) == 0)
			return (enum complaint_kind)kind;
	}
	return COMPLAINT_NONE;
}
