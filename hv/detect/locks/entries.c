// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table of hooks at the entries of functions that wait for a hand-over, release an object or stop a callback (entries.h).
 */
#include "hv/detect/locks/entries.h"

bool entries_fit(const struct lock_function *function)
{
	if (function->op == LOCK_RELEASE || function->op == LOCK_STOP)
		return function->kind == HANDOVER_IRQ;
	return function->op == LOCK_ACQUIRE && !function->tested && function->kind != HANDOVER_COMPLETION;
}

struct entry_hook *entries_at(struct entries *e, uint64_t addr)
{
	for (unsigned i = 0; i < e->count; i++) {
		if (e->list[i].addr == addr)
			return &e->list[i];
	}
	return NULL;
}

void entries_forget(struct entries *e, uint64_t base, uint64_t size)
{
	for (unsigned i = 0; i < e->count; i++) {
		if (e->list[i].addr - base < size)
			e->list[i].addr = 0;
	}
}
