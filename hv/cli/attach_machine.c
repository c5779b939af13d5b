// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/cli/attach_machine.h"

#include <inttypes.h>
#include <stdio.h>

#include "hv/rsp/rsp.h"
#include "hv/vmm/probe.h"

static struct attach_machine *attach_machine(struct machine *m)
{
	return (struct attach_machine *)m;
}

/* The guest's KVM is this host's, so it can be tried. Where it cannot, a real host's is right. */
static bool kvm_needs_hardware(void)
{
	struct host_probe probe;

	return probe_host(&probe, NULL) == 0 && probe.breakpoints != BP_INTERCEPT;
}

static int open_attached(struct machine *m, struct screen *screen, struct err *err)
{
	struct attach_machine *a = attach_machine(m);
	struct gdb_config config = {.overhead = a->options->overhead / 100.0, .kvm_needs_hardware = kvm_needs_hardware};

	a->screen = screen;
	config.fd = rsp_connect(a->options->gdb, err);
	if (config.fd < 0)
		return -1;
	m->target = gdb_target_new(&config, err);
	if (!m->target)
		return -1;
	m->cpus = m->target->caps.cpus;
	if (!gdb_target_was_running(m->target))
		return err_set(err, EXIT_INPUT, "the guest at %s is paused: let it run first", a->options->gdb);
	return 0;
}

static void say_how(struct attach_machine *a)
{
	struct gdb_figures figures;

	gdb_target_figures(a->machine.target, &figures);
	if (!figures.direct)
		screen_note(a->screen, "guest memory cannot be read past the gdbstub (another user's QEMU, or another host's): "
				       "the guest has to stand still for that too, and less is sampled");
	if (figures.hardware)
		screen_note(a->screen, "this host's KVM does not intercept INT3: few points, in debug registers");
}

static int run_attached(struct machine *m, struct err *err)
{
	struct attach_machine *a = attach_machine(m);

	say_how(a);
	if (gdb_target_start(m->target, err))
		return -1;
	return gdb_target_wait(m->target, &a->end, err);
}

static void stop_attached(struct machine *m)
{
	target_stop(m->target);
}

static void attached_over(struct machine *m)
{
	(void)m; /* it goes on: the detector takes its points out of a running machine */
}

static void finish_attached(struct machine *m, struct err *err)
{
	struct attach_machine *a = attach_machine(m);
	struct gdb_figures figures;
	double elapsed;
	char line[200];

	(void)err;
	gdb_target_figures(m->target, &figures);
	gdb_target_detach(m->target, true);
	elapsed = (double)figures.elapsed_ns / 1e9;
	if (!figures.elapsed_ns)
		return;
	snprintf(line, sizeof(line), "%s; it stood still for %.1f %% of %.1f s, in %" PRIu64 " stops with %" PRIu64 " requests",
		 a->end == GDB_END_GONE ? "the guest has ended" : "detached, the guest runs on",
		 (double)figures.paused_ns / 1e7 / elapsed, elapsed, figures.stops, figures.requests);
	screen_note(a->screen, line);
}

static const char *attached_end_word(struct machine *m, enum stop_reason stopped, struct err *err)
{
	(void)stopped;
	(void)err;
	return attach_machine(m)->end == GDB_END_GONE ? "guest ended" : "detached";
}

static void close_attached(struct machine *m)
{
	gdb_target_free(m->target);
	m->target = NULL;
}

void attach_machine_init(struct attach_machine *m, const struct attach_options *options)
{
	static const struct machine_ops ops = {
		.open = open_attached,
		.run = run_attached,
		.stop = stop_attached,
		.over = attached_over,
		.finish = finish_attached,
		.end_word = attached_end_word,
		.close = close_attached,
	};

	*m = (struct attach_machine){
		.machine = {.ops = &ops, .beginning = "attached", .stopping = "detaching"},
		.options = options,
		.end = GDB_END_STOPPED,
	};
}
