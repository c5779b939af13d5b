/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The engine of `outrider run`: Outrider's own virtual machine, with its console on the screen or in a file. */
#ifndef OUTRIDER_SESSION_VM_ENGINE_H
#define OUTRIDER_SESSION_VM_ENGINE_H

#include "hv/session/console.h"
#include "hv/session/engine.h"
#include "hv/target/kvm/kvm.h"
#include "hv/vmm/vsock/host.h"

struct vm_engine_config {
	/* The machine. The engine sets the console's descriptors. */
	struct vmm_config vm;
	/* The file for the guest's console. NULL: the screen. */
	const char *console;
	/* Limit of the console's file, in bytes. */
	uint64_t console_limit;
	/* Make control characters of the console visible, on the screen and in the file. */
	bool console_clean;
	/* How this host's KVM stops at an INT3, from probe_host(). */
	enum kvm_bp_method breakpoints;
	/* Run the guest without a target: nothing is detected. */
	bool no_target;
};

struct vm_engine {
	struct engine engine;
	const struct vm_engine_config *config;
	struct console *console;
	struct vm *vm;
	enum vm_end end;
	/* Path that the engine chose for the vsock device's socket, if the configuration gives none. */
	char socket[VSOCK_PATH_MAX];
};

/* Initialise the engine. `config` must outlive it. */
void vm_engine_init(struct vm_engine *e, const struct vm_engine_config *config);

#endif
