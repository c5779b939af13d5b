// SPDX-License-Identifier: GPL-2.0-or-later
/* Records the accesses of one program that runs alone (record.h). */
#include "hv/explore/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "hv/base/clock.h"
#include "hv/explore/recorder.h"
#include "hv/guest/guest.h"
#include "hv/replay/copy_cpu.h"
#include "hv/replay/process.h"
#include "hv/sandbox/sandbox.h"
#include "hv/vmm/one_msr.h"

#define MSR_LSTAR 0xc0000082u /* GVA of the kernel's entry for SYSCALL */
#define NS_PER_S UINT64_C(1000000000)

/* Number of steps between two looks at the clock. */
#define CLOCK_STEPS 64u
/* Length of the slices of user code, in ns. */
#define SLICE_NS UINT64_C(10000000)
/*
 * Number of steps after which the other CPU runs for a moment, because this CPU may be waiting until the other CPU answers an
 * interrupt.
 */
#define OTHER_STEPS 8192u
/*
 * The number of the step after which take_kernel() saves the CPU's registers: by then the kernel's entry code has loaded the
 * kernel's page tables and GS.
 */
#define KERNEL_STEPS 100u

/*
 * A string instruction with more iterations than STRING_STEPS is not stepped, but run up to the next instruction: a single step
 * is one iteration, and the kernel clears a page in 512 iterations. If the instruction accesses memory of the user, the run
 * takes at most STRING_SLICES slices, because after a fault the CPU may never come to the next instruction.
 */
#define STRING_STEPS 8u
#define STRING_SLICES 5u

/* Maximum number of calls of a function of base->also that are recorded: a timer's callback mostly does the same each time. */
#define ALSO_CALLS 4u

_Static_assert(EXPLORE_ALSO_MAX + 1 <= DRIVE_ALSO_MAX, "__switch_to() takes a debug register, too");

/* Returns whether the side has made no step for long, so that it most likely waits for the side that is held. */
static bool waits_in_vain(struct recorder *r)
{
	uint64_t now = monotonic_ns();

	if (r->out->summary.steps != r->moved_steps || !r->moved_ns) {
		r->moved_steps = r->out->summary.steps;
		r->moved_ns = now;
	}
	return now - r->moved_ns > r->base->part_ns;
}

/* Returns whether the recording must end, and why in summary.end. The limits of time are checked only if `clock`. */
static bool limit_reached(struct recorder *r, bool clock)
{
	struct recorded *out = r->out;

	if (out->summary.steps >= r->config->steps)
		out->summary.end = EXPLORE_STEPS;
	else if (out->count == EXPLORE_ACCESSES_MAX)
		out->summary.end = EXPLORE_FULL;
	else if (!clock)
		return false;
	else if (monotonic_ns() - r->start >= r->config->record_ns)
		out->summary.end = EXPLORE_TIME;
	else if (r->after && waits_in_vain(r))
		out->summary.end = EXPLORE_TIME;
	return out->summary.end != EXPLORE_NOT_RECORDED;
}

static void take_kernel(struct recorder *r)
{
	struct replay_cpu cpu;
	struct err ignored = {0};

	if (copy_get_cpu(&r->drive.copy, r->side, &cpu, &ignored) == 0)
		r->out->kernel = cpu.regs;
}

/*
 * If the CPU is at the start of a function of base->also whose calls are still recorded, returns the index of this function.
 * Otherwise returns -1.
 */
static int other_call(const struct recorder *r, const struct x86_regs *regs)
{
	for (unsigned i = 0; i < EXPLORE_ALSO_MAX; i++)
		if (r->drive.also[i + 1] && r->drive.also[i + 1] == regs->rip)
			return (int)i;
	return -1;
}

/*
 * Returns whether the CPU is at the start of a function of base->also, and its call is to be stepped now; if so, counts the
 * call. A call within a call that is stepped is part of that call.
 */
