/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The results of the host self-test (probe.h), as plain data. */
#ifndef OUTRIDER_VMM_PROBE_FINDINGS_H
#define OUTRIDER_VMM_PROBE_FINDINGS_H

#include <stdbool.h>

/* The method by which the VMM catches an INT3 that it planted. */
enum probe_breakpoints {
	/* Each #BP of the guest is a KVM exit (KVM_GUESTDBG_USE_SW_BP). */
	BP_INTERCEPT,
	/* A debug register stops the CPU at the first instruction of the guest's #BP handler, the target of its IDT gate 3. */
	BP_IDT_GATE,
	/* Neither method works. */
	BP_NONE,
};

enum probe_id {
	PROBE_OPEN,	 /* /dev/kvm opens, has the needed API version, and creates a VM and a vCPU */
	PROBE_CAPS,	 /* KVM reports every capability that the VMM needs */
	PROBE_GUEST,	 /* a guest in long mode runs, and its access to a port is a KVM exit */
	PROBE_CLOCK,	 /* the guest's TSC advances; if it stands still, the guest's timers do not expire */
	PROBE_OWN_BP,	 /* an INT3 of the guest reaches the guest's own handler while no debugging is on */
	PROBE_INT3,	 /* an INT3 of the guest is a KVM exit */
	PROBE_EXECUTE,	 /* an execute breakpoint in a debug register causes a KVM exit with the right DR6 bit and RIP */
	PROBE_WRITE,	 /* a write watchpoint in a debug register causes a KVM exit after a write, and none on a read */
	PROBE_READWRITE, /* a read-or-write watchpoint in a debug register causes a KVM exit after a read and after a write */
	PROBE_FOUR,	 /* all four debug registers work at once, with lengths of 1, 2, 4 and 8 bytes */
	PROBE_STEP,	 /* single-stepping works */
	PROBE_INJECT_BP, /* an INT3 that was a KVM exit can be injected into the guest, so that the guest's own handler runs */
	PROBE_INJECT_DB, /* a #DB can be injected into the guest; the guest's own handler then reads the DR6 that the VMM set */
	/*
	 * an execute breakpoint in a debug register stops the CPU at the guest's #BP handler. The INT3's exception frame is on
	 * the stack then, so the exception can be undone.
	 */
	PROBE_IDT_GATE,
	PROBE_CHECKS,
};

struct probe_check {
	const char *name;  /* a short name for the user; static */
	bool tried;	   /* false: the test stopped before this check, or a check that it needs failed */
	bool works;	   /* the check was tried and passed */
	bool needed;	   /* the detector cannot run on this host if this check fails */
	char finding[192]; /* one line on what was seen */
};

#define PROBE_MAX_CAPS 24

struct probe_cap {
	const char *name; /* the capability's name in <linux/kvm.h>; static */
	bool present;	  /* KVM reports the capability */
};

struct host_probe {
	struct probe_check check[PROBE_CHECKS];
	struct probe_cap cap[PROBE_MAX_CAPS];
	unsigned caps; /* number of entries in `cap` */
	/* KVM can block interrupts during a single-step, as `outrider replay` and `outrider run --replay` need */
	bool blocks_interrupts;
	enum probe_breakpoints breakpoints;
	bool usable;	   /* every needed check passed, and KVM did not hang */
	char verdict[320]; /* one line: the chosen method, or why this host cannot be used and what to do about it */
};

#endif
