// SPDX-License-Identifier: GPL-2.0-or-later
/* Drives a copy of the base (drive.h). */
#include "hv/explore/drive.h"

#include <errno.h>
#include <linux/kvm.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hv/base/clock.h"

/*
 * Lengths, in ns, of the slices in which the CPUs of both sides run in turn:
 *  - SLICE_NS is for the CPU of the side that is to run.
 *  - OTHER_NS is for the other side's CPU, which only has to answer interrupts.
 *  - OTHER_AWAITED_NS is for the other side's CPU while the first CPU is idle. The first CPU may then be waiting for the other
 *    CPU. On a busy host that emulates the machine, OTHER_NS is too short for the handler of one tick, so the other CPU would
 *    never make progress.
 */
#define SLICE_NS UINT64_C(4000000)
#define OTHER_NS UINT64_C(500000)
#define OTHER_AWAITED_NS UINT64_C(8000000)
/*
 * drive_on() lets both CPUs run in turn, and counts at most this time, in ns, for a slice of one CPU and the next slice of the
 * other CPU together. If these two slices took longer, the host ran something else meanwhile.
 */
#define LAP_MAX_NS (SLICE_NS + OTHER_AWAITED_NS)

/*
 * While one side is held, only the CPU of the other side runs. So the other side is blocked if 25 of its slices, 100 ms in all,
 * ended in a function that spins until another CPU acts. The slices need not be consecutive, because a slice in between may
 * have ended in an interrupt handler.
 */
#define SPIN_SLICES 25u

/* Stop the copy when both sides have ended and the guest has settled (MARK_OVER). Called on the thread of a vCPU. */
static void happened(void *ctx, enum mark_event event, unsigned side)
{
	struct drive *d = ctx;

	(void)side;
	if (event == MARK_OVER)
		vm_stop(d->copy.vm);
}

int drive_open(struct drive *d, const struct base *base, struct err *err)
{
	struct vm_copy_config from = {.kvm_fd = base->kvm_fd, .mark = &d->mark};

	*d = (struct drive){.base = base, .console = -1, .cpus = base->cpus};
	mark_init(&d->mark);
	d->mark.happened = happened;
	d->mark.ctx = d;
	d->decoder = insn_decoder_new();
	if (!d->decoder)
		return err_set(err, EXIT_INTERNAL, "out of memory");
	d->console = memfd_create("console of a copy", MFD_CLOEXEC);
	if (d->console < 0)
		return err_set(err, EXIT_INTERNAL, "memfd_create: %s", strerror(errno));
	from.console_out = d->console;
	return copy_open(&d->copy, &base->state, &base->ram, &from, err);
}

void drive_close(struct drive *d)
{
	copy_close(&d->copy);
	insn_decoder_free(d->decoder);
	if (d->console >= 0)
		close(d->console);
}

/* Run the CPU for a slice, which ends early before an instruction that was passed to copy_stop_at(). */
static enum copy_step slice(struct drive *d, unsigned cpu, uint64_t ns)
{
	enum copy_step end = copy_slice(&d->copy, cpu, ns);

	/* Clear the breakpoints: with them, a single step would stop again before the instruction, instead of executing it. */
	d->copy.watches = (struct copy_watches){0};
	return end;
}

enum copy_step drive_slice(struct drive *d, unsigned cpu, uint64_t pc, uint64_t ns)
{
	copy_stop_at(&d->copy, 0, pc);
	for (unsigned i = 0; i < DRIVE_ALSO_MAX; i++)
		copy_stop_at(&d->copy, i + 1, d->also[i]);
	return slice(d, cpu, ns);
}

bool drive_halted(struct drive *d, unsigned cpu)
{
	struct kvm_mp_state state = {0};

	return ioctl(vm_vcpu(d->copy.vm, cpu)->fd, KVM_GET_MP_STATE, &state) == 0 && state.mp_state == KVM_MP_STATE_HALTED;
}

bool drive_other(struct drive *d, unsigned side)
{
	enum copy_step end;

	if (d->held[!side])
		return true;
	/* Set no breakpoint: no caller of drive_other() steps this CPU over a breakpoint. */
	end = slice(d, !side, drive_halted(d, side) ? OTHER_AWAITED_NS : OTHER_NS);
	return end == COPY_HALTED || end == COPY_STEPPED;
}

bool drive_step(struct drive *d, unsigned side)
{
	const struct copy_ops ops = copy_steps(&d->copy);
	struct x86_regs regs;

	ops.regs(ops.ctx, side, &regs);
	return ops.step(ops.ctx, side, &regs) == COPY_STEPPED;
}

unsigned drive_code(struct drive *d, unsigned cpu, uint64_t pc, uint8_t code[INSN_MAX_LEN])
{
	unsigned len = 0;

	while (len < INSN_MAX_LEN) {
		unsigned in_page = X86_PAGE_SIZE - (unsigned)((pc + len) % X86_PAGE_SIZE);
		unsigned n = in_page < INSN_MAX_LEN - len ? in_page : INSN_MAX_LEN - len;
		const uint8_t *from = copy_at(&d->copy, cpu, pc + len, NULL);

		if (!from)
			break;
		memcpy(code + len, from, n);
		len += n;
	}
	return len;
}

/* Note the result if the CPU is at the end of a system call. Called on the thread that runs the CPU. */
static void note_return(void *ctx, unsigned cpu)
{
	struct drive *d = ctx;
	struct x86_regs regs;

	copy_exit_regs(&d->copy, cpu, &regs);
	/*
	 * Ignore the calls that the side's processes make after the side's end: some runs would record them, and others would
	 * not.
	 */
	if (d->returns && cpu < 2 && atomic_load(&d->mark.status[cpu]) < 0 && regs.rip == d->returns->pc)
		returns_add(d->returns, cpu, &regs, &d->returned[cpu]);
}