static bool begins_call(struct recorder *r, const struct x86_regs *regs)
{
	int i = other_call(r, regs);

	if (i < 0 || r->call)
		return false;
	if (++r->out->summary.calls[i] == ALSO_CALLS)
		r->drive.also[i + 1] = 0;
	return true;
}

/*
 * Set the guest's clocks back to the time at which the guest last stopped running at full speed: for the guest, steps take no
 * time. Returns false if KVM cannot set them.
 */
static bool go_on(struct recorder *r)
{
	return vm_time_turn_back(r->drive.copy.vm, &r->stopped, &r->drive.copy.err) == 0;
}

/* Remember the guest's time, at which the guest stops running at full speed. Returns false if KVM does not tell this time. */
static bool stop(struct recorder *r)
{
	return vm_time_take(r->drive.copy.vm, &r->stopped, &r->drive.copy.err) == 0;
}

/* Let the CPU run at full speed to the instruction at `pc`, or for a slice. */
static enum copy_step run_slice(struct recorder *r, uint64_t pc)
{
	enum copy_step end = go_on(r) ? drive_slice(&r->drive, r->side, pc, SLICE_NS) : COPY_FAILED;

	return stop(r) ? end : COPY_FAILED;
}

/* Let the other CPU run for a moment. Returns false if it cannot. */
static bool run_other(struct recorder *r)
{
	return go_on(r) && drive_other(&r->drive, r->side) && stop(r);
}

static void step_call(struct recorder *r, const struct x86_regs *regs);

/*
 * Run a string instruction that accesses memory of the user to its end. Interrupts are not blocked meanwhile, because the CPU
 * may have to wait until the memory is there. Of their handlers, only calls of the functions of base->also are recorded.
 */
static enum copy_step run_user_string(struct recorder *r, const struct insn *insn, struct x86_regs *regs)
{
	const struct copy_ops ops = copy_steps(&r->drive.copy);
	enum copy_step end = COPY_HALTED;

	for (unsigned slices = 0; slices < STRING_SLICES && end == COPY_HALTED;) {
		end = run_slice(r, insn->addr + insn->len);
		ops.regs(ops.ctx, r->side, regs);
		slices += end == COPY_HALTED;
		if (end != COPY_STEPPED || other_call(r, regs) < 0)
			continue;
		if (begins_call(r, regs))
			step_call(r, regs);
		else if (slices++, !drive_step(&r->drive, r->side))
			return COPY_LOST;
		end = COPY_HALTED;
	}
	return end;
}

/* Run a string instruction that accesses memory of the kernel alone to its end. No fault is expected. */
static enum copy_step run_kernel_string(struct recorder *r, const struct insn *insn, struct x86_regs *regs)
{
	enum copy_step end = copy_run_to(&r->drive.copy, r->side, insn->addr + insn->len, regs);

	return end == COPY_HALTED ? COPY_LOST : end;
}

/*
 * Let the CPU execute the instruction, or a stride that begins with it, and count what it has executed. `insn` is NULL if it
 * cannot be decoded.
 */
static enum copy_step advance(struct recorder *r, const struct insn *insn, struct x86_regs *regs)
{
	const struct copy_ops ops = copy_steps(&r->drive.copy);
	/* a copy, because another instruction may take the place of `insn` in the cache */
	const struct insn first = insn ? *insn : (struct insn){0};
	bool repeats = first.flags & INSN_REP;
	enum copy_step step;
	uint64_t end;
	unsigned count = insn ? code_stride(&r->code, &first, regs, &end) : 0;

	if (repeats && regs->gpr[X86_RCX] > STRING_STEPS && code_accesses_user(&first, regs))
		step = run_user_string(r, &first, regs);
	else if (repeats && regs->gpr[X86_RCX] > STRING_STEPS)
		step = run_kernel_string(r, &first, regs);
	else if (!count)
		step = ops.step(ops.ctx, r->side, regs);
	else
		step = copy_run_to(&r->drive.copy, r->side, end, regs);
	if (step == COPY_STEPPED)
		r->out->summary.steps += count ? count : 1;
	if (count)
		calls_skip(&r->calls);
	return step;
}

