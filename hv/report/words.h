/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The words that a report uses. They are the same in text and in JSON, and the JSON format promises them. */
#ifndef OUTRIDER_REPORT_WORDS_H
#define OUTRIDER_REPORT_WORDS_H

#include "hv/race/observation.h"

/* Bytes of the texts below, with the NUL. */
#define VALUE_TEXT_MAX (3 * RACE_DATA_MAX + 1)
#define CONTEXT_PHRASE_MAX 64

/* What an access does, by its enum insn_rw bits: "read", "write" or "read-write"; "unknown" for 0. */
const char *access_word(uint8_t rw);

/* The kind of a context: "task", "softirq", "hardirq" or "nmi"; "unknown" when it is not known. */
const char *context_word(const struct guest_context *context);

/* A context, which must be known, in one phrase: "task, interrupts off, preemption on, in an RCU section". */
void context_phrase(const struct guest_context *context, char out[CONTEXT_PHRASE_MAX]);

/* How a conflict was seen: "watchpoint", "breakpoint" or "re-read". */
const char *how_word(enum race_how how);

/* The kind of a frame, an enum unwind_kind: "stopped", "call" or "interrupted". */
const char *frame_word(uint8_t kind);

/* What the outermost call was made for: "syscall", "exception", "interrupt", "nmi", "kthread" or "idle"; NULL when it is not
 * known. */
const char *origin_word(enum guest_origin origin);

/* A phrase that says why a call stack was guessed at, or not followed to its beginning. NULL: it was followed without a guess.
 */
const char *trouble_phrase(const struct guest_calls *calls);

/*
 * A value of `len` bytes, at most RACE_DATA_MAX, as text. 1, 2, 4 and 8 bytes are written as a little-endian integer, "0x1".
 * Any other length is written as bytes in memory order, "01 00 ff". No bytes give "".
 */
void value_text(const uint8_t *bytes, uint32_t len, char out[VALUE_TEXT_MAX]);

/*
 * The same words read back. Each function gives the enum's value, or -1 for a word that is none of these. access_from_word()
 * gives enum insn_rw bits, which are 0 for "unknown". context_from_word() gives 0, and sets `kind` and `known`; the word
 * "unknown" clears `known`.
 */
int access_from_word(const char *word);
int context_from_word(const char *word, struct guest_context *context);
int how_from_word(const char *word);
int frame_from_word(const char *word);
int origin_from_word(const char *word);

/* trouble_phrase() read back: sets `end` and `why` of the calls. 0, or -1 for a phrase that is none of its phrases. */
int trouble_from_phrase(const char *phrase, struct guest_calls *calls);

/* value_text() read back: the `len` bytes of a value. 0, or -1 when the text is not that of a value of `len` bytes. */
int value_from_text(const char *text, uint32_t len, uint8_t *bytes);

/* The general registers' names, by enum x86_gpr. */
extern const char *const gpr_names[X86_GPRS];

#endif
