// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes and runs a copy of the machine on KVM. Single steps use KVM_GUESTDBG_SINGLESTEP, which sets the trap flag
 * (Documentation/virt/kvm/api.rst, KVM_SET_GUEST_DEBUG). The flag is set again for each step, because POPF and IRET clear it.
 * PUSHF saves the flag, and the guest would trap when it restores the saved flags, so the trap flag is cleared in the saved
 * flags. KVM_GUESTDBG_BLOCKIRQ blocks interrupts.
 */
#include "hv/replay/copy.h"

#include <errno.h>
#include <linux/kvm.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "hv/base/linux_image.h"
#include "hv/replay/free_clock.h"
#include "hv/replay/shared.h"
#include "hv/vmm/host.h"

#define PUSHF 0x9cu
#define HLT 0xf4u
#define TRAP_FLAG (1u << 8)
#define DR6_HIT 0xfu /* one bit for each debug register (B0 to B3) */

/* A kick is sent every 5 s. A step that gets two kicks has taken longer than 5 s, and is given up. */
#define KICK_SECONDS 5
#define KICKS_MAX 2

static int on_debug(void *ctx, struct vcpu *vcpu, struct err *err)
{
	struct copy *c = ctx;

	(void)err;
	c->stepped = true;
	c->hits = vcpu->run->debug.arch.dr6 & DR6_HIT;
	return 0;
}

static int on_kick(void *ctx, struct vcpu *vcpu, struct err *err)
{
	struct copy *c = ctx;

	(void)vcpu;
	(void)err;
	c->kicks++;
	return 0;
}

static void kick_every(struct copy *c, uint64_t ns)
{
	const struct timespec time = {.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};
	const struct itimerspec every = {.it_interval = time, .it_value = time};

	timer_settime(c->timer, 0, &every, NULL);
}

/* Start the timer that kicks this thread. The timer is periodic, so that not every step has to set a timer. */
static int start_kicks(struct copy *c, struct err *err)
{
	struct sigevent event = {
		.sigev_notify = SIGEV_THREAD_ID,
		.sigev_signo = vcpu_kick_signal(),
		._sigev_un._tid = gettid(),
	};
	sigset_t kick;

	sigemptyset(&kick);
	sigaddset(&kick, vcpu_kick_signal());
	pthread_sigmask(SIG_UNBLOCK, &kick, NULL);
	if (timer_create(CLOCK_MONOTONIC, &event, &c->timer) < 0)
		return err_set(err, EXIT_INTERNAL, "copy: timer_create: %s", strerror(errno));
	c->timer_made = true;
	kick_every(c, KICK_SECONDS * 1000000000ull);
	return 0;
}

static void stop_kicks(struct copy *c)
{
	if (c->timer_made)
		timer_delete(c->timer);
	c->timer_made = false;
}

static int fd_of(struct copy *c, unsigned cpu)
{
	return vm_vcpu(c->vm, cpu)->fd;
}

int copy_open(struct copy *c, const struct vm_state *state, const struct ram *ram, const struct vm_copy_config *from,
	      struct err *err)
{
	struct vm_copy_config config = *from;

	config.log_dirty = true;
	config.callbacks = &c->callbacks;
	*c = (struct copy){.ram = *ram, .callbacks = {.on_debug = on_debug, .on_kick = on_kick, .ctx = c}};
	if (from->kvm_fd >= 0 && !host_blocks_interrupts(from->kvm_fd))
		return err_set(
			err, EXIT_INPUT,
			"copy: this host's KVM does not keep interrupts away from single steps; Linux 5.16 and newer do");
	c->vm = vm_copy_new(state, ram, &config, err);
	if (!c->vm)
		return -1;
	for (unsigned cpu = 0; cpu < vm_cpu_count(c->vm); cpu++) {
		/* After each exit, the general registers are in struct kvm_run (api.rst, section 5). */
		vm_vcpu(c->vm, cpu)->run->kvm_valid_regs = KVM_SYNC_X86_REGS;
		if (shared_give_back_interrupt(fd_of(c, cpu), err) < 0)
			return -1;
	}
	return start_kicks(c, err);
}

