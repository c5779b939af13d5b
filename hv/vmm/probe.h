/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The host self-test. It runs a tiny guest to test what this host's KVM does, because KVM's capabilities are not enough: some
 * KVMs (nested in an emulator, or emulators themselves) report KVM_CAP_SET_GUEST_DEBUG but do not do what the detector depends
 * on.
 *
 * SDM vol. 3 chapter 18 (debug registers) and Documentation/virt/kvm/api.rst (KVM_SET_GUEST_DEBUG) describe the tested
 * behaviour.
 */
#ifndef OUTRIDER_VMM_PROBE_H
#define OUTRIDER_VMM_PROBE_H

#include "hv/base/err.h"
#include "hv/vmm/probe_findings.h"

/*
 * Test this host. Takes milliseconds on hardware. If KVM hangs, the test gives up after 15 seconds and leaves its thread
 * hanging in the host's kernel. Returns 0 with *out filled in, whether or not the host is usable, or -1 with EXIT_INTERNAL if
 * the test itself could not run. Must not be called while a machine of this process runs.
 */
int probe_host(struct host_probe *out, struct err *err);

#endif
