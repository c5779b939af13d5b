/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Plants lock hooks at the calls of lock functions in newly loaded text, and removes them for a rest when they cost too much
 * (locks.h).
 */
#ifndef OUTRIDER_DETECT_LOCKS_LOCK_HOOKS_H
#define OUTRIDER_DETECT_LOCKS_LOCK_HOOKS_H

#include <stdbool.h>
#include <stdint.h>

#include "symbols/tables/symtab.h"

struct detect;
struct guest_hook_site;

/*
 * Text was loaded at [start, end), with these symbols. `module` "": it is the kernel's text. Learn its lock functions, and
 * plant lock hooks at the calls in it that belong to the subject. Needs config.locks. Called on the sampler's thread, without
 * d->lock, after target_intercept().
 */
void lock_hooks_text_came(struct detect *d, const char *module, const struct symtab *symbols, uint64_t start, uint64_t end);

/*
 * A quarter of a second after hooks were planted, write all hooks again, for emulated CPUs (hook_write_again()). If hooks at
 * calls of lock functions were planted, forget the locksets: they are known again a second later. The sampler calls this in
 * each iteration. Needs config.locks. Called without d->lock.
 */
void lock_hooks_again(struct detect *d);

/*
 * Remove the lock hooks that may be removed (lock_hooks_may_rest()) if they leave the guest no time (lock_load.h), and plant
 * them again after a rest. The sampler calls this in each iteration. Needs config.locks. Called without d->lock.
 */
void lock_hooks_limit(struct detect *d);

/*
 * Plant a lock hook. Returns whether the instruction has a lock hook now. True also if the hook was there before, for example
 * to see the result of another call. Called on the sampler's thread, without d->lock.
 */
bool lock_hooks_plant(struct detect *d, const struct guest_hook_site *site);

/*
 * Let lock_hooks_limit() remove this lock hook for some seconds (a rest) when lock hooks cost too much (lock_load.h). If memory
 * runs out, the hook always stays planted, which only costs time. Called on the sampler's thread, without d->lock.
 */
void lock_hooks_may_rest(struct detect *d, const struct guest_hook_site *site);

#endif
