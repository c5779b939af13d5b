// SPDX-License-Identifier: GPL-2.0-or-later
/* Boots a guest until both programs wait at the mark (hv/vmm/platform/mark.h), and saves its machine. */
#include "hv/explore/base.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "hv/base/clean.h"
#include "hv/replay/run.h"
#include "hv/sandbox/sandbox.h"
#include "hv/vmm/host.h"
#include "hv/vmm/platform/mark.h"

#define NS_PER_S UINT64_C(1000000000)

/*
 * The machine is saved after each side has asked the mark this many times whether it may go on. Each time is an exit, and a
 * waiting side makes some thousand exits a second. So in this time the guest can do the work that the start of the programs has
 * left behind.
 */
#define WAITS 500u

struct boot {
	struct vm *vm;
	struct mark mark;
	atomic_bool late; /* the time limit has passed */
};

/*
 * Stop the machine when both sides have waited at the mark for long enough, or the guest has failed to bring them there. Called
 * on the thread of a vCPU.
 */
static void happened(void *ctx, enum mark_event event, unsigned side)
{
	struct boot *b = ctx;

	(void)side;
	if (event != MARK_WAITS || (atomic_load(&b->mark.asked[0]) >= WAITS && atomic_load(&b->mark.asked[1]) >= WAITS))
		vm_stop(b->vm);
}

static void time_is_over(union sigval value)
{
	struct boot *b = value.sival_ptr;

	atomic_store(&b->late, true);
	vm_stop(b->vm);
}

static int run(struct boot *b, uint64_t ns, struct err *err)
{
	struct sigevent event = {
		.sigev_notify = SIGEV_THREAD, .sigev_notify_function = time_is_over, .sigev_value.sival_ptr = b};
	const struct itimerspec when = {.it_value = {.tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S)}};
	enum vm_end end;
	timer_t timer;
	int rc;

	if (timer_create(CLOCK_MONOTONIC, &event, &timer) < 0 || timer_settime(timer, 0, &when, NULL) < 0)
		return err_set(err, EXIT_INTERNAL, "a timer cannot be made: %s", strerror(errno));
	rc = vm_run(b->vm, NULL, &end, err);
	timer_delete(timer);
	return rc;
}

static int no_mark(const struct boot *b, int console, struct err *err)
{
	static const char *const failures[] = {
		[MARK_PREPARE_FAILED] = "the command of --prepare failed in the guest",
		[MARK_START_FAILED] = "the guest's agent could not start both programs",
		[MARK_ONE_CPU] = "the guest uses only one CPU: both programs need one each",
	};
	char line[REPLAY_TEXT_MAX];
	bool panic = false;

	if (atomic_load(&b->mark.failure))
		return err_set(err, EXIT_INPUT, "%s; --console FILE shows why", failures[atomic_load(&b->mark.failure)]);
	if (run_read_console(console, line, &panic) != TROUBLE_NONE || panic) {
		clean_field(line, sizeof(line));
		return err_set(err, EXIT_INPUT, "the guest's kernel complained before both programs were at the mark: %s",
			       line);
	}
	return err_set(err, EXIT_INPUT,
		       "the guest %s before both programs were at the mark: its /init must run build/guest-agent with the word "
		       "pair; --console FILE shows what it did",
		       atomic_load(&b->late) ? "took longer than --boot-timeout" : "ended");
}

static bool at_mark(const struct boot *b)
{
	return !atomic_load(&b->mark.failure) && atomic_load(&b->mark.asked[0]) >= WAITS &&
	       atomic_load(&b->mark.asked[1]) >= WAITS;
}

static int open_console(const char *path, struct err *err)
{
	int fd;

	if (path)
		fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_APPEND, 0666);
	else
		fd = memfd_create("console of the guest", MFD_CLOEXEC);
	return fd < 0 ? err_set(err, EXIT_INPUT, "%s: %s", path ? path : "memfd_create", strerror(errno)) : fd;
}

/* Confine the process before the guest's first instruction: everything that needs privileges is open by then. */
static int confine(const struct explore_config *config, struct err *err)
{
	const struct sandbox_config sandbox = {
		.used = 1u << SANDBOX_VCPU | 1u << SANDBOX_INPUT | 1u << SANDBOX_COPY,
		.folder = config->folder,
	};

	return sandbox_drop(err) < 0 ? -1 : sandbox_enter(&sandbox, err);
}

int base_open(struct base *base, const struct explore_config *config, struct err *err)
{
	struct boot b = {0};
	struct vmm_config vm = config->vm;
	int console = open_console(config->console, err), rc = -1;

	if (console < 0)
		return -1;
	mark_init(&b.mark);
	b.mark.text[0] = config->prepare;
	b.mark.text[1] = config->command[0];
	b.mark.text[2] = config->command[1];
	b.mark.happened = happened;
	b.mark.ctx = &b;
	vm.mark = &b.mark;
	vm.console_out = console;
	vm.console_in = -1;
	base->cpus = vm.cpus;
	base->part_ns = config->trial_ns / EXPLORE_PARTS;
	base->kvm_fd = host_open(err);
	if (base->kvm_fd < 0)
		goto out;
	b.vm = vm_create(&vm, err);
	if (!b.vm || confine(config, err) < 0 || run(&b, config->boot_ns, err) < 0)
		goto out;
	if (!at_mark(&b)) {
		no_mark(&b, console, err);
		goto out;
	}
	rc = vm_state_save(b.vm, 0, &base->state, err);
	if (rc == 0)
		base->ram = vm_ram_take(b.vm);
out:
	vm_destroy(b.vm);
	close(console);
	return rc;
}

void base_close(struct base *base)
{
	vm_state_free(&base->state);
	ram_unmap(&base->ram);
	if (base->kvm_fd >= 0)
		close(base->kvm_fd);
	base->kvm_fd = -1;
}
