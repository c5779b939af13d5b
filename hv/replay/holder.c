// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/replay/holder.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "hv/replay/orders.h"
#include "hv/replay/process.h"

/* Which share of a CPU a copy asks for. */
#define NICE 10

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Keep what the copies need, `out`, standard error, and no other descriptor. */
static void close_others(const struct vm_parent *machine, int out)
{
	int keep[2 * VMM_MAX_DISKS + 3] = {STDERR_FILENO, out, machine->kvm_fd};
	unsigned n = 3, next = 0;

	for (unsigned i = 0; i < machine->fd_count; i++)
		keep[n++] = machine->fds[i];
	qsort(keep, n, sizeof(keep[0]), by_number);
	for (unsigned i = 0; i < n; i++) {
		if ((unsigned)keep[i] > next)
			close_range(next, (unsigned)keep[i] - 1, 0);
		next = (unsigned)keep[i] + 1;
	}
	close_range(next, ~0u, 0);
}

_Noreturn void holder_run_orders(const struct run_plan *plan, int out)
{
	struct replay_instance instance = {0};
	ssize_t written;

	process_end_after((ORDERS_RUNS + 1) * orders_run_seconds(plan->config));
	setpriority(PRIO_PROCESS, 0, NICE); /* It fails where the priority is lower already. */
	orders_run(plan, &instance);
	/* It fits into a pipe, so this does not wait. */
	written = write(out, &instance, sizeof(instance));
	_exit(written == sizeof(instance) ? 0 : 1);
}

_Noreturn void holder_run(pid_t parent, struct vm *vm, const struct vm_state *state, const struct meeting *m,
			  const struct replay_config *config, int out)
{
	struct run_plan r = {.state = state, .meeting = m, .config = config, .cpus = vm_cpu_count(vm)};
	struct vm_parent machine;

	process_die_with(parent);
	vm_forked(vm, &machine);
	r.ram = machine.ram;
	r.kvm_fd = machine.kvm_fd;
	r.disks = machine.disks;
	close_others(&machine, out);
	orders_prepare_ram(&r.ram, m, config);
	holder_run_orders(&r, out);
}
