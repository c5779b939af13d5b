/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hooks: breakpoints at instructions whose execution the detector must see, such as lock hooks. A hook stays planted when a CPU
 * hits it, and the target emulates the instruction. So target_can_emulate() must accept the instruction.
 */
#ifndef OUTRIDER_DETECT_CORE_HOOK_H
#define OUTRIDER_DETECT_CORE_HOOK_H

#include "hv/detect/core/point.h"
#include "hv/guest/guest.h"
#include "hv/target/target.h"

struct detect;

/*
 * Plant a hook at site->insn.addr. The guest may be running. Returns 0, or -1 when nothing was planted. Possible reasons: the
 * instruction cannot be emulated; it has a point already; MAX_HOOKS hooks are in use; the target has too few points; the text
 * is unmapped, has changed or is about to be freed; detect_stop() was called. A sample point is never in the way: it is on an
 * access to memory, and target_can_emulate() accepts no such instruction.
 *
 * target_intercept() must be on. Takes d->lock through detect_enter(): any thread may call this, but not in a callback and not
 * under d->lock. A CPU that reaches the instruction after the return stops there.
 */
int hook_add(struct detect *d, const struct guest_hook_site *site);

/*
 * Remove the hook at this GVA. Returns 0, or -1 when there is none, for example because hook_text_gone() or detect_stop()
 * removed it. Threads and locks are as for hook_add(). After the return, no CPU is in hook_hit() for this hook or will enter
 * it. A CPU that stopped at the hook's INT3, but has not entered hook_hit() yet, executes the guest's own instruction.
 */
int hook_remove(struct detect *d, uint64_t addr);

/*
 * Write the INT3s of all hooks again (target_refetch()). An emulated CPU that decoded the code while a hook was planted may go
 * on with the old instruction until something is written there. Threads and locks are as for hook_add().
 */
void hook_write_again(struct detect *d);

/*
 * Plant the hooks that the guest's kernel needs. Then read the debug registers of all CPUs, since the guest may have set them
 * before the hooks were there. Called on the sampler's thread, before the first sample point, without d->lock.
 */
void hook_plant_all(struct detect *d);

/*
 * Remove a point, which is a sample point or a hook. If the point has a window, the caller must close the window first. The
 * caller holds d->lock. Allowed in a callback.
 */
void hook_take_out(struct detect *d, struct point *point);

#endif
