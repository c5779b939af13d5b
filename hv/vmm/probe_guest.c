/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes and runs the tiny guest of the host self-test: its memory, its code, and its vCPU, which is reset before each snippet
 * of code.
 */
#include "hv/vmm/probe_guest.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hv/vmm/cpuid.h"
#include "hv/vmm/host.h"
#include "hv/vmm/one_msr.h"

#define MEMORY_SIZE 0x10000u
#define PML4 0x1000ull
#define PDPT 0x2000ull
#define PD 0x3000ull
#define GDT 0x4000ull
#define IDT 0x5000ull
#define STACK_TOP 0x8000ull
#define CODE 0x9000ull

#define MSR_TSC 0x10u

#define PORT_DONE 0xd0
#define PORT_DB 0xd1
#define PORT_BP 0xd3

/*
 * The guest's code, which is position-independent. The #DB handler leaves DR6 in RAX. A handler never returns, because the CPU
 * is reset before each snippet. The port numbers in the code are the constants above, and 0x6000 is PROBE_DATA.
 */
__asm__(".pushsection .rodata\n"
	"probe_code:\n"
	"probe_done:\n"
	"	outb %al, $0xd0\n"
	"	jmp probe_done\n"
	"probe_db:\n"
	"	mov %dr6, %rax\n"
	"	outb %al, $0xd1\n"
	"	jmp probe_db\n"
	"probe_bp:\n"
	"	nop\n"
	"	outb %al, $0xd3\n"
	"	jmp probe_bp\n"
	"probe_int3:\n"
	"	int3\n"
	"	jmp probe_done\n"
	"probe_nops:\n"
	"	nop\n"
	"	nop\n"
	"	nop\n"
	"	jmp probe_done\n"
	"probe_read:\n"
	"	movl 0x6000, %eax\n"
	"probe_write:\n"
	"	movl %ebx, 0x6000\n"
	"probe_write_end:\n"
	"	jmp probe_done\n"
	"probe_write4:\n"
	"	movb %bl, 0x6001\n"
	"	movw %bx, 0x6002\n"
	"	movl %ebx, 0x6004\n"
	"	movq %rbx, 0x6008\n"
	"	jmp probe_done\n"
	"probe_code_end:\n"
	".popsection\n");

extern const uint8_t probe_code[], probe_done[], probe_db[], probe_bp[], probe_int3[], probe_nops[], probe_read[],
	probe_write[], probe_write_end[], probe_write4[], probe_code_end[];

static uint64_t address_of(const uint8_t *label)
{
	return CODE + ((uintptr_t)label - (uintptr_t)probe_code);
}

uint64_t probe_guest_snippet(enum probe_snippet snippet)
{
	const uint8_t *const labels[SNIPPETS] = {
		[SNIPPET_DONE] = probe_done, [SNIPPET_INT3] = probe_int3,   [SNIPPET_NOPS] = probe_nops,
		[SNIPPET_READ] = probe_read, [SNIPPET_WRITE] = probe_write, [SNIPPET_WRITE4] = probe_write4,
	};

	return address_of(labels[snippet]);
}

uint64_t probe_guest_bp_handler(void)
{
	return address_of(probe_bp);
}

uint64_t probe_guest_after_store(void)
{
	return address_of(probe_write_end);
}

bool probe_guest_frame(const struct probe_guest *g, const struct kvm_regs *regs, struct probe_frame *out)
{
	if (regs->rsp > MEMORY_SIZE - sizeof(*out))
		return false;
	memcpy(out, g->memory + regs->rsp, sizeof(*out));
	return true;
}

uint64_t probe_dr7(unsigned reg, enum x86_dr_type type, unsigned len)
{
	return 1ull << 2 * reg | x86_dr7_condition(reg, type, len) | 1ull << 10;
}

/* Write a 64-bit interrupt gate (SDM vol. 3, figure 6-8) for a handler at `target` in the code segment 8. */
static void set_gate(uint8_t *memory, unsigned vector, uint64_t target)
{
	uint64_t gate[2] = {(target & 0xffff) | 8ull << 16 | 0x8e00ull << 32 | (target >> 16 & 0xffff) << 48, target >> 32};

	memcpy(memory + IDT + 16ull * vector, gate, sizeof(gate));
}

