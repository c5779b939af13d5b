/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The words for locks and suspicions, the same in text and JSON. The JSON format guarantees them. */
#ifndef OUTRIDER_REPORT_LOCK_WORDS_H
#define OUTRIDER_REPORT_LOCK_WORDS_H

#include "hv/base/clean.h"
#include "hv/race/observation.h"
#include "hv/race/suspicion.h"

/* Bytes for all locks of a side, with the words around them, including the NUL. */
#define SIDE_LOCKS_TEXT_MAX (LOCKSET_MAX * (CLEAN_MAX(LOCK_NAME_MAX) + 32))

/* Returns the word for an enum lock_kind: "spin", "rwlock", "mutex", "rtmutex", "semaphore", "rwsem", "seq" or "bit". */
const char *lock_kind_word(uint8_t kind);

/* Returns "unprotected", "interrupt" or "atomicity". */
const char *suspicion_kind_word(enum suspicion_kind kind);

/* Returns "check-then-act", "read-then-update", "write-then-read", "half-done-update" or "publish-before-init". */
const char *atomicity_pattern_word(enum atomicity_pattern pattern);

/*
 * Returns "checked-again", "version", "exchange", "counter", "snapshot", "batch", "state", "claimed", "outer-lock", "ordered",
 * "never-between" or "apart".
 */
const char *atomicity_told_word(enum atomicity_told reason);

/* Returns the reason as a phrase for people, after a number of pairs of sections: "that check again". */
const char *atomicity_told_phrase(enum atomicity_told reason);

/* Returns "none", "open", "seen" or "given-up". */
const char *confirm_word(enum confirm_state state);

/* Write the result of the attempt to confirm a suspicion, as a phrase for people, without a full stop. */
#define CONFIRM_TEXT_MAX 128
void confirm_text(const struct suspicion *s, char out[CONFIRM_TEXT_MAX]);

/* Returns "unpublished", "per-cpu", "marked", "rcu", "apart", "maybe", "handed-over" or "ordered". */
const char *left_out_word(enum protect_left_out reason);

/* Returns the reason as a phrase for people: "not published yet". */
const char *left_out_phrase(enum protect_left_out reason);

/*
 * Write the locks that a side held, printable: "cb_lock, perhaps cmd_lock, rtnl_mutex (as a reader)". Without a lock, write "no
 * lock" if the locks of the side's function were followed, otherwise "".
 */
void side_locks_text(const struct race_locks *locks, char out[SIDE_LOCKS_TEXT_MAX]);

/* These functions are the reverse of the functions *_word(): they return the enum's value, or -1 for any other word. */
int lock_kind_from_word(const char *word);
int suspicion_kind_from_word(const char *word);
int atomicity_pattern_from_word(const char *word);
int atomicity_told_from_word(const char *word);
int confirm_from_word(const char *word);

/* What an atomicity suspicion's first section, the section in between, and the second section do with the datum. */
#define ATOMICITY_STEPS 3
const char *atomicity_step_words(enum atomicity_pattern pattern, unsigned step);

#endif
