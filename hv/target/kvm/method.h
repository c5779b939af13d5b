/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How an INT3 that the guest executes reaches the KVM target. */
#ifndef OUTRIDER_TARGET_KVM_METHOD_H
#define OUTRIDER_TARGET_KVM_METHOD_H

/* probe_host() finds out which of these methods work on a host's KVM. */
enum kvm_bp_method {
	/* KVM intercepts every #BP of the guest (KVM_GUESTDBG_USE_SW_BP). */
	KVM_BP_INTERCEPT,
	/*
	 * A debug register has an execute breakpoint on the guest's #BP handler, which gate 3 of the IDT names. The vCPU stops
	 * at the handler's first instruction, with the exception frame on its stack. Removing that frame cancels the exception.
	 * This method is for hosts whose #BP intercept is broken (nested SVM under QEMU's TCG). It costs one of the four debug
	 * registers.
	 */
	KVM_BP_IDT_GATE,
};

#endif
