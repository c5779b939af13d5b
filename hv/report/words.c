// SPDX-License-Identifier: GPL-2.0-or-later
/* Converts enum values to the words that reports in text and in JSON use for them, and back. */
#include "hv/report/words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/insn/insn.h"

const char *const gpr_names[X86_GPRS] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
					 "r8",	"r9",  "r10", "r11", "r12", "r13", "r14", "r15"};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The words for kinds of access, indexed by enum insn_rw bits. */
static const char *const access_words[] = {
	[0] = "unknown", [INSN_READ] = "read", [INSN_WRITE] = "write", [INSN_READ | INSN_WRITE] = "read-write"};

static const char *const context_words[] = {
	[GUEST_TASK] = "task", [GUEST_SOFTIRQ] = "softirq", [GUEST_HARDIRQ] = "hardirq", [GUEST_NMI] = "nmi"};

static const char *const how_words[] = {[RACE_BY_WATCH] = "watchpoint",
					[RACE_BY_POINT] = "breakpoint",
					[RACE_BY_REREAD] = "re-read",
					[RACE_BY_DEVICE] = "device",
					[RACE_BY_DEVICE_WINDOW] = "device-window"};

static const char *const frame_words[] = {
	[UNWIND_STOPPED] = "stopped", [UNWIND_CALL] = "call", [UNWIND_INTERRUPTED] = "interrupted"};

static const char *const origin_words[] = {
	[GUEST_ORIGIN_UNKNOWN] = NULL,		[GUEST_ORIGIN_SYSCALL] = "syscall", [GUEST_ORIGIN_EXCEPTION] = "exception",
	[GUEST_ORIGIN_INTERRUPT] = "interrupt", [GUEST_ORIGIN_NMI] = "nmi",	    [GUEST_ORIGIN_KTHREAD] = "kthread",
	[GUEST_ORIGIN_IDLE] = "idle",
};

static const char *const trouble_phrases[] = {
	[UNWIND_USER] = "the outermost function is no entry known of",
	[UNWIND_FIRST] = "the outermost function is no entry known of",
	[UNWIND_NO_RULE] = "the kernel has no unwind rule for an address",
	[UNWIND_NO_MEMORY] = "it leads to memory that is no captured stack",
	[UNWIND_NO_REG] = "it leads to a register whose value is not known",
	[UNWIND_STUCK] = "it leads back to where it came from",
	[UNWIND_TOO_DEEP] = "there are too many calls",
};

static int find_word(const char *const *words, size_t n, const char *word)
{
	for (size_t i = 0; i < n; i++) {
		if (words[i] && strcmp(words[i], word) == 0)
			return (int)i;
	}
	return -1;
}

const char *access_word(uint8_t rw)
{
	return access_words[rw & (INSN_READ | INSN_WRITE)];
}

int access_from_word(const char *word)
{
	return find_word(access_words, COUNT(access_words), word);
}

const char *side_word(const struct observation *observation, unsigned which)
{
	switch (observation->sides[which].kind) {
	case RACE_SIDE_CPU:
		if (which || observation->how == RACE_BY_DEVICE_WINDOW)
			return "meanwhile";
		return observation_held(observation) ? "held" : "not held";
	case RACE_SIDE_DEVICE:
		return "device";
	case RACE_SIDE_UNSEEN:
		break;
	}
	return "unseen writer";
}

const char *context_word(const struct guest_context *context)
{
	return context->known && context->kind < COUNT(context_words) ? context_words[context->kind] : "unknown";
}

void context_phrase(const struct guest_context *context, char out[CONTEXT_PHRASE_MAX])
{
	snprintf(out, CONTEXT_PHRASE_MAX, "%s, interrupts %s, preemption %s%s", context_word(context),
		 context->irqs_off ? "off" : "on", context->preempt_off ? "off" : "on",
		 context->rcu_known && context->rcu_nesting ? ", in an RCU section" : "");
}

int context_from_word(const char *word, struct guest_context *context)
{
	int kind = find_word(context_words, COUNT(context_words), word);

	context->known = kind >= 0;
	context->kind = kind >= 0 ? (uint8_t)kind : GUEST_TASK;
	return kind >= 0 || strcmp(word, "unknown") == 0 ? 0 : -1;
}

const char *how_word(enum race_how how)
{
	return how < COUNT(how_words) ? how_words[how] : "unknown";
}

int how_from_word(const char *word)
{
	return find_word(how_words, COUNT(how_words), word);
}

const char *frame_word(uint8_t kind)
{
	return frame_words[kind < COUNT(frame_words) ? kind : UNWIND_CALL];
}

int frame_from_word(const char *word)
{
	return find_word(frame_words, COUNT(frame_words), word);
}

const char *origin_word(enum guest_origin origin)
{
	return origin < COUNT(origin_words) ? origin_words[origin] : NULL;
}

int origin_from_word(const char *word)
{
	return find_word(origin_words, COUNT(origin_words), word);
}

const char *trouble_phrase(const struct guest_calls *calls)
{
	if (calls->origin != GUEST_ORIGIN_UNKNOWN && !calls->guessed)
		return NULL;
	return calls->why < COUNT(trouble_phrases) ? trouble_phrases[calls->why] : "unknown";
}

int trouble_from_phrase(const char *phrase, struct guest_calls *calls)
{
	int why = find_word(trouble_phrases, COUNT(trouble_phrases), phrase);

	if (why < 0)
		return -1;
	calls->why = calls->end = (enum unwind_end)why;
	return 0;
}

void value_text(const uint8_t *bytes, uint32_t len, char out[VALUE_TEXT_MAX])
{
	uint64_t value = 0;
	char *at = out;

	*out = '\0';
	if (len == 1 || len == 2 || len == 4 || len == 8) {
		for (uint32_t i = 0; i < len; i++)
			value |= (uint64_t)bytes[i] << (8 * i);
		snprintf(out, VALUE_TEXT_MAX, "0x%" PRIx64, value);
		return;
	}
	for (uint32_t i = 0; i < len && i < RACE_DATA_MAX; i++)
		at += sprintf(at, "%s%02x", i ? " " : "", bytes[i]);
}

static int integer_from_text(const char *text, uint32_t len, uint8_t *bytes)
{
	uint64_t value;
	char *end;

	if (strncmp(text, "0x", 2) != 0)
		return -1;
	errno = 0;
	value = strtoull(text, &end, 16);
	if (*end || errno || (len < 8 && value >> (8 * len)))
		return -1;
	for (uint32_t i = 0; i < len; i++)
		bytes[i] = (uint8_t)(value >> (8 * i));
	return 0;
}

int value_from_text(const char *text, uint32_t len, uint8_t *bytes)
{
	int used;

	if (len == 1 || len == 2 || len == 4 || len == 8)
		return integer_from_text(text, len, bytes);
	if (len > RACE_DATA_MAX)
		return -1;
	for (uint32_t i = 0; i < len; i++) {
		used = 0;
		if (sscanf(text, i ? " %2" SCNx8 "%n" : "%2" SCNx8 "%n", &bytes[i], &used) != 1)
			return -1;
		text += used;
	}
	return *text ? -1 : 0;
}
