/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The machine of `outrider run`: a virtual machine of our own, its console on the screen or in a file. */
#ifndef OUTRIDER_SESSION_VM_ENGINE_H
#define OUTRIDER_SESSION_VM_ENGINE_H

#include "hv/session/console.h"
#include "hv/session/engine.h"
#include "hv/cli/run_options.h"
#include "hv/target/kvm/kvm.h"

struct vm_engine {
	struct engine engine;
	const struct run_options *options;
	enum kvm_bp_method breakpoints;
	struct console *console;
	struct vm *vm;
	enum vm_end end;
};

/* `options` must last. */
void vm_engine_init(struct vm_engine *e, const struct run_options *options, enum kvm_bp_method breakpoints);

#endif
