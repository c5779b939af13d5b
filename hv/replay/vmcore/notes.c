// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes the notes of an ELF core: the registers of each CPU, and the kernel's VMCOREINFO. */
#include "hv/replay/vmcore/notes.h"

#include <assert.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>

#define NOTE_ALIGN 4u
#define QEMU_VERSION 1u /* version of the format of struct qemu_cpu */
#define NO_PID 0x400001 /* above all PIDs (PID_MAX_LIMIT, include/linux/threads.h) */

/*
 * The note that QEMU adds to a core for each CPU (target/i386/arch_dump.c). It contains the control registers, for which
 * NT_PRSTATUS has no room. struct qemu_cpu is the note, and struct qemu_segment one segment register in it.
 */
struct qemu_segment {
	uint32_t selector, limit, flags, pad;
	uint64_t base;
};

struct qemu_cpu {
	uint32_t version, size;
	uint64_t rax, rbx, rcx, rdx, rsi, rdi, rsp, rbp, r8_r15[8], rip, rflags;
	struct qemu_segment cs, ds, es, fs, gs, ss, ldt, tr, gdt, idt;
	uint64_t cr[5];
	uint64_t kernel_gs_base;
};

static_assert(sizeof(struct qemu_cpu) == 440, "the size of version 1 of QEMU's CPU note");

static size_t align(size_t n)
{
	return (n + NOTE_ALIGN - 1) & ~(size_t)(NOTE_ALIGN - 1);
}

static size_t note_size(const char *name, size_t len)
{
	return sizeof(Elf64_Nhdr) + align(strlen(name) + 1) + align(len);
}

/* Write a note to `at`, which is zeroed. Returns the address for the next note. */
static uint8_t *put(uint8_t *at, const char *name, uint32_t type, const void *content, size_t len)
{
	Elf64_Nhdr header = {.n_namesz = (Elf64_Word)strlen(name) + 1, .n_descsz = (Elf64_Word)len, .n_type = type};
	uint8_t *text = at + sizeof(header), *bytes = text + align(header.n_namesz);

	memcpy(at, &header, sizeof(header));
	memcpy(text, name, header.n_namesz);
	memcpy(bytes, content, len);
	return bytes + align(len);
}

static struct user_regs_struct user_regs(const struct replay_cpu *cpu)
{
	const uint64_t *gpr = cpu->regs.gpr;

	return (struct user_regs_struct){
		.rax = gpr[X86_RAX],
		.rcx = gpr[X86_RCX],
		.rdx = gpr[X86_RDX],
		.rbx = gpr[X86_RBX],
		.rbp = gpr[X86_RBP],
		.rsi = gpr[X86_RSI],
		.rdi = gpr[X86_RDI],
		.r8 = gpr[8],
		.r9 = gpr[9],
		.r10 = gpr[10],
		.r11 = gpr[11],
		.r12 = gpr[12],
		.r13 = gpr[13],
		.r14 = gpr[14],
		.r15 = gpr[15],
		.orig_rax = UINT64_MAX, /* no system call to restart */
		.rip = cpu->regs.rip,
		.cs = cpu->regs.cs,
		.eflags = cpu->regs.rflags,
		.rsp = gpr[X86_RSP],
		.ss = cpu->regs.ss,
		.fs_base = cpu->regs.fs_base,
		.gs_base = cpu->regs.gs_base,
		.ds = cpu->ds,
		.es = cpu->es,
		.fs = cpu->fs,
		.gs = cpu->gs,
	};
}

static struct qemu_cpu qemu_cpu(const struct replay_cpu *cpu)
{
	const uint64_t *gpr = cpu->regs.gpr;
	struct qemu_cpu q = {
		.version = QEMU_VERSION,
		.size = sizeof(q),
		.rax = gpr[X86_RAX],
		.rbx = gpr[X86_RBX],
		.rcx = gpr[X86_RCX],
		.rdx = gpr[X86_RDX],
		.rsi = gpr[X86_RSI],
		.rdi = gpr[X86_RDI],
		.rsp = gpr[X86_RSP],
		.rbp = gpr[X86_RBP],
		.rip = cpu->regs.rip,
		.rflags = cpu->regs.rflags,
		.cs = {.selector = cpu->regs.cs},
		.ds = {.selector = cpu->ds},
		.es = {.selector = cpu->es},
		.fs = {.selector = cpu->fs, .base = cpu->regs.fs_base},
		.gs = {.selector = cpu->gs, .base = cpu->regs.gs_base},
		.ss = {.selector = cpu->regs.ss},
		.idt = {.limit = 0xfff, .base = cpu->regs.idt_base},
		.cr = {cpu->regs.cr0, 0, cpu->cr2, cpu->regs.cr3, cpu->regs.cr4},
		.kernel_gs_base = cpu->kernel_gs_base,
	};

	memcpy(q.r8_r15, gpr + X86_R8, sizeof(q.r8_r15));
	return q;
}

static size_t all_sizes(const struct vmcore *core)
{
	size_t each = note_size("CORE", sizeof(struct elf_prstatus)) + note_size("QEMU", sizeof(struct qemu_cpu));

	return core->count * each +
	       (core->kernel && core->kernel->info_len ? note_size("VMCOREINFO", core->kernel->info_len) : 0);
}

/*
 * Returns the PID for a CPU's NT_PRSTATUS, as kdump writes it. drgn takes the registers for those of the task with this PID, so
 * for an unknown task use a PID that no task has.
 */
static pid_t pid_of(const struct vmcore *core, unsigned cpu)
{
	return core->pids && core->pids[cpu] >= 0 ? core->pids[cpu] : NO_PID + (pid_t)cpu;
}

uint8_t *notes_make(const struct vmcore *core, size_t *len)
{
	uint8_t *notes, *at;

	*len = all_sizes(core);
	notes = at = calloc(1, *len);
	if (!notes)
		return NULL;
	for (unsigned i = 0; i < core->count; i++) {
		struct user_regs_struct regs = user_regs(&core->cpus[i]);
		struct elf_prstatus status = {.pr_pid = pid_of(core, i)};

		static_assert(sizeof(regs) == sizeof(status.pr_reg), "pr_reg is ptrace(2)'s struct user_regs_struct");
		memcpy(&status.pr_reg, &regs, sizeof(regs));
		at = put(at, "CORE", NT_PRSTATUS, &status, sizeof(status));
	}
	for (unsigned i = 0; i < core->count; i++) {
		struct qemu_cpu cpu = qemu_cpu(&core->cpus[i]);

		at = put(at, "QEMU", 0, &cpu, sizeof(cpu));
	}
	if (core->kernel && core->kernel->info_len)
		at = put(at, "VMCOREINFO", 0, core->kernel->info, core->kernel->info_len);
	assert(at == notes + *len);
	return notes;
}
