/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the checks of the host self-test. Each check runs a snippet of code in a tiny guest (probe_guest.h), and compares how
 * KVM_RUN returned with what the detector needs.
 */
#include "hv/vmm/probe_checks.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>

#define VECTOR_DB 1
#define VECTOR_BP 3
#define DR6_STEP (1u << 14)
#define RFLAGS_RF (1u << 16)

void probe_report(struct probing *p, enum probe_id id, bool works, const char *fmt, ...)
{
	struct probe_check *check = &p->out.check[id];
	va_list ap;

	pthread_mutex_lock(&p->lock);
	check->tried = true;
	check->works = works;
	va_start(ap, fmt);
	vsnprintf(check->finding, sizeof(check->finding), fmt, ap);
	va_end(ap);
	pthread_mutex_unlock(&p->lock);
}

/* Record that the check failed, and which outcome was seen instead of the expected outcome. */
static void report_failure(struct probing *p, enum probe_id id)
{
	const struct probe_result *r = &p->last;

	switch (r->outcome) {
	case OUTCOME_DONE:
		probe_report(p, id, false, "the guest ran on, without a KVM exit");
		break;
	case OUTCOME_BP_HANDLER:
		probe_report(p, id, false, "the guest's own #BP handler ran, without a KVM exit");
		break;
	case OUTCOME_DB_HANDLER:
		probe_report(p, id, false, "the guest's own #DB handler ran, without a KVM exit; DR6 0x%llx",
			     (unsigned long long)r->dr6);
		break;
	case OUTCOME_DEBUG:
		probe_report(p, id, false, "debug exit of another kind: exception %u, DR6 0x%llx, RIP 0x%llx", r->exception,
			     (unsigned long long)r->dr6, (unsigned long long)r->rip);
		break;
	case OUTCOME_TIMEOUT:
		probe_report(p, id, false, "the guest hung");
		break;
	case OUTCOME_DEAD:
		probe_report(p, id, false, "%s", r->what);
		break;
	}
}

/*
 * If `works`, record that the check passed, with the text `finding`. Otherwise record that the check failed, with the outcome
 * that was seen.
 */
static void conclude(struct probing *p, enum probe_id id, bool works, const char *finding)
{
	if (works)
		probe_report(p, id, true, "%s", finding);
	else
		report_failure(p, id);
}

/*
 * Run a snippet with the debugging that `control`, `dr` and `dr7` describe. If KVM refuses the state, record this and return
 * false.
 */
static bool start_snippet(struct probing *p, enum probe_id id, enum probe_snippet snippet, uint32_t control,
			  const uint64_t dr[4], uint64_t dr7)
{
	if (probe_guest_reset(&p->guest, snippet) < 0) {
		probe_report(p, id, false, "KVM refuses the guest's CPU state: %m");
		return false;
	}
	if (control && probe_guest_debug(&p->guest, control, dr, dr7) < 0) {
		probe_report(p, id, false, "KVM_SET_GUEST_DEBUG: %m");
		return false;
	}
	probe_guest_run(&p->guest, &p->last);
	return true;
}

static bool debug_exit(const struct probing *p, uint32_t exception, uint64_t dr6_bits, uint64_t rip)
{
	const struct probe_result *r = &p->last;

	return r->outcome == OUTCOME_DEBUG && r->exception == exception && r->rip == rip &&
	       (exception != VECTOR_DB || (r->dr6 & (DR6_STEP | 0xf)) == dr6_bits);
}

static void check_guest(struct probing *p)
{
	if (!start_snippet(p, PROBE_GUEST, SNIPPET_DONE, 0, NULL, 0))
		return;
	conclude(p, PROBE_GUEST, p->last.outcome == OUTCOME_DONE, "a long-mode guest runs");
}

/*
 * When the module kvm is loaded, it takes over the TSC's frequency from the kernel. If the kernel measures another frequency
 * later, and the CPU cannot scale the TSC, kvm_set_tsc_khz() (Linux 6.1) leaves the vCPU's scaling ratio at zero. The guest's
 * TSC then stands still, so two reads of it give the same value.
 */
static void check_clock(struct probing *p)
{
	uint64_t before, after;

	if (probe_guest_tsc(&p->guest, &before) < 0 || probe_guest_tsc(&p->guest, &after) < 0)
		probe_report(p, PROBE_CLOCK, false, "cannot be read");
	else if (after > before)
		probe_report(p, PROBE_CLOCK, true, "advances");
	else
		probe_report(p, PROBE_CLOCK, false,
			     "stands still, probably because KVM was loaded before the kernel had measured the TSC's "
			     "frequency: unload kvm_intel or kvm_amd, then kvm, and load them again");
}

static void check_own_bp(struct probing *p)
{
	if (!start_snippet(p, PROBE_OWN_BP, SNIPPET_INT3, 0, NULL, 0))
		return;
	conclude(p, PROBE_OWN_BP, p->last.outcome == OUTCOME_BP_HANDLER,
		 "without a breakpoint of outrider, a guest's INT3 reaches the guest's own handler");
}