void drive_note_returns(struct drive *d, const struct returns_site *site, struct returned returned[2])
{
	if (!site->pc)
		return;
	d->returns = site;
	d->returned = returned;
	d->also[0] = site->pc;
	copy_on_hit(&d->copy, note_return, d);
}

/* Returns whether the next instruction of the CPU is the one at `pc`, and accesses the byte at `gva`. */
static bool is_access(struct drive *d, unsigned cpu, uint64_t pc, uint64_t gva)
{
	const struct copy_ops ops = copy_steps(&d->copy);
	struct mem_access access[INSN_MAX_MEM];
	uint8_t code[INSN_MAX_LEN];
	struct x86_regs regs;
	struct insn insn;
	unsigned n;

	ops.regs(ops.ctx, cpu, &regs);
	if (regs.rip != pc)
		return false;
	if (!insn_decode(d->decoder, code, drive_code(d, cpu, regs.rip, code), regs.rip, &insn))
		return false;
	n = insn_accesses(&insn, &regs, access);
	for (unsigned i = 0; i < n; i++)
		if (gva - access[i].gva < access[i].size)
			return true;
	return false;
}

/* drive_on() stops a side at the first of these places that the side comes to. */
struct stop {
	uint64_t pc, gva; /* stop before an instruction at `pc` that accesses the byte at `gva`; pc 0: no such place */
	unsigned calls;	  /* stop after this number of the side's system calls; 0: no such place */
};

static bool is_there(struct drive *d, unsigned side, const struct stop *stop)
{
	return stop->pc && is_access(d, side, stop->pc, stop->gva);
}

/*
 * Returns whether the other side is held, so that no other CPU runs, and this side is in a function that spins until another
 * CPU acts.
 */
static bool is_spinning(struct drive *d, unsigned side)
{
	const struct copy_ops ops = copy_steps(&d->copy);
	struct x86_regs regs;

	if (!d->held[!side])
		return false;
	ops.regs(ops.ctx, side, &regs);
	for (unsigned i = 0; i < BASE_SPINS_MAX; i++)
		if (regs.rip - d->base->spin[i].start < d->base->spin[i].size)
			return true;
	return false;
}

/* Returns the time in ns that has passed since *last, but at most LAP_MAX_NS, and stores the present time in *last. */
static uint64_t lap(uint64_t *last)
{
	uint64_t now = monotonic_ns(), passed = now - *last;

	*last = now;
	return passed < LAP_MAX_NS ? passed : LAP_MAX_NS;
}

static enum drive_end drive_on(struct drive *d, unsigned side, const struct stop *stop, uint64_t ns)
{
	uint64_t now = monotonic_ns(), start = now, turn = now, used = 0;
	unsigned spins = 0;

	atomic_store(&d->mark.open[side], true);
	d->held[side] = false;
	for (; used < ns && !(d->held[!side] && now - start >= EXPLORE_HOLD_MAX_NS); used += lap(&now)) {
		enum copy_step end = drive_slice(d, side, stop->pc, SLICE_NS);

		if (atomic_load(&d->mark.status[side]) >= 0)
			return DRIVE_DONE;
		if (end == COPY_STEPPED && is_there(d, side, stop)) {
			d->held[side] = true;
			return DRIVE_THERE;
		}
		if (end == COPY_STEPPED)
			note_return(d, side);
		if (end == COPY_STEPPED ? !drive_step(d, side) : end != COPY_HALTED)
			return DRIVE_BROKEN;
		if (stop->calls && d->returned[side].count >= stop->calls) {
			d->held[side] = true;
			return DRIVE_THERE;
		}
		/* A breakpoint may have ended the slice early. The other CPU gets its next turn only after SLICE_NS. */
		if (end != COPY_HALTED && now - turn < SLICE_NS)
			continue;
		turn = now;
		spins += is_spinning(d, side);
		if (spins == SPIN_SLICES)
			break;
		if (!drive_other(d, side))
			return DRIVE_BROKEN;
	}
	d->held[side] = true;
	return DRIVE_STUCK;
}

enum drive_end drive_to(struct drive *d, unsigned side, uint64_t pc, uint64_t gva, uint64_t ns)
{
	const struct stop stop = {.pc = pc, .gva = gva};

	return drive_on(d, side, &stop, ns);
}

enum drive_end drive_calls(struct drive *d, unsigned side, unsigned calls, uint64_t ns)
{
	const struct stop stop = {.calls = calls};

	return d->returns ? drive_on(d, side, &stop, ns) : DRIVE_BROKEN;
}

enum drive_end drive_to_access(struct drive *d, unsigned side, const struct explore_access *access, uint64_t ns)
{
	return drive_to(d, side, access->pc, access->gva, ns);
}

bool drive_through(struct drive *d, unsigned side, const struct explore_side *own, uint64_t ns)
{
	if (!drive_step(d, side))
		return false;
	for (unsigned i = 0; i < EXPLORE_RELEASES_MAX && own->release[i].pc; i++)
		if (drive_to(d, side, own->release[i].pc, own->release[i].gva, ns) != DRIVE_THERE || !drive_step(d, side))
			return false;
	return true;
}

enum replay_machine drive_freely(struct drive *d, uint64_t ns)
{
	for (unsigned side = 0; side < 2; side++)
		if (!d->mark.then_other[!side])
			atomic_store(&d->mark.open[side], true);
	if (atomic_load(&d->mark.over))
		return REPLAY_MACHINE_RUNS;
	copy_stop_at(&d->copy, 1, d->also[0]);
	return copy_run_freely(&d->copy, d->cpus, ns);
}
