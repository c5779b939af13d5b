// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/detect/lock_points.h"

#include <stdio.h>
#include <stdlib.h>

#include "hv/detect/code.h"
#include "hv/detect/event.h"
#include "hv/detect/locks.h"
#include "hv/detect/note.h"
#include "hv/detect/state.h"

/* Plant at the calls of lock functions in this function. Returns how many could not be. */
static unsigned plant_function(struct detect *d, const struct symbol *fn, unsigned *planted)
{
	uint8_t *code = malloc(fn->size + 1);
	unsigned refused = 0;

	if (!code || detect_code(d, fn->addr, code, fn->size)) {
		free(code);
		return 0;
	}
	for (uint64_t at = 0; at < fn->size;) {
		struct guest_event_site site = {.kind = GUEST_EVENT_LOCK};
		unsigned len = insn_decode(d->decoder, code + at, fn->size - at, fn->addr + at, &site.insn);

		if (len && locks_calls_one(d->locks, &site.insn)) {
			bool there = event_add(d, &site) == 0;

			*planted += there;
			refused += !there;
		}
		at += len ? len : 1;
	}
	free(code);
	return refused;
}

void lock_points_text_came(struct detect *d, const char *module, const struct symtab *symbols, uint64_t start, uint64_t end)
{
	unsigned planted = 0, refused = 0;

	locks_learn(d->locks, symbols);
	for (size_t i = 0; i < symtab_count(symbols); i++) {
		struct guest_symbol name = {0};
		struct symbol fn;

		symtab_get(symbols, i, &fn);
		snprintf(name.module, sizeof(name.module), "%s", module);
		snprintf(name.name, sizeof(name.name), "%s", fn.name);
		if (fn.addr >= start && fn.addr < end && fn.size && fn.size <= end - fn.addr &&
		    locks_of_subject(d->locks, &name) && guest_may_sample(d->guest, &fn))
			refused += plant_function(d, &fn, &planted);
	}
	if (planted || refused)
		detect_note(d, "%s: %u calls of lock functions are followed%s", module[0] ? module : "kernel", planted,
			    refused ? "; some could not be, so locks may seem to be missing" : "");
}