static void check_int3(struct probing *p)
{
	uint64_t at = probe_guest_snippet(SNIPPET_INT3);

	if (!start_snippet(p, PROBE_INT3, SNIPPET_INT3, KVM_GUESTDBG_USE_SW_BP, NULL, 0))
		return;
	conclude(p, PROBE_INT3, debug_exit(p, VECTOR_BP, 0, at), "causes KVM_EXIT_DEBUG, with RIP at the INT3");
}

static void check_execute(struct probing *p)
{
	const uint64_t at = probe_guest_snippet(SNIPPET_NOPS) + 1;
	const uint64_t dr[4] = {at};

	if (!start_snippet(p, PROBE_EXECUTE, SNIPPET_NOPS, KVM_GUESTDBG_USE_HW_BP, dr, probe_dr7(0, X86_DR_EXECUTE, 1)))
		return;
	conclude(p, PROBE_EXECUTE, debug_exit(p, VECTOR_DB, 1, at),
		 "causes a KVM exit before the instruction; DR6 names the debug register");
}

static void check_write(struct probing *p)
{
	const uint64_t dr[4] = {0, PROBE_DATA};

	/* The snippet loads before it stores. A write watchpoint must not trap on the load. */
	if (!start_snippet(p, PROBE_WRITE, SNIPPET_READ, KVM_GUESTDBG_USE_HW_BP, dr, probe_dr7(1, X86_DR_WRITE, 4)))
		return;
	conclude(p, PROBE_WRITE, debug_exit(p, VECTOR_DB, 2, probe_guest_after_store()),
		 "causes a KVM exit after the store, and none after the load; DR6 names the debug register");
}

static void check_readwrite(struct probing *p)
{
	const uint64_t dr[4] = {0, 0, PROBE_DATA};

	if (!start_snippet(p, PROBE_READWRITE, SNIPPET_READ, KVM_GUESTDBG_USE_HW_BP, dr, probe_dr7(2, X86_DR_READWRITE, 4)))
		return;
	if (!debug_exit(p, VECTOR_DB, 4, probe_guest_snippet(SNIPPET_WRITE))) {
		report_failure(p, PROBE_READWRITE);
		return;
	}
	probe_guest_run(&p->guest, &p->last);
	conclude(p, PROBE_READWRITE, debug_exit(p, VECTOR_DB, 4, probe_guest_after_store()),
		 "causes a KVM exit after the load, and another after the store");
}

static void check_four(struct probing *p)
{
	const uint64_t dr[4] = {PROBE_DATA + 1, PROBE_DATA + 2, PROBE_DATA + 4, PROBE_DATA + 8};
	uint64_t dr7 = probe_dr7(0, X86_DR_WRITE, 1) | probe_dr7(1, X86_DR_WRITE, 2) | probe_dr7(2, X86_DR_WRITE, 4) |
		       probe_dr7(3, X86_DR_WRITE, 8);

	if (!start_snippet(p, PROBE_FOUR, SNIPPET_WRITE4, KVM_GUESTDBG_USE_HW_BP, dr, dr7))
		return;
	for (unsigned i = 0; i < 4; i++) {
		if (!debug_exit(p, VECTOR_DB, 1u << i, p->last.rip)) {
			report_failure(p, PROBE_FOUR);
			return;
		}
		probe_guest_run(&p->guest, &p->last);
	}
	conclude(p, PROBE_FOUR, p->last.outcome == OUTCOME_DONE,
		 "four debug registers, of 1, 2, 4 and 8 bytes, each cause an exit after their own store");
}

static void check_step(struct probing *p)
{
	uint64_t at = probe_guest_snippet(SNIPPET_NOPS);

	if (!start_snippet(p, PROBE_STEP, SNIPPET_NOPS, KVM_GUESTDBG_SINGLESTEP, NULL, 0))
		return;
	if (debug_exit(p, VECTOR_DB, DR6_STEP, at + 1)) {
		probe_guest_run(&p->guest, &p->last);
		if (debug_exit(p, VECTOR_DB, DR6_STEP, at + 2)) {
			probe_report(p, PROBE_STEP, true, "causes a KVM exit after each instruction");
			return;
		}
	}
	report_failure(p, PROBE_STEP);
}

/* Copy the exception frame of the running handler. Returns false if the frame's RIP is not `rip`. */
static bool frame_of(const struct probing *p, uint64_t rip, struct probe_frame *frame)
{
	return probe_guest_frame(&p->guest, &p->last.regs, frame) && frame->rip == rip;
}

