/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The words of a report for values such as the kind of an access. Reports in text and in JSON use the same words. Later
 * versions of the JSON format keep them.
 */
#ifndef OUTRIDER_REPORT_WORDS_H
#define OUTRIDER_REPORT_WORDS_H

#include "hv/race/observation.h"

/* Bytes of the texts below, including the NUL. */
#define VALUE_TEXT_MAX (3 * RACE_DATA_MAX + 1)
#define CONTEXT_PHRASE_MAX 64

/* Returns the kind of an access by its enum insn_rw bits: "read", "write" or "read-write"; "unknown" for 0. */
const char *access_word(uint8_t rw);

/*
 * Returns the word for the role of a side in the window of an observation. An access of a CPU is "held" if the CPU was held
 * before it, and "meanwhile" if it happened in the window of the other side. If no CPU was held, side 0 is "not held". An
 * access of a device is "device", and an access of an unseen writer is "unseen writer".
 */
const char *side_word(const struct observation *observation, unsigned which);

/* Returns the kind of a context: "task", "softirq", "hardirq" or "nmi"; "unknown" if !context->known. */
const char *context_word(const struct guest_context *context);

/* Write the phrase for a context, which must be known: "task, interrupts off, preemption on, in an RCU section". */
void context_phrase(const struct guest_context *context, char out[CONTEXT_PHRASE_MAX]);

/* Returns how a conflict was noticed: "watchpoint", "breakpoint", "re-read", "device" or "device-window". */
const char *how_word(enum race_how how);

/* Returns the kind of a frame, an enum unwind_kind: "stopped", "call" or "interrupted". */
const char *frame_word(uint8_t kind);

/* Returns how the kernel was entered: "syscall", "exception", "interrupt", "nmi", "kthread" or "idle"; NULL if unknown. */
const char *origin_word(enum guest_origin origin);

/* Returns a phrase that says why a call stack was guessed or is incomplete; NULL for a complete call stack without guesses. */
const char *trouble_phrase(const struct guest_calls *calls);

/*
 * Write a value of `len` bytes, at most RACE_DATA_MAX: 1, 2, 4 and 8 bytes as a little-endian integer, "0x1"; other lengths as
 * bytes in memory order, "01 00 ff"; no bytes as "".
 */
void value_text(const uint8_t *bytes, uint32_t len, char out[VALUE_TEXT_MAX]);

/*
 * Each function below is the reverse of a function *_word(): it returns the enum's value, or -1 for any other word. Two differ.
 * access_from_word() returns enum insn_rw bits, 0 for "unknown". context_from_word() returns 0 and stores the kind in *context:
 * it sets `kind` and `known`, and for the word "unknown" it clears `known`.
 */
int access_from_word(const char *word);
int context_from_word(const char *word, struct guest_context *context);
int how_from_word(const char *word);
int frame_from_word(const char *word);
int origin_from_word(const char *word);

/* The reverse of trouble_phrase(): sets `end` and `why` of *calls. Returns 0, or -1 for any other phrase. */
int trouble_from_phrase(const char *phrase, struct guest_calls *calls);

/* Read a value of `len` bytes from text, the reverse of value_text(). Returns 0, or -1 if the text is not such a value. */
int value_from_text(const char *text, uint32_t len, uint8_t *bytes);

/* Names of the general registers, by enum x86_gpr. */
extern const char *const gpr_names[X86_GPRS];

#endif
