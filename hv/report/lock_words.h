/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The words that a report uses of locks and suspicions. They are the same in text and in JSON, and the JSON format promises
 * them. */
#ifndef OUTRIDER_REPORT_LOCK_WORDS_H
#define OUTRIDER_REPORT_LOCK_WORDS_H

#include "hv/race/suspicion.h"

/* An enum lock_kind: "spin", "rwlock", "mutex", "rtmutex", "semaphore", "rwsem", "seq" or "bit". */
const char *lock_kind_word(uint8_t kind);

/* "unprotected" or "interrupt". */
const char *suspicion_kind_word(enum suspicion_kind kind);

/* "none", "open", "seen" or "given-up". */
const char *proof_word(enum proof_state state);

/* "unpublished", "per-cpu", "marked", "rcu", "apart", "maybe" or "handed-over". */
const char *left_out_word(enum protect_left_out reason);

/* The same in a few words for people: "not published yet". */
const char *left_out_phrase(enum protect_left_out reason);

/* The same words read back: the enum's value, or -1 for a word that is none of these. */
int lock_kind_from_word(const char *word);
int suspicion_kind_from_word(const char *word);
int proof_from_word(const char *word);

#endif
