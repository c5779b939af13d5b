/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Is there a KVM that runs guests? A few real-mode instructions add two numbers, store the sum and halt; the sum, the place of
 * the halt and a port write must all be seen from here, and the guest's TSC must go on. Prints "kvm trial: ok" or one line on
 * what went wrong.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <linux/kvm.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define RAM_SIZE 0x2000u
#define CODE 0x1000u
#define SUM 0x800u
#define PORT 0x80u
#define MSR_TSC 0x10u

static const uint8_t code[] = {
	0x01, 0xd8,	  /* add %bx, %ax */
	0xa3, 0x00, 0x08, /* mov %ax, SUM */
	0xe6, PORT,	  /* out %al, $PORT */
	0xf4,		  /* hlt */
};

static int fail(const char *what)
{
	printf("kvm trial: %s: %m\n", what);
	return -1;
}

static int set_up(int vm, int vcpu, void *ram)
{
	struct kvm_userspace_memory_region region = {.memory_size = RAM_SIZE, .userspace_addr = (uintptr_t)ram};
	struct kvm_regs regs = {.rip = CODE, .rax = 1200, .rbx = 34, .rflags = 2};
	struct kvm_sregs sregs;

	memcpy((uint8_t *)ram + CODE, code, sizeof(code));
	if (ioctl(vm, KVM_SET_USER_MEMORY_REGION, &region))
		return fail("KVM_SET_USER_MEMORY_REGION");
	if (ioctl(vcpu, KVM_GET_SREGS, &sregs))
		return fail("KVM_GET_SREGS");
	sregs.cs.base = 0;
	sregs.cs.selector = 0;
	if (ioctl(vcpu, KVM_SET_SREGS, &sregs))
		return fail("KVM_SET_SREGS");
	if (ioctl(vcpu, KVM_SET_REGS, &regs))
		return fail("KVM_SET_REGS");
	return 0;
}

static int expect_exit(int vcpu, const struct kvm_run *run, uint32_t reason)
{
	if (ioctl(vcpu, KVM_RUN, 0))
		return fail("KVM_RUN");
	if (run->exit_reason == reason)
		return 0;
	printf("kvm trial: exit %u, not %u\n", run->exit_reason, reason);
	return -1;
}

/* Set *tsc to the guest's TSC. */
static int read_tsc(int vcpu, uint64_t *tsc)
{
	struct {
		struct kvm_msrs head;
		struct kvm_msr_entry tsc;
	} msrs = {.head = {.nmsrs = 1}, .tsc = {.index = MSR_TSC}};

	if (ioctl(vcpu, KVM_GET_MSRS, &msrs) != 1)
		return fail("KVM_GET_MSRS");
	*tsc = msrs.tsc.data;
	return 0;
}

static int expect_clock(int vcpu)
{
	uint64_t before, after;

	if (read_tsc(vcpu, &before) || read_tsc(vcpu, &after))
		return -1;
	if (after > before)
		return 0;
	printf("kvm trial: the guest's TSC stands still at %" PRIu64 "\n", before);
	return -1;
}

static int trial(int kvm)
{
	int vm = ioctl(kvm, KVM_CREATE_VM, 0);
	int vcpu = ioctl(vm, KVM_CREATE_VCPU, 0);
	int run_size = ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0);
	uint8_t *ram = mmap(NULL, RAM_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct kvm_run *run;
	uint16_t sum;

	if (vm < 0 || vcpu < 0 || run_size <= 0 || ram == MAP_FAILED)
		return fail("cannot create a VM");
	run = mmap(NULL, (size_t)run_size, PROT_READ | PROT_WRITE, MAP_SHARED, vcpu, 0);
	if (run == MAP_FAILED)
		return fail("cannot map the vCPU");
	if (set_up(vm, vcpu, ram) || expect_exit(vcpu, run, KVM_EXIT_IO) || expect_exit(vcpu, run, KVM_EXIT_HLT))
		return -1;
	memcpy(&sum, ram + SUM, sizeof(sum));
	if (run->io.port != PORT || sum != 1234) {
		printf("kvm trial: port %#x, sum %u\n", run->io.port, sum);
		return -1;
	}
	return expect_clock(vcpu);
}

int main(void)
{
	int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	int version = kvm < 0 ? -1 : ioctl(kvm, KVM_GET_API_VERSION, 0);

	if (version != KVM_API_VERSION) {
		fail("no usable /dev/kvm");
		return 1;
	}
	if (trial(kvm))
		return 1;
	puts("kvm trial: ok");
	return 0;
}
