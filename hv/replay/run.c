// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs one order once, in a process of its own. */
#include "hv/replay/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hv/base/x86.h"
#include "hv/replay/interleave.h"
#include "hv/replay/shared.h"
#include "hv/replay/stuck.h"

/* At most this many bytes of a copy's console output are read. */
#define CONSOLE_MAX (1u << 20)

enum trouble run_read_console(int console, char line[REPLAY_TEXT_MAX], bool *panic)
{
	static const char words[] = "Kernel panic - not syncing";
	enum trouble trouble = TROUBLE_NONE;
	char *text = malloc(CONSOLE_MAX);
	ssize_t len = text ? pread(console, text, CONSOLE_MAX, 0) : -1;

	line[0] = '\0';
	if (len > 0) {
		trouble = trouble_find(text, (size_t)len, line);
		*panic = memmem(text, (size_t)len, words, sizeof(words) - 1) != NULL;
	}
	free(text);
	return trouble;
}

void run_describe(const struct run_plan *r, unsigned first, struct order *order)
{
	*order = (struct order){
		.first = r->rendezvous->sections.lock ? 0 : first, .alone = r->config->paused, .turn = r->config->turn};
	for (unsigned i = 0; i < 2; i++) {
		const struct rendezvous_side *side = &r->rendezvous->sides[i];

		order->sides[i] = (struct order_side){
			.cpu = side->cpu,
			.pc = side->regs.rip,
			.limits = {.return_address = side->return_address,
				   .cfa = side->cfa,
				   .sleep = r->config->sleep,
				   .instructions = r->config->instructions},
		};
	}
}

int run_open(const struct run_plan *r, struct copy *m, int console, struct err *err)
{
	const struct vm_copy_config from = {.kvm_fd = r->kvm_fd, .console_out = console, .disks = r->disks};

	if (copy_open(m, r->state, &r->ram, &from, err) < 0)
		return -1;
	for (unsigned i = 0; i < 2; i++)
		if (copy_set_regs(m, r->rendezvous->sides[i].cpu, &r->rendezvous->sides[i].regs, err) < 0)
			return -1;
	return 0;
}

/*
 * Run one CPU of a copy freely for a slice of time, for stuck_run(). Enable the debug registers for the slice only: if they
 * were enabled during a single step at one of the addresses, the step would stop before the instruction is executed.
 */
static bool slice(void *ctx, unsigned cpu, const uint64_t returns[2], uint64_t ns)
{
	struct copy *c = ctx;
	enum copy_step end;

	for (unsigned i = 0; i < 2; i++) {
		c->watches.address[i] = returns[i];
		c->watches.dr7 |= x86_dr7_condition(i, X86_DR_EXECUTE, 1) | 2ull << (2 * i); /* enabled for all tasks */
	}
	end = copy_slice(c, cpu, ns);
	c->watches = (struct copy_watches){0};
	return end == COPY_HALTED;
}

/* Returns the pending interrupt of a CPU of a copy, for stuck_run(). */
static int waiting(void *ctx, unsigned cpu)
{
	struct copy *c = ctx;

	return shared_waiting_interrupt(vm_vcpu(c->vm, cpu)->fd);
}

/*
 * Returns whether the order hangs, and if so, makes that the run's failure. If both regions ended at their limit of
 * instructions, stuck_run() decides: it runs the copy further, one CPU at a time, each for the length of a free run. Otherwise
 * the order does not hang.
 */
static bool hangs(const struct run_plan *r, struct copy *m, const struct order *order, struct order_run *run)
{
	const struct stuck_ops ops = {.steps = copy_steps(m), .slice = slice, .waiting = waiting, .ctx = m};

	if (run->failure != REPLAY_NO_FAILURE || run->regions[0].end != REPLAY_END_LIMIT ||
	    run->regions[1].end != REPLAY_END_LIMIT || !stuck_run(&ops, order, r->cpus, r->config->free_ns))
		return false;
	run->failure = REPLAY_DEADLOCK;
	run->why = "both sides spin, and no interrupt ends their loops";
	return true;
}

static void go_freely(const struct run_plan *r, struct copy *m, const struct order *order, int console, struct run_result *out)
{
	bool panic = false;

	if (hangs(r, m, order, &out->run.order))
		out->machine = REPLAY_MACHINE_HANG;
	else
		out->machine = copy_run_freely(m, r->cpus, r->config->free_ns);
	run_read_console(console, out->trouble, &panic);
	if (panic)
		out->machine = REPLAY_MACHINE_PANIC;
}

static int look_at(const struct run_plan *r, struct copy *m, struct err *err)
{
	return r->look ? r->look(r->look_ctx, m, err) : 0;
}

int run_before(const struct run_plan *r, struct err *err)
{
	int console = memfd_create("console of a copy", MFD_CLOEXEC), rc = -1;
	struct copy m = {0};

	if (console < 0)
		return err_set(err, EXIT_INTERNAL, "memfd_create: %s", strerror(errno));
	if (run_open(r, &m, console, err) == 0)
		rc = look_at(r, &m, err);
	copy_close(&m);
	close(console);
	return rc;
}

/* Run the order to the ends of its regions. Returns whether a free run may follow. */
static bool run_steps(const struct run_plan *r, const struct order *order, unsigned first, struct copy *m,
		      struct run_result *out)
{
	const struct rendezvous_sections *sections = &r->rendezvous->sections;
	const struct copy_ops ops = copy_steps(m);
	const struct order_run *run = &out->run.order;

	if (!sections->lock) {
		order_run(order, &ops, &out->run.order);
		return run->failure != REPLAY_CANNOT_LOAD;
	}
	interleave_run(order, sections, (enum section_order)first, &ops, &out->run.order, &out->reached);
	return run->failure == REPLAY_NO_FAILURE && region_over(&run->regions[0]) && region_over(&run->regions[1]);
}

void run_order(const struct run_plan *r, unsigned first, bool go_on, struct run_result *out)
{
	int console = memfd_create("console of a copy", MFD_CLOEXEC);
	struct copy m = {0};
	struct order order;
	struct err err = {0};
	bool panic = false, whole;

	if (console < 0) {
		err_set(&err, EXIT_INTERNAL, "memfd_create: %s", strerror(errno));
		goto out;
	}
	run_describe(r, first, &order);
	if (run_open(r, &m, console, &err) < 0)
		goto out;
	whole = run_steps(r, &order, first, &m, out);
	if (copy_take_down(&m, &order, &out->run, &err) < 0)
		goto out;
	out->run.trouble = run_read_console(console, out->run.trouble_line, &panic);
	memcpy(out->trouble, out->run.trouble_line, sizeof(out->trouble));
	out->ended = true;
	if (go_on && r->config->free_ns && whole)
		go_freely(r, &m, &order, console, out);
	/* Report the copy's first error: it explains more than the errors that followed from it. */
	err = m.err;
	look_at(r, &m, &err);
out:
	out->err = err;
	copy_close(&m);
	if (console >= 0)
		close(console);
}
