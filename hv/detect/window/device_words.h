/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chooses the words of a held request to watch. Debug registers cover only a few of the thousands of words of a request. So the
 * choice takes turns among the first and the last word of a segment, a random word, and words that were touched in earlier
 * requests of this kind. The last word is worth a watch, because code with an off-by-one error accesses it wrongly.
 *
 * The caller of each function holds d->lock, which guards struct device_window.
 */
#ifndef OUTRIDER_DETECT_WINDOW_DEVICE_WORDS_H
#define OUTRIDER_DETECT_WINDOW_DEVICE_WORDS_H

#include "hv/detect/core/device_window_state.h"

/* Maximum number of words that device_words_choose() chooses. */
#define DEVICE_WORDS_MAX TARGET_MAX_WATCHES

/*
 * Returns the largest naturally aligned word, of at most 8 bytes, that contains the byte at `offset` of the segment, and no
 * byte outside of the segment. `offset` must be less than the segment's length.
 */
struct device_word device_word_at(const struct device_segment *segments, unsigned segment, uint32_t offset);

/*
 * Choose up to `most` different words of the request that the window `w` holds. Returns their number, which is 0 if the request
 * has no memory.
 */
unsigned device_words_choose(struct device_window *w, unsigned most, struct device_word words[DEVICE_WORDS_MAX]);

/* Remember that this word of the window's request was touched. */
void device_words_touched(struct device_window *w, const struct device_word *word);

/* The window closes: remember where its request had its data, for device_words_seen(). */
void device_words_done(struct device_window *w);

/*
 * A CPU is about to access this memory: if it is memory of a request that was held lately, remember the place in the request.
 * Correct code uses the device's data after the request is done. Code that fails to wait for the device is likely to use the
 * same data. The memory may have another owner by now, so the place is a hint only.
 */
void device_words_seen(struct device_window *w, uint64_t gpa);

#endif
