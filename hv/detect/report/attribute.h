/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds which instruction made the access that hit a watchpoint. */
#ifndef OUTRIDER_DETECT_REPORT_ATTRIBUTE_H
#define OUTRIDER_DETECT_REPORT_ATTRIBUTE_H

#include "hv/race/observation.h"
#include "symbols/insn/insn.h"

struct detect;

/*
 * Find the access that hit a watchpoint, and fill in pc, gva, size, rw and locked of o->sides[1]. Decodes the function from
 * its symbol to where the CPU stopped. One of three instructions must access the watched bytes: the instruction before that
 * place; a REP string instruction at that place; or, if the CPU stopped at the start of a function, the call instruction that
 * has read the function's address from memory, and has just called the function. pc stays 0 when no instruction fits. Called on
 * the reporter's thread, without d->lock.
 *
 * Returns true. But if the window was before a get (hv/detect/window/last_put.h), returns whether this access is known and
 * conflicts with the get: a LOCKed one has made the count 0, and a plain write races with the get in any case.
 */
bool attribute_watch(struct detect *d, struct insn_decoder *decoder, struct observation *o);

/*
 * Do what attribute_watch() does, but for a watchpoint of a window that holds a device's request (device_window.h). Here the
 * CPU's side is o->sides[0], and before the call o->sides[0].gva is the address of the watched word. If an instruction fits,
 * also reduce the datum, and the device's access in o->sides[1], to the bytes that the CPU accessed.
 */
void attribute_device_window(struct detect *d, struct insn_decoder *decoder, struct observation *o);

#endif
