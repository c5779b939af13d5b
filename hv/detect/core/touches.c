// SPDX-License-Identifier: GPL-2.0-or-later
/* The sketch of which sites touched which memory lately (touches.h). */
#include "hv/detect/core/touches.h"

static struct word_touches *entry_of(struct touches *t, uint64_t word)
{
	/* The multiplier is the golden ratio in 64 bits (Knuth, vol. 3, 6.4). */
	return &t->words[(word * 0x9e3779b97f4a7c15ull >> 32) & (TOUCH_WORDS - 1)];
}

static bool talks(const struct touch *before, const struct touch *by)
{
	return before->site && before->cpu != by->cpu && before->stack != by->stack && by->ns - before->ns < TOUCH_AGE_NS;
}

static uint64_t note_word(struct word_touches *entry, uint64_t word, const struct touch *by, bool write)
{
	uint64_t other = 0;

	if (entry->word != word)
		*entry = (struct word_touches){.word = word};
	if (talks(&entry->write, by))
		other = entry->write.site;
	else if (write && talks(&entry->read, by))
		other = entry->read.site;
	if (write)
		entry->write = *by;
	else
		entry->read = *by;
	return other;
}

uint64_t touches_note(struct touches *t, uint64_t gpa, uint32_t len, const struct touch *by, bool write)
{
	uint64_t other = 0;

	for (uint64_t word = gpa / TOUCH_WORD_BYTES; len && word <= (gpa + len - 1) / TOUCH_WORD_BYTES; word++) {
		uint64_t found = note_word(entry_of(t, word), word + 1, by, write);

		other = other ? other : found;
	}
	return other;
}
