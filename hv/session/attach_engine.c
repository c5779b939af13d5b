// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The engine of `outrider attach` (attach_engine.h). The target (hv/target/gdb) plants the detector's points in the guest by
 * the gdbstub. A journal on disk lists the points (hv/target/gdb/journal.h), and the guard removes them if this process dies
 * (guard.h).
 */
#include "hv/session/attach_engine.h"

#include <inttypes.h>
#include <stdio.h>

#include "hv/rsp/rsp.h"
#include "hv/vmm/probe.h"

#define POLL_NS 200000000u
/* Time to wait for libvirt to report why the gdbstub has closed its connection: 15 s. */
#define EVENT_NS 15000000000u
/* Time for the gdbstub to resume the guest after the user has cancelled attaching: 1 s. */
#define GIVE_UP_NS 1000000000u

static struct attach_engine *attach_engine(struct engine *e)
{
	return (struct attach_engine *)e;
}

/*
 * Returns whether this host's KVM needs debug registers for breakpoints. The guest runs on the same KVM, so a probe finds out.
 * If the probe fails, returns false, as for a KVM that intercepts INT3.
 */
static bool kvm_needs_hardware(void)
{
	struct host_probe probe;

	return probe_host(&probe, NULL) == 0 && probe.breakpoints != BP_INTERCEPT;
}

static int open_domain(struct attach_engine *a, struct gdb_config *config, bool *leftover, struct err *err)
{
	const struct domain_facts *facts;

	a->domain = domain_open(a->config->connect, a->config->domain, err);
	if (!a->domain)
		return -1;
	facts = domain_facts(a->domain);
	a->engine.kernel = facts->kernel[0] ? facts->kernel : NULL;
	a->engine.cmdline = facts->cmdline[0] ? facts->cmdline : NULL;
	a->engine.memory = facts->memory;
	config->running = true;
	config->pid = domain_pid(a->domain);
	config->fd = domain_open_stub(a->domain, leftover, err);
	return config->fd < 0 ? -1 : 0;
}

static int open_stub(struct attach_engine *a, struct gdb_config *config, bool *leftover, struct err *err)
{
	if (a->config->domain)
		return open_domain(a, config, leftover, err);
	config->fd = rsp_connect(a->config->gdb, &a->limit, err);
	return config->fd < 0 ? -1 : 0;
}

static int open_journal(struct attach_engine *a, struct gdb_config *config, struct err *err)
{
	const struct attach_engine_config *o = a->config;
	char key[600];

	snprintf(key, sizeof(key), "%s", o->domain ? o->domain : o->gdb);
	a->journal = gdb_journal_open(key, &a->left, err);
	if (!a->journal)
		return -1;
	config->planted = gdb_journal_planted(a->journal);
	/*
	 * If an earlier outrider was killed while attached to this guest, resume the guest: that outrider, not the user,
	 * probably stopped the guest.
	 */
	config->running = a->left;
	return 0;
}

static int open_attached(struct engine *e, struct screen *screen, struct err *err)
{
	struct attach_engine *a = attach_engine(e);
	const struct attach_engine_config *o = a->config;
	struct gdb_config config = {
		.overhead = o->overhead / 100.0,
		.limit = &a->limit,
		.kvm_needs_hardware = kvm_needs_hardware,
	};
	bool leftover = false;

	a->screen = screen;
	if (open_journal(a, &config, err))
		return -1;
	leftover = config.running;
	if (open_stub(a, &config, &leftover, err))
		return -1;
	guard_watch(a->guard, config.fd, gdb_journal_path(a->journal), o->connect,
		    a->domain ? domain_facts(a->domain)->name : NULL);
	e->target = gdb_target_new(&config, &a->standing, err);
	if (!e->target)
		return -1;
	e->cpus = e->target->caps.cpus;
	if (leftover)
		screen_message(
			screen,
			"an earlier outrider was killed while it was attached: its breakpoints in the guest are removed now");
	if (!gdb_target_was_running(e->target))
		return err_set(err, EXIT_INPUT, "the guest is paused: let it run first");
	return 0;
}

static void say_how(struct attach_engine *a)
{
	struct gdb_figures figures;
	char line[320];

	gdb_target_figures(a->engine.target, &figures);
	if (figures.indirect) {
		snprintf(line, sizeof(line),
			 "guest memory can be read only through the gdbstub (%s): the guest has to stand still while its "
			 "memory is read, and fewer accesses are sampled",
			 figures.indirect);
		screen_message(a->screen, line);
	}
	if (figures.hardware)
		screen_message(a->screen,
			       "this host's KVM does not intercept INT3: only a few sample points fit, in debug registers");
}

