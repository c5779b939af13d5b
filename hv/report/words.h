/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The words a report uses, the same in text and in JSON. */
#ifndef OUTRIDER_REPORT_WORDS_H
#define OUTRIDER_REPORT_WORDS_H

#include "hv/race/observation.h"

#define VALUE_TEXT_MAX (3 * RACE_DATA_MAX + 1)
#define CONTEXT_PHRASE_MAX 64

/* "read", "write", "read-write", or "unknown" for rw 0 (enum insn_rw bits). */
const char *access_word(uint8_t rw);

/* "task", "softirq", "hardirq", "nmi", or "unknown". */
const char *context_word(const struct guest_context *context);

/* Of a known context in one phrase: "task, interrupts off, preemption on". */
void context_phrase(const struct guest_context *context, char out[CONTEXT_PHRASE_MAX]);

/* "watchpoint", "breakpoint" or "re-read". */
const char *how_word(enum race_how how);

/* "stopped", "call" or "interrupted" (enum unwind_kind). */
const char *frame_word(uint8_t kind);

/* "syscall", "exception", "interrupt", "nmi", "kthread" or "idle"; NULL for unknown. */
const char *origin_word(enum guest_origin origin);

/* Why a stack was guessed at or not followed to its beginning, as a phrase; NULL if it was followed. */
const char *trouble_phrase(const struct guest_calls *calls);

/* 1, 2, 4 and 8 bytes as a little-endian integer, "0x1"; any other length as bytes in memory order, "01 00 ff"; "" for none. */
void value_text(const uint8_t *bytes, uint32_t len, char out[VALUE_TEXT_MAX]);

/*
 * The same words read back; -1 for one that is none of them. access_from_word() gives rw bits, 0 for "unknown"; of a context,
 * "unknown" is true with `known` off.
 */
int access_from_word(const char *word);
int context_from_word(const char *word, struct guest_context *context);
int how_from_word(const char *word);
int frame_from_word(const char *word);
int origin_from_word(const char *word);

/* Whether and why a stack was guessed at, from trouble_phrase()'s words; sets guessed, end and why. 0, or -1. */
int trouble_from_phrase(const char *phrase, struct guest_calls *calls);

/* value_text() read back: the bytes of a value that is `len` long. 0, or -1 when the text is not of such a value. */
int value_from_text(const char *text, uint32_t len, uint8_t *bytes);

/* The general registers' names, by enum x86_gpr. */
extern const char *const gpr_names[X86_GPRS];

#endif
