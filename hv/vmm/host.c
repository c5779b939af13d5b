/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "hv/vmm/host.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hv/vmm/layout.h"

#define CAP(name)           \
	{                   \
#name, name \
	}

const struct host_cap *host_needed_caps(size_t *n)
{
	static const struct host_cap caps[] = {
		CAP(KVM_CAP_IRQCHIP),
		CAP(KVM_CAP_PIT2),
		CAP(KVM_CAP_USER_MEMORY),
		CAP(KVM_CAP_SET_TSS_ADDR),
		CAP(KVM_CAP_EXT_CPUID),
		CAP(KVM_CAP_MP_STATE),
		CAP(KVM_CAP_VCPU_EVENTS),
		CAP(KVM_CAP_DEBUGREGS),
		CAP(KVM_CAP_SET_GUEST_DEBUG),
		CAP(KVM_CAP_SET_IDENTITY_MAP_ADDR),
		CAP(KVM_CAP_IMMEDIATE_EXIT),
		CAP(KVM_CAP_IRQ_ROUTING),
		CAP(KVM_CAP_IRQFD),
		CAP(KVM_CAP_IOEVENTFD),
		CAP(KVM_CAP_IOEVENTFD_ANY_LENGTH),
	};

	*n = sizeof(caps) / sizeof(caps[0]);
	return caps;
}

bool host_has_cap(int kvm_fd, int cap)
{
	return ioctl(kvm_fd, KVM_CHECK_EXTENSION, (long)cap) > 0;
}

bool host_blocks_interrupts(int kvm_fd)
{
	int flags = ioctl(kvm_fd, KVM_CHECK_EXTENSION, (long)KVM_CAP_SET_GUEST_DEBUG2);

	return flags > 0 && flags & KVM_GUESTDBG_BLOCKIRQ;
}

static int check_kvm(int kvm_fd, struct err *err)
{
	int version = ioctl(kvm_fd, KVM_GET_API_VERSION, 0);
	size_t n;
	const struct host_cap *caps = host_needed_caps(&n);

	if (version < 0)
		return err_set(err, EXIT_INPUT, "/dev/kvm is not KVM: %s; load kvm_intel or kvm_amd", strerror(errno));
	if (version != KVM_API_VERSION)
		return err_set(err, EXIT_INPUT, "/dev/kvm speaks KVM API %d, %d is needed", version, KVM_API_VERSION);
	for (size_t i = 0; i < n; i++)
		if (!host_has_cap(kvm_fd, caps[i].cap))
			return err_set(err, EXIT_INPUT, "/dev/kvm lacks %s; a newer host kernel is needed", caps[i].name);
	return 0;
}

int host_open(struct err *err)
{
	int fd = open("/dev/kvm", O_RDWR | O_CLOEXEC);

	if (fd < 0 && errno == EACCES)
		return err_set(err, EXIT_INPUT,
			       "/dev/kvm: permission denied; join the group kvm (root is not needed): sudo usermod -aG kvm "
			       "$USER, and log in again");
	if (fd < 0)
		return err_set(err, EXIT_INPUT, "cannot open /dev/kvm: %s; load kvm_intel or kvm_amd", strerror(errno));
	if (check_kvm(fd, err) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

int host_create_vm(int kvm_fd, struct err *err)
{
	struct kvm_pit_config pit = {.flags = KVM_PIT_SPEAKER_DUMMY};
	uint64_t identity = KVM_IDENTITY_MAP_GPA;
	const char *what = "KVM_CREATE_VM";
	int vm_fd = ioctl(kvm_fd, KVM_CREATE_VM, 0);

	if (vm_fd < 0)
		goto fail;
	what = "KVM_SET_IDENTITY_MAP_ADDR";
	if (ioctl(vm_fd, KVM_SET_IDENTITY_MAP_ADDR, &identity) < 0)
		goto fail;
	what = "KVM_SET_TSS_ADDR";
	if (ioctl(vm_fd, KVM_SET_TSS_ADDR, KVM_TSS_GPA) < 0)
		goto fail;
	what = "KVM_CREATE_IRQCHIP";
	if (ioctl(vm_fd, KVM_CREATE_IRQCHIP, 0) < 0)
		goto fail;
	what = "KVM_CREATE_PIT2";
	if (ioctl(vm_fd, KVM_CREATE_PIT2, &pit) < 0)
		goto fail;
	return vm_fd;
fail:
	err_set(err, EXIT_INPUT, "/dev/kvm: %s failed: %s; see outrider doctor", what, strerror(errno));
	if (vm_fd >= 0)
		close(vm_fd);
	return -1;
}

int host_create_vcpu(int kvm_fd, int vm_fd, unsigned index, struct kvm_run **run, size_t *run_size, struct err *err)
{
	int size = ioctl(kvm_fd, KVM_GET_VCPU_MMAP_SIZE, 0);
	void *map = MAP_FAILED;
	int fd;

	fd = ioctl(vm_fd, KVM_CREATE_VCPU, (long)index);
	if (fd < 0)
		return err_set(err, EXIT_INPUT, "/dev/kvm: cannot create vCPU %u: %s", index, strerror(errno));
	if (size >= (int)sizeof(struct kvm_run))
		map = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		err_set(err, EXIT_INPUT, "/dev/kvm: cannot map the state of vCPU %u: %s", index, strerror(errno));
		close(fd);
		return -1;
	}
	*run = map;
	*run_size = (size_t)size;
	return fd;
}