/* Returns whether the number of steps, which was `before` earlier, has come to a further multiple of `every` since then. */
static bool is_due(const struct recorder *r, uint64_t before, uint64_t every)
{
	return r->out->summary.steps / every != before / every;
}

/*
 * Returns whether the call that is stepped has returned, and so has removed its return address from the stack. Forgets the call
 * then.
 */
static bool has_returned(struct recorder *r, const struct x86_regs *regs)
{
	if (!r->call || regs->gpr[X86_RSP] <= r->call || guest_stack_start(regs) != r->stack)
		return false;
	r->call = r->stack = 0;
	r->own = false;
	return true;
}

/*
 * Returns whether the instruction leaves the kernel. IRETQ may also return to code of the kernel that an interrupt or a page
 * fault has interrupted. It pops RIP, and then CS, whose lowest two bits are the privilege level (SDM vol. 2).
 */
static bool leaves_kernel(struct recorder *r, const struct insn *insn, const struct x86_regs *regs)
{
	uint64_t frame[2];

	if (!code_is_iret(insn))
		return code_is_sysret(insn);
	if (!r->kernel || guest_read(r->kernel->guest, regs->gpr[X86_RSP], frame, sizeof(frame)))
		return true;
	return !x86_kernel_address(frame[0]) || frame[1] & 3;
}

/* Make the steps of step_kernel(). Returns whether the call r->call has returned. */
static bool step_on(struct recorder *r)
{
	const struct copy_ops ops = copy_steps(&r->drive.copy);
	uint64_t before = r->out->summary.steps;
	struct x86_regs regs;

	ops.regs(ops.ctx, r->side, &regs);
	calls_skip(&r->calls);
	while (x86_kernel_address(regs.rip) && !limit_reached(r, is_due(r, before, CLOCK_STEPS))) {
		const struct insn *insn = code_at(&r->code, regs.rip);
		enum copy_step step;

		if (insn && leaves_kernel(r, insn, &regs))
			return false;
		if (recorder_at_switch(r, &regs))
			recorder_sees_switch(r, &regs);
		if (insn) {
			calls_follow(&r->calls, insn, &regs, code_facts(&r->code, insn));
			recorder_add(r, insn, &regs);
		}
		r->last_pc = regs.rip;
		before = r->out->summary.steps;
		step = advance(r, insn, &regs);
		if (step == COPY_HALTED)
			return false;
		if (step != COPY_STEPPED) {
			r->out->summary.end = EXPLORE_LOST;
			return false;
		}
		if (is_due(r, before, KERNEL_STEPS) && before < KERNEL_STEPS)
			take_kernel(r);
		if (is_due(r, before, OTHER_STEPS) && !run_other(r))
			r->out->summary.end = EXPLORE_LOST;
		if (!r->call && guest_stack_start(&regs) != r->stack)
			recorder_sees_stack(r, &regs);
		if (has_returned(r, &regs))
			return true;
		if (!r->own)
			return false;
	}
	return false;
}

/*
 * Step through the kernel until the CPU leaves the kernel or would wait for an interrupt, until a task runs that does not
 * belong to the program, until the call r->call has returned, or until a limit is reached. If the steps end in the middle of
 * the call r->call, give the call up: r->call becomes 0. Returns true if a call has returned or was given up. Returns false if
 * no call was being stepped when the steps ended: there was none, or its task sleeps now (r->asleep).
 */
static bool step_kernel(struct recorder *r)
{
	bool returned = step_on(r);

	if (!r->call)
		return returned;
	r->call = r->stack = 0;
	r->own = false;
	return true;
}

/*
 * Returns whether the CPU is in the middle of the system call of the task that was stepped last, and not in an interrupt
 * handler. Handlers are not stepped, because the program did not make their accesses.
 */
static bool in_system_call(const struct recorder *r, const struct x86_regs *regs)
{
	return x86_kernel_address(regs->rip) && regs->rflags & X86_RFLAGS_IF && guest_stack_start(regs) == r->stack;
}

