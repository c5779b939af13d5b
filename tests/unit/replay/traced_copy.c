// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/unit/replay/traced_copy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* RDI is the datum, RSI what was seen, RBX the CPU's ticks, and R12 whether to end. */
__asm__(".pushsection .text\n"
	".globl traced_store, traced_load, traced_tick\n"
	".type traced_store, @function\n"
	"traced_store:\n"
	"	movq $42, (%rdi)\n"
	"	ret\n"
	".size traced_store, . - traced_store\n"
	".type traced_load, @function\n"
	"traced_load:\n"
	"	movq (%rdi), %rax\n"
	"	movq %rax, (%rsi)\n"
	"	ret\n"
	".size traced_load, . - traced_load\n"
	".type traced_tick, @function\n"
	"traced_tick:\n"
	"	incq (%rbx)\n"
	"	cmpq $0, (%r12)\n"
	"	je traced_tick\n"
	"	movl $60, %eax\n" /* exit(0) */
	"	xorl %edi, %edi\n"
	"	syscall\n"
	".size traced_tick, . - traced_tick\n"
	".popsection\n");

/* ---- registers and memory ---- */

static void to_regs(const struct user_regs_struct *u, struct x86_regs *r)
{
	*r = (struct x86_regs){
		.gpr = {u->rax, u->rcx, u->rdx, u->rbx, u->rsp, u->rbp, u->rsi, u->rdi, u->r8, u->r9, u->r10, u->r11, u->r12,
			u->r13, u->r14, u->r15},
		.rip = u->rip,
		.rflags = u->eflags,
		.fs_base = u->fs_base,
		.gs_base = u->gs_base,
		.cs = (uint16_t)u->cs,
		.ss = (uint16_t)u->ss,
	};
}

static void from_regs(const struct x86_regs *r, struct user_regs_struct *u)
{
	unsigned long long *const at[X86_GPRS] = {
		(void *)&u->rax, (void *)&u->rcx, (void *)&u->rdx, (void *)&u->rbx, (void *)&u->rsp, (void *)&u->rbp,
		(void *)&u->rsi, (void *)&u->rdi, (void *)&u->r8,  (void *)&u->r9,  (void *)&u->r10, (void *)&u->r11,
		(void *)&u->r12, (void *)&u->r13, (void *)&u->r14, (void *)&u->r15,
	};

	for (unsigned i = 0; i < X86_GPRS; i++)
		*at[i] = r->gpr[i];
	u->rip = r->rip;
	u->eflags = r->rflags;
}

static void get_regs(void *ctx, unsigned cpu, struct x86_regs *out)
{
	struct traced *t = ctx;
	struct user_regs_struct u = {0};

	if (!t->gone[cpu])
		assert_int_equal(ptrace(PTRACE_GETREGS, t->cpu[cpu], NULL, &u), 0);
	to_regs(&u, out);
}

static int get(void *ctx, unsigned cpu, struct replay_cpu *out, struct err *err)
{
	struct traced *t = ctx;

	(void)err;
	*out = (struct replay_cpu){0};
	get_regs(t, cpu, &out->regs);
	if (!t->gone[cpu])
		assert_int_equal(ptrace(PTRACE_GETFPREGS, t->cpu[cpu], NULL, out->fx), 0);
	return 0;
}

static int set(void *ctx, unsigned cpu, const struct replay_cpu *in, struct err *err)
{
	struct traced *t = ctx;
	struct user_regs_struct u;

	if (ptrace(PTRACE_GETREGS, t->cpu[cpu], NULL, &u) < 0)
		return err_set(err, EXIT_INTERNAL, "CPU %u is gone", cpu);
	from_regs(&in->regs, &u);
	assert_int_equal(ptrace(PTRACE_SETREGS, t->cpu[cpu], NULL, &u), 0);
	assert_int_equal(ptrace(PTRACE_SETFPREGS, t->cpu[cpu], NULL, in->fx), 0);
	return 0;
}

static size_t read_memory(void *ctx, unsigned cpu, uint64_t gva, void *out, size_t len)
{
	struct traced *t = ctx;
	struct iovec here = {out, len}, there = {(void *)gva, len};
	ssize_t n = process_vm_readv(t->cpu[cpu], &here, 1, &there, 1, 0);

	return n > 0 ? (size_t)n : 0;
}

static size_t write_memory(void *ctx, unsigned cpu, uint64_t gva, const void *in, size_t len)
{
	struct traced *t = ctx;
	struct iovec here = {(void *)in, len}, there = {(void *)gva, len};
	ssize_t n = process_vm_writev(t->cpu[cpu], &here, 1, &there, 1, 0);

	return n > 0 ? (size_t)n : 0;
}

/* ---- debug registers ---- */

static void poke_debug(const struct traced *t, unsigned cpu, unsigned reg, uint64_t value)
{
	assert_int_equal(ptrace(PTRACE_POKEUSER, t->cpu[cpu], offsetof(struct user, u_debugreg) + 8 * reg, value), 0);
}

static bool watch(void *ctx, const struct gdb_point *points, size_t count, bool breakpoints)
{
	struct traced *t = ctx;

	if (!watches_load(&t->watches, points, count, breakpoints))
		return false;
	for (unsigned cpu = 0; cpu < 2; cpu++) {
		if (t->gone[cpu])
			continue;
		poke_debug(t, cpu, 7, 0);
		for (unsigned i = 0; i < t->watches.used; i++)
			poke_debug(t, cpu, i, t->watches.registers.address[i]);
		poke_debug(t, cpu, 7, t->watches.registers.dr7);
	}
	return true;
}

static int hit(void *ctx)
{
	const struct traced *t = ctx;

	return watches_hit(&t->watches, t->hits);
}

