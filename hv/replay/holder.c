// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/replay/holder.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hv/replay/run.h"

/* How long a run may take, many times what the slowest host was seen to need, and which share of a CPU it asks for. */
#define RUN_SECONDS 300
#define RUNS 4
#define NICE 10
/* More than any message of the kernel's. KERN_DEBUG is 7. */
#define LOGLEVEL 15

static void die_with(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	/* The parent may have died before that. */
	if (getppid() != parent)
		_exit(1);
}

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

/* Bring the guest's memory to what the guest has written there, and let its console say all. */
static void prepare_ram(const struct ram *ram, const struct meeting *m, const struct replay_config *config)
{
	const int level = LOGLEVEL;
	uint8_t *at;

	for (size_t i = 0; i < m->point_count; i++) {
		at = ram_at(ram, m->points[i].gpa, 1);
		if (at && *at == X86_INT3)
			*at = m->points[i].byte;
	}
	at = config->loglevel_gpa ? ram_at(ram, config->loglevel_gpa, sizeof(level)) : NULL;
	if (at)
		memcpy(at, &level, sizeof(level));
}

/*
 * This process is killed after so many seconds, whatever it does. The sandbox lets no process of ours send a signal to another
 * one, so each has a timer of its own.
 */
static void end_after(time_t seconds)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
	const struct itimerspec when = {.it_value = {.tv_sec = seconds}};
	timer_t timer;

	if (timer_create(CLOCK_MONOTONIC, &event, &timer) < 0 || timer_settime(timer, 0, &when, NULL) < 0)
		_exit(1);
}

static void wait_for(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static void run_in_process(const struct run_plan *r, unsigned first, bool go_on, struct run_result *out)
{
	pid_t self = getpid(), pid = fork();

	if (pid == 0) {
		die_with(self);
		end_after(RUN_SECONDS);
		run_order(r, first, go_on, out);
		_exit(0);
	}
	if (pid < 0)
		snprintf(out->error, sizeof(out->error), "fork: %s", strerror(errno));
	else
		wait_for(pid);
}

static const uint8_t *page_before(void *ctx, uint64_t gpa)
{
	const struct run_plan *r = ctx;

	return ram_at(&r->ram, gpa, X86_PAGE_SIZE);
}

/* Returns false when a run has left nothing that could be compared. */
static bool all_ended(struct run_result (*results)[2], struct replay_instance *out)
{
	for (unsigned order = 0; order < 2; order++)
		for (unsigned run = 0; run < 2; run++) {
			const struct run_result *r = &results[order][run];

			if (r->ended)
				continue;
			out->outcome = REPLAY_FAILURE;
			out->why = REPLAY_CANNOT_LOAD;
			snprintf(out->why_text, sizeof(out->why_text), "%.*s", REPLAY_TEXT_MAX - 1,
				 r->error[0] ? r->error : "the process of a copy died or took too long");
			return false;
		}
	return true;
}

static void compare(const struct run_plan *r, struct run_result (*results)[2], struct replay_instance *out)
{
	const struct meeting_side *side = &r->meeting->sides[0];
	struct compare c = {.before = page_before,
			    .ctx = (void *)r,
			    .datum = {.gpa = side->gpa, .len = side->size},
			    .result_unused = {r->config->result_unused[0], r->config->result_unused[1]}};

	for (unsigned order = 0; order < 2; order++) {
		out->orders[order].machine = results[order][0].machine;
		memcpy(out->orders[order].trouble, results[order][0].trouble, REPLAY_TEXT_MAX);
		for (unsigned run = 0; run < 2; run++)
			c.runs[order][run] = &results[order][run].run;
	}
	if (all_ended(results, out))
		compare_orders(&c, out);
}

static void run_all(const struct run_plan *r, struct replay_instance *out)
{
	size_t size = RUNS * sizeof(struct run_result);
	struct run_result(*results)[2] =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (results == MAP_FAILED) {
		out->outcome = REPLAY_FAILURE;
		out->why = REPLAY_CANNOT_LOAD;
		snprintf(out->why_text, sizeof(out->why_text), "out of memory");
		return;
	}
	for (unsigned order = 0; order < 2; order++)
		for (unsigned run = 0; run < 2; run++)
			run_in_process(r, order, run == 0, &results[order][run]);
	compare(r, results, out);
}

_Noreturn void holder_run(pid_t parent, struct vm *vm, const struct vm_state *state, const struct meeting *m,
			  const struct replay_config *config, int out)
{
	struct run_plan r = {.state = state, .meeting = m, .config = config, .cpus = vm_cpu_count(vm)};
	struct replay_instance instance = {0};
	ssize_t written;

	die_with(parent);
	end_after((RUNS + 1) * RUN_SECONDS);
	r.kvm_fd = vm_forked(vm, &r.ram);
	close_others(out, r.kvm_fd);
	setpriority(PRIO_PROCESS, 0, NICE); /* It fails where the priority is lower already. */
	prepare_ram(&r.ram, m, config);
	run_all(&r, &instance);
	/* It fits into a pipe, so this does not wait. */
	written = write(out, &instance, sizeof(instance));
	_exit(written == sizeof(instance) ? 0 : 1);
}
