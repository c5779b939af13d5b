// SPDX-License-Identifier: GPL-2.0-or-later
/* `outrider replay`: runs a saved race in both orders again. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hv/cli/cli.h"
#include "hv/cli/replay_gdb.h"
#include "hv/cli/replay_options.h"
#include "hv/cli/replay_show.h"
#include "hv/replay/again.h"
#include "hv/replay/copy_cpu.h"
#include "hv/replay/orders.h"
#include "hv/replay/vmcore/vmcore.h"
#include "hv/sandbox/sandbox.h"
#include "hv/vmm/cpuid.h"
#include "hv/vmm/host.h"
#include "hv/vmm/probe.h"

/* Exit code if the result of a replay differs from the recorded one. */
#define EXIT_OTHER 1

struct replay {
	struct replay_options options;
	struct replay_gdb gdb;
	struct scene scene;
	struct replay_config config;
	struct run_plan plan;
	int kvm_fd;	     /* -1: this host has no usable KVM */
	struct err host_err; /* the reason why kvm_fd is -1 */
};

/* ---- this host ---- */

static void say(void *ctx, const char *line)
{
	const struct replay *r = ctx;

	if (!r->options.quiet)
		cli_message(line);
}

/*
 * Open /dev/kvm. On failure, keep the error in r->host_err and report it later: errors of the scenario come first, because the
 * user cannot fix them by using another host.
 */
static void open_host(struct replay *r)
{
	struct host_probe probe;

	if (probe_host(&probe, &r->host_err) < 0)
		return;
	if (probe.usable)
		r->kvm_fd = host_open(&r->host_err);
	else
		err_set(&r->host_err, EXIT_INPUT, "%s; `outrider doctor` tells more", probe.verdict);
}

static int confine(const struct replay *r, struct err *err)
{
	const char *const writes[] = {r->options.vmcore, r->gdb.socket};
	const struct sandbox_config config = {
		.used = 1u << SANDBOX_VCPU | 1u << SANDBOX_SAMPLER | 1u << SANDBOX_REPORTER | 1u << SANDBOX_COPY |
			(r->options.gdb ? 1u << SANDBOX_DEBUGGER : 0),
		.fetch = r->options.debuginfod,
		.writes = writes,
		.write_count = sizeof(writes) / sizeof(writes[0]),
	};
	char line[SANDBOX_MISSING_MAX];

	if (r->options.no_sandbox) {
		say((void *)r, "outrider is not confined: do not replay a scenario that you do not trust");
		return 0;
	}
	if (sandbox_missing(line))
		say((void *)r, line);
	return sandbox_enter(&config, err);
}

static int check_vendor(const struct replay *r, struct err *err)
{
	static const char *const vendors[] = {"AMD", "Intel"};
	struct cpuid_table table;
	bool intel;

	if (cpuid_supported(r->kvm_fd, &table, err) < 0)
		return -1;
	intel = cpuid_is_intel(&table);
	if (intel == r->scene.machine.intel)
		return 0;
	return err_set(err, EXIT_INPUT, "%s was saved on an %s CPU, and this host has an %s CPU: replay it on an %s CPU",
		       r->options.path, vendors[!intel], vendors[intel], vendors[!intel]);
}

/* ---- the scenario ---- */

static int open_scene(struct replay *r, struct err *err)
{
	const struct scene_config config = {
		.path = r->options.path,
		.symbols = r->options.symbols,
		.symbol_count = r->options.symbol_count,
		.debuginfod = r->options.debuginfod,
		.message = say,
		.found = r->options.verbose ? say : NULL,
		.ctx = r,
	};

	return scene_open(&r->scene, &config, err);
}

static void make_plan(struct replay *r)
{
	const struct scenario *s = &r->scene.scenario;

	r->config = s->config;
	if (r->options.free_given)
		r->config.free_ns = r->options.free_ns;
	r->plan = (struct run_plan){
		.state = &s->state,
		.rendezvous = &s->rendezvous,
		.config = &r->config,
		.ram = s->ram,
		.cpus = r->scene.machine.cpus,
		.kvm_fd = r->kvm_fd,
	};
	orders_prepare_ram(&s->ram, &s->rendezvous, &r->config);
}

/*
 * Returns the recorded result, to compare with a replay. If the orders do not run on freely in this replay (--for 0), the
 * recorded state of the machine after the free run is removed, since there is nothing to compare it with.
 */
static struct replay_instance recorded(const struct replay *r)
{
	struct replay_instance instance = r->scene.scenario.facts.instance;

	for (unsigned order = 0; order < 2 && !r->config.free_ns; order++)
		instance.orders[order].machine = REPLAY_MACHINE_NOT_RUN;
	return instance;
}

/* ---- both orders ---- */

static void tell_progress(const struct replay *r, uint64_t done)
{
	if (r->options.times > 1 && !r->options.quiet && isatty(STDERR_FILENO))
		fprintf(stderr, "\r%" PRIu64 " of %" PRIu64 "%s", done, r->options.times,
			done == r->options.times ? "\r\033[K" : "");
}

static int run_both(const struct replay *r, struct replay_instance *out, struct err *err)
{
	struct replay_job job;

	if (again_start(&r->plan, &job, err) < 0)
		return -1;
	replay_finish(&job, out);
	if (out->outcome == REPLAY_FAILURE && out->why == REPLAY_CANNOT_LOAD)
		return err_set(err, EXIT_INPUT, "%s cannot be run on this host: %s", r->options.path, out->why_text);
	return 0;
}

