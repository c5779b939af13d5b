// SPDX-License-Identifier: GPL-2.0-or-later
/* Serves one order of a race to gdb, on a copy of the machine on KVM. */
#include "hv/replay/gdb/machine.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/kvm.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hv/base/clean.h"
#include "hv/replay/copy_cpu.h"
#include "hv/replay/gdb/race.h"
#include "hv/replay/gdb/watches.h"

/*
 * A slice takes 4 ms: long enough for a CPU to make progress, and short enough that neither a user who presses Ctrl-C nor a CPU
 * that waits for another CPU notices a delay.
 */
#define SLICE_NS 4000000u

struct machine {
	struct copy copy;
	struct watches watches;
	bool devices_started;
	int console; /* a file with the guest's console output */
	char who[2][GUEST_COMM_MAX + 16];
	char intro[GDB_ANSWER_MAX];
};

/* ---- debug registers ---- */

static bool watch(void *ctx, const struct gdb_point *points, size_t count, bool breakpoints)
{
	struct machine *m = ctx;

	if (!watches_load(&m->watches, points, count, breakpoints))
		return false;
	m->copy.watches = m->watches.registers;
	return true;
}

static int hit(void *ctx)
{
	const struct machine *m = ctx;

	return watches_hit(&m->watches, m->copy.hits);
}

/* ---- registers and memory ---- */

static int get(void *ctx, unsigned cpu, struct replay_cpu *out, struct err *err)
{
	struct machine *m = ctx;

	return copy_get_cpu(&m->copy, cpu, out, err);
}

static int set(void *ctx, unsigned cpu, const struct replay_cpu *in, struct err *err)
{
	struct machine *m = ctx;

	return copy_set_cpu(&m->copy, cpu, in, err);
}

/* Copy bytes from or to guest memory, page by page. Returns the number of bytes copied. */
static size_t access_memory(struct machine *m, unsigned cpu, uint64_t gva, uint8_t *out, const uint8_t *in, size_t len)
{
	size_t done = 0;

	while (done < len) {
		size_t n = X86_PAGE_SIZE - (gva + done) % X86_PAGE_SIZE;
		uint8_t *at = copy_at(&m->copy, cpu, gva + done, NULL);

		if (!at)
			break;
		if (n > len - done)
			n = len - done;
		if (in)
			memcpy(at, in + done, n);
		else
			memcpy(out + done, at, n);
		done += n;
	}
	return done;
}

static size_t read_memory(void *ctx, unsigned cpu, uint64_t gva, void *out, size_t len)
{
	return access_memory(ctx, cpu, gva, out, NULL, len);
}

static size_t write_memory(void *ctx, unsigned cpu, uint64_t gva, const void *in, size_t len)
{
	return access_memory(ctx, cpu, gva, NULL, in, len);
}

/* ---- running ---- */

/*
 * Refuse to step a CPU that has executed HLT: interrupts are blocked in a step, and KVM would let the CPU sleep until an
 * interrupt.
 */
static enum copy_step step(void *ctx, unsigned cpu, struct x86_regs *regs)
{
	struct machine *m = ctx;
	const struct copy_ops steps = copy_steps(&m->copy);
	struct kvm_mp_state state = {0};

	if (ioctl(vm_vcpu(m->copy.vm, cpu)->fd, KVM_GET_MP_STATE, &state) == 0 && state.mp_state != KVM_MP_STATE_RUNNABLE)
		return COPY_HALTED;
	return steps.step(steps.ctx, cpu, regs);
}

static void regs(void *ctx, unsigned cpu, struct x86_regs *out)
{
	struct machine *m = ctx;
	const struct copy_ops steps = copy_steps(&m->copy);

	steps.regs(steps.ctx, cpu, out);
}

static enum copy_step slice(void *ctx, unsigned cpu)
{
	struct machine *m = ctx;

	return copy_slice(&m->copy, cpu, SLICE_NS);
}

/* Run or pause the devices. The devices are paused while the client examines the machine. */
static bool devices(void *ctx, bool run)
{
	struct machine *m = ctx;

	if (!run)
		vm_copy_devices_pause(m->copy.vm);
	else if (m->devices_started)
		vm_devices_go_on(m->copy.vm);
	else if (vm_copy_devices_start(m->copy.vm, &m->copy.err) < 0)
		return false;
	m->devices_started = true;
	return true;
}

