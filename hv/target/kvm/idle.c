/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds out whether a vCPU sleeps in KVM, and how often it woke up, by one pread() of the values "blocking" and "halt_wakeup"
 * in the vCPU's binary statistics (KVM_GET_STATS_FD; Documentation/virt/kvm/api.rst, 4.134). This does not disturb the vCPU.
 * Kernels before 5.16 do not have "blocking", so no vCPU is reported as sleeping.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "hv/target/kvm/internal.h"

#define DESCRIPTORS_MAX 1024u

/* Returns the offset in the file of the statistics value named `wanted`, or -1 if there is none. */
static off_t find_value(int fd, const char *wanted)
{
	struct kvm_stats_header header;
	size_t size;
	char *buf;
	off_t at = -1;

	if (pread(fd, &header, sizeof(header), 0) != sizeof(header) || header.num_desc > DESCRIPTORS_MAX || !header.name_size ||
	    header.name_size > 256)
		return -1;
	size = sizeof(struct kvm_stats_desc) + header.name_size;
	buf = malloc(size);
	for (uint32_t i = 0; buf && at < 0 && i < header.num_desc; i++) {
		struct kvm_stats_desc *desc = (void *)buf;

		if (pread(fd, buf, size, (off_t)(header.desc_offset + i * size)) != (ssize_t)size)
			break;
		buf[size - 1] = 0;
		if (strcmp(desc->name, wanted) == 0)
			at = (off_t)header.data_offset + desc->offset;
	}
	free(buf);
	return at;
}

void kvm_cpu_idle_open(struct kvm_cpu *cpu)
{
	cpu->stats_fd = ioctl(cpu->vcpu->fd, KVM_GET_STATS_FD, NULL);
	if (cpu->stats_fd < 0)
		return;
	cpu->blocking_at = find_value(cpu->stats_fd, "blocking");
	cpu->wake_ups_at = find_value(cpu->stats_fd, "halt_wakeup");
	if (cpu->blocking_at < 0)
		kvm_cpu_idle_close(cpu);
}

void kvm_cpu_idle_close(struct kvm_cpu *cpu)
{
	if (cpu->stats_fd >= 0)
		close(cpu->stats_fd);
	cpu->stats_fd = -1;
}

/* Returns the statistics value at this offset, or 0 if it cannot be read. */
static uint64_t read_value(const struct kvm_cpu *cpu, off_t at)
{
	uint64_t value;

	return cpu->stats_fd >= 0 && at >= 0 && pread(cpu->stats_fd, &value, sizeof(value), at) == sizeof(value) ? value : 0;
}

bool kvm_cpu_is_blocked(const struct kvm_cpu *cpu)
{
	return read_value(cpu, cpu->blocking_at) != 0;
}

uint64_t kvm_cpu_wake_ups(const struct kvm_cpu *cpu)
{
	return read_value(cpu, cpu->wake_ups_at);
}
