/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The words for locks and suspicions. Reports in text and in JSON use the same words. Later versions of the JSON format keep
 * them.
 */
#ifndef OUTRIDER_REPORT_LOCK_WORDS_H
#define OUTRIDER_REPORT_LOCK_WORDS_H

#include "hv/base/clean.h"
#include "hv/race/observation.h"
#include "hv/race/suspicion.h"

/* Bytes for all locks of a side, with the words around them, including the NUL. */
#define SIDE_LOCKS_TEXT_MAX (LOCKSET_MAX * (CLEAN_MAX(LOCK_NAME_MAX) + 32))

/*
 * Returns the word for an enum lock_kind: "spin", "rwlock", "mutex", "rtmutex", "semaphore", "rwsem", "seq", "bit" or
 * "callback".
 */
const char *lock_kind_word(uint8_t kind);

/* Returns "unprotected", "interrupt" or "atomicity". */
const char *suspicion_kind_word(enum suspicion_kind kind);

/* Returns "check-then-act", "read-then-update", "write-then-read", "half-done-update" or "publish-before-init". */
const char *atomicity_pattern_word(enum atomicity_pattern pattern);

/*
 * Returns the word for the reason why a pair of critical sections is no atomicity suspicion: "checked-again", "version",
 * "exchange", "counter", "snapshot", "batch", "state", "claimed", "outer-lock", "own-steps", "several-objects", "ordered",
 * "never-between" or "apart".
 */
const char *atomicity_told_word(enum atomicity_told reason);

/* Returns the same reason as a phrase for people, which follows "N pairs of sections": "whose second one checks again". */
const char *atomicity_told_phrase(enum atomicity_told reason);

/* Returns "none", "open", "seen" or "given-up". */
const char *confirm_word(enum confirm_state state);

/* Write the result of the attempt to confirm a suspicion, as a phrase for people, without a full stop. */
#define CONFIRM_TEXT_MAX 128
void confirm_text(const struct suspicion *s, char out[CONFIRM_TEXT_MAX]);

/*
 * Returns the word for the reason why two accesses without a common lock are no suspicion: "unpublished", "per-cpu", "marked",
 * "rcu", "apart", "maybe", "handed-over" or "ordered".
 */
const char *left_out_word(enum protect_left_out reason);

/* Returns the same reason as a phrase for people: "of objects that are not published yet". */
const char *left_out_phrase(enum protect_left_out reason);

/*
 * Write the locks that a side held, printable: "cb_lock, perhaps cmd_lock, rtnl_mutex (as a reader)". If the side held no lock,
 * write "no lock" if the locks of the side's function were followed, otherwise "".
 */
void side_locks_text(const struct race_locks *locks, char out[SIDE_LOCKS_TEXT_MAX]);

/*
 * Each of the next five functions is the reverse of a function *_word(): it returns the enum's value, or -1 for any other word.
 */
int lock_kind_from_word(const char *word);
int suspicion_kind_from_word(const char *word);
int atomicity_pattern_from_word(const char *word);
int atomicity_told_from_word(const char *word);
int confirm_from_word(const char *word);

/*
 * Returns words for what one of the three sections of an atomicity suspicion does with the datum: `step` is 0 for the first
 * section, 1 for the section in between, and 2 for the second section.
 */
#define ATOMICITY_STEPS 3
const char *atomicity_step_words(enum atomicity_pattern pattern, unsigned step);

/* Returns the words for when the section `step` is executed: "first", "in between", "second". */
const char *atomicity_step_when(unsigned step);

#endif
