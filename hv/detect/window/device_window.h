/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Windows that begin at a device. A device serves a request within microseconds, so a window that begins at a CPU hardly ever
 * overlaps with a request. Instead, a request is held here before its device accesses the request's memory, while the guest
 * runs on. From when the driver has put a request into its queue until the device has given it back, the request's memory
 * belongs to the device. So a CPU that writes to the memory meanwhile conflicts with the device, and so does a CPU that reads
 * what the device will write.
 *
 * The CPU is caught in two ways. Watchpoints on a few words of the memory (device_words.h) show the CPU's registers and stack.
 * And the whole memory is compared with a copy: a change tells which word to watch for the rest of this window and in later
 * requests. A change alone, whose writer is never seen, is counted and not reported, because a race needs one side's code.
 *
 * One request is held at a time. The thread of its device calls device_window_request() and device_window_hold_end().
 */
#ifndef OUTRIDER_DETECT_WINDOW_DEVICE_WINDOW_H
#define OUTRIDER_DETECT_WINDOW_DEVICE_WINDOW_H

#include "hv/detect/core/state.h"

/* The memory of a request is compared up to this many bytes. */
#define DEVICE_COPY_MAX (1u << 20)

/*
 * Prepare windows that begin at a device, if config.device_rate asks for them and the target has devices. Returns 0, or -1 if
 * memory runs out. device_window_fini() must follow in either case.
 */
int device_window_init(struct detect *d);
void device_window_fini(struct detect *d);

/*
 * Ask the target for a request to hold, if it is time for the next window and config.overhead allows one. To be called on the
 * sampler's thread some 100 times a second, without d->lock.
 */
void device_window_step(struct detect *d, uint64_t now);

/* The target's on_request and on_request_hold_end (hv/target/target.h). Called without d->lock. */
uint64_t device_window_request(struct detect *d, const struct device_request *by, const struct device_segment *segments,
			       unsigned count);
uint64_t device_window_hold_end(struct detect *d, bool last);

/*
 * The CPU hit a watchpoint with this cookie. If the watchpoint belongs to the window, report the conflict, close the window
 * and let the request go. Returns whether the watchpoint belongs to the window. The caller holds d->lock.
 */
bool device_window_watch_hit(struct detect *d, unsigned cpu, const struct x86_regs *regs, uint32_t cookie);

/*
 * A CPU stopped before these accesses, at a sample point: learn from them which words of requests are worth watching. The
 * caller holds d->lock.
 */
void device_window_cpu_accesses(struct detect *d, const struct datum *data, unsigned n);

/* Close the window, if it is open, and let go its request. The caller holds d->lock. */
void device_window_end(struct detect *d);

/*
 * With `on`, end the open window, and let no window open from now on. Without `on`, allow windows again. The caller holds
 * d->lock. To be called before the devices' threads are stopped while d->lock is held, for example to copy the machine. The
 * thread of a device whose request is held would otherwise wait for d->lock, and could not stop.
 */
void device_window_refuse(struct detect *d, bool on);

/*
 * After device_window_refuse(), wait until the device's thread does not need d->lock any more. Usually this takes a moment; the
 * function waits for at most 100 ms. Called without d->lock.
 */
void device_window_wait(struct detect *d);
#endif
