// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/replay/holder.h"

#include <sys/resource.h>
#include <unistd.h>

#include "hv/replay/orders.h"
#include "hv/replay/process.h"

/* Which share of a CPU a copy asks for. */
#define NICE 10

/* Keep these two descriptors, standard error, and no other. */
static void close_others(int a, int b)
{
	unsigned low = (unsigned)(a < b ? a : b), high = (unsigned)(a < b ? b : a);

	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	if (low > 3)
		close_range(3, low - 1, 0);
	if (high > low + 1)
		close_range(low + 1, high - 1, 0);
	close_range(high + 1, ~0u, 0);
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

	process_die_with(parent);
	r.kvm_fd = vm_forked(vm, &r.ram);
	close_others(out, r.kvm_fd);
	orders_prepare_ram(&r.ram, m, config);
	holder_run_orders(&r, out);
}
