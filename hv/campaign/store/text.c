// SPDX-License-Identifier: GPL-2.0-or-later
/* Allocates and frees the strings of a list that was read from a store. */
#include "hv/campaign/store/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/clean.h"

#define BLOCK_SIZE 16384u
/*
 * Maximum length of all strings of one list together, in bytes. The strings of one race have about 2 KiB, so this is enough for
 * 100,000 races, more than anyone can read. The limit is for a crafted store, which can ask for more.
 */
#define ALL_MAX ((size_t)256 << 20)

struct block {
	struct block *next;
	size_t used, room;
	char bytes[];
};

struct store_text {
	struct block *blocks;
	size_t size; /* bytes of all blocks */
	bool failed, too_much;
};

struct store_text *text_new(struct err *err)
{
	struct store_text *t = calloc(1, sizeof(*t));

	if (!t)
		err_set(err, EXIT_INTERNAL, "out of memory");
	return t;
}

void text_free(struct store_text *t)
{
	if (!t)
		return;
	while (t->blocks) {
		struct block *b = t->blocks;

		t->blocks = b->next;
		free(b);
	}
	free(t);
}

static char *room_for(struct store_text *t, size_t size)
{
	struct block *b = t->blocks;

	if (!b || b->room - b->used < size) {
		size_t room = size > BLOCK_SIZE ? size : BLOCK_SIZE;

		t->too_much |= room > ALL_MAX - t->size;
		b = t->too_much ? NULL : malloc(sizeof(*b) + room);
		if (!b) {
			t->failed = true;
			return NULL;
		}
		t->size += room;
		*b = (struct block){.next = t->blocks, .room = room};
		t->blocks = b;
	}
	b->used += size;
	return b->bytes + b->used - size;
}

static bool is_plain(const char *text)
{
	for (; *text; text++) {
		if (*text < ' ' || *text > '~')
			return false;
	}
	return true;
}

static const char *copy_plain(struct store_text *t, const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = room_for(t, size);

	return copy ? memcpy(copy, text, size) : "";
}

/*
 * Copy text that a user wrote. Letters of other languages stay as they are. CLEAN_FIELD_MAX bytes are enough for names and
 * notes of users; a longer text is cleaned in a copy on the heap.
 */
static const char *copy_cleaned(struct store_text *t, const char *text)
{
	char line[CLEAN_FIELD_MAX], *copy;
	const char *copied = "";

	if (strlen(text) < sizeof(line)) {
		strcpy(line, text);
		clean_line(line, sizeof(line));
		return copy_plain(t, line);
	}
	copy = clean_copy(text, strlen(text));
	if (copy)
		copied = copy_plain(t, copy);
	else
		t->failed = true;
	free(copy);
	return copied;
}

const char *text_copy(struct store_text *t, const char *text)
{
	if (!text || !*text)
		return "";
	return is_plain(text) ? copy_plain(t, text) : copy_cleaned(t, text);
}

const char *text_printf(struct store_text *t, const char *fmt, ...)
{
	char *made = NULL;
	const char *copied = "";
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&made, fmt, ap) < 0) {
		made = NULL;
		t->failed = true;
	}
	va_end(ap);
	if (made)
		copied = text_copy(t, made);
	free(made);
	return copied;
}

bool text_failed(const struct store_text *t, struct err *err)
{
	if (t->too_much)
		err_set(err, EXIT_INPUT, "the strings of one list or run have more than the limit of %zu MiB", ALL_MAX >> 20);
	else if (t->failed)
		err_set(err, EXIT_INTERNAL, "out of memory");
	return t->failed;
}