static void check_inject_bp(struct probing *p)
{
	uint64_t at = probe_guest_snippet(SNIPPET_INT3);
	struct probe_frame frame = {0};

	if (!start_snippet(p, PROBE_INJECT_BP, SNIPPET_INT3, KVM_GUESTDBG_USE_SW_BP, NULL, 0))
		return;
	if (!debug_exit(p, VECTOR_BP, 0, at)) {
		probe_report(p, PROBE_INJECT_BP, false, "cannot be tried, because an INT3 causes no KVM exit");
		return;
	}
	if (probe_guest_debug(&p->guest, KVM_GUESTDBG_USE_SW_BP | KVM_GUESTDBG_INJECT_BP, NULL, 0) < 0) {
		probe_report(p, PROBE_INJECT_BP, false, "KVM_SET_GUEST_DEBUG: %m");
		return;
	}
	probe_guest_run(&p->guest, &p->last);
	if (p->last.outcome != OUTCOME_BP_HANDLER)
		report_failure(p, PROBE_INJECT_BP);
	else if (!frame_of(p, at + 1, &frame))
		probe_report(p, PROBE_INJECT_BP, false, "the handler sees RIP 0x%llx instead of 0x%llx",
			     (unsigned long long)frame.rip, (unsigned long long)at + 1);
	else
		probe_report(p, PROBE_INJECT_BP, true, "the guest's handler runs, with the RIP after the INT3");
}

static void check_inject_db(struct probing *p)
{
	struct kvm_debugregs regs = {.dr6 = 0xffff0ff2, .dr7 = 0x400};

	if (probe_guest_reset(&p->guest, SNIPPET_NOPS) < 0 || ioctl(p->guest.vcpu.fd, KVM_SET_DEBUGREGS, &regs) < 0 ||
	    probe_guest_debug(&p->guest, KVM_GUESTDBG_INJECT_DB, NULL, 0) < 0) {
		probe_report(p, PROBE_INJECT_DB, false, "KVM refuses it: %m");
		return;
	}
	probe_guest_run(&p->guest, &p->last);
	conclude(p, PROBE_INJECT_DB, p->last.outcome == OUTCOME_DB_HANDLER && (p->last.dr6 & 0xf) == 2,
		 "the guest's handler runs, and reads the DR6 that outrider set");
}

/*
 * Run an INT3 with an execute breakpoint on the #BP handler. Returns true if the CPU stops at the handler, with the INT3's
 * exception frame on its stack.
 */
static bool stop_at_gate(struct probing *p, struct probe_frame *frame)
{
	const uint64_t handler = probe_guest_bp_handler();
	const uint64_t dr[4] = {0, 0, 0, handler};

	if (!start_snippet(p, PROBE_IDT_GATE, SNIPPET_INT3, KVM_GUESTDBG_USE_HW_BP, dr, probe_dr7(3, X86_DR_EXECUTE, 1)))
		return false;
	if (!debug_exit(p, VECTOR_DB, 8, handler)) {
		report_failure(p, PROBE_IDT_GATE);
		return false;
	}
	if (!frame_of(p, probe_guest_snippet(SNIPPET_INT3) + 1, frame)) {
		probe_report(p, PROBE_IDT_GATE, false,
			     "the CPU stops at the handler, but without the INT3's exception frame on the stack");
		return false;
	}
	return true;
}

/* Continue from `regs`. Returns true if the outcome is `expected`. Otherwise records a failure, with `what` in its finding. */
static bool goes_on(struct probing *p, const struct kvm_regs *regs, enum probe_outcome expected, const char *what)
{
	if (ioctl(p->guest.vcpu.fd, KVM_SET_REGS, regs) < 0) {
		probe_report(p, PROBE_IDT_GATE, false, "KVM_SET_REGS: %m");
		return false;
	}
	probe_guest_run(&p->guest, &p->last);
	if (p->last.outcome == expected)
		return true;
	probe_report(p, PROBE_IDT_GATE, false, "the CPU stops at the handler, but %s", what);
	return false;
}

static void check_idt_gate(struct probing *p)
{
	struct probe_frame frame;
	struct kvm_regs regs;

	if (!stop_at_gate(p, &frame))
		return;
	regs = p->last.regs;
	regs.rip = frame.rip;
	regs.rsp = frame.rsp;
	regs.rflags = frame.rflags;
	if (!goes_on(p, &regs, OUTCOME_DONE,
		     "the guest does not continue after the INT3 when outrider cancels the exception") ||
	    !stop_at_gate(p, &frame))
		return;
	regs = p->last.regs;
	regs.rflags |= RFLAGS_RF;
	if (goes_on(p, &regs, OUTCOME_BP_HANDLER, "the handler does not run when outrider lets it continue"))
		probe_report(p, PROBE_IDT_GATE, true,
			     "the INT3 stops the CPU at the guest's #BP handler; outrider can cancel the exception, or let the "
			     "handler run");
}

void probe_run_checks(struct probing *p)
{
	static void (*const checks[])(struct probing *) = {
		check_guest,	 check_clock, check_own_bp, check_int3,	     check_execute,   check_write,
		check_readwrite, check_four,  check_step,   check_inject_bp, check_inject_db, check_idt_gate,
	};

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		checks[i](p);
		/* Stop here: a KVM that hung once would hang again, and the host is unusable anyway. */
		if (p->last.outcome == OUTCOME_TIMEOUT)
			return;
	}
}
