/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Saves, loads and turns back the clocks of a machine: each vCPU's TSC and KVM's clock. All of them are
 * saved as of one moment, which is one point in time on all clocks of the host (moment.h).
 */
#include <errno.h>
#include <linux/kvm.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <x86intrin.h>

#include "hv/base/clock.h"
#include "hv/vmm/one_msr.h"
#include "hv/vmm/snapshot/internal.h"

#define LOOKS 5
#define MSR_TSC 0x10u

/* ---- moments ---- */

static uint64_t real_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

struct moment moment_now(void)
{
	struct moment best = {0};
	uint64_t shortest = UINT64_MAX;

	for (int i = 0; i < LOOKS; i++) {
		uint64_t before = __rdtsc();
		struct moment now = {.mono_ns = monotonic_ns(), .real_ns = real_ns()};
		uint64_t took = __rdtsc() - before;

		now.tsc = before + took / 2;
		if (took < shortest) {
			best = now;
			shortest = took;
		}
	}
	return best;
}

/* ---- the TSC ---- */

/*
 * Returns the KVM attribute for reading or setting *offset, which KVM adds to the host's TSC to make the guest's TSC. Kernels
 * before Linux 5.16 do not have this attribute (KVM_VCPU_TSC_OFFSET).
 */
static struct kvm_device_attr offset_attr(uint64_t *offset)
{
	return (struct kvm_device_attr){.group = KVM_VCPU_TSC_CTRL, .attr = KVM_VCPU_TSC_OFFSET, .addr = (uintptr_t)offset};
}

/* Compute the guest's TSC at the moment *at from the TSC's present value. Used if KVM does not report the TSC's offset. */
static int read_tsc(struct vcpu *vcpu, const struct moment *at, uint64_t *tsc, struct err *err)
{
	uint64_t since = __rdtsc() - at->tsc;

	if (!one_msr_get(vcpu->fd, MSR_TSC, tsc))
		return err_set(err, EXIT_INTERNAL, "vCPU %u: KVM cannot read the TSC", vcpu->index);
	*tsc -= since;
	return 0;
}

int cpu_time_save(struct vcpu *vcpu, const struct moment *at, struct block_writer *w, struct err *err)
{
	uint64_t offset, tsc;
	struct kvm_device_attr attr = offset_attr(&offset);

	if (ioctl(vcpu->fd, KVM_GET_DEVICE_ATTR, &attr) == 0)
		tsc = at->tsc + offset;
	else if (read_tsc(vcpu, at, &tsc, err) < 0)
		return -1;
	block_put(w, SECTION_TSC, vcpu->index, &tsc, sizeof(tsc));
	return 0;
}

/*
 * Set the TSC's frequency. Fails if this host's KVM cannot change it. A difference of up to 0.1 % is ignored: two measurements
 * of one clock differ by that much.
 */
static int set_speed(struct vcpu *vcpu, uint64_t khz, struct err *err)
{
	int now = ioctl(vcpu->fd, KVM_GET_TSC_KHZ, 0);
	uint64_t difference = now < 0 ? 0 : khz > (uint64_t)now ? khz - (uint64_t)now : (uint64_t)now - khz;

	if (difference <= khz / 1000 || ioctl(vcpu->fd, KVM_SET_TSC_KHZ, (long)khz) == 0)
		return 0;
	return err_set(err, EXIT_INPUT,
		       "vCPU %u: the saved TSC runs at %llu kHz, but this host's TSC runs at %d kHz, and KVM cannot scale it",
		       vcpu->index, (unsigned long long)khz, now);
}

int cpu_time_load(struct vcpu *vcpu, const struct moment *at, const struct block *block, struct err *err)
{
	uint64_t tsc, offset;
	struct kvm_device_attr attr = offset_attr(&offset);
	struct one_msr m = {.nmsrs = 1, .entry = {.index = MSR_TSC}};

	if (set_speed(vcpu, block->machine.tsc_khz, err) < 0)
		return -1;
	block_get(block, SECTION_TSC, vcpu->index, &tsc, sizeof(tsc));
	/* If the saved TSCs are synchronised, all vCPUs get the same offset and stay synchronised. */
	offset = tsc - at->tsc;
	if (ioctl(vcpu->fd, KVM_SET_DEVICE_ATTR, &attr) == 0)
		return 0;
	m.entry.data = __rdtsc() + offset;
	if (ioctl(vcpu->fd, KVM_SET_MSRS, &m) != 1)
		return err_set(err, EXIT_INPUT, "vCPU %u: KVM cannot set the TSC", vcpu->index);
	return 0;
}

