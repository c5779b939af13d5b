/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tiny guest of the host self-test: 64 KiB of memory, long mode, a #DB and a #BP handler, and one snippet of code for each
 * thing to try. A snippet is run from a fresh CPU state; what ended it is the outcome.
 */
#ifndef OUTRIDER_VMM_PROBE_GUEST_H
#define OUTRIDER_VMM_PROBE_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/kvm.h>

#include "hv/base/err.h"
#include "hv/base/x86.h"
#include "hv/vmm/vmm.h"

enum probe_snippet {
	SNIPPET_DONE,	/* says it is done */
	SNIPPET_INT3,	/* int3, done */
	SNIPPET_NOPS,	/* nop, nop, nop, done */
	SNIPPET_READ,	/* a 4-byte load, then as WRITE */
	SNIPPET_WRITE,	/* a 4-byte store, done */
	SNIPPET_WRITE4, /* stores of 1, 2, 4 and 8 bytes, done */
	SNIPPETS,
};

enum probe_outcome {
	OUTCOME_DONE,	    /* the snippet ran to its end */
	OUTCOME_BP_HANDLER, /* the guest's own #BP handler runs */
	OUTCOME_DB_HANDLER, /* its #DB handler does; the DR6 it read is in `dr6` */
	OUTCOME_DEBUG,	    /* KVM_EXIT_DEBUG: `exception`, `dr6`, `rip` */
	OUTCOME_DEAD,	    /* any other exit, or KVM_RUN failed: `what` says how */
	OUTCOME_TIMEOUT,    /* kicked by the watchdog */
};

struct probe_result {
	enum probe_outcome outcome;
	uint32_t exception;
	uint64_t dr6, rip;
	struct kvm_regs regs; /* at the exit */
	char what[96];
};

struct probe_guest {
	int kvm_fd, vm_fd;
	struct vcpu vcpu;
	size_t run_size;
	uint8_t *memory;
};

#define PROBE_GUEST_NONE                                       \
	{                                                      \
		.kvm_fd = -1, .vm_fd = -1, .vcpu = {.fd = -1 } \
	}

/* What an exception pushes in long mode (SDM vol. 3, figure 6-9). */
struct probe_frame {
	uint64_t rip, cs, rflags, rsp, ss;
};

/* Where the snippets load and store: GVA = GPA in this guest. */
#define PROBE_DATA 0x6000ull

/* `g` is PROBE_GUEST_NONE before, and to be destroyed even when this fails. EXIT_INPUT says why this host has no such guest. */
int probe_guest_create(struct probe_guest *g, struct err *err);
void probe_guest_destroy(struct probe_guest *g);

uint64_t probe_guest_snippet(enum probe_snippet snippet);
uint64_t probe_guest_bp_handler(void);
uint64_t probe_guest_after_store(void); /* the instruction after the store of SNIPPET_WRITE */

/* The frame at RSP; false when RSP is outside the guest's memory. */
bool probe_guest_frame(const struct probe_guest *g, const struct kvm_regs *regs, struct probe_frame *out);

/* The CPU at the start of `snippet`, nothing pending, no debugging. -1 when KVM does not take the state. */
int probe_guest_reset(struct probe_guest *g, enum probe_snippet snippet);

/* KVM_SET_GUEST_DEBUG; -1 when it fails. */
int probe_guest_debug(struct probe_guest *g, uint32_t control, const uint64_t dr[4], uint64_t dr7);

/* Enter the guest until something of interest happens. */
void probe_guest_run(struct probe_guest *g, struct probe_result *out);

/* DR7 with `reg` enabled for the current task, to trap on `type` at `len` bytes. */
uint64_t probe_dr7(unsigned reg, enum x86_dr_type type, unsigned len);

#endif
