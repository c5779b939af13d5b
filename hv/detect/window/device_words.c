// SPDX-License-Identifier: GPL-2.0-or-later
/* Chooses the few words of a held request that debug registers watch. A request has thousands of words. */
#include "hv/detect/window/device_words.h"

#include <string.h>

/*
 * A segment of at least this many bytes is taken for data. A shorter segment is a header or a status: a block request has a
 * header of 16 bytes and a status of 1 byte, a network frame a header of 12 bytes, and a vsock packet a header of 44 bytes. A
 * word of a shorter segment is chosen only if the request has no segment with data, or if such a word was touched before.
 */
#define DATA_LEAST 64u

/*
 * device_words_done() remembers at most this many segments of one request. Otherwise a request of many pages would displace the
 * segments of all other requests from w->held, which has room for DEVICE_SEGMENTS_KEPT.
 */
#define DONE_SEGMENTS_MAX 8u

/* The word of a segment to watch: the first, the last, or a random one. */
enum way { FIRST, LAST, RANDOM, WAYS };

struct device_word device_word_at(const struct device_segment *segments, unsigned segment, uint32_t offset)
{
	const struct device_segment *s = &segments[segment];
	struct device_word word = {.len = 8, .segment = segment};

	for (;; word.len /= 2) {
		word.gpa = (s->gpa + offset) & ~(uint64_t)(word.len - 1);
		if (word.gpa >= s->gpa && word.gpa + word.len <= s->gpa + s->len)
			return word;
	}
}

/* Returns a random segment that has at least `least` bytes, or -1. */
static int random_segment(struct device_window *w, uint32_t least)
{
	unsigned n = 0;
	int chosen = -1;

	for (unsigned i = 0; i < w->segment_count; i++) {
		if (w->segments[i].len >= least && rng_below(&w->rng, ++n) == 0)
			chosen = (int)i;
	}
	return chosen;
}

static bool touched_fits(const struct device_window *w, const struct touched_word *t)
{
	return t->op == w->request.op && strcmp(t->type, w->request.type) == 0 && t->segment < w->segment_count &&
	       t->offset < w->segments[t->segment].len;
}

/* Choose a random one of the words that were touched in requests of this kind. Returns whether there is any. */
static bool touched_word(struct device_window *w, struct device_word *word)
{
	const struct touched_word *chosen = NULL;
	unsigned n = 0;

	for (unsigned i = 0; i < DEVICE_WORDS_KEPT; i++) {
		const struct touched_word *t = &w->touched[i];

		if (t->type[0] && touched_fits(w, t) && rng_below(&w->rng, ++n) == 0)
			chosen = t;
	}
	if (chosen)
		*word = device_word_at(w->segments, chosen->segment, chosen->offset);
	return chosen;
}

static struct device_word word_by(struct device_window *w, unsigned segment, enum way way)
{
	uint32_t len = w->segments[segment].len;

	return device_word_at(w->segments, segment,
			      way == FIRST  ? 0
			      : way == LAST ? len - 1
					    : (uint32_t)rng_below(&w->rng, len));
}

static unsigned add(struct device_word *words, unsigned n, const struct device_word *word)
{
	for (unsigned i = 0; i < n; i++) {
		if (words[i].gpa == word->gpa)
			return n;
	}
	words[n] = *word;
	return n + 1;
}

unsigned device_words_choose(struct device_window *w, unsigned most, struct device_word words[DEVICE_WORDS_MAX])
{
	unsigned first = (unsigned)rng_below(&w->rng, WAYS), n = 0;
	struct device_word word;

	if (most && touched_word(w, &word))
		n = add(words, n, &word);
	/*
	 * A way may yield a word that was chosen already, but only if the segments are small. Choose no other word in its place
	 * then.
	 */
	for (unsigned i = 0; i < WAYS && n < most; i++) {
		int segment = random_segment(w, DATA_LEAST);

		if (segment < 0)
			segment = random_segment(w, 1);
		if (segment < 0)
			return n;
		word = word_by(w, (unsigned)segment, (enum way)((first + i) % WAYS));
		n = add(words, n, &word);
	}
	return n;
}

static void remember(struct device_window *w, const struct touched_word *touched)
{
	const struct touched_word t = *touched;

	for (unsigned i = 0; i < DEVICE_WORDS_KEPT; i++) {
		const struct touched_word *known = &w->touched[i];

		if (known->type[0] && known->op == t.op && known->segment == t.segment && known->offset == t.offset &&
		    strcmp(known->type, t.type) == 0)
			return;
	}
	w->touched[w->touched_count++ % DEVICE_WORDS_KEPT] = t;
}

void device_words_touched(struct device_window *w, const struct device_word *word)
{
	struct touched_word t = {.op = w->request.op, .segment = word->segment};

	memcpy(t.type, w->request.type, sizeof(t.type));
	t.offset = (uint32_t)(word->gpa - w->segments[word->segment].gpa);
	remember(w, &t);
}

void device_words_done(struct device_window *w)
{
	for (unsigned i = 0; i < w->segment_count && i < DONE_SEGMENTS_MAX; i++) {
		struct held_segment *held = &w->held[w->held_count % DEVICE_SEGMENTS_KEPT];

		if (w->segments[i].len < DATA_LEAST)
			continue;
		*held = (struct held_segment){
			.gpa = w->segments[i].gpa, .len = w->segments[i].len, .op = w->request.op, .segment = i};
		memcpy(held->type, w->request.type, sizeof(held->type));
		w->held_count++;
	}
}

void device_words_seen(struct device_window *w, uint64_t gpa)
{
	for (unsigned i = 0; i < DEVICE_SEGMENTS_KEPT; i++) {
		const struct held_segment *held = &w->held[i];
		struct touched_word t = {.op = held->op, .segment = held->segment, .offset = (uint32_t)(gpa - held->gpa)};

		if (gpa - held->gpa >= held->len)
			continue;
		memcpy(t.type, held->type, sizeof(t.type));
		remember(w, &t);
		return;
	}
}