/* ---- KVM's clock ---- */

static int read_clock(struct vm *vm, struct kvm_clock_data *data, uint64_t *mono_ns, struct err *err)
{
	uint64_t shortest = UINT64_MAX;

	for (int i = 0; i < LOOKS; i++) {
		struct kvm_clock_data now = {0};
		uint64_t before = monotonic_ns(), took;

		if (ioctl(vm->fd, KVM_GET_CLOCK, &now) < 0)
			return err_set(err, EXIT_INTERNAL, "KVM_GET_CLOCK failed: %s", strerror(errno));
		took = monotonic_ns() - before;
		if (took < shortest) {
			*data = now;
			*mono_ns = before + took / 2;
			shortest = took;
		}
	}
	return 0;
}

int clock_save(struct vm *vm, const struct moment *at, struct block_machine *out, struct err *err)
{
	struct kvm_clock_data data = {0};
	uint64_t mono_ns = 0;
	int khz = ioctl(vm->vcpu[0].fd, KVM_GET_TSC_KHZ, 0);

	if (khz <= 0)
		return err_set(err, EXIT_INPUT, "the host's KVM does not say how fast the TSC is");
	if (read_clock(vm, &data, &mono_ns, err) < 0)
		return -1;
	out->tsc_khz = (uint64_t)khz;
	out->clock_ns = data.clock - (mono_ns - at->mono_ns);
	return 0;
}

/*
 * Set KVM's clock. With KVM_CLOCK_REALTIME, KVM itself adds the time since the moment *at, so a delay before the ioctl does no
 * harm.
 */
int clock_load(struct vm *vm, const struct moment *at, const struct block *block, struct err *err)
{
	struct kvm_clock_data data = {.clock = block->machine.clock_ns};

	if (ioctl(vm->kvm_fd, KVM_CHECK_EXTENSION, KVM_CAP_ADJUST_CLOCK) & KVM_CLOCK_REALTIME) {
		data.flags = KVM_CLOCK_REALTIME;
		data.realtime = at->real_ns;
	} else {
		data.clock += monotonic_ns() - at->mono_ns;
	}
	if (ioctl(vm->fd, KVM_SET_CLOCK, &data) < 0)
		return err_set(err, EXIT_INPUT, "KVM cannot set the machine's clock: %s", strerror(errno));
	return 0;
}

/* ---- turning back ---- */

int vm_time_take(struct vm *vm, struct vm_time *out, struct err *err)
{
	struct kvm_clock_data data = {0};

	if (ioctl(vm->fd, KVM_GET_CLOCK, &data) < 0)
		return err_set(err, EXIT_INTERNAL, "KVM_GET_CLOCK failed: %s", strerror(errno));
	*out = (struct vm_time){.tsc = __rdtsc(), .clock_ns = data.clock};
	return 0;
}

int vm_time_turn_back(struct vm *vm, const struct vm_time *to, struct err *err)
{
	struct kvm_clock_data data = {.clock = to->clock_ns};
	uint64_t passed = __rdtsc() - to->tsc, offset;
	const struct kvm_device_attr attr = offset_attr(&offset);

	for (unsigned i = 0; i < vm->cpus; i++) {
		if (ioctl(vm->vcpu[i].fd, KVM_GET_DEVICE_ATTR, &attr) < 0)
			return err_set(err, EXIT_INTERNAL, "vCPU %u: KVM cannot read the TSC's offset", i);
		offset -= passed;
		if (ioctl(vm->vcpu[i].fd, KVM_SET_DEVICE_ATTR, &attr) < 0)
			return err_set(err, EXIT_INTERNAL, "vCPU %u: KVM cannot set the TSC's offset", i);
	}
	if (ioctl(vm->fd, KVM_SET_CLOCK, &data) < 0)
		return err_set(err, EXIT_INTERNAL, "KVM_SET_CLOCK failed: %s", strerror(errno));
	return 0;
}
