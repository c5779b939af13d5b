/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Aiming at known races (config.aim): which of their sites this guest has, and when each is to be armed.
 *
 * Time goes in turns. In half of a race's turns all of its sites are armed, so that both CPUs can stand before their accesses
 * even where none can be held for long. In the others one side leads: the other is armed when a CPU is held at the leading one.
 * Otherwise the CPU at the site that is executed more often would always be the one that is held, and mostly for nothing. The
 * seed says who leads.
 *
 * Where there are more sites than points, races take turns too.
 *
 * Belongs to the sampler's thread. d->lock is taken for what it guards.
 */
#ifndef OUTRIDER_DETECT_AIMING_H
#define OUTRIDER_DETECT_AIMING_H

#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "symbols/tables/symtab.h"

struct aiming;
struct detect;

/* Call this after d->config is set. NULL: memory ran out. */
struct aiming *aiming_new(struct detect *d);

/* `a` may be NULL. */
void aiming_free(struct aiming *a);

/*
 * Text has come, with these symbols and GVAs: that of the kernel if `module` is "". It is in the pool already, under `key`. Its
 * sites are looked for, and a line says so of each that is not there as it was. Returns 0, or -1 with EXIT_INTERNAL in `err`
 * when memory runs out.
 */
int aiming_text_came(struct aiming *a, const void *key, const char *module, const struct symtab *symbols, uint64_t start,
		     uint64_t end, struct err *err);

/* The text under `key` has gone, and its sites are waited for again. */
void aiming_text_gone(struct aiming *a, const void *key);

/*
 * Whether there is anything to aim at: a site that was found, or one in a module that is not loaded. Returns 0, or -1 with
 * EXIT_INPUT in `err`.
 */
int aiming_check(struct aiming *a, struct err *err);

/*
 * Begin a look at the sites at the time `now` (CLOCK_MONOTONIC), of which at most `room` may be armed at a time. Points whose
 * turn is over are disarmed. Returns how many sites were found.
 */
size_t aiming_begin(struct aiming *a, uint64_t now, uint32_t room);

/* The GVA of site number `i` if it is to be armed now, or 0. Which site has which number changes from look to look. */
uint64_t aiming_due(struct aiming *a, size_t i);

#endif
