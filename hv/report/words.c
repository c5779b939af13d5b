// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/report/words.h"

#include <inttypes.h>
#include <stdio.h>

#include "symbols/insn.h"

const char *const gpr_names[X86_GPRS] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
					 "r8",	"r9",  "r10", "r11", "r12", "r13", "r14", "r15"};

const char *access_word(uint8_t rw)
{
	switch (rw & (INSN_READ | INSN_WRITE)) {
	case INSN_READ:
		return "read";
	case INSN_WRITE:
		return "write";
	case INSN_READ | INSN_WRITE:
		return "read-write";
	default:
		return "unknown";
	}
}

const char *context_word(const struct guest_context *context)
{
	static const char *const words[] = {
		[GUEST_TASK] = "task", [GUEST_SOFTIRQ] = "softirq", [GUEST_HARDIRQ] = "hardirq", [GUEST_NMI] = "nmi"};

	if (!context->known || context->kind >= sizeof(words) / sizeof(words[0]))
		return "unknown";
	return words[context->kind];
}

const char *how_word(enum detect_how how)
{
	switch (how) {
	case DETECT_WATCH:
		return "watchpoint";
	case DETECT_POINT:
		return "breakpoint";
	case DETECT_REREAD:
		return "re-read";
	}
	return "unknown";
}

const char *frame_word(uint8_t kind)
{
	static const char *const words[] = {
		[UNWIND_STOPPED] = "stopped", [UNWIND_CALL] = "call", [UNWIND_INTERRUPTED] = "interrupted"};

	return kind < sizeof(words) / sizeof(words[0]) ? words[kind] : "call";
}

const char *origin_word(enum guest_origin origin)
{
	static const char *const words[] = {
		[GUEST_ORIGIN_SYSCALL] = "syscall",	[GUEST_ORIGIN_EXCEPTION] = "exception",
		[GUEST_ORIGIN_INTERRUPT] = "interrupt", [GUEST_ORIGIN_NMI] = "nmi",
		[GUEST_ORIGIN_KTHREAD] = "kthread",	[GUEST_ORIGIN_IDLE] = "idle",
	};

	return origin < sizeof(words) / sizeof(words[0]) ? words[origin] : NULL;
}

const char *trouble_phrase(const struct guest_calls *calls)
{
	if (calls->origin != GUEST_ORIGIN_UNKNOWN && !calls->guessed)
		return NULL;
	switch (calls->why) {
	case UNWIND_USER:
	case UNWIND_FIRST:
		return "the outermost function is no entry known of";
	case UNWIND_NO_RULE:
		return "the kernel has no unwind rule for an address";
	case UNWIND_NO_MEMORY:
		return "it leads to memory that is no captured stack";
	case UNWIND_NO_REG:
		return "it leads to a register whose value is not known";
	case UNWIND_STUCK:
		return "it leads back to where it came from";
	case UNWIND_TOO_DEEP:
		return "there are too many calls";
	}
	return "unknown";
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
	for (uint32_t i = 0; i < len && i < DETECT_DATA_MAX; i++)
		at += sprintf(at, "%s%02x", i ? " " : "", bytes[i]);
}
