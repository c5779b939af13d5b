/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The host self-test: what this host's KVM does is found out by trying it on a tiny guest, never by asking. Some KVMs (nested
 * in emulators, or emulators themselves) claim KVM_CAP_SET_GUEST_DEBUG and then drop what we depend on.
 *
 * What is tried is in SDM vol. 3 chapter 18 (debug registers) and Documentation/virt/kvm/api.rst (KVM_SET_GUEST_DEBUG).
 */
#ifndef OUTRIDER_VMM_PROBE_H
#define OUTRIDER_VMM_PROBE_H

#include <stdbool.h>

#include "hv/base/err.h"

/* How a planted INT3 can be caught. */
enum probe_breakpoints {
	BP_INTERCEPT, /* KVM_GUESTDBG_USE_SW_BP */
	BP_IDT_GATE,  /* an execute debug register on the target of the guest's IDT gate 3 */
	BP_NONE,
};

enum probe_id {
	PROBE_OPEN,	 /* /dev/kvm opens, speaks the API, makes a VM and a vCPU */
	PROBE_CAPS,	 /* every capability that we build on is claimed */
	PROBE_GUEST,	 /* a guest in long mode runs, and its port access comes back */
	PROBE_OWN_BP,	 /* with no debugging on, a guest's INT3 reaches its own handler */
	PROBE_INT3,	 /* a guest INT3 exits */
	PROBE_EXECUTE,	 /* execute, */
	PROBE_WRITE,	 /* write (and not on reads), */
	PROBE_READWRITE, /* and read-or-write debug registers exit, with the right DR6 bit and RIP */
	PROBE_FOUR,	 /* all four registers at once, lengths 1, 2, 4 and 8 */
	PROBE_STEP,	 /* single-step */
	PROBE_INJECT_BP, /* an INT3 that exited can be handed to the guest's own handler */
	PROBE_INJECT_DB, /* so can a #DB, with its DR6 */
	PROBE_IDT_GATE,	 /* an execute register stops at the #BP handler with the frame on its stack, and it can be undone */
	PROBE_CHECKS,
};

struct probe_check {
	const char *name; /* static */
	bool tried;	  /* false: something it needs failed before */
	bool works;
	bool needed;	   /* without it we cannot run here */
	char finding[192]; /* what was seen, one line */
};

#define PROBE_MAX_CAPS 24

struct probe_cap {
	const char *name; /* static */
	bool present;
};

struct host_probe {
	struct probe_check check[PROBE_CHECKS];
	struct probe_cap cap[PROBE_MAX_CAPS];
	unsigned caps;
	enum probe_breakpoints breakpoints;
	bool usable;
	char verdict[320]; /* one line: what was chosen, or why this host cannot be used and what to do */
};

/*
 * Try this host. Takes milliseconds on hardware; a KVM that hangs is given up after seconds (its thread is then left behind,
 * stuck in the kernel). 0 with *out filled in whatever the host is like; -1 with err (EXIT_INTERNAL) when the test itself could
 * not be made. Not to be called while a machine of this process runs.
 */
int probe_host(struct host_probe *out, struct err *err);

#endif
