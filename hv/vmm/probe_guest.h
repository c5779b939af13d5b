/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tiny guest of the host self-test. It has 64 KiB of memory, runs in long mode, and consists of a #DB handler, a #BP
 * handler and one snippet of code for each behaviour to test. A snippet starts from a reset CPU state, and ends with an
 * outcome.
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
	SNIPPET_DONE,	/* signals at once that it is done */
	SNIPPET_INT3,	/* executes an INT3, then signals that it is done */
	SNIPPET_NOPS,	/* executes three NOPs, then signals that it is done */
	SNIPPET_READ,	/* loads 4 bytes, then continues as SNIPPET_WRITE */
	SNIPPET_WRITE,	/* stores 4 bytes, then signals that it is done */
	SNIPPET_WRITE4, /* stores 1, 2, 4 and 8 bytes, then signals that it is done */
	SNIPPETS,
};

enum probe_outcome {
	OUTCOME_DONE,	    /* the snippet ran to its end */
	OUTCOME_BP_HANDLER, /* the guest's own #BP handler was entered */
	OUTCOME_DB_HANDLER, /* the guest's own #DB handler was entered, and read `dr6` */
	OUTCOME_DEBUG,	    /* KVM_EXIT_DEBUG, for which KVM reports `exception`, `dr6` and `rip` */
	OUTCOME_DEAD,	    /* any other KVM exit, or KVM_RUN failed; `what` says which */
	OUTCOME_TIMEOUT,    /* probe_host() kicked the guest because it took too long */
};

struct probe_result {
	enum probe_outcome outcome;
	uint32_t exception; /* vector of the debug exit */
	uint64_t dr6, rip;
	struct kvm_regs regs; /* at the KVM exit */
	char what[96];	      /* one line for OUTCOME_DEAD */
};

struct probe_guest {
	int kvm_fd, vm_fd;
	struct vcpu vcpu;
	size_t run_size; /* size in bytes of the mapping vcpu.run */
	uint8_t *memory; /* the guest's 64 KiB */
};

#define PROBE_GUEST_NONE                                       \
	{                                                      \
		.kvm_fd = -1, .vm_fd = -1, .vcpu = {.fd = -1 } \
	}

/* The frame that the CPU pushes when it delivers an exception in long mode (SDM vol. 3, figure 6-9). */
struct probe_frame {
	uint64_t rip, cs, rflags, rsp, ss;
};

/* The address at which the snippets load and store. In this guest a GVA equals its GPA. */
#define PROBE_DATA 0x6000ull

/*
 * Create the guest. *g must be PROBE_GUEST_NONE before; probe_guest_destroy() must follow even on failure. Returns 0, or -1
 * with `err` set; with EXIT_INPUT, the message says why this host cannot run such a guest.
 */
int probe_guest_create(struct probe_guest *g, struct err *err);
void probe_guest_destroy(struct probe_guest *g);

/* Return the address of a snippet's first instruction, and of the #BP handler's first instruction. */
uint64_t probe_guest_snippet(enum probe_snippet snippet);
uint64_t probe_guest_bp_handler(void);

/* Returns the address of the instruction that follows the store of SNIPPET_WRITE. */
uint64_t probe_guest_after_store(void);

/* Copy the exception frame at RSP. Returns false if the frame is not in the guest's memory. */
bool probe_guest_frame(const struct probe_guest *g, const struct kvm_regs *regs, struct probe_frame *out);

/* Put the CPU at the start of `snippet`, with no pending event and no debugging. Returns 0, or -1 if KVM refuses. */
int probe_guest_reset(struct probe_guest *g, enum probe_snippet snippet);

/*
 * Turn debugging on (KVM_SET_GUEST_DEBUG) with the flags `control`, DR0 to DR3 as in `dr` (NULL: all 0) and DR7. Returns 0, or
 * -1 with errno set.
 */
int probe_guest_debug(struct probe_guest *g, uint32_t control, const uint64_t dr[4], uint64_t dr7);

/* Read the guest's TSC into *tsc. Returns 0, or -1 if KVM cannot read the TSC. */
int probe_guest_tsc(const struct probe_guest *g, uint64_t *tsc);

/* Enter the guest once, and set *out to the reason why KVM_RUN returned. */
void probe_guest_run(struct probe_guest *g, struct probe_result *out);

/* Returns a DR7 that enables debug register `reg` for the current task, with the condition `type` on `len` bytes. */
uint64_t probe_dr7(unsigned reg, enum x86_dr_type type, unsigned len);

#endif
