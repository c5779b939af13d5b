// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs the process that holds a copy of the machine: it forks a process for each run, and compares the runs. */
#include "hv/replay/holder.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "hv/base/die_with.h"
#include "hv/replay/orders.h"
#include "hv/replay/process.h"
#include "hv/replay/section_orders.h"

/* The nice value of copies, so that the host runs the guest and the run first. */
#define NICE 5

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/*
 * Close all file descriptors except those that the copies need, the pipes, standard error, and the scenario's file if there is
 * one.
 */
static void close_others(const struct vm_parent *machine, const struct holder_pipes *pipes, int scenario)
{
	int keep[2 * VMM_MAX_DISKS + 5] = {STDERR_FILENO, pipes->go, pipes->out, machine->kvm_fd};
	unsigned n = 4, next = 0;

	if (scenario >= 0)
		keep[n++] = scenario;
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

/*
 * Write the scenario if `keep` wants an instance with this outcome. The RAM is unchanged, because each run had a copy of its
 * own. On failure the file stays empty, and the parent then reports an error.
 */
static void keep_scenario(const struct run_plan *plan, const struct replay_keep *keep, const struct replay_instance *instance)
{
	struct err err = {0};
	struct scenario s = {.state = *plan->state,
			     .ram = plan->ram,
			     .rendezvous = *plan->rendezvous,
			     .config = *plan->config,
			     .facts = keep->facts};

	s.facts.instance = *instance;
	if (keep->wanted >> replay_kept(instance) & 1)
		scenario_write(keep->fd, &s, &err);
}

_Noreturn void holder_run_orders(const struct run_plan *plan, const struct replay_keep *keep, int out)
{
	struct replay_instance instance = {0};
	ssize_t written;

	process_end_after((ORDERS_RUNS + 1) * orders_run_seconds(plan->config));
	setpriority(PRIO_PROCESS, 0, NICE); /* fails if the priority is already lower, which does no harm */
	orders_run(plan, &instance);
	if (keep)
		keep_scenario(plan, keep, &instance);
	/* This write() does not block: an instance fits into an empty pipe. */
	written = write(out, &instance, sizeof(instance));
	_exit(written == sizeof(instance) ? 0 : 1);
}

/* Run the orders of a rendezvous of sections, write a struct section_replay_instance to `out`, and exit. */
static _Noreturn void run_section_orders(const struct run_plan *plan, int out)
{
	struct section_replay_instance instance = {0};
	ssize_t written;

	process_end_after((SECTION_ORDERS_RUNS + 1) * orders_run_seconds(plan->config));
	setpriority(PRIO_PROCESS, 0, NICE); /* fails if the priority is already lower, which does no harm */
	section_orders_run(plan, &instance);
	/* This write() does not block: an instance fits into an empty pipe. */
	written = write(out, &instance, sizeof(instance));
	_exit(written == sizeof(instance) ? 0 : 1);
}

/* Wait for the other end of the pipe to be closed. Exit if a byte comes: the copy is no longer needed. */
static void wait_for_end(int fd)
{
	ssize_t n;
	char none;

	do
		n = read(fd, &none, 1);
	while (n < 0 && errno == EINTR);
	if (n > 0)
		_exit(0);
	close(fd);
}

_Noreturn void holder_run(pid_t parent, struct vm *vm, const struct vm_state *state, const struct rendezvous *m,
			  const struct replay_config *config, const struct replay_keep *keep, const struct holder_pipes *pipes)
{
	struct run_plan r = {.state = state, .rendezvous = m, .config = config, .cpus = vm_cpu_count(vm)};
	struct vm_parent machine;

	die_with(parent);
	vm_forked(vm, &machine);
	r.ram = machine.ram;
	r.kvm_fd = machine.kvm_fd;
	r.disks = machine.disks;
	close_others(&machine, pipes, keep ? keep->fd : -1);
	wait_for_end(pipes->go);
	orders_prepare_ram(&r.ram, m, config);
	if (m->sections.lock)
		run_section_orders(&r, pipes->out);
	holder_run_orders(&r, keep, pipes->out);
}
