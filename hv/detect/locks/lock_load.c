// SPDX-License-Identifier: GPL-2.0-or-later
/* Decides when lock hooks cost too much time (lock_load.h). */
#include "hv/detect/locks/lock_load.h"

#include <stdlib.h>
#include <string.h>

#include "hv/base/grow.h"

/*
 * How long a CPU may run nothing but interrupt handlers while one task waits to go on. The kernel reports a soft lockup after
 * 20 s (watchdog_thresh is 10). A CPU that was interrupted in its idle task gets twice this time: usually no task waits there.
 */
#define PATIENCE_NS 4000000000u
#define IDLE_PATIENCE_NS 8000000000u
/* A CPU that hit no lock hook for this long had time for its task: a later hit begins a new series (lock_load.h). */
#define GAP_NS 500000000u
/* How long the lock hooks stay removed. */
#define REST_NS 3000000000u

void lock_load_fini(struct lock_load *l)
{
	free(l->sites);
	*l = (struct lock_load){0};
}

int lock_load_add(struct lock_load *l, const struct guest_hook_site *site)
{
	struct guest_hook_site *to = list_grow(&l->sites, &l->count, sizeof(*to), NULL);

	if (!to)
		return -1;
	*to = *site;
	return 0;
}

void lock_load_forget(struct lock_load *l, uint64_t base, uint64_t size)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->count; i++) {
		if (l->sites[i].insn.addr - base >= size)
			l->sites[kept++] = l->sites[i];
	}
	l->count = kept;
}

void lock_load_stop(struct lock_load *l, unsigned cpu, const struct guest_context *context, uint64_t now_ns)
{
	uint64_t *task = &l->cpus[cpu].task, *since = &l->cpus[cpu].since_ns, *last = &l->cpus[cpu].last_ns;

	if (!context->known || !context->task || context->kind == GUEST_TASK) {
		*since = 0;
		return;
	}
	if (!*since || *task != context->task || now_ns - *last > GAP_NS)
		*since = now_ns;
	*task = context->task;
	*last = now_ns;
	l->too_much |= now_ns - *since > (context->pid ? PATIENCE_NS : IDLE_PATIENCE_NS);
}

void lock_load_rest(struct lock_load *l, uint64_t now_ns)
{
	memset(l->cpus, 0, sizeof(l->cpus));
	l->too_much = false;
	l->rests++;
	l->rest_until_ns = now_ns + REST_NS;
}
