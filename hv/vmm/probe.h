/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The host self-test: what this host's KVM does is found out by trying it on a tiny guest, never by asking. Some KVMs (nested
 * in emulators, or emulators themselves) claim KVM_CAP_SET_GUEST_DEBUG and then drop what we depend on.
 *
 * What is tried is in SDM vol. 3 chapter 18 (debug registers) and Documentation/virt/kvm/api.rst (KVM_SET_GUEST_DEBUG).
 */
#ifndef OUTRIDER_VMM_PROBE_H
#define OUTRIDER_VMM_PROBE_H

#include "hv/base/err.h"
#include "hv/vmm/probe_findings.h"

/*
 * Try this host. Takes milliseconds on hardware; a KVM that hangs is given up after seconds (its thread is then left behind,
 * stuck in the kernel). 0 with *out filled in whatever the host is like; -1 with err (EXIT_INTERNAL) when the test itself could
 * not be made. Not to be called while a machine of this process runs.
 */
int probe_host(struct host_probe *out, struct err *err);

#endif
