/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The words that a report uses of locks and suspicions. They are the same in text and in JSON, and the JSON format promises
 * them. */
#ifndef OUTRIDER_REPORT_LOCK_WORDS_H
#define OUTRIDER_REPORT_LOCK_WORDS_H

#include "hv/base/clean.h"
#include "hv/race/observation.h"
#include "hv/race/suspicion.h"

/* Room for all locks of a side, with the words around them. */
#define SIDE_LOCKS_TEXT_MAX (LOCKSET_MAX * (CLEAN_MAX(LOCK_NAME_MAX) + 32))

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

/*
 * What a side held, for people: "cb_lock, perhaps cmd_lock, rtnl_mutex (as a reader)", or "no lock". "": that is not known.
 * Only of a side that is in the code whose locks were followed it can be said that it holds none. Printable.
 */
void side_locks_text(const struct race_locks *locks, char out[SIDE_LOCKS_TEXT_MAX]);

/* The same words read back: the enum's value, or -1 for a word that is none of these. */
int lock_kind_from_word(const char *word);
int suspicion_kind_from_word(const char *word);
int proof_from_word(const char *word);

#endif
