/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A bounded sketch of which sites touched which memory lately. Two sites talk if they touch the same word of guest-physical
 * memory within TOUCH_AGE_NS on different CPUs and on different stacks, and at least one of them writes. A task that has moved
 * to another CPU still has its stack, so it does not talk with itself. Sites that talk are where races can be, so
 * the sampler arms them first (hv/detect/steer/talkers.h).
 *
 * The sketch may forget: a word takes the place of another word with the same hash. It decides only which sites are sampled,
 * and never what is reported.
 *
 * Guarded by the detector's lock. Noting a touch allocates nothing and takes constant time for each word.
 */
#ifndef OUTRIDER_DETECT_CORE_TOUCHES_H
#define OUTRIDER_DETECT_CORE_TOUCHES_H

#include <stdbool.h>
#include <stdint.h>

/* Number of words that are remembered, a power of two. At 70 hits/s, a word is replaced after some 60 s on average. */
#define TOUCH_WORDS 4096u
#define TOUCH_WORD_BYTES 8u
/*
 * A touch is forgotten after 60 s, because the guest may do something else by then. Memory that was freed and reused in
 * between makes unrelated sites talk, which costs some windows at these sites.
 */
#define TOUCH_AGE_NS UINT64_C(60000000000)

/* The last touch of a word. `site` is the GVA of the instruction; 0: there was none. `ns` is CLOCK_MONOTONIC. */
struct touch {
	uint64_t site, ns;
	/* Any number that is the same for all touches on one stack. */
	uint64_t stack;
	unsigned cpu;
};

struct word_touches {
	/* 1 + the GPA divided by TOUCH_WORD_BYTES. 0: the entry is free. */
	uint64_t word;
	struct touch read, write;
};

struct touches {
	struct word_touches words[TOUCH_WORDS];
};

/*
 * Record the touch `by`: it reads, or with `write` set writes, the bytes [gpa, gpa + len). Returns the GVA of a site with
 * which by->site talks, which can be by->site itself, or 0 if there is none. by->ns must not decrease from call to call.
 */
uint64_t touches_note(struct touches *t, uint64_t gpa, uint32_t len, const struct touch *by, bool write);

#endif