static int replay_both(struct replay *r, int *code, struct err *err)
{
	const struct replay_instance then = recorded(r);
	struct replay_shown shown = {.times = r->options.times ? r->options.times : 1};
	struct replay_instance now;

	for (uint64_t i = 0; i < shown.times; i++) {
		bool same;

		tell_progress(r, i);
		if (run_both(r, &now, err) < 0)
			return -1;
		same = replay_same_outcome(&now, &then);
		if (i == 0 || (!same && shown.same == i))
			shown.instance = now;
		shown.same += same;
		shown.identical += replay_identical(&now, &then);
	}
	tell_progress(r, shown.times);
	scene_name(&r->scene, &shown.instance);
	*code = shown.same == shown.times ? EXIT_OK : EXIT_OTHER;
	if (r->options.json)
		return replay_show_both_json(&r->scene, &shown, err);
	replay_show_both(&r->scene, &shown);
	return 0;
}

/* ---- one order ---- */

static bool same_order(const struct replay_order *now, const struct replay_order *then)
{
	for (unsigned side = 0; side < 2; side++)
		if (now->regions[side].end != then->regions[side].end ||
		    now->regions[side].instructions != then->regions[side].instructions)
			return false;
	return replay_in_trouble(now) == replay_in_trouble(then) ||
	       (then->machine != REPLAY_MACHINE_NOT_RUN && now->machine == REPLAY_MACHINE_NOT_RUN);
}

static int replay_one(struct replay *r, int *code, struct err *err)
{
	unsigned first = r->options.order - 1;
	struct alone one;
	bool same;

	if (alone_run(&r->plan, first, &one, err) < 0)
		return -1;
	if (one.failure == REPLAY_CANNOT_LOAD)
		return err_set(err, EXIT_INPUT, "%s cannot be run on this host: %s", r->options.path, one.why);
	same = same_order(&one.order, &r->scene.scenario.facts.instance.orders[first]);
	*code = same ? EXIT_OK : EXIT_OTHER;
	if (r->options.json)
		return replay_show_one_json(&r->scene, first, &one, same, err);
	replay_show_one(&r->scene, first, &one, same);
	return 0;
}

/* ---- a core ---- */

struct core {
	const char *path;
	const struct scene *scene;
	struct vmcore_kernel kernel;
};

/* Write a core file of the copy's machine. This is called in the copy's own process. */
static int write_core(void *ctx, struct copy *copy, struct err *err)
{
	const struct core *core = ctx;
	struct replay_cpu cpus[VMM_MAX_CPUS];
	int32_t pids[VMM_MAX_CPUS];
	const struct vmcore vmcore = {
		.ram = &copy->ram, .cpus = cpus, .count = vm_cpu_count(copy->vm), .pids = pids, .kernel = &core->kernel};

	for (unsigned cpu = 0; cpu < vmcore.count; cpu++) {
		if (copy_get_cpu(copy, cpu, &cpus[cpu], err) < 0)
			return -1;
		pids[cpu] = scene_pid(core->scene, &cpus[cpu]);
	}
	return vmcore_write(&vmcore, core->path, err);
}

static int replay_core(struct replay *r, int *code, struct err *err)
{
	struct core core = {.path = r->options.vmcore, .scene = &r->scene};
	struct err why = {0};
	int rc;

	if (scene_core(&r->scene, &core.kernel, &why) < 0)
		say(r, why.text);
	r->plan.look = write_core;
	r->plan.look_ctx = &core;
	rc = r->options.order ? replay_one(r, code, err) : alone_before(&r->plan, err);
	if (rc == 0 && !r->options.quiet)
		fprintf(stderr, "outrider: %s written\n", core.path);
	return rc;
}

/* ---- the command ---- */

static int act(struct replay *r, int *code, struct err *err)
{
	char intro[REPLAY_INTRO_MAX];
	unsigned first = r->options.order ? r->options.order - 1 : 0;

	if (r->options.vmcore)
		return replay_core(r, code, err);
	if (r->options.gdb) {
		replay_intro(&r->scene, first, intro);
		scene_gdb_symbols(&r->scene, say, r);
		return replay_gdb_serve(&r->gdb, &r->plan, first, intro, err);
	}
	return r->options.order ? replay_one(r, code, err) : replay_both(r, code, err);
}

static int run(struct replay *r, int *code, struct err *err)
{
	/*
	 * Prepare the sandbox before any file is opened: sandbox_prepare() takes every open descriptor for an inherited one,
	 * and sandbox_drop() closes the inherited ones.
	 */
	if (!r->options.no_sandbox && sandbox_prepare(NULL, NULL, err) < 0)
		return -1;
	open_host(r);
	if (sandbox_drop(err) < 0)
		return -1;
	if (r->options.gdb && replay_gdb_open(&r->gdb, r->options.gdb, err) < 0)
		return -1;
	if (confine(r, err) < 0 || open_scene(r, err) < 0)
		return -1;
	if (r->kvm_fd < 0)
		return err_set(err, r->host_err.code, "%s", r->host_err.text);
	if (check_vendor(r, err) < 0)
		return -1;
	make_plan(r);
	return act(r, code, err);
}

int cli_replay(int argc, char **argv)
{
	struct replay r = {.kvm_fd = -1, .gdb = REPLAY_GDB_NONE};
	struct err err = {0};
	int code = EXIT_OK, rc;

	rc = replay_options_parse(&r.options, argc, argv, &err);
	if (rc == 0)
		rc = run(&r, &code, &err);
	scene_close(&r.scene);
	replay_gdb_close(&r.gdb);
	if (r.kvm_fd >= 0)
		close(r.kvm_fd);
	replay_options_free(&r.options);
	sandbox_finish();
	return rc < 0 ? cli_fail(&err) : code;
}
