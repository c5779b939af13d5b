// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens, runs, stops and closes Outrider's own virtual machine: the engine of `outrider run` (vm_engine.h). */
#include "hv/session/vm_engine.h"

#include <unistd.h>

#include "hv/sandbox/sandbox.h"
#include "hv/session/terminal.h"

/*
 * Time for the machine's threads to end, 1.5 s: half of the 3 s within which a stopped run has its report, and many times
 * longer than a disk needs for a request.
 */
#define LEAVE_NS UINT64_C(1500000000)

static struct vm_engine *vm_engine(struct engine *e)
{
	return (struct vm_engine *)e;
}

/*
 * Show a device's message by screen_try_message(): screen_message() may wait for a reader of standard error, and a device must
 * not wait.
 */
static void message_of_device(void *screen, const char *line)
{
	screen_try_message(screen, line);
}

static int open_vm(struct engine *e, struct screen *screen, struct err *err)
{
	struct vm_engine *v = vm_engine(e);
	struct vmm_config config = v->config->vm;

	v->console = console_open(v->config->console, v->config->console_limit, v->config->console_clean, screen, err);
	if (!v->console)
		return -1;
	e->console_on_screen = console_is_shown(v->console);
	config.console_out = console_fd(v->console);
	e->socket = config.vsock_socket;
	if (config.vsock_cid && !e->socket) {
		if (vsock_default_path(config.vsock_cid, v->socket, err) < 0)
			return -1;
		e->socket = v->socket;
	}
	config.console_in = terminal_readable() ? STDIN_FILENO : -1;
	config.messages = (struct vmm_messages){.message = message_of_device, .ctx = screen};
	v->vm = vm_create(&config, err);
	if (!v->vm)
		return -1;
	if (v->config->no_target)
		return 0;
	e->target = kvm_target_new(v->vm, v->config->breakpoints, err);
	return e->target ? 0 : -1;
}

static int run_vm(struct engine *e, struct err *err)
{
	struct vm_engine *v = vm_engine(e);

	return vm_run(v->vm, e->target ? kvm_target_callbacks(e->target) : NULL, &v->end, err);
}

static const char *vm_engine_left(const struct engine *e)
{
	return vm_left(((const struct vm_engine *)e)->vm);
}

static void stop_vm(struct engine *e)
{
	vm_leave_within(vm_engine(e)->vm, LEAVE_NS);
	/*
	 * If there is a target, stop the machine by target_stop(), so that the target knows when the end began. The target
	 * counts no later time as lost.
	 */
	if (e->target)
		target_stop(e->target);
	else
		vm_stop(vm_engine(e)->vm);
}

static void vm_over(struct engine *e)
{
	if (e->target)
		kvm_target_over(e->target);
}

/* Finish the console, unless a vCPU thread that still waits for the host could write to the console. */
static void finish_vm(struct engine *e, struct err *err)
{
	if (!vm_engine_left(e))
		console_finish(vm_engine(e)->console, err);
}

static const char *vm_panic(const struct engine *e)
{
	return console_panic(((const struct vm_engine *)e)->console);
}

/* Set `err` if the guest has died. */
static void judge_end(const struct vm_engine *v, enum stop_reason stopped, struct err *err)
{
	const char *panic = console_panic(v->console);

	switch (v->end) {
	case VM_END_TRIPLE_FAULT:
	case VM_END_INTERNAL:
	case VM_END_PANIC:
		err_set(err, EXIT_GUEST, "the guest died: %s", vm_end_detail(v->vm));
		return;
	case VM_END_REBOOT:
		if (panic)
			err_set(err, EXIT_GUEST, "the guest's kernel panicked and rebooted: %s", panic);
		return;
	case VM_END_STOPPED:
		if (stopped == STOP_PANIC)
			err_set(err, EXIT_GUEST, "the guest's kernel panicked: %s", panic);
		return;
	case VM_END_POWEROFF:
		return;
	}
}

static const char *vm_end_word(struct engine *e, enum stop_reason stopped, struct err *err)
{
	struct vm_engine *v = vm_engine(e);

	if (err->code == EXIT_OK)
		judge_end(v, stopped, err);
	return v->end == VM_END_REBOOT ? "guest rebooted" : "guest powered off";
}

static struct vm *still_vm(struct engine *e, unsigned *held)
{
	*held = kvm_target_held(e->target);
	return vm_engine(e)->vm;
}

static void close_vm(struct engine *e)
{
	struct vm_engine *v = vm_engine(e);

	if (e->target)
		kvm_target_free(e->target);
	e->target = NULL;
	vm_destroy(v->vm);
	console_free(v->console);
}

static unsigned sandbox_kinds(const struct vmm_config *vm)
{
	unsigned kinds = 1u << SANDBOX_VCPU | 1u << SANDBOX_INPUT | 1u << SANDBOX_CONSOLE;

	if (vm->disk_count)
		kinds |= 1u << SANDBOX_BLK;
	if (vm->net)
		kinds |= 1u << SANDBOX_NET;
	if (vm->rng)
		kinds |= 1u << SANDBOX_RNG;
	if (vm->vsock_cid)
		kinds |= 1u << SANDBOX_VSOCK;
	return kinds;
}

void vm_engine_init(struct vm_engine *e, const struct vm_engine_config *config)
{
	static const struct engine_ops ops = {
		.open = open_vm,
		.run = run_vm,
		.stop = stop_vm,
		.left = vm_engine_left,
		.over = vm_over,
		.finish = finish_vm,
		.panic = vm_panic,
		.end_word = vm_end_word,
		.still = still_vm,
		.close = close_vm,
	};

	*e = (struct vm_engine){
		.engine =
			{
				.ops = &ops,
				.beginning = "booting",
				.stopping = "stopping the guest",
				.since = "the guest's start",
				.keyboard = true,
				.sandbox_kinds = sandbox_kinds(&config->vm),
				.kernel = config->vm.kernel,
				.cmdline = config->vm.cmdline,
				.memory = config->vm.memory,
				.cpus = config->vm.cpus,
			},
		.config = config,
		.end = VM_END_STOPPED,
	};
}