void copy_close(struct copy *c)
{
	stop_kicks(c);
	vm_destroy(c->vm);
}

/* ---- registers and memory ---- */

/* Copy the general registers to KVM's struct kvm_regs, which orders them differently. */
static void to_kvm(const struct x86_regs *r, struct kvm_regs *k)
{
	*k = (struct kvm_regs){
		.rax = r->gpr[X86_RAX],
		.rcx = r->gpr[X86_RCX],
		.rdx = r->gpr[X86_RDX],
		.rbx = r->gpr[X86_RBX],
		.rsp = r->gpr[X86_RSP],
		.rbp = r->gpr[X86_RBP],
		.rsi = r->gpr[X86_RSI],
		.rdi = r->gpr[X86_RDI],
		.rip = r->rip,
		.rflags = r->rflags,
	};
	memcpy(&k->r8, &r->gpr[X86_R8], 8 * sizeof(k->r8));
}

static void from_kvm(const struct kvm_regs *k, struct x86_regs *r)
{
	r->gpr[X86_RAX] = k->rax;
	r->gpr[X86_RCX] = k->rcx;
	r->gpr[X86_RDX] = k->rdx;
	r->gpr[X86_RBX] = k->rbx;
	r->gpr[X86_RSP] = k->rsp;
	r->gpr[X86_RBP] = k->rbp;
	r->gpr[X86_RSI] = k->rsi;
	r->gpr[X86_RDI] = k->rdi;
	memcpy(&r->gpr[X86_R8], &k->r8, 8 * sizeof(k->r8));
	r->rip = k->rip;
	r->rflags = k->rflags;
}

void copy_special_regs(const struct kvm_sregs *s, struct x86_regs *r)
{
	r->cr0 = s->cr0;
	r->cr3 = s->cr3;
	r->cr4 = s->cr4;
	r->efer = s->efer;
	r->fs_base = s->fs.base;
	r->gs_base = s->gs.base;
	r->idt_base = s->idt.base;
	r->cs = s->cs.selector;
	r->ss = s->ss.selector;
}

static void get_regs(void *ctx, unsigned cpu, struct x86_regs *regs)
{
	struct copy *c = ctx;
	struct kvm_regs k = {0};

	*regs = (struct x86_regs){0};
	if (ioctl(fd_of(c, cpu), KVM_GET_REGS, &k) < 0)
		err_set(&c->err, EXIT_INTERNAL, "copy: KVM_GET_REGS: %s", strerror(errno));
	from_kvm(&k, regs);
}

int copy_set_regs(struct copy *c, unsigned cpu, const struct x86_regs *regs, struct err *err)
{
	struct kvm_regs k;

	to_kvm(regs, &k);
	if (ioctl(fd_of(c, cpu), KVM_SET_REGS, &k) < 0)
		return err_set(err, EXIT_INTERNAL, "copy: KVM_SET_REGS: %s", strerror(errno));
	return 0;
}

uint8_t *copy_at(struct copy *c, unsigned cpu, uint64_t gva, uint64_t *gpa)
{
	struct kvm_translation t = {.linear_address = gva};

	if (ioctl(fd_of(c, cpu), KVM_TRANSLATE, &t) < 0 || !t.valid)
		return NULL;
	if (gpa)
		*gpa = t.physical_address;
	return ram_at(&c->ram, t.physical_address, 1);
}

/* ---- steps ---- */

void copy_stop_at(struct copy *c, unsigned number, uint64_t pc)
{
	if (!pc)
		return;
	c->watches.address[number] = pc;
	/* The global enable bit (G0 to G3) enables the register in every task. */
	c->watches.dr7 |= x86_dr7_condition(number, X86_DR_EXECUTE, 1) | UINT64_C(2) << 2 * number;
}

/* What KVM_SET_GUEST_DEBUG has to set for a single step. */
#define SINGLE_STEP (KVM_GUESTDBG_ENABLE | KVM_GUESTDBG_SINGLESTEP | KVM_GUESTDBG_BLOCKIRQ)