static int run_attached(struct engine *e, struct err *err)
{
	struct attach_engine *a = attach_engine(e);
	int ret;

	say_how(a);
	if (gdb_target_start(e->target, err))
		return -1;
	do {
		ret = gdb_target_wait(e->target, POLL_NS, &a->end, err);
		a->ended = a->domain ? domain_event(a->domain) : NULL;
	} while (ret > 0 && !a->ended);
	/* The gdbstub has closed its connection, which gives no reason. libvirt may know the reason: ask libvirt. */
	if (a->domain && !a->ended && a->end == GDB_END_GONE)
		a->ended = domain_event_within(a->domain, EVENT_NS);
	/*
	 * Tell the target that the run is ending: from here on, removing the points quickly matters more than the share of time
	 * that the guest stands still.
	 */
	target_stop(e->target);
	return ret < 0 ? -1 : 0;
}

static void stop_attached(struct engine *e)
{
	target_stop(e->target);
}

static void give_up_attaching(struct engine *e)
{
	limit_within(&attach_engine(e)->limit, GIVE_UP_NS);
}

static void attached_over(struct engine *e)
{
	(void)e; /* Nothing to do: the machine goes on, so the detector removes its breakpoints from a running machine. */
}

static const char *end_of(const struct attach_engine *a)
{
	if (a->ended)
		return a->ended->what;
	switch (a->end) {
	case GDB_END_GONE:
		return "the guest has ended";
	case GDB_END_PAUSED:
		return "another program has paused the guest";
	case GDB_END_STOPPED:
		break;
	}
	return "detached, the guest runs on";
}

/*
 * Remove all points from the guest. If the gdbstub fails before all are removed, the guard (guard.h) connects anew and tries
 * once more.
 */
static void detach(struct attach_engine *a, struct err *err)
{
	struct err failed = {0};

	if (gdb_target_detach(a->engine.target, &failed) == 0)
		return;
	a->standing = true;
	err_set(err, failed.code, "%s; the guest may stand still or hold breakpoints: attach to it again to free it",
		failed.text);
}

static void finish_attached(struct engine *e, struct err *err)
{
	struct attach_engine *a = attach_engine(e);
	struct gdb_figures figures;
	double elapsed;
	char line[256];

	gdb_target_figures(e->target, &figures);
	detach(a, err);
	if (a->domain && !a->standing)
		domain_close_stub(a->domain, err);
	elapsed = (double)figures.elapsed_ns / 1e9;
	if (!figures.elapsed_ns)
		return;
	snprintf(line, sizeof(line),
		 "%s; it stood still for %.1f %% of %.1f s, in %" PRIu64 " stops with %" PRIu64 " round trips to the gdbstub",
		 end_of(a), (double)figures.paused_ns / 1e7 / elapsed, elapsed, figures.stops, figures.requests);
	screen_message(a->screen, line);
}

static const char *attached_end_word(struct engine *e, enum stop_reason stopped, struct err *err)
{
	const struct attach_engine *a = attach_engine(e);

	(void)stopped;
	if (a->ended && a->ended->died)
		err_set(err, EXIT_GUEST,
			"the QEMU of domain %s died: it was killed, or it crashed; its log in /var/log/libvirt/qemu may say "
			"why",
			domain_facts(a->domain)->name);
	return a->ended || a->end != GDB_END_STOPPED ? end_of(a) : "detached";
}

static void close_attached(struct engine *e)
{
	struct attach_engine *a = attach_engine(e);

	/*
	 * Keep the journal if open() failed before there was a target, and an earlier outrider left points in the guest: these
	 * points are still there, and the journal lists them.
	 */
	bool clean = e->target || !a->left;

	if (e->target)
		detach(a, NULL);
	gdb_target_free(e->target);
	e->target = NULL;
	if (a->standing && a->domain)
		domain_leave_stub(a->domain);
	if (a->standing)
		guard_take_over(a->guard);
	domain_free(a->domain);
	gdb_journal_close(a->journal, clean && !a->standing);
}

void attach_engine_init(struct attach_engine *e, const struct attach_engine_config *config, struct guard *guard)
{
	static const struct engine_ops ops = {
		.open = open_attached,
		.give_up = give_up_attaching,
		.run = run_attached,
		.stop = stop_attached,
		.over = attached_over,
		.finish = finish_attached,
		.end_word = attached_end_word,
		.close = close_attached,
	};

	*e = (struct attach_engine){
		.engine = {.ops = &ops, .beginning = "attached", .stopping = "detaching", .since = "attaching"},
		.config = config,
		.guard = guard,
		.end = GDB_END_STOPPED,
	};
	limit_init(&e->limit);
}