/*
 * Returns whether the code that follows is to be stepped. To be called when the CPU is at the entry of system calls, or at
 * __switch_to().
 */
static bool is_wanted(struct recorder *r, const struct x86_regs *regs)
{
	if (recorder_at_switch(r, regs)) {
		recorder_sees_switch(r, regs);
		return r->own;
	}
	r->out->summary.entries++;
	pages_forget(&r->pages);
	/*
	 * Assume that the program has made the system call. recorder_sees_stack() corrects r->own once the kernel's GS is
	 * loaded. Set r->stack to 0, so that recorder_sees_stack() is called even if RSP comes to the same stack as last time.
	 */
	r->own = true;
	r->stack = 0;
	return !recorder_exits(regs->gpr[X86_RAX]);
}

/*
 * Let the CPU get past the breakpoint, without stepping the code that follows, because is_wanted() has refused this code: the
 * code of another task, or the exit of a process. An exit takes more instructions than all else that most programs do, and
 * nearly all of these instructions release memory of the process itself.
 */
static void leave_out(struct recorder *r)
{
	r->stack = 0;
	if (!drive_step(&r->drive, r->side))
		r->out->summary.end = EXPLORE_LOST;
}

/*
 * Step the call of a function of base->also, at whose start the CPU is. The call may have interrupted any code, also a system
 * call of the program. If the call sleeps, recorder_sees_switch() notices when its task goes on.
 */
static void step_call(struct recorder *r, const struct x86_regs *regs)
{
	struct calls calls = r->calls;
	uint64_t stack = r->stack, last_pc = r->last_pc;
	bool own = r->own;

	r->call = regs->gpr[X86_RSP];
	r->stack = guest_stack_start(regs);
	r->own = true;
	calls_forget(&r->calls);
	pages_forget(&r->pages);
	if (!step_kernel(r))
		return;
	r->stack = stack;
	r->own = own;
	r->calls = calls;
	r->last_pc = last_pc;
}

/*
 * Let all code run at full speed for a slice, which ends early at the next system call, at a switch of tasks (__switch_to()),
 * or at a function of base->also. Then step the kernel's code if it runs for the program: after a system call, after a switch
 * to a task of the program that has slept, in a call of such a function, or if the slice has ended in the middle of a system
 * call.
 */
static void run_user(struct recorder *r)
{
	const struct copy_ops ops = copy_steps(&r->drive.copy);
	enum copy_step end = run_slice(r, r->entry);
	struct x86_regs regs;

	if (end != COPY_STEPPED && end != COPY_HALTED)
		r->out->summary.end = EXPLORE_LOST;
	else if (atomic_load(&r->drive.mark.status[r->side]) >= 0)
		r->out->summary.end = EXPLORE_TO_ITS_END;
	else if (end == COPY_HALTED && !run_other(r))
		r->out->summary.end = EXPLORE_LOST;
	if (r->out->summary.end != EXPLORE_NOT_RECORDED || drive_halted(&r->drive, r->side))
		return;
	ops.regs(ops.ctx, r->side, &regs);
	if (end == COPY_STEPPED && begins_call(r, &regs))
		step_call(r, &regs);
	else if (end == COPY_STEPPED ? is_wanted(r, &regs) : in_system_call(r, &regs))
		step_kernel(r);
	else if (end == COPY_STEPPED)
		leave_out(r);
}

static int find_entry(struct recorder *r, struct err *err)
{
	if (!one_msr_get(vm_vcpu(r->drive.copy.vm, r->side)->fd, MSR_LSTAR, &r->entry))
		return err_set(err, EXIT_INTERNAL, "copy: KVM_GET_MSRS: %s", strerror(errno));
	return 0;
}

/* Let the other side run through its access, and hold it there as a trial does. Returns whether it came there. */
static bool hold_other(struct recorder *r)
{
	uint64_t ns = r->base->part_ns;

	return drive_to_access(&r->drive, !r->side, &r->after->access, ns) == DRIVE_THERE &&
	       drive_through(&r->drive, !r->side, r->after, ns);
}