static int set_debug(struct copy *c, unsigned cpu, uint32_t control)
{
	struct kvm_guest_debug debug = {.control = control};

	if (c->watches.dr7) {
		debug.control |= KVM_GUESTDBG_ENABLE | KVM_GUESTDBG_USE_HW_BP;
		memcpy(debug.arch.debugreg, c->watches.address, sizeof(c->watches.address));
		debug.arch.debugreg[7] = c->watches.dr7;
	}
	if (ioctl(fd_of(c, cpu), KVM_SET_GUEST_DEBUG, &debug) < 0)
		return err_set(&c->err, EXIT_INTERNAL, "copy: KVM_SET_GUEST_DEBUG: %s", strerror(errno));
	return 0;
}

/* Clear the trap flag, which was set for the single step, in the flags that PUSHF has saved. */
static void clear_saved_flag(struct copy *c, unsigned cpu, uint64_t rsp)
{
	uint8_t *second = copy_at(c, cpu, rsp + 1, NULL);

	if (second)
		*second &= (uint8_t) ~(TRAP_FLAG >> 8);
}

/* Enter the guest until the step is done. Meanwhile, devices serve the guest's accesses to them. */
static enum copy_step enter(struct copy *c, unsigned cpu)
{
	struct vcpu *vcpu = vm_vcpu(c->vm, cpu);
	enum vm_end end;

	c->stepped = false;
	c->kicks = 0;
	c->hits = 0;
	while (!c->stepped) {
		if (vcpu_enter(vcpu, &c->err) < 0)
			return COPY_FAILED;
		if (vm_ended(c->vm, &end))
			return COPY_ENDED;
		if (c->kicks >= KICKS_MAX)
			return COPY_LOST;
	}
	return COPY_STEPPED;
}

const uint8_t *copy_text(struct copy *c, unsigned cpu, uint64_t pc)
{
	uint64_t page = pc & ~(uint64_t)(X86_PAGE_SIZE - 1);
	unsigned at = (unsigned)(page / X86_PAGE_SIZE % COPY_TEXT_PAGES);
	const uint8_t *code;

	if (pc < LINUX_IMAGE_START || pc >= LINUX_IMAGE_END)
		return NULL;
	if (c->text[at].host && page == c->text[at].gva)
		return c->text[at].host + (pc - page);
	code = copy_at(c, cpu, pc, NULL);
	if (!code)
		return NULL;
	c->text[at].gva = page;
	c->text[at].host = code - (pc - page);
	return code;
}

/* Returns the first byte of the instruction at `rip`, or 0 if it is not mapped. */
static uint8_t first_byte(struct copy *c, unsigned cpu, uint64_t rip)
{
	const uint8_t *code = copy_text(c, cpu, rip);

	if (!code)
		code = copy_at(c, cpu, rip, NULL);
	return code ? *code : 0;
}

static enum copy_step step(void *ctx, unsigned cpu, struct x86_regs *regs)
{
	struct copy *c = ctx;
	uint8_t first = first_byte(c, cpu, regs->rip);
	enum copy_step step;

	/*
	 * Do not execute HLT: KVM would let the CPU sleep in the host's kernel until an interrupt, and interrupts are blocked.
	 */
	if (first == HLT)
		return COPY_HALTED;
	if (set_debug(c, cpu, SINGLE_STEP) < 0)
		return COPY_FAILED;
	step = enter(c, cpu);
	from_kvm(&vm_vcpu(c->vm, cpu)->run->s.regs.regs, regs);
	if (step == COPY_STEPPED && first == PUSHF)
		clear_saved_flag(c, cpu, regs->gpr[X86_RSP]);
	return c->err.code == EXIT_OK ? step : COPY_FAILED;
}

/* Inject a #DB of the guest's own, such as from a debugger in the guest, into the guest. */
static int give_to_guest(const struct copy *c, int fd, uint32_t control, struct err *err)
{
	struct kvm_guest_debug debug = {.control = control | KVM_GUESTDBG_ENABLE | KVM_GUESTDBG_USE_HW_BP |
						   KVM_GUESTDBG_INJECT_DB};

	memcpy(debug.arch.debugreg, c->watches.address, sizeof(c->watches.address));
	debug.arch.debugreg[7] = c->watches.dr7;
	if (ioctl(fd, KVM_SET_GUEST_DEBUG, &debug) < 0)
		return err_set(err, EXIT_INTERNAL, "copy: KVM_SET_GUEST_DEBUG: %s", strerror(errno));
	return 0;
}

