/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the host self-test (probe.h) found: plain data.
 */
#ifndef OUTRIDER_VMM_PROBE_FINDINGS_H
#define OUTRIDER_VMM_PROBE_FINDINGS_H

#include <stdbool.h>

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

#endif