static int record(void *ctx, struct err *err)
{
	struct recorder *r = ctx;
	int rc = -1;

	sandbox_thread(SANDBOX_COPY);
	r->start = monotonic_ns();
	if (code_open(&r->code, &r->drive, r->side, r->kernel, err) < 0) {
		code_close(&r->code);
		return -1;
	}
	if (drive_open(&r->drive, r->base, err) < 0 || find_entry(r, err) < 0)
		goto out;
	r->drive.mark.baseline = r->baseline;
	if (r->after && !hold_other(r)) {
		rc = 0;
		goto out;
	}
	if (r->kernel)
		r->code.switch_to = r->drive.also[0] = symtab_addr(guest_symtab(r->kernel->guest), "__switch_to");
	for (unsigned i = 0; i < EXPLORE_ALSO_MAX && !r->baseline; i++)
		r->drive.also[i + 1] = r->base->also[r->side][i];
	atomic_store(&r->drive.mark.open[r->side], true);
	if (vm_time_take(r->drive.copy.vm, &r->stopped, err) < 0)
		goto out;
	while (!limit_reached(r, true))
		run_user(r);
	r->out->summary.accesses = r->out->count;
	r->out->first_pid = r->first_pid;
	r->out->summary.ns = monotonic_ns() - r->start;
	rc = r->drive.copy.err.code == EXIT_OK ? 0 : err_set(err, r->drive.copy.err.code, "%s", r->drive.copy.err.text);
out:
	drive_close(&r->drive);
	code_close(&r->code);
	return rc;
}

void recorded_free(struct recorded *r)
{
	if (r)
		munmap(r, sizeof(*r));
}

/* Record what `r` describes. Returns the recording, or NULL with `err` set. */
static struct recorded *start(struct recorder *r, struct err *err)
{
	struct recorded *out =
		mmap(NULL, sizeof(*out), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	r->out = out;
	r->first_pid = -1;
	r->own = true;
	if (out == MAP_FAILED) {
		err_set(err, EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	if (process_run(record, r, (time_t)(2 * r->config->record_ns / NS_PER_S + 30), err) < 0) {
		recorded_free(out);
		return NULL;
	}
	/* The counts are not trusted: a guest ran in the process that wrote them. */
	if (out->count > EXPLORE_ACCESSES_MAX)
		out->count = EXPLORE_ACCESSES_MAX;
	if ((unsigned)out->summary.end > EXPLORE_LOST)
		out->summary.end = EXPLORE_LOST;
	if (out->tasks > RECORDED_TASKS_MAX)
		out->tasks = RECORDED_TASKS_MAX;
	return out;
}

struct recorded *record_side(const struct base *base, const struct explore_config *config, const struct kernel *kernel,
			     unsigned side, struct err *err)
{
	struct recorder r = {.base = base, .config = config, .kernel = kernel, .side = side};

	return start(&r, err);
}

struct recorded *record_baseline(const struct base *base, const struct explore_config *config, const struct kernel *kernel,
				 struct err *err)
{
	struct recorder r = {.base = base, .config = config, .kernel = kernel, .baseline = true};

	return start(&r, err);
}

struct recorded *record_after(const struct base *base, const struct explore_config *config, const struct kernel *kernel,
			      unsigned side, const struct explore_side *after, struct err *err)
{
	struct recorder r = {.base = base, .config = config, .kernel = kernel, .side = side, .after = after};

	return start(&r, err);
}

int record_kernel(const struct base *base, const struct explore_config *config, struct x86_regs *regs, struct err *err)
{
	struct explore_config few = *config;
	struct recorder r = {.base = base, .config = &few};
	struct recorded *out;

	few.steps = KERNEL_STEPS;
	out = start(&r, err);
	if (!out)
		return -1;
	*regs = out->kernel;
	recorded_free(out);
	return regs->rip ? 0 : err_set(err, EXIT_INPUT, "program A made no system call that could be recorded");
}