static void put64(uint8_t *memory, uint64_t gpa, uint64_t value)
{
	memcpy(memory + gpa, &value, sizeof(value));
}

static void write_memory(uint8_t *memory)
{
	put64(memory, PML4, PDPT | 3);
	put64(memory, PDPT, PD | 3);
	put64(memory, PD, 0x83); /* one page of 2 MiB; only its first 64 KiB exist */
	put64(memory, GDT + 8, 0x00af9b000000ffff);
	put64(memory, GDT + 16, 0x00cf93000000ffff);
	set_gate(memory, 1, address_of(probe_db));
	set_gate(memory, 3, address_of(probe_bp));
	memcpy(memory + CODE, probe_code, (uintptr_t)probe_code_end - (uintptr_t)probe_code);
}

static int add_memory(struct probe_guest *g, struct err *err)
{
	struct kvm_userspace_memory_region region = {.memory_size = MEMORY_SIZE};
	void *map = mmap(NULL, MEMORY_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		return err_set(err, EXIT_INTERNAL, "cannot map the test guest's memory: %s", strerror(errno));
	g->memory = map;
	write_memory(g->memory);
	region.userspace_addr = (uintptr_t)map;
	if (ioctl(g->vm_fd, KVM_SET_USER_MEMORY_REGION, &region) < 0)
		return err_set(err, EXIT_INPUT, "/dev/kvm: KVM_SET_USER_MEMORY_REGION failed: %s", strerror(errno));
	return 0;
}

int probe_guest_create(struct probe_guest *g, struct err *err)
{
	struct cpuid_table cpuid;

	g->kvm_fd = host_open(err);
	if (g->kvm_fd < 0)
		return -1;
	g->vm_fd = host_create_vm(g->kvm_fd, err);
	if (g->vm_fd < 0 || add_memory(g, err) < 0)
		return -1;
	g->vcpu.fd = host_create_vcpu(g->kvm_fd, g->vm_fd, 0, &g->vcpu.run, &g->run_size, err);
	if (g->vcpu.fd < 0 || cpuid_supported(g->kvm_fd, &cpuid, err) < 0)
		return -1;
	cpuid_for_cpu(&cpuid, 0, 1, false);
	if (ioctl(g->vcpu.fd, KVM_SET_CPUID2, &cpuid) < 0)
		return err_set(err, EXIT_INPUT, "/dev/kvm: KVM_SET_CPUID2 failed: %s", strerror(errno));
	return 0;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

void probe_guest_destroy(struct probe_guest *g)
{
	if (g->vcpu.run)
		munmap(g->vcpu.run, g->run_size);
	close_fd(g->vcpu.fd);
	close_fd(g->vm_fd);
	close_fd(g->kvm_fd);
	if (g->memory)
		munmap(g->memory, MEMORY_SIZE);
}

static void long_mode(struct kvm_sregs *sregs)
{
	struct kvm_segment seg = {.limit = 0xffffffff, .present = 1, .s = 1, .g = 1};

	seg.selector = 8;
	seg.type = 11;
	seg.l = 1;
	sregs->cs = seg;
	seg.selector = 16;
	seg.type = 3;
	seg.l = 0;
	seg.db = 1;
	sregs->ds = sregs->es = sregs->fs = sregs->gs = sregs->ss = seg;
	sregs->gdt.base = GDT;
	sregs->gdt.limit = 23;
	sregs->idt.base = IDT;
	sregs->idt.limit = 16 * 32 - 1;
	sregs->cr0 = 0x80000031; /* PG, NE, ET, PE */
	sregs->cr3 = PML4;
	sregs->cr4 = 1 << 5;		/* PAE */
	sregs->efer = 1 << 8 | 1 << 10; /* LME, LMA */
}

int probe_guest_reset(struct probe_guest *g, enum probe_snippet snippet)
{
	struct kvm_regs regs = {.rip = probe_guest_snippet(snippet), .rflags = 2, .rsp = STACK_TOP, .rbx = 0x5a5a5a5a5a5a5a5a};
	struct kvm_guest_debug none = {0};
	struct kvm_debugregs debug = {.dr6 = 0xffff0ff0, .dr7 = 0x400};
	struct kvm_vcpu_events events = {0};
	struct kvm_mp_state runnable = {.mp_state = KVM_MP_STATE_RUNNABLE};
	int fd = g->vcpu.fd;
	struct kvm_sregs sregs;

	if (ioctl(fd, KVM_GET_SREGS, &sregs) < 0)
		return -1;
	long_mode(&sregs);
	if (ioctl(fd, KVM_SET_GUEST_DEBUG, &none) < 0 || ioctl(fd, KVM_SET_VCPU_EVENTS, &events) < 0 ||
	    ioctl(fd, KVM_SET_MP_STATE, &runnable) < 0 || ioctl(fd, KVM_SET_SREGS, &sregs) < 0 ||
	    ioctl(fd, KVM_SET_DEBUGREGS, &debug) < 0 || ioctl(fd, KVM_SET_REGS, &regs) < 0)
		return -1;
	return 0;
}

int probe_guest_debug(struct probe_guest *g, uint32_t control, const uint64_t dr[4], uint64_t dr7)
{
	struct kvm_guest_debug debug = {.control = KVM_GUESTDBG_ENABLE | control};

	if (dr)
		memcpy(debug.arch.debugreg, dr, 4 * sizeof(dr[0]));
	debug.arch.debugreg[7] = dr7;
	return ioctl(g->vcpu.fd, KVM_SET_GUEST_DEBUG, &debug);
}

int probe_guest_tsc(const struct probe_guest *g, uint64_t *tsc)
{
	return one_msr_get(g->vcpu.fd, MSR_TSC, tsc) ? 0 : -1;
}

static void on_port(const struct kvm_run *run, struct probe_result *out)
{
	switch (run->io.port) {
	case PORT_DONE:
		out->outcome = OUTCOME_DONE;
		break;
	case PORT_DB:
		out->outcome = OUTCOME_DB_HANDLER;
		out->dr6 = out->regs.rax;
		break;
	case PORT_BP:
		out->outcome = OUTCOME_BP_HANDLER;
		break;
	default:
		snprintf(out->what, sizeof(out->what), "an unexpected port access (0x%x)", run->io.port);
		break;
	}
}

static void on_exit_reason(const struct kvm_run *run, struct probe_result *out)
{
	switch (run->exit_reason) {
	case KVM_EXIT_IO:
		on_port(run, out);
		break;
	case KVM_EXIT_DEBUG:
		out->outcome = OUTCOME_DEBUG;
		out->exception = run->debug.arch.exception;
		out->dr6 = run->debug.arch.dr6;
		out->rip = run->debug.arch.pc;
		break;
	case KVM_EXIT_INTERNAL_ERROR:
		snprintf(out->what, sizeof(out->what), "KVM_EXIT_INTERNAL_ERROR (suberror %u)", run->internal.suberror);
		break;
	case KVM_EXIT_SHUTDOWN:
		strcpy(out->what, "triple fault");
		break;
	default:
		snprintf(out->what, sizeof(out->what), "KVM exit reason %u", run->exit_reason);
		break;
	}
}

void probe_guest_run(struct probe_guest *g, struct probe_result *out)
{
	int rc = ioctl(g->vcpu.fd, KVM_RUN, 0);
	int error = errno;

	memset(out, 0, sizeof(*out));
	out->outcome = OUTCOME_DEAD;
	if (rc < 0 && error == EINTR) {
		g->vcpu.run->immediate_exit = 0;
		out->outcome = OUTCOME_TIMEOUT;
		return;
	}
	if (rc < 0) {
		snprintf(out->what, sizeof(out->what), "KVM_RUN failed: %s", strerror(error));
		return;
	}
	if (ioctl(g->vcpu.fd, KVM_GET_REGS, &out->regs) < 0) {
		strcpy(out->what, "KVM_GET_REGS failed");
		return;
	}
	on_exit_reason(g->vcpu.run, out);
}
