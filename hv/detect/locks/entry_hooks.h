/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lock hooks at the entries of functions that hand over, such as synchronize_irq(). A hook at a call sees only calls of the
 * subject (the sampled code, see locks.h). But a helper outside of the subject may wait in a driver's name: snd_pcm waits for
 * the driver's interrupt before each stream is prepared. A hook at the entry sees the calls of all code.
 *
 * Only functions that wait for a callback, or that request, enable or disable an interrupt, have such hooks, and only for kinds
 * of hand-over of which the subject has a callback. A function that all code calls often would slow the guest, so its hook is
 * removed.
 */
#ifndef OUTRIDER_DETECT_LOCKS_ENTRY_HOOKS_H
#define OUTRIDER_DETECT_LOCKS_ENTRY_HOOKS_H

struct detect;

/*
 * For each kind of hand-over for which the subject has a callback by now, plant hooks at the entries of the functions of this
 * kind. Remove hooks that stop CPUs too often. The sampler calls this in each iteration. Needs config.locks. Called without
 * d->lock.
 */
void entry_hooks_step(struct detect *d);

#endif