/* Copy the end of the guest's console output. Leave out bytes that are not printable, because the text goes to a terminal. */
static void console(void *ctx, char out[GDB_ANSWER_MAX])
{
	const struct machine *m = ctx;
	off_t len = lseek(m->console, 0, SEEK_END), from = len < GDB_ANSWER_MAX ? 0 : len - (GDB_ANSWER_MAX - 1);
	ssize_t got = pread(m->console, out, GDB_ANSWER_MAX - 1, from);
	size_t n = 0;

	for (ssize_t i = 0; i < got; i++)
		if (out[i] == '\n' || (out[i] >= ' ' && out[i] <= '~'))
			out[n++] = out[i];
	out[n] = '\0';
}

static void why(void *ctx, char out[GDB_TEXT_MAX])
{
	const struct machine *m = ctx;
	enum vm_end end;

	if (m->copy.err.code != EXIT_OK)
		snprintf(out, GDB_TEXT_MAX, "The copy of the machine has failed: %.*s", GDB_TEXT_MAX - 64, m->copy.err.text);
	else if (vm_ended(m->copy.vm, &end))
		snprintf(out, GDB_TEXT_MAX, "The machine has ended: %.*s", GDB_TEXT_MAX - 64, vm_end_detail(m->copy.vm));
	else
		snprintf(out, GDB_TEXT_MAX, "The machine has ended.");
}

static struct race_copy copy_of(struct machine *m, unsigned cpus)
{
	return (struct race_copy){
		.cpus = cpus,
		.steps = {.step = step, .regs = regs, .ctx = m},
		.get = get,
		.set = set,
		.read = read_memory,
		.write = write_memory,
		.watch = watch,
		.hit = hit,
		.slice = slice,
		.devices = devices,
		.console = console,
		.why = why,
		.ctx = m,
	};
}

/* Write the name of the side's task to m->who[side]. The name comes from a guest or a file, so make it printable. */
static void name_side(struct machine *m, unsigned side, const struct guest_context *context)
{
	char *who = m->who[side];

	if (context->pid < 0)
		snprintf(who, sizeof(m->who[side]), "an unknown task");
	else
		snprintf(who, sizeof(m->who[side]), "%s/%d", context->comm, context->pid);
	clean_line(who, sizeof(m->who[side]));
}

static void describe_side(const struct machine *m, unsigned number, const struct rendezvous_side *side, char *line, size_t size)
{
	const struct guest_symbol *f = &side->symbol;

	snprintf(line, size, "side %u: CPU %u, %s, before its access to %" PRIu32 " bytes at %#" PRIx64 ", RIP %#" PRIx64,
		 number + 1, side->cpu, m->who[number], side->size, side->gva, side->regs.rip);
	if (f->name[0])
		snprintf(line + strlen(line), size - strlen(line), " (%s+%#" PRIx64 "%s%s)", f->name, side->regs.rip - f->addr,
			 f->module[0] ? " of " : "", f->module);
	clean_line(line, size);
}

static void describe_race(struct machine *m, const struct rendezvous *rendezvous, const char *intro)
{
	char line[GDB_TEXT_MAX];

	snprintf(m->intro, sizeof(m->intro), "%s", intro);
	for (unsigned side = 0; side < 2; side++) {
		size_t len = strlen(m->intro);

		name_side(m, side, &rendezvous->sides[side].context);
		describe_side(m, side, &rendezvous->sides[side], line, sizeof(line));
		snprintf(m->intro + len, sizeof(m->intro) - len, "%s\n", line);
	}
}

static int serve(struct machine *m, const struct run_plan *plan, unsigned first, const struct gdb_config *config,
		 struct err *err)
{
	const struct race_copy copy = copy_of(m, plan->cpus);
	struct race race = {.copy = &copy, .intro = m->intro, .who = {m->who[0], m->who[1]}};
	struct gdb_machine machine;

	run_describe(plan, first, &race.order);
	race_begin(&race);
	machine = race_machine(&race);
	return gdb_serve_client(config, &machine, err);
}

int gdb_replay(const struct run_plan *plan, unsigned first, const char *intro, const struct gdb_config *config, struct err *err)
{
	struct machine m = {.console = memfd_create("console of a copy", MFD_CLOEXEC)};
	int rc = -1;

	if (m.console < 0)
		return err_set(err, EXIT_INTERNAL, "memfd_create: %s", strerror(errno));
	describe_race(&m, plan->rendezvous, intro);
	if (run_open(plan, &m.copy, m.console, err) == 0)
		rc = serve(&m, plan, first, config, err);
	copy_close(&m.copy);
	close(m.console);
	return rc;
}
