/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts the file descriptors that a machine with a given configuration needs, and raises the limit of open files to that
 * number plus a reserve.
 */
#include "hv/vmm/descriptors.h"

#include <sys/resource.h>

#include "hv/vmm/block/virtio_blk.h"

/* File descriptors of a queue: its notification, its interrupt, and its worker's epoll set and eventfd. */
#define EACH_QUEUE 4
/* File descriptors of a disk, besides those of its queues: its image, an overlay, and the configuration interrupt. */
#define EACH_DISK 3
/* File descriptors of a vCPU: KVM's vCPU and its statistics, and a timer. */
#define EACH_CPU 3
/* File descriptors of the machine, the console, the sandbox, the report and the other devices. */
#define OTHERS 64
/* Reserve of file descriptors for connections of the guest and for debug files. A run also works without this reserve. */
#define SPARE 1024

static rlim_t needed(const struct vmm_config *config)
{
	rlim_t n = OTHERS + (rlim_t)config->cpus * EACH_CPU;

	for (size_t i = 0; i < config->disk_count; i++)
		n += EACH_DISK + (rlim_t)virtio_blk_queues(&config->disks[i], config->cpus) * EACH_QUEUE;
	return n;
}

int descriptors_allow(const struct vmm_config *config, struct err *err)
{
	rlim_t need = needed(config), wish = need + SPARE;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= wish)
		return 0;
	limit.rlim_cur = limit.rlim_max < wish ? limit.rlim_max : wish;
	setrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur >= need)
		return 0;
	return err_set(
		err, EXIT_INPUT,
		"the machine needs %lu file descriptors, and this process may have %lu (ulimit -H -n): raise that limit, or "
		"give fewer disks or queues",
		(unsigned long)need, (unsigned long)limit.rlim_cur);
}