static enum copy_step enter_freely(struct copy *c, unsigned cpu)
{
	enum vm_end end;

	c->kicks = 0;
	c->hits = 0;
	while (!c->hits && !c->kicks) {
		c->stepped = false;
		if (vcpu_enter(vm_vcpu(c->vm, cpu), &c->err) < 0)
			return COPY_FAILED;
		if (vm_ended(c->vm, &end))
			return COPY_ENDED;
		if (c->stepped && !c->hits && give_to_guest(c, fd_of(c, cpu), 0, &c->err) < 0)
			return COPY_FAILED;
	}
	return c->hits ? COPY_STEPPED : COPY_HALTED;
}

enum copy_step copy_slice(struct copy *c, unsigned cpu, uint64_t ns)
{
	enum copy_step step;

	if (set_debug(c, cpu, 0) < 0)
		return COPY_FAILED;
	/* Kick periodically: a kick that comes before KVM_RUN has no effect, but the next kick has. */
	kick_every(c, ns);
	step = enter_freely(c, cpu);
	kick_every(c, KICK_SECONDS * 1000000000ull);
	return step;
}

/* Enter the guest until the CPU hits a debug register. */
static enum copy_step enter_to_hit(struct copy *c, unsigned cpu)
{
	enum vm_end end;

	c->kicks = 0;
	c->hits = 0;
	while (!c->hits) {
		c->stepped = false;
		if (vcpu_enter(vm_vcpu(c->vm, cpu), &c->err) < 0)
			return COPY_FAILED;
		if (vm_ended(c->vm, &end))
			return COPY_ENDED;
		if (c->kicks >= KICKS_MAX)
			return COPY_HALTED;
		if (c->stepped && !c->hits && give_to_guest(c, fd_of(c, cpu), KVM_GUESTDBG_BLOCKIRQ, &c->err) < 0)
			return COPY_FAILED;
	}
	return COPY_STEPPED;
}

enum copy_step copy_run_to(struct copy *c, unsigned cpu, uint64_t pc, struct x86_regs *regs)
{
	enum copy_step step = COPY_FAILED;

	copy_stop_at(c, 0, pc);
	if (set_debug(c, cpu, KVM_GUESTDBG_ENABLE | KVM_GUESTDBG_BLOCKIRQ) == 0)
		step = enter_to_hit(c, cpu);
	c->watches = (struct copy_watches){0};
	from_kvm(&vm_vcpu(c->vm, cpu)->run->s.regs.regs, regs);
	return step;
}

struct copy_ops copy_steps(struct copy *c)
{
	return (struct copy_ops){.step = step, .regs = get_regs, .ctx = c};
}

/* ---- the effects of a run ---- */

/* Record memory below RSP on the side's stack as dead: the stack grows down, so this memory is not in use. */
static void take_dead(struct copy *c, unsigned cpu, uint64_t rsp, struct compare_run *run)
{
	for (uint64_t gva = rsp & ~(LINUX_STACK_SIZE - 1); gva < rsp; gva += X86_PAGE_SIZE) {
		uint64_t len = rsp - gva < X86_PAGE_SIZE ? rsp - gva : X86_PAGE_SIZE, gpa;

		if (copy_at(c, cpu, gva, &gpa) && run->dead_count < COMPARE_DEAD_MAX)
			run->dead[run->dead_count++] = (struct compare_range){.gpa = gpa, .len = len};
	}
}

static void take_shared(struct copy *c, struct compare_run *run)
{
	struct compare_range areas[SHARED_MAX];

	for (unsigned cpu = 0; cpu < vm_cpu_count(c->vm); cpu++) {
		unsigned n = shared_areas(fd_of(c, cpu), areas);

		for (unsigned i = 0; i < n && run->dead_count < COMPARE_DEAD_MAX; i++)
			run->dead[run->dead_count++] = areas[i];
	}
}

