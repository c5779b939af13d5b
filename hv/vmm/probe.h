/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The host self-test. It finds out what this host's KVM does by trying it on a tiny guest, and not by asking KVM: some KVMs
 * (those nested in emulators, or emulators themselves) claim KVM_CAP_SET_GUEST_DEBUG and then do not do what the detector
 * depends on.
 *
 * What is tried is described in SDM vol. 3 chapter 18 (debug registers) and in Documentation/virt/kvm/api.rst
 * (KVM_SET_GUEST_DEBUG).
 */
#ifndef OUTRIDER_VMM_PROBE_H
#define OUTRIDER_VMM_PROBE_H

#include "hv/base/err.h"
#include "hv/vmm/probe_findings.h"

/*
 * Try this host. That takes milliseconds on hardware. A KVM that hangs is given up after 15 seconds, and the thread that tried
 * it is then left behind, stuck in the host's kernel. Returns 0 with *out filled in, whatever the host is like, or -1 with
 * EXIT_INTERNAL when the test itself could not be made. Not to be called while a machine of this process runs.
 */
int probe_host(struct host_probe *out, struct err *err);

#endif
