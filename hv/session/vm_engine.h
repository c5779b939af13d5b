/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The engine of `outrider run`: a virtual machine of our own, its console on the screen or in a file. */
#ifndef OUTRIDER_SESSION_VM_ENGINE_H
#define OUTRIDER_SESSION_VM_ENGINE_H

#include "hv/session/console.h"
#include "hv/session/engine.h"
#include "hv/target/kvm/kvm.h"
#include "hv/vmm/vsock_host.h"

struct vm_engine_config {
	/* The machine. The engine itself sets the descriptors of the console. */
	struct vmm_config vm;
	/* The file that the guest's console goes to. NULL: it goes to the screen. */
	const char *console;
	/* How many bytes of the console go to that file at most. */
	uint64_t console_limit;
	/* Make control characters of the console visible, wherever it goes. */
	bool console_clean;
	/* How this host's KVM stops at an INT3, as probe_host() found it. */
	enum kvm_bp_method breakpoints;
	/* Run the guest without a target, so that nothing can be detected. */
	bool no_target;
};

struct vm_engine {
	struct engine engine;
	const struct vm_engine_config *config;
	struct console *console;
	struct vm *vm;
	enum vm_end end;
	char socket[VSOCK_PATH_MAX]; /* of the vsock device, when the configuration names none */
};

/* `config` must outlive the engine. */
void vm_engine_init(struct vm_engine *e, const struct vm_engine_config *config);

#endif