static void take_hits(struct traced *t, unsigned cpu)
{
	t->hits = (unsigned)ptrace(PTRACE_PEEKUSER, t->cpu[cpu], offsetof(struct user, u_debugreg) + 8 * 6, 0) & 15;
	poke_debug(t, cpu, 6, 0);
}

/* ---- going on ---- */

/* A stop that PTRACE_INTERRUPT has asked for, and not a trap. */
static bool was_interrupted(int status)
{
	return status >> 16 == PTRACE_EVENT_STOP;
}

static enum copy_step step(void *ctx, unsigned cpu, struct x86_regs *regs)
{
	struct traced *t = ctx;
	int status;

	t->hits = 0;
	if (t->gone[cpu])
		return COPY_ENDED;
	/* A stop that was asked for after the last slice had ended by itself comes first. */
	do {
		assert_int_equal(ptrace(PTRACE_SINGLESTEP, t->cpu[cpu], NULL, NULL), 0);
		assert_int_equal(waitpid(t->cpu[cpu], &status, 0), t->cpu[cpu]);
	} while (WIFSTOPPED(status) && was_interrupted(status));
	t->gone[cpu] = !WIFSTOPPED(status);
	get_regs(t, cpu, regs);
	if (t->gone[cpu])
		return COPY_ENDED;
	take_hits(t, cpu);
	return COPY_STEPPED;
}

static enum copy_step slice(void *ctx, unsigned cpu)
{
	static const struct timespec nap = {.tv_nsec = 1000000};
	struct traced *t = ctx;
	int status;

	t->hits = 0;
	if (t->gone[cpu])
		return COPY_ENDED;
	assert_int_equal(ptrace(PTRACE_CONT, t->cpu[cpu], NULL, NULL), 0);
	nanosleep(&nap, NULL);
	ptrace(PTRACE_INTERRUPT, t->cpu[cpu], NULL, NULL);
	assert_int_equal(waitpid(t->cpu[cpu], &status, 0), t->cpu[cpu]);
	t->gone[cpu] = !WIFSTOPPED(status);
	if (t->gone[cpu])
		return COPY_ENDED;
	take_hits(t, cpu);
	return was_interrupted(status) ? COPY_HALTED : COPY_STEPPED;
}

static void why(void *ctx, char out[GDB_TEXT_MAX])
{
	(void)ctx;
	snprintf(out, GDB_TEXT_MAX, "The machine has ended: a CPU has gone.");
}

static void console(void *ctx, char out[GDB_ANSWER_MAX])
{
	(void)ctx;
	snprintf(out, GDB_ANSWER_MAX, "nothing was said\n");
}

/* ---- start and end ---- */

static pid_t start_cpu(void)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0)
		for (;;) /* Not a system call, which would be made again. */
			__asm__ volatile("pause");
	assert_int_equal(ptrace(PTRACE_SEIZE, pid, NULL, PTRACE_O_EXITKILL), 0);
	assert_int_equal(ptrace(PTRACE_INTERRUPT, pid, NULL, NULL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSTOPPED(status));
	return pid;
}

/* Let the CPU stand before its access, in a function that was called from the loop. */
static void place(struct traced *t, unsigned cpu, const char *pc)
{
	struct traced_memory *m = t->memory;
	uint64_t *top = (uint64_t *)(m->stacks[cpu] + sizeof(m->stacks[cpu])) - 8;
	struct user_regs_struct u;

	*top = (uint64_t)traced_tick;
	assert_int_equal(ptrace(PTRACE_GETREGS, t->cpu[cpu], NULL, &u), 0);
	u.rip = (uint64_t)pc;
	u.rsp = (uint64_t)top;
	u.rdi = (uint64_t)&m->datum;
	u.rsi = (uint64_t)&m->seen;
	u.rbx = (uint64_t)&m->ticks[cpu];
	u.r12 = (uint64_t)&m->quit;
	assert_int_equal(ptrace(PTRACE_SETREGS, t->cpu[cpu], NULL, &u), 0);
	t->race.order.sides[cpu] = (struct order_side){
		.cpu = cpu,
		.pc = (uint64_t)pc,
		.limits = {.return_address = (uint64_t)traced_tick, .cfa = (uint64_t)(top + 1), .instructions = 100000},
	};
}

void traced_start(struct traced *t, unsigned first)
{
	*t = (struct traced){0};
	t->memory = mmap(NULL, sizeof(*t->memory), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(t->memory, MAP_FAILED);
	t->memory->datum = TRACED_OLD;
	t->copy = (struct race_copy){
		.cpus = 2,
		.steps = {.step = step, .regs = get_regs, .ctx = t},
		.get = get,
		.set = set,
		.read = read_memory,
		.write = write_memory,
		.watch = watch,
		.hit = hit,
		.slice = slice,
		.console = console,
		.why = why,
		.ctx = t,
	};
	t->race.copy = &t->copy;
	t->race.order.first = first;
	t->race.who[0] = "writer/1";
	t->race.who[1] = "reader/2";
	t->race.intro = "a store and a load of the same datum\n";
	for (unsigned cpu = 0; cpu < 2; cpu++)
		t->cpu[cpu] = start_cpu();
	place(t, 0, traced_store);
	place(t, 1, traced_load);
	race_begin(&t->race);
}

void traced_end(struct traced *t)
{
	for (unsigned cpu = 0; cpu < 2; cpu++) {
		if (t->gone[cpu])
			continue;
		kill(t->cpu[cpu], SIGKILL);
		waitpid(t->cpu[cpu], NULL, 0);
	}
	munmap(t->memory, sizeof(*t->memory));
}