static void take_page(struct copy *c, uint64_t page, struct compare_run *run)
{
	if (run->page_count == COMPARE_PAGES_MAX) {
		run->too_many = true;
		return;
	}
	run->page_gpa[run->page_count] = ram_gpa(&c->ram, page * X86_PAGE_SIZE);
	memcpy(run->page[run->page_count], c->ram.host + page * X86_PAGE_SIZE, X86_PAGE_SIZE);
	run->page_count++;
}

int copy_take_down(struct copy *c, const struct order *order, struct compare_run *run, struct err *err)
{
	size_t pages = (c->ram.low + c->ram.high) / X86_PAGE_SIZE, words = (pages + 63) / 64;
	uint64_t *bitmap = calloc(words, sizeof(*bitmap));
	int rc;

	if (!bitmap)
		return err_set(err, EXIT_INTERNAL, "copy: out of memory");
	rc = vm_copy_dirty(c->vm, bitmap, words, err);
	for (size_t word = 0; rc == 0 && word < words; word++)
		for (uint64_t bits = bitmap[word]; bits; bits &= bits - 1)
			take_page(c, word * 64 + (unsigned)__builtin_ctzll(bits), run);
	free(bitmap);
	for (unsigned side = 0; side < 2; side++)
		take_dead(c, order->sides[side].cpu, run->order.regs[side].gpr[X86_RSP], run);
	take_shared(c, run);
	return rc;
}

/* ---- the free run ---- */

static enum replay_machine end_of_machine(enum vm_end end)
{
	switch (end) {
	case VM_END_POWEROFF:
	case VM_END_REBOOT:
		return REPLAY_MACHINE_OFF;
	case VM_END_PANIC:
		return REPLAY_MACHINE_PANIC;
	case VM_END_TRIPLE_FAULT:
	case VM_END_INTERNAL:
		return REPLAY_MACHINE_TRIPLE_FAULT;
	case VM_END_STOPPED:
		break;
	}
	return REPLAY_MACHINE_RUNS;
}

void copy_on_hit(struct copy *c, void (*on_hit)(void *ctx, unsigned cpu), void *ctx)
{
	c->on_hit = on_hit;
	c->on_hit_ctx = ctx;
	for (unsigned cpu = 0; cpu < vm_cpu_count(c->vm); cpu++)
		vm_vcpu(c->vm, cpu)->run->kvm_valid_regs |= KVM_SYNC_X86_SREGS;
}

void copy_exit_regs(struct copy *c, unsigned cpu, struct x86_regs *regs)
{
	const struct kvm_run *run = vm_vcpu(c->vm, cpu)->run;

	from_kvm(&run->s.regs.regs, regs);
	copy_special_regs(&run->s.regs.sregs, regs);
}

/*
 * A vCPU's thread calls this at a debug exit while the copy runs freely. Sets RF, so that the breakpoint does not stop the CPU
 * at the same instruction again.
 */
static int on_free_debug(void *ctx, struct vcpu *vcpu, struct err *err)
{
	struct copy *c = ctx;

	if (!(vcpu->run->debug.arch.dr6 & DR6_HIT))
		return give_to_guest(c, vcpu->fd, 0, err);
	c->on_hit(c->on_hit_ctx, vcpu->index);
	vcpu->run->s.regs.regs.rflags |= X86_RFLAGS_RF;
	vcpu->run->kvm_dirty_regs |= KVM_SYNC_X86_REGS;
	return 0;
}

enum replay_machine copy_run_freely(struct copy *c, unsigned cpus, uint64_t ns)
{
	const struct vm_callbacks callbacks = {.on_debug = on_free_debug, .ctx = c};
	struct free_clock clock;
	enum vm_end end = VM_END_STOPPED;
	int rc;

	stop_kicks(c);
	for (unsigned cpu = 0; cpu < cpus; cpu++)
		if (set_debug(c, cpu, 0) < 0)
			return REPLAY_MACHINE_NOT_RUN;
	if (free_clock_start(&clock, c->vm, &c->ram, ns) < 0)
		return REPLAY_MACHINE_NOT_RUN;
	rc = vm_run(c->vm, c->on_hit ? &callbacks : NULL, &end, &c->err);
	free_clock_end(&clock);
	return rc < 0 ? REPLAY_MACHINE_NOT_RUN : end_of_machine(end);
}
